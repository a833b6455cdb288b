"""Parts of the simulated pool."""
