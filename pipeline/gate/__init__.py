"""Gate: rules that make claims, and decide from the evidence on them."""
