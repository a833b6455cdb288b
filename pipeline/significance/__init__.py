"""Significance: what paired differences say about a claim."""
