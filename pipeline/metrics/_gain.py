"""What nDCG and DCG share: words for the gain, and other tools' names of it."""

from pipeline.kernels.gains import Gain

# ir_measures names the same choice dcg.
SPELLINGS = {"dcg": {"log2": ("gain", "linear"), "exp-log2": ("gain", "exp")}}


def formula(gain: Gain) -> str:
    """The sum in words of its gain."""
    worth = "(2^max(grade, 0) - 1)" if gain == "exp" else "max(grade, 0)"
    return f"sum of {worth} / log2(rank + 1)"
