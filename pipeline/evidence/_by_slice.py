"""by_slice.csv: model, metric, slice, average, n, mean, ci_low, ci_high. Producer: metrics.

For people and spreadsheets; nothing reads it back.
"""

FILE = "by_slice.csv"
COLUMNS = ("model", "metric", "slice", "average", "n", "mean", "ci_low", "ci_high")
