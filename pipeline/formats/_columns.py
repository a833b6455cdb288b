"""What every format with named columns does with them."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import Bool
from pipeline.core.problems import Problem
from pipeline.core.suggest import nearest
from pipeline.formats._numbers import floats
from pipeline.formats._places import place
from pipeline.formats._source import Source

QRELS = pa.schema([("query_id", pa.string()), ("item_id", pa.string()), ("grade", pa.float64())])
RUN = pa.schema([("query_id", pa.string()), ("item_id", pa.string()), ("score", pa.float64())])

_EXAMPLES = 3
# What other tools call these columns; for hints only, nothing is renamed.
_SYNONYMS = {
    "query_id": ("query", "qid", "topic", "query-id", "queryid", "q_id", "user_id"),
    "item_id": (
        "docid", "doc_id", "docno", "document", "corpus-id", "item", "pid", "product_id", "doc",
    ),
    "grade": ("rating", "relevance", "rel", "label", "judgment", "gain", "score"),
    "score": ("sim", "similarity", "prediction", "pred", "rating"),
}  # fmt: skip


def is_text(name: str) -> bool:
    """Whether a column is kept as strings whatever its values look like."""
    return name == "text" or name.endswith("_id")


def unique_names(source: Source, names: Iterable[str]) -> None:
    """Raises where two columns share a name, or one has none.

    Raises:
        SamepoolError: a name that occurs twice.
    """
    counts = Counter(names)
    twice = [name for name, n in counts.items() if n > 1]
    if twice:
        text = f"column {twice[0]!r} occurs {counts[twice[0]]} times"
        raise source.fault("duplicate_column", text, "rename or remove all but one")


def as_qrels(source: Source, table: pa.Table) -> pa.Table:
    """The judgments in a table with named columns, source and judge as strings."""
    if not table.num_columns:  # JSON lines without a line name no columns
        return QRELS.empty_table().replace_schema_metadata(table.schema.metadata)
    need(source, table, QRELS.names)
    optional = [name for name in ("source", "judge") if name in table.column_names]
    columns = {name: table[name] for name in ("query_id", "item_id")}
    columns["grade"] = grades(source, table, table["grade"])
    columns |= {name: pc.cast(table[name], pa.string()) for name in optional}
    return _rebuilt(table, columns)


def as_run(source: Source, table: pa.Table) -> pa.Table:
    """The scored lists in a table with named columns."""
    if not table.num_columns:
        return RUN.empty_table().replace_schema_metadata(table.schema.metadata)
    need(source, table, RUN.names)
    columns = {name: table[name] for name in ("query_id", "item_id")}
    columns["score"] = numbers(source, table, table["score"], "score", "")
    if "rank" in table.column_names:
        rank = ranks(source, table, table["rank"])
        columns |= {} if rank is None else {"rank": rank}
    found = _rebuilt(table, columns)
    finite(source, found)
    return found


def need(source: Source, table: pa.Table, names: Iterable[str]) -> None:
    """Raises where columns are missing, with all of them and what there is instead.

    Raises:
        SamepoolError: a missing column.
    """
    have = table.column_names
    missing = [name for name in names if name not in have]
    if not missing:
        return
    hints = []
    for name in missing:
        other = [h for h in have if h.casefold() in _SYNONYMS.get(name, ())] or nearest(
            name, have, 1
        )
        hints += [f"rename {other[0]} to {name}"] if other else []
    shown = ", ".join(name[:30] for name in have[:12])
    text = f"missing column{'s' * (len(missing) > 1)} {', '.join(missing)}; there are: {shown}"
    fix = "; ".join(hints) or "the first line must name the columns"
    raise source.fault("missing_column", text, fix)


def grades(source: Source, table: pa.Table, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Grades as float64; through the source's grade map, where it has one."""
    fix = "map text grades to numbers: pool.grade_map={Exact: 3, Partial: 1}"
    if not source.grade_map:
        return numbers(source, table, column, "grade", fix)
    text = pc.cast(column, pa.string())
    known = pa.array(list(source.grade_map), pa.string())
    values = pa.array(list(source.grade_map.values()), pa.float64())
    mapped = pc.take(values, pc.index_in(text, value_set=known))
    rest = pc.if_else(pc.is_valid(mapped), pa.scalar("0"), text)
    plain = numbers(source, table, rest, "grade", "add it to grade_map")
    return pc.coalesce(mapped, plain)


