"""Repeated queries become one, and their judgments are united."""

# ruff: noqa: S608 - all names and texts in this SQL went through ident and text

from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.pool._freeze.cut import Raw
from pipeline.pool._freeze.engine import Engine
from pipeline.pool._freeze.plan import Plan
from pipeline.pool._freeze.shapes import column, select

_EXAMPLES = 3
_LOOSE = r"lower(trim(regexp_replace(nfc_normalize(text), '[\s\p{Z}]+', ' ', 'g')))"


def merge_queries(engine: Engine, raw: Raw, plan: Plan) -> dict[str, int]:
    """Tables ``alias`` (query_id -> canonical) and ``merged`` (one row a distinct query).

    The smallest id by its bytes survives. ``merged``: query_id, frequency, and user_id,
    issued_at (the last), first_issued_at where the rows have them.

    Raises:
        SamepoolError: one id stands for two texts, or, per user, for two users.
    """
    by = plan.repeats.by
    texts = raw.has("queries", "text")
    normal = "NULL::VARCHAR" if not texts else (_LOOSE if by == "loose" else "text")
    per_user = plan.repeats.per_user and raw.has("queries", "user_id")
    user = "user_id" if per_user else "''"
    engine.run(
        "CREATE TABLE ids AS SELECT query_id, min(n) AS key, max(n) AS other, min(u) AS owner,"
        f" max(u) AS another FROM (SELECT query_id, {normal} AS n, {user} AS u FROM asked)"
        " GROUP BY query_id"
    )
    if texts:
        _one_text(engine, raw)
    if per_user:
        _one_user(engine, raw)
    alone = "true" if by == "none" else "key IS NULL OR owner IS NULL"
    engine.run(
        f"CREATE TABLE alias AS SELECT query_id, CASE WHEN {alone} THEN query_id ELSE"
        " min(query_id) OVER (PARTITION BY key, owner) END AS canonical FROM ids"
    )
    engine.run(
        f"CREATE TABLE merged AS SELECT canonical AS query_id, {_frequency(engine, raw)} AS"
        f" frequency {_of_group(raw)} FROM asked JOIN alias USING (query_id) GROUP BY canonical"
    )
    counts = engine.row("SELECT count(*), count(DISTINCT canonical) FROM alias")
    found = {"ids": counts[0], "distinct": counts[1]}
    if raw.has("queries", "user_id") and not per_user:
        found["of_several_users"] = engine.count("SELECT count(*) FROM merged WHERE users > 1")
    return found


def _frequency(engine: Engine, raw: Raw) -> str:
    """Requests of a query: rows, or the sum of frequencies, to the bit whatever their order."""
    if not raw.has("queries", "frequency"):
        return "count(*)::DOUBLE"
    whole = "bool_and(frequency = floor(frequency)) AND max(frequency) < 9007199254740992"
    if engine.row(f"SELECT {whole} FROM asked")[0]:
        return "sum(frequency::HUGEINT)::DOUBLE"
    return "sum(frequency ORDER BY frequency)"


def _of_group(raw: Raw) -> str:
    columns = ""
    if raw.has("queries", "user_id"):
        one = "count(DISTINCT user_id) = 1 AND count(user_id) = count(*)"
        columns += f", CASE WHEN {one} THEN min(user_id) END AS user_id"
        columns += ", count(DISTINCT user_id) AS users"
    if raw.has("queries", "issued_at"):
        columns += ", max(issued_at) AS issued_at, min(issued_at) AS first_issued_at"
    return columns


def _one_text(engine: Engine, raw: Raw) -> None:
    rows = engine.rows(
        "SELECT query_id, min(text), max(text), count(*) OVER () FROM asked JOIN ids"
        " USING (query_id) WHERE key <> other GROUP BY query_id ORDER BY query_id"
        f" LIMIT {1 + _EXAMPLES}"
    )
    if rows:
        name, one, other, count = rows[0]
        text = f"query_id {name!r} maps to two texts, {one!r} and {other!r}"
        _refuse(raw, text, "give each text an id of its own", (rows, count))


def _one_user(engine: Engine, raw: Raw) -> None:
    rows = engine.rows(
        "SELECT query_id, owner, another, count(*) OVER () FROM ids WHERE owner <> another"
        f" ORDER BY query_id LIMIT {1 + _EXAMPLES}"
    )
    if rows:
        name, one, other, count = rows[0]
        text = f"query_id {name!r} is of two users, {one!r} and {other!r}"
        _refuse(raw, text, "give each user's query its own id, or repeats.per_user=false",
                (rows, count))  # fmt: skip


def _refuse(raw: Raw, text: str, fix: str, found: tuple[list[tuple[str, ...]], int]) -> None:
    rows, count = found
    file = raw.sources["queries"].files[0]
    examples = tuple(str(row[0]) for row in rows[1:])
    problem = Problem("duplicate_id", "error", text, fix, file, None, examples, count)
    raise SamepoolError([problem])


