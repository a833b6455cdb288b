"""What the models could know of the judgments, counted."""

# ruff: noqa: S608 - all names and texts in this SQL went through ident and text

from collections.abc import Mapping

from pipeline.core.problems import Problem
from pipeline.pool._freeze.cut import Raw
from pipeline.pool._freeze.engine import Engine
from pipeline.pool._freeze.plan import Plan
from pipeline.pool._freeze.shapes import select


def count(engine: Engine, raw: Raw, plan: Plan) -> dict[str, int]:
    """Judged items that came late, or that no model can have learned of; judged pairs in the logs.

    Items are those of all judgments of queries that were not cut; pairs those of the sample.
    """
    found = {"judged_items": engine.count("SELECT count(DISTINCT item_id) FROM every")}
    logs = raw.has("logs", "at")
    if logs or raw.has("items", "created_at"):
        found |= _late(engine, raw, plan)
    if not logs:
        return found
    found["not_in_logs"] = engine.count(
        "SELECT count(DISTINCT item_id) FROM every WHERE item_id NOT IN"
        " (SELECT item_id FROM history)"
    )
    owner = "query_id" if raw.has("logs", "query_id") else "user_id"
    if owner == "query_id" or raw.has("queries", "user_id"):
        known = f"(SELECT DISTINCT {owner}, item_id FROM history)"
        rated = "rated" if owner == "query_id" else "rated JOIN sampled USING (query_id)"
        rows = engine.row(
            f"SELECT count(*), count(DISTINCT query_id) FROM {rated}"
            f" SEMI JOIN {known} USING ({owner}, item_id)"
        )
        found |= {"pairs_in_logs": rows[0], "queries_in_logs": rows[1]}
    found["pairs"] = engine.count("SELECT count(*) FROM rated")
    return found


def _late(engine: Engine, raw: Raw, plan: Plan) -> dict[str, int]:
    """Judged items created after as_of, and the same with those undated and logged only after."""
    late = engine.count(
        "SELECT count(DISTINCT item_id) FROM every WHERE item_id IN (FROM late_items)"
    )
    found = {"created_after_as_of": late, "first_after_as_of": late}
    if not raw.has("logs", "at"):
        return found
    dated = ""
    if raw.has("items", "created_at"):
        known = "SELECT item_id FROM catalogue WHERE created_at IS NOT NULL"
        dated = f" WHERE item_id NOT IN (FROM late_items UNION ALL {known})"
    seen = f"SELECT item_id FROM {select(raw.sources['logs'])} GROUP BY item_id"
    found["first_after_as_of"] += engine.count(
        f"SELECT count(*) FROM (SELECT DISTINCT item_id FROM every{dated}) SEMI JOIN"
        f' ({seen} HAVING min("at") > make_timestamptz({plan.as_of})) USING (item_id)'
    )
    return found


def notes(counts: Mapping[str, Mapping[str, int]], plan: Plan) -> list[Problem]:
    """What leaks, and what was done about it."""
    return [*_of_items(counts["leaks"], plan), *_of_pairs(counts["leaks"], plan),
            *_of_logs(counts["logs"])]  # fmt: skip


def _of_items(leaks: Mapping[str, int], plan: Plan) -> list[Problem]:
    created, found = leaks.get("created_after_as_of", 0), []
    of_all, as_of = f"of {leaks['judged_items']:,} judged items", plan.settings.as_of
    if created:
        text = f"{created:,} {of_all} were created after {as_of}; their judgments are cut"
        found.append(Problem("late_items", "note", text))
    logged = leaks.get("first_after_as_of", 0) - created
    if logged:
        text = (
            f"{logged:,} {of_all} are in the logs only after {as_of}; nothing says when they were"
            " created, so they and their judgments are kept"
        )
        fix = "give the items a created_at: then they are cut"
        found.append(Problem("late_items", "warning", text, fix))
    return found


def _of_pairs(leaks: Mapping[str, int], plan: Plan) -> list[Problem]:
    if not leaks.get("pairs_in_logs"):
        return []
    text = (
        f"{leaks['pairs_in_logs']:,} of {leaks['pairs']:,} judged pairs, of"
        f" {leaks['queries_in_logs']:,} queries, are in the logs that models learn from"
    )
    fix = f"where grades come from these logs, {_apart(plan)}"
    return [Problem("target_leakage", "warning", text, fix)]


def _apart(plan: Plan) -> str:
    """What is left to do, so that no grade is made of what models learn from."""
    settings, start = plan.settings, plan.evaluate_from
    lacks = [name for name in ("train_until", "evaluate_from") if not getattr(settings, name)]
    if lacks:
        return f"set {' and '.join(lacks)}"
    if start is not None and start < plan.train_until:
        return "set evaluate_from to train_until or later: they overlap"
    return "make them of rows after train_until only: queries are cut by time, grades are not"


def _of_logs(logs: Mapping[str, int]) -> list[Problem]:
    found = []
    late = logs.get("after_as_of", 0) + logs.get("after_train_until", 0)
    if late:
        text = f"{late:,} log rows postdate the cut-off; they are cut"
        found.append(Problem("late_logs", "note", text))
    if logs.get("undated"):
        text = (
            f"{logs['undated']:,} log rows have no time; they are cut: nothing says they are past"
        )
        found.append(Problem("undated_logs", "warning", text))
    return found
