"""Ids that name something in the pool, were they not written otherwise."""

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem
from pipeline.models._encode import Encoded

_NUMBER = r"^0*([0-9]+?)(?:\.0+)?$"
_SHOWN = 3


def renumbered(name: str, ids: pa.Array, vocab: pa.Array, file: str | None) -> list[Problem]:
    """An error where ids became numbers on their way: ``0012`` was read as 12, ``7`` as 7.0.

    Args:
        name: ``query_id`` or ``item_id``.
        ids: as they came; may repeat, and those that are in the pool are none of this.
        vocab: ids of the pool.
        file: that they were read from, if any.
    """
    known = _numbers(vocab)
    if not len(known):
        return []
    unique = pc.unique(ids.cast(vocab.type))
    ours = _numbers(unique.filter(pc.invert(pc.is_in(unique, value_set=vocab))))
    place = pc.index_in(_plain(ours), value_set=_plain(known))
    hit = pc.is_valid(place)
    changed = ours.filter(hit)
    if not len(changed):
        return []
    meant = known.take(place.filter(hit))
    pairs = zip(changed[:_SHOWN].to_pylist(), meant[:_SHOWN].to_pylist(), strict=True)
    examples = tuple(f"`{other}` is `{own}` in the pool" for other, own in pairs)
    text = f"{len(changed):,} {name}s were read as numbers on their way"
    fix = "ids are text, compared to the byte: keep them text (pandas: dtype=str)"
    return [Problem("ids_as_numbers", "error", text, fix, file, None, examples, len(changed))]


def _numbers(ids: pa.Array) -> pa.Array:
    return ids.filter(pc.match_substring_regex(ids, _NUMBER))


def _plain(ids: pa.Array) -> pa.Array:
    """Whole numbers without the zeros that a number drops or adds."""
    return pc.replace_substring_regex(ids, _NUMBER, r"\1")


def all_foreign(what: str, encoded: Encoded, pool: Pool, file: str | None) -> list[Problem]:
    """A warning where no item of the final list is in the pool.

    Args:
        what: who returned them, for the message, e.g. ``run``.
        encoded: the lists.
        pool: whose items are known.
        file: that they were read from, if any.
    """
    inside = len(pool.vocab.items)
    if not inside or (encoded.lists[0].item < inside).any():
        return []
    text = (
        f"none of the items returned is in the pool: {what} has `{encoded.foreign[0]}`,"
        f" pool has `{pool.vocab.items[0]}`"
    )
    fix = "if both name the same items, write them alike"
    return [Problem("no_item_matches", "warning", text, fix, file)]
