"""Draws the queries: the population, its strata, and a sample by seeded hashes of ids."""

# ruff: noqa: S608 - all names and texts in this SQL went through ident and text

from pipeline.core.problems import fault
from pipeline.pool._freeze.engine import Engine, text
from pipeline.pool._freeze.plan import Plan
from pipeline.pool._freeze.strata import allocate, stratify
from pipeline.pool._result import Stratum


def draw(engine: Engine, plan: Plan) -> tuple[dict[str, int], tuple[Stratum, ...]]:
    """Tables ``population`` and ``sampled`` (query_id, frequency, stratum, weight, ...).

    A query is drawn if the SHA-256 of seed and id is among the smallest of its stratum: so the
    sample depends on nothing but the ids, their frequencies and the seed.

    Returns:
        What was left out before the draw; the strata.

    Raises:
        SamepoolError: nothing is left to sample from; a stratum would get nothing.
    """
    settings = plan.settings
    engine.run(
        "CREATE TABLE population AS SELECT merged.* FROM merged LEFT JOIN (SELECT query_id,"
        " count(*) AS n, count(*) FILTER (WHERE grade >= ?) AS good FROM judged GROUP BY query_id)"
        " USING (query_id) WHERE coalesce(n, 0) >= ? AND coalesce(good, 0) >= ?",
        [settings.relevant_from, settings.min_judged, settings.min_relevant],
    )
    counts = _left_out(engine, plan)
    groups = engine.rows(
        "SELECT frequency, count(*) FROM population GROUP BY frequency ORDER BY frequency DESC"
    )
    strata = allocate(stratify(groups, plan.shares), settings.n, plan.allocation)
    engine.run(
        "CREATE TABLE strata (stratum VARCHAR, low DOUBLE, high DOUBLE, taken BIGINT,"
        " weight DOUBLE)"
    )
    for one in strata:
        if one.queries:
            values = [one.name, one.low, one.high, one.taken, one.weight]
            engine.run("INSERT INTO strata VALUES (?, ?, ?, ?, ?)", values)
    order = f"sha256(concat({text(settings.seed)}, ':', query_id)), query_id"
    engine.run(
        "CREATE TABLE drawn AS SELECT query_id, stratum, weight FROM (SELECT query_id, stratum,"
        f" weight, taken, row_number() OVER (PARTITION BY stratum ORDER BY {order}) AS place"
        " FROM population JOIN strata ON frequency BETWEEN low AND high) WHERE place <= taken"
    )
    engine.run("CREATE TABLE sampled AS SELECT * FROM population JOIN drawn USING (query_id)")
    return counts, strata


def _left_out(engine: Engine, plan: Plan) -> dict[str, int]:
    settings = plan.settings
    merged = engine.count("SELECT count(*) FROM merged")
    judged = engine.count(
        "SELECT count(*) FROM (SELECT query_id FROM judged GROUP BY query_id HAVING count(*) >= ?)",
        [settings.min_judged],
    )
    population = engine.count("SELECT count(*) FROM population")
    if not population:
        text_ = (
            f"no query is left to sample from: {merged - judged:,} of {merged:,} have fewer than"
            f" {settings.min_judged} judgments, {judged:,} others fewer than"
            f" {settings.min_relevant} of grade {settings.relevant_from:g} or more"
        )
        raise fault("empty_pool", text_, "lower min_judged or min_relevant")
    return {
        "below_min_judged": merged - judged,
        "below_min_relevant": judged - population,
        "population": population,
    }


def words(plan: Plan, strata: tuple[Stratum, ...]) -> str:
    """How the queries were chosen, for people."""
    taken, total = (sum(getattr(s, name) for s in strata) for name in ("taken", "queries"))
    parts = ", ".join(f"{s.name} {s.taken:,} of {s.queries:,}" for s in strata)
    how = plan.allocation if isinstance(plan.allocation, str) else "given"
    return (
        f"{taken:,} of {total:,} queries, stratified by share of traffic ({parts}),"
        f" {how} allocation, without replacement, seed {plan.settings.seed}"
    )


def design(
    plan: Plan, population: dict[str, int], strata: tuple[Stratum, ...]
) -> dict[str, object]:
    """The same for programs: goes into the declared facts."""
    settings = plan.settings
    found: dict[str, object] = {
        "design": {
            "population": population["population"],
            "strata": {
                s.name: {
                    "queries": s.queries,
                    "sampled": s.taken,
                    "weight": s.weight,
                    "min_frequency": s.low,
                    "max_frequency": s.high,
                    "share_of_traffic": s.traffic,
                }
                for s in strata
            },
            "seed": settings.seed,
        },
        "left_out": {
            "min_judged": settings.min_judged,
            "min_relevant": settings.min_relevant,
            "relevant_from": settings.relevant_from,
            "below_min_judged": population["below_min_judged"],
            "below_min_relevant": population["below_min_relevant"],
        },
        "repeats": {"by": plan.repeats.by, "per_user": plan.repeats.per_user},
        "train_until": settings.train_until,
        "evaluate_from": settings.evaluate_from,
    }
    if plan.negatives.per_query:
        negatives = plan.negatives
        found["sampled_candidates"] = {
            "per_query": negatives.per_query,
            "how": negatives.how,
            "seed": settings.seed if negatives.seed is None else negatives.seed,
        }
    return found
