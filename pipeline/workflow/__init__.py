"""Workflow."""
