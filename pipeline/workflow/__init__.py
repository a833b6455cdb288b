"""The spine, and the Python API: build, load, measure, compare, decide, publish."""
