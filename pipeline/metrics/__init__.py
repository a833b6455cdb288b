"""Metrics: from ordered, judged lists to one value a query, or one a set of lists."""