def unite_judgments(engine: Engine, raw: Raw, plan: Plan) -> dict[str, int]:
    """Table ``judged``: one row a pair of the queries and items that are left.

    Raises:
        SamepoolError: no judgment is left; a pair has two grades, unless the larger is taken.
    """
    source = raw.sources["qrels"]
    extra = "".join(f", {name}" for name in ("source", "judge") if raw.has("qrels", name))
    counts, cut = _by_time(engine, raw, plan)
    where = f" WHERE NOT coalesce({cut}, false)" if plan.settings.judgments_until_as_of else ""
    engine.run(
        f"CREATE TABLE every AS SELECT alias.canonical AS query_id, item_id, grade{extra},"
        f" query_id AS given FROM {select(source)} AS rated JOIN alias USING (query_id){where}"
    )
    engine.run("CREATE TABLE kept AS SELECT * FROM every WHERE item_id NOT IN (FROM late_items)")
    every, kept = (engine.count(f"SELECT count(*) FROM {name}") for name in ("every", "kept"))
    counts |= {
        "of_queries_cut": raw.rows["qrels"] - counts.get("after_as_of", 0) - every,
        "of_items_after_as_of": every - kept,
    }
    if not kept:
        _none_left(engine, raw, counts)
    if plan.repeats.conflicts == "error":
        _no_conflict(engine, raw)
    engine.run(
        "CREATE TABLE judged AS SELECT * EXCLUDE (given, place) FROM (SELECT *, row_number() OVER"
        f" (PARTITION BY query_id, item_id ORDER BY grade DESC{extra}) AS place FROM kept)"
        " WHERE place = 1"
    )
    counts["pairs"] = engine.count("SELECT count(*) FROM judged")
    return counts


def _by_time(engine: Engine, raw: Raw, plan: Plan) -> tuple[dict[str, int], str]:
    """Counts of judgments later than as_of, or without a time; SQL that is true of the late ones.

    People judge a snapshot after it was taken, so late judgments stay unless they are to be cut.
    """
    counts = {"rows": raw.rows["qrels"]}
    if not raw.has("qrels", "judged_at"):
        return counts, "false"
    late = f"judged_at > make_timestamptz({plan.as_of})"
    found = engine.row(
        f"SELECT count(*) FILTER ({late}), count(*) FILTER (judged_at IS NULL)"
        f" FROM {select(raw.sources['qrels'])}"
    )
    name = "after_as_of" if plan.settings.judgments_until_as_of else "after_as_of_kept"
    return counts | {name: found[0], "undated": found[1]}, late


def _none_left(engine: Engine, raw: Raw, counts: dict[str, int]) -> None:
    file = raw.sources["qrels"].files[0]
    if not counts["rows"]:
        raise fault("no_judgments", "has no judgments", "qrels need at least one row", file=file)
    text = (
        f"no judgment is left: {counts['of_queries_cut']:,} of {counts['rows']:,} are of queries"
        f" that are cut or not there, {counts['of_items_after_as_of']:,} of items created after"
        " as_of"
    )
    if counts.get("after_as_of"):
        text += f", {counts['after_as_of']:,} were judged after it"
    one = engine.row(f"SELECT min(query_id) FROM {select(raw.sources['qrels'])}")[0]
    other = engine.row("SELECT min(query_id) FROM alias")[0]
    fix = f"qrels have query_id {one!r}, queries {other!r}: write ids alike, or mend as_of"
    raise fault("empty_pool", text, fix, file=file)


def _no_conflict(engine: Engine, raw: Raw) -> None:
    rows = engine.rows(
        "SELECT query_id, item_id, min(grade), max(grade), list(DISTINCT given ORDER BY given),"
        " count(*) OVER () FROM kept GROUP BY query_id, item_id HAVING min(grade) <> max(grade)"
        f" ORDER BY query_id, item_id LIMIT {1 + _EXAMPLES}"
    )
    if not rows:
        return
    query, item, low, high, given, count = rows[0]
    merged = f" (merged: {', '.join(given[:4])})" if len(given) > 1 else ""
    text = f"query {query}{merged}, item {item} is judged {low:g} and {high:g}"
    examples = tuple(f"{q}, {i}: {a:g} and {b:g}" for q, i, a, b, _, _ in rows[1:])
    fix = "keep one grade a pair, or repeats.conflicts=max"
    file = raw.sources["qrels"].files[0]
    problem = Problem("conflicting_judgments", "error", text, fix, file, None, examples, count)
    raise SamepoolError([problem])


def attributes(raw: Raw) -> tuple[str, ...]:
    """Columns of the queries that are the owner's own, and the text."""
    own = {"query_id", "user_id", "issued_at", "frequency"}
    return tuple(name for name in raw.sources["queries"].names() if name not in own)


def first_rows(raw: Raw) -> str:
    """SQL: text and attributes of each sampled query, from the earliest row of the surviving id.

    Where rows of one time differ, the one whose values sort first.
    """
    names = [column(raw.sources["queries"], name) for name in attributes(raw)]
    time = ["issued_at NULLS LAST"] if raw.has("queries", "issued_at") else []
    # As text, so that 10 and 9 sort alike in CSV and Parquet.
    order = ", ".join([*time, *(f"{n}::VARCHAR NULLS LAST" for n in names)]) or "1"
    columns = "".join(f", {name}" for name in names)
    return (
        f"SELECT query_id{columns} FROM (SELECT query_id{columns}, row_number() OVER"
        f" (PARTITION BY query_id ORDER BY {order}) AS place FROM asked"
        " WHERE query_id IN (SELECT query_id FROM sampled)) WHERE place = 1"
    )
