"""What every format with named columns does with them."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I64, Bool
from pipeline.core.problems import Problem
from pipeline.core.suggest import nearest
from pipeline.formats._exact import changed_numbers, changed_texts
from pipeline.formats._numbers import floats
from pipeline.formats._places import place
from pipeline.formats._source import Source

QRELS = pa.schema([("query_id", pa.string()), ("item_id", pa.string()), ("grade", pa.float64())])
RUN = pa.schema([("query_id", pa.string()), ("item_id", pa.string()), ("score", pa.float64())])

_EXAMPLES = 3
_EXCHANGED = "check which file is which; if it is the right one, rename its columns"
# What other tools call these columns; for hints only, nothing is renamed.
_SYNONYMS = {
    "query_id": (
        "qid", "query-id", "queryid", "q_id", "topic_id", "topic", "query", "user_id", "userid",
        "user",
    ),
    "item_id": (
        "docid", "doc_id", "doc-id", "docno", "document_id", "documentid", "corpus-id",
        "corpus_id", "itemid", "item-id", "pid", "passage_id", "product_id", "productid",
        "document", "doc", "item", "product", "passage",
    ),
    "grade": (
        "relevance", "rel", "label", "judgment", "judgement", "qrel", "relevance_grade",
        "relevance_label", "gain", "rating",
    ),
    "score": ("sim", "similarity", "prediction", "pred", "relevance_score", "rating"),
}  # fmt: skip
_JUDGED = frozenset({"grade", *_SYNONYMS["grade"]} - {"rating"})
_SCORED = frozenset({"score", *_SYNONYMS["score"]} - {"rating"})
_TREC_WIDTHS = {4, 6}


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
    for name in ("query_id", "item_id"):
        _not_empty(source, found, name)
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
    shown = ", ".join(name[:30] for name in have[:12])
    text = f"missing column{'s' * (len(missing) > 1)} {', '.join(missing)}; there are: {shown}"
    mistaken = _mistaken(missing, have)
    if mistaken:
        raise source.fault("missing_column", f"{text}; this looks like {mistaken}", _EXCHANGED)
    fix = "; ".join(renames(missing, have, names)) or "the first line must name the columns"
    if len(have) == 1:
        fix = _other_format(have[0]) or fix
    raise source.fault("missing_column", text, fix)


def _other_format(line: str) -> str:
    """What to do where the first line is a single name: its delimiter is another one."""
    for sign, name in ((";", "semicolons"), ("\t", "tabs"), (",", "commas"), ("|", "bars")):
        if sign in line:
            suffix = {"\t": ".tsv", ",": ".csv"}.get(sign, "")
            remedy = f"name the file {suffix}" if suffix else "separate them by commas"
            return f"its fields seem to be separated by {name}: {remedy}"
    if len(line.split()) in _TREC_WIDTHS:
        return "this looks like TREC text: name the file .trec, or set its format to trec"
    return ""


def renames(missing: Iterable[str], have: Iterable[str], known: Iterable[str]) -> list[str]:
    """What to rename to get the missing columns.

    Args:
        missing: names of columns that are needed.
        have: names that there are.
        known: names that mean something by themselves and are no candidates.

    >>> renames(["item_id", "grade"], ["query_id", "pid", "rel"], ["query_id", "item_id", "grade"])
    ['rename pid to item_id', 'rename rel to grade']
    """
    free = {name.casefold(): name for name in have if name not in {*known}}
    hints = []
    for name in missing:
        foreign = {s for n, synonyms in _SYNONYMS.items() if n != name for s in synonyms}
        like = [free[s] for s in _SYNONYMS.get(name, ()) if s in free]
        like = like or [*nearest(name, [n for low, n in free.items() if low not in foreign], 1)]
        hints += [f"rename {like[0]} to {name}"] if like else []
        free = {low: n for low, n in free.items() if n not in like[:1]}
    return hints


def _mistaken(missing: Iterable[str], have: Iterable[str]) -> str:
    """Judgments given as a run, or the other way round; empty where it is neither."""
    low = {name.casefold() for name in have}
    if "score" in missing and low & _JUDGED and not low & _SCORED:
        return "judgments, not a run"
    if "grade" in missing and low & _SCORED and not low & _JUDGED:
        return "a run, not judgments"
    return ""


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
        bad, changed = np.asarray(pc.is_null(column)), changed_numbers(column, values)
    elif pa.types.is_string(kind):
        values, bad = floats(column)
        changed = changed_texts(column, values)
    elif pa.types.is_null(kind):
        values, bad = pc.cast(column, pa.float64()), np.ones(len(column), bool)
        changed = np.zeros(0, np.int64)
    else:
        raise source.fault("not_a_number", f"column {what} is of type {kind}, not numbers", fix)
    not_numbers(source, table, (column, bad), what, fix)
    if len(changed):
        not_exact(source, table, what, str(column[int(changed[0])].as_py()), changed)
    return values


def not_exact(source: Source, table: pa.Table, what: str, shown: str, rows: I64) -> None:
    """Notes numbers that a float64 does not hold, as one problem that shows the first."""
    text = f"{what} {shown} is not exact as a float64: different numbers could become ties"
    fix = "write numbers that float64 holds, e.g. scaled, or ranks"
    where = place(table, int(rows[0]))[1]
    source.problems.append(
        Problem(f"{what}_not_exact", "error", text, fix, str(source.path), where, (), len(rows))
    )


def _not_empty(source: Source, table: pa.Table, name: str) -> None:
    """Notes ids that are null or empty, as one problem."""
    column = table[name]
    empty = pc.equal(pc.binary_length(column), 0)
    if not column.null_count and not pc.any(empty, min_count=0).as_py():
        return
    rows = np.flatnonzero(np.asarray(pc.fill_null(empty, fill_value=True)))
    where = place(table, int(rows[0]))[1]
    source.problems.append(
        Problem(
            "empty_id", "error", f"{name} is empty", "give every row an id", str(source.path),
            where, (), len(rows),
        )
    )  # fmt: skip


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
    except pa.ArrowNotImplementedError:
        text = f"column rank is of type {column.type}, not integers; it is not used"
        path = str(source.path)
        source.problems.append(Problem("rank_not_an_integer", "warning", text, "", path))
        return None
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
