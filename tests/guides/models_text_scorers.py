"""Text scorers need an extra."""

NEEDS = "bm25s"
