"""Arrays in, arrays out, for what two stages need. NumPy and SciPy only."""