def numbers(
    source: Source, table: pa.Table, column: pa.ChunkedArray, what: str, fix: str
) -> pa.ChunkedArray:
    """A column as float64; what is not a number becomes null and one problem."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = pc.cast(column, pa.float64(), safe=False)
        bad = np.asarray(pc.is_null(column))
    elif pa.types.is_string(kind):
        values, bad = floats(column)
    elif pa.types.is_null(kind):
        values, bad = pc.cast(column, pa.float64()), np.ones(len(column), bool)
    else:
        raise source.fault("not_a_number", f"column {what} is of type {kind}, not numbers", fix)
    not_numbers(source, table, (column, bad), what, fix)
    return values


def not_numbers(
    source: Source, table: pa.Table, found: tuple[pa.ChunkedArray, Bool], what: str, fix: str
) -> None:
    """Notes the values of a column that are no numbers, as one problem."""
    column, bad = found
    rows = np.flatnonzero(bad)
    if not len(rows):
        return
    values = [column[int(row)].as_py() for row in rows[:1000]]
    shown = ["(empty)" if value is None else repr(value) for value in values]
    examples = tuple(dict.fromkeys(shown))[1 : 1 + _EXAMPLES]
    where = place(table, int(rows[0]))[1]
    text = f"{what} {shown[0]} is not a number"
    code = f"{what}_not_a_number"
    source.problems.append(
        Problem(code, "error", text, fix, str(source.path), where, examples, len(rows))
    )


def ranks(source: Source, table: pa.Table, column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Ranks as int32; None, and a warning, where they are not all integers."""
    try:
        found = pc.cast(column, pa.int32())
    except pa.ArrowInvalid:
        found = None
    if found is not None and not found.null_count:
        return found
    bad = _not_integers(column)
    row = int(np.argmax(bad))
    text = f"rank {column[row].as_py()!r} is not an integer; the rank column is not used"
    where = place(table, row)[1]
    source.problems.append(
        Problem(
            "rank_not_an_integer", "warning", text, "", str(source.path), where, (), int(bad.sum())
        )
    )
    return None


def _not_integers(column: pa.ChunkedArray) -> Bool:
    text = pc.cast(column, pa.string())
    good = pc.fill_null(pc.match_substring_regex(text, r"^[+-]?\d{1,9}$"), fill_value=False)
    return ~np.asarray(good)


def finite(source: Source, run: pa.Table) -> None:
    """Notes NaN and infinite scores, as one problem that names the first."""
    bad = pc.invert(pc.is_finite(run["score"]))
    if not pc.any(bad, min_count=0).as_py():
        return
    rows = np.flatnonzero(np.asarray(pc.fill_null(bad, fill_value=False)))
    row = int(rows[0])
    name = {"nan": "NaN"}.get(str(run["score"][row].as_py()), str(run["score"][row].as_py()))
    query, item = run["query_id"][row].as_py(), run["item_id"][row].as_py()
    text = f"the score of query {query!r}, item {item!r} is {name}"
    source.problems.append(
        Problem(
            "score_not_finite", "error", text, "a score must be a finite number; mend the model",
            str(source.path), place(run, row)[1], (), len(rows),
        )
    )  # fmt: skip


def _rebuilt(table: pa.Table, columns: dict[str, pa.ChunkedArray]) -> pa.Table:
    return pa.table(columns).replace_schema_metadata(table.schema.metadata)
