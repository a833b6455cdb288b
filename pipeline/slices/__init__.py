"""Slices: named groups of queries, and of judged items, that are measured on their own."""
