"""Did you mean: the nearest known names, for error messages."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], n: int = 3) -> tuple[str, ...]:
    """The known names most like ``name``, best first; case does not count.

    >>> nearest("ndgc@10", ["nDCG@10", "RR@10"])
    ('nDCG@10',)
    """
    by_folded = {str(candidate).casefold(): str(candidate) for candidate in known}
    found = get_close_matches(name.casefold(), by_folded, n=n, cutoff=0.55)
    return tuple(by_folded[key] for key in found)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A clause for an error message: the nearest names, else all of them.

    >>> did_you_mean("tial", ["head", "tail"])
    'did you mean tail?'
    >>> did_you_mean("zzz", ["head", "tail"])
    'there are: head, tail'
    >>> did_you_mean("zzz", [])
    'there are none'
    """
    known = [str(candidate) for candidate in known]
    close = nearest(name, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"there are: {', '.join(sorted(known))}" if known else "there are none"
