"""The second demo needs an extra."""

NEEDS = "wordllama"
