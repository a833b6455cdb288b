"""MLflow's names for metrics: its alphabet has neither ``@`` nor parentheses."""

import re
from collections import Counter
from collections.abc import Iterable

from pipeline.kernels.digest import of_strings

# Parameters whose values say enough; others are written as name-value.
_BARE = {"gain", "stage"}
_LONGEST = 110


def key(slice_name: str, label: str) -> str:
    """The key of a metric on a slice.

    >>> key("all", "nDCG(gain=exp)@10")
    'all/nDCG.exp_at_10'
    >>> key("tail", "R(stage=retrieval)@100")
    'tail/R.retrieval_at_100'
    >>> key("all", "RBP(p=0.8,rel=2)")
    'all/RBP.p-0.8.rel-2'
    """
    return f"{plain(slice_name)}/{_metric(label)}"


def keys(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Keys of (slice or group, label) pairs, all distinct.

    Pairs whose plain keys coincide, also when only case is put aside (some databases fold it),
    get a piece of their digest behind it; the same pair in the same set gets the same key.
    """
    unique = list(dict.fromkeys(pairs))
    plain = {pair: key(*pair) for pair in unique}
    times = Counter(name.casefold() for name in plain.values())
    return {
        pair: name if times[name.casefold()] == 1 else f"{name}-{of_strings(pair)[:6]}"
        for pair, name in plain.items()
    }


def _metric(label: str) -> str:
    found = re.fullmatch(r"([^(@]+)(?:\((.*)\))?(?:@(.+))?", label)
    if not found:
        return plain(label)
    name, inside, cutoff = found.groups()
    parts = [name, *(_parameter(part) for part in (inside or "").split(",") if part.strip())]
    return plain(".".join(parts) + (f"_at_{cutoff}" if cutoff else ""))


def _parameter(text: str) -> str:
    name, equals, value = (part.strip().strip("'\"") for part in text.partition("="))
    return value if not equals or name in _BARE else f"{name}-{value}"


def plain(text: str) -> str:
    """Letters of any script, digits and ``_ . -``; neither ``..`` nor an edge of dots; not long."""
    plain = re.sub(r"\.{2,}", ".", re.sub(r"[^\w.-]+", "_", text.strip())).strip(".") or "_"
    return plain if len(plain) <= _LONGEST else f"{plain[:90]}-{of_strings([text])[:8]}"
