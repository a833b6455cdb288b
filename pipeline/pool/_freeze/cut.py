"""Reads the raw tables into the engine, and cuts what is later than the snapshot."""

# ruff: noqa: S608 - all names and texts in this SQL went through ident and text

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pipeline.core.problems import Problem, SamepoolError, collect, fault, raise_errors
from pipeline.pool._freeze.engine import Engine
from pipeline.pool._freeze.plan import Plan
from pipeline.pool._freeze.shapes import check, column, missing, select, untyped
from pipeline.pool._freeze.sources import Source, open_source
from pipeline.pool._freeze.times import misnamed, notes, uncuttable

_RESERVED = ("weight", "stratum", "first_issued_at")
_FIRST = 3


@dataclass(frozen=True, slots=True)
class Raw:
    """Sound sources, and their numbers of rows.

    Attributes:
        sources: queries, qrels, and items and logs where there are any.
        rows: table -> number of rows.
        notes: what is not cut, for want of a time.
    """

    sources: Mapping[str, Source]
    rows: Mapping[str, int]
    notes: tuple[Problem, ...] = ()

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is a table with all of the columns."""
        return table in self.sources and {*columns} <= {*self.sources[table].names()}


def open_all(engine: Engine, plan: Plan) -> Raw:
    """Opens and checks the sources.

    Raises:
        SamepoolError: everything that is wrong with any of them.
    """
    problems: list[Problem] = []
    found: dict[str, Source] = {}
    for name, asked in plan.sources.items():
        table = "logs" if name == "train" else name
        renamed = plan.columns.get(table, {})
        opened = partial(open_source, table, asked, f"source.{name}", renamed)
        source = collect(problems, opened)
        if source is not None:
            lacking = [*missing(source), *untyped(source), *_of_table(source)]
            problems += [*lacking, *(misnamed(source) or uncuttable(source, plan))]
            found |= {} if lacking else {table: source}
    for table, renamed in plan.columns.items():
        if renamed and table not in {"logs" if n == "train" else n for n in plan.sources}:
            text = f"columns.{table} is set, but source.{table} is not"
            problems.append(Problem("no_source", "error", text, f"set source.{table}"))
    rows = {}
    for table, source in found.items():
        checked = collect(problems, partial(check, engine, source))
        if checked is not None:
            rows[table], faults = checked
            problems += faults
            if table in {"queries", "items"} and not checked[0]:
                problems.append(Problem("no_rows", "error", "has no rows", "", source.files[0]))
    raise_errors(problems)
    _leading_zeros(engine, found)
    return Raw(found, rows, tuple(n for source in found.values() for n in notes(source, plan)))


def _of_table(source: Source) -> list[Problem]:
    names, file = source.names(), source.files[0]
    if source.table == "queries":
        taken = [name for name in _RESERVED if name in names]
        return [
            Problem(
                "reserved_column", "error", f"there is a column {name}, which freeze writes itself",
                f"columns.queries={{old_{name}: {name}}} keeps it under another name", file,
            )
            for name in taken
        ]  # fmt: skip
    if source.table != "logs":
        return []
    problems = []
    if not {"query_id", "user_id"} & {*names}:
        text = "logs need the column query_id or user_id, to say whose interactions they are"
        fix = "columns.logs={query_id: THEIR_NAME}"
        problems.append(Problem("missing_column", "error", text, fix, file))
    if "at" not in names:
        text = f"logs need the column at, to be cut at a time; there are: {', '.join(names[:12])}"
        problems.append(
            Problem("missing_column", "error", text, "columns.logs={at: THEIR_NAME}", file)
        )
    return problems


def _leading_zeros(engine: Engine, sources: Mapping[str, Source]) -> None:
    """An id that is a number in one table and text with leading zeros in another.

    Raises:
        SamepoolError: such a column.
    """
    for name in ("query_id", "item_id", "user_id"):
        kinds = {
            table: {str(source.kind_of(part, name)) for part in source.parts} - {"None"}
            for table, source in sources.items()
        }
        whole = [t for t, found in kinds.items() if any("int" in kind for kind in found)]
        for table in (t for t, found in kinds.items() if any("int" not in kind for kind in found)):
            if not whole:
                continue
            owned = column(sources[table], name)
            where = f"regexp_full_match({owned}, '0[0-9]+')"
            rows = engine.rows(
                f"SELECT {owned} FROM {select(sources[table])} WHERE {where} LIMIT 1"
            )
            if rows:
                text = (
                    f"{name} holds numbers in the {whole[0]}, but {table} have {rows[0][0]!r}:"
                    " leading zeros were lost"
                )
                fix = f"store {name} as a string column"
                raise fault("id_not_text", text, fix, file=sources[whole[0]].files[0])


def read_queries(engine: Engine, raw: Raw, plan: Plan) -> dict[str, int]:
    """Table ``asked``: query rows within the times; what was cut.

    Raises:
        SamepoolError: nothing is left.
    """
    source = raw.sources["queries"]
    counts = {"rows": raw.rows["queries"]}
    if not raw.has("queries", "issued_at"):
        engine.run(f"CREATE TABLE asked AS SELECT * FROM {select(source)}")
        return counts | {"undated": counts["rows"]}
    late, start = _after(plan.as_of), plan.evaluate_from
    early = "false" if start is None else f"issued_at < make_timestamptz({start})"
    engine.run(
        f"CREATE TABLE asked AS SELECT * FROM {select(source)}"
        f" WHERE issued_at IS NULL OR NOT (issued_at > {late} OR {early})"
    )
    cut = engine.row(
        f"SELECT count(*) FILTER (WHERE issued_at > {late}), count(*) FILTER (WHERE {early}),"
        f" min(issued_at)::VARCHAR, max(issued_at)::VARCHAR FROM {select(source)}"
    )
    counts |= {"after_as_of": cut[0]} | ({"before_evaluate_from": cut[1]} if start else {})
    counts["undated"] = engine.count("SELECT count(*) FROM asked WHERE issued_at IS NULL")
    if not engine.count("SELECT count(*) FROM asked"):
        text = f"no query is left: {cut[0]:,} of {counts['rows']:,} were issued after as_of"
        text += f", {cut[1]:,} before evaluate_from" if start else ""
        fix = f"as_of is {plan.settings.as_of}; the table runs from {cut[2]} to {cut[3]}"
        raise fault("empty_pool", text, fix, file=source.files[0])
    return counts


def read_items(engine: Engine, raw: Raw, plan: Plan) -> dict[str, int]:
    """Tables ``catalogue`` and ``late_items``; what was cut. Both are there without items, empty.

    Raises:
        SamepoolError: an item has two rows, or none is left.
    """
    source = raw.sources.get("items")
    if source is None:
        engine.run("CREATE TABLE catalogue (item_id VARCHAR)")
        engine.run("CREATE TABLE late_items (item_id VARCHAR)")
        return {}
    twice = engine.rows(
        f"SELECT item_id, count(*) FROM {select(source)} GROUP BY item_id"
        f" HAVING count(*) > 1 ORDER BY item_id LIMIT {_FIRST + 1}"
    )
    if twice:
        text = f"item_id {twice[0][0]!r} has {twice[0][1]} rows"
        examples = tuple(row[0] for row in twice[1:])
        problem = Problem("duplicate_id", "error", text, "keep one row an id", source.files[0],
                          None, examples, len(twice))  # fmt: skip
        raise SamepoolError([problem])
    late = f"created_at > {_after(plan.as_of)}" if raw.has("items", "created_at") else "false"
    engine.run(
        f"CREATE TABLE catalogue AS SELECT * FROM {select(source)} WHERE ({late}) IS NOT true"
    )
    engine.run(f"CREATE TABLE late_items AS SELECT item_id FROM {select(source)} WHERE {late}")
    cut = engine.count("SELECT count(*) FROM late_items")
    if cut == raw.rows["items"]:
        text = f"no item is left: {cut:,} of {cut:,} were created after as_of"
        raise fault("empty_pool", text, f"as_of is {plan.settings.as_of}", file=source.files[0])
    counts = {"rows": raw.rows["items"], "after_as_of": cut}
    dated = " WHERE created_at IS NULL" if raw.has("items", "created_at") else ""
    return counts | {"undated": engine.count(f"SELECT count(*) FROM catalogue{dated}")}


def read_logs(engine: Engine, raw: Raw, plan: Plan) -> dict[str, int]:
    """Table ``history``: log rows that models may learn from; what was cut.

    Raises:
        SamepoolError: rows of ``source.train`` are later than the cut-off.
    """
    source = raw.sources.get("logs")
    if source is None:
        return {}
    whole, until = select(source), _after(plan.train_until)
    counts = engine.row(
        f'SELECT count(*) FILTER ("at" > {until}), count(*) FILTER ("at" IS NULL),'
        f' count(*) FILTER ("at" > {_after(plan.as_of)}), count(*) FILTER ({_nobody(raw)})'
        f" FROM {whole}"
    )
    if counts[3]:
        text = f"{counts[3]:,} rows have neither query_id nor user_id"
        fix = "say whose interaction it is"
        raise fault("empty_id", text, fix, file=source.files[0])
    if counts[0] and source.option == "source.train":
        raise SamepoolError([_leaking(engine, source, plan, counts[0])])
    known = raw.has("logs", "query_id")
    canonical = "coalesce(alias.canonical, log.query_id) AS query_id" if known else ""
    columns = f"log.* REPLACE ({canonical})" if known else "log.*"
    join = "LEFT JOIN alias ON alias.query_id = log.query_id" if known else ""
    engine.run(
        f"CREATE TABLE history AS SELECT {columns} FROM {whole} AS log {join}"
        f' WHERE log."at" <= {until}'
    )
    return {
        "rows": raw.rows["logs"],
        "after_as_of": counts[2],
        "after_train_until": counts[0] - counts[2],
        "undated": counts[1],
    }


def _nobody(raw: Raw) -> str:
    """SQL: a log row is nobody's."""
    names = [name for name in ("query_id", "user_id") if raw.has("logs", name)]
    return " AND ".join(f"coalesce({name}, '') = ''" for name in names)


def _leaking(engine: Engine, source: Source, plan: Plan, count: int) -> Problem:
    owner = next(name for name in ("query_id", "user_id") if name in source.names())
    rows = engine.rows(
        f'SELECT "at"::VARCHAR, {owner}, item_id FROM {select(source)}'
        f' WHERE "at" > {_after(plan.train_until)} ORDER BY ALL LIMIT {_FIRST}'
    )
    cutoff = plan.settings.train_until or plan.settings.as_of
    text = (
        f"{count:,} train row{'s' * (count > 1)} postdate{'s' * (count == 1)} the cut-off {cutoff}"
    )
    fix = "cut them, or give the table as source.logs, which is cut here"
    examples = tuple(f"{owner} {who}, item {item} at {at}" for at, who, item in rows)
    return Problem("leakage", "error", text, fix, source.files[0], None, examples, count)


def _after(micros: int) -> str:
    return f"make_timestamptz({micros})"
