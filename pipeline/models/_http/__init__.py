"""What asking a search endpoint takes: requests, answers, threads, and what is kept of them."""
