"""Pool: the queries, items, judgments, candidates and logs that every model is measured on."""
