"""Which format a file is in: as told, else by its name, else by its content."""

from typing import TYPE_CHECKING

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import kinds, plugin
from pipeline.core.suggest import did_you_mean
from pipeline.formats._paths import unusable
from pipeline.formats._source import Source

if TYPE_CHECKING:
    from pipeline.formats import Format

_TREC_FROM = 3  # fields; a qrels line has four and a run line six, and the reader says which lack


def recognise(source: Source, name: str | None, *, named: bool) -> "Format":
    """The format of a file.

    Args:
        source: the file.
        name: name of a format, or None to find out.
        named: whether the columns must have names, which rules TREC out as a guess.

    Raises:
        SamepoolError: no such file, no such format, or a format that cannot be told.
    """
    problem = unusable(str(source.path))
    if problem is not None:
        raise SamepoolError([problem])
    if name is not None and name not in kinds("formats"):
        raise source.fault(
            "unknown_format", f"unknown format {name!r}", did_you_mean(name, kinds("formats"))
        )
    known: dict[str, Format] = {k: plugin("formats", k, "format")() for k in kinds("formats")}
    if name is not None:
        return known[name]
    low = source.path.name.lower().removesuffix(".gz")
    for found in known.values():
        if low.endswith(found.suffixes):
            return found
    guess = _by_content(source, named=named)
    if guess is None:
        text = "the format is told neither by the name nor by the content"
        fix = f"name it, e.g. pool.formats={{qrels: trec}}; {did_you_mean('', known)}"
        raise source.fault("unknown_format", text, fix)
    return known[guess]


def _by_content(source: Source, *, named: bool) -> str | None:
    head = source.head()
    if head.startswith(b"PAR1"):
        return "parquet"
    lines = [line.split() for line in head.split(b"\n")[:20] if line.strip()]
    if lines and lines[0][0].startswith(b"{"):
        return "jsonl"
    if not named and (not lines or len(lines[0]) >= _TREC_FROM):
        return "trec"
    return None
