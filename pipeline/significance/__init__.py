"""Significance: what paired differences say about a claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Protocol, TypeAlias

from pipeline.core import registry
from pipeline.core.comparison import Claim, Comparison
from pipeline.core.pool import Units
from pipeline.core.problems import Problem, SamepoolError
from pipeline.core.scores import MetricInfo, Scores
from pipeline.core.settings import SignificanceSettings
from pipeline.core.slices import Slices
from pipeline.kernels.adjust import holm
from pipeline.significance._pairs import Column, Keys, pair

_MOST_CONFIDENT = 0.999  # intervals of 1 - 1e-16 are no numbers


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value and how it was come by.

    Attributes:
        p: in (0, 1].
        method: words for the report.
    """

    p: float
    method: str


class PairedTest(Protocol):
    """A test of paired differences; a plugin is a dataclass of its options."""

    def p_values(
        self, columns: Sequence[Column], asked: Sequence[tuple[int, Claim]], seed: int
    ) -> tuple[PValue, ...]:
        """One p-value for each claim asked, in order.

        Args:
            columns: paired differences; all have a positive standard error.
            asked: place in ``columns``, and the claim about it.
            seed: of any resampling. A p-value may depend on the column, the claim and the seed
                alone, not on what else is asked.
        """
        ...


def test(  # noqa: PLR0913, PLR0917 - the stage's whole input, named in the design
    scores: Mapping[str, Scores],
    metrics: Sequence[MetricInfo],
    slices: Slices,
    units: Units,
    claims: Sequence[Claim],
    settings: SignificanceSettings,
    seed: int,
) -> tuple[Comparison, ...]:
    """Tests every claim, in the order given.

    Queries are paired by their code. A pair without a value on either side is left out and
    counted; so is one that a model did not answer where the metric has no worst value; any other
    value on one side only makes the comparison invalid. Claims of the gate count a query that only
    the baseline did not answer as a tie, so that its worst values make no gain.

    Intervals and bounds are always the cluster-robust t's; p-values are the plugin's. Families F2
    and F3 are corrected by Holm over what was tested in them (claims below the evidence minimum
    are shown, not tested).

    Args:
        scores: by model.
        metrics: direction and worst value of each.
        slices: query masks and crossings.
        units: clusters.
        claims: at most one of an id.
        settings: levels, resamples and the evidence minimum.
        seed: of the resampling.

    Raises:
        SamepoolError: settings out of range; a claim about what was not measured.
    """
    levels = [claim.alpha for claim in claims if claim.family == "F1"]
    check(settings, min(levels, default=None))
    keys = Keys(scores, {info.label: info for info in metrics}, slices, units)
    columns = _columns(keys, claims)
    statuses = {key: column.status(settings.min_nonzero) for key, column in columns.items()}
    asked = [claim for claim in claims if statuses[_key(claim)] in {"ok", "too_few"}]
    wanted = {_key(claim): None for claim in asked}
    place = {key: number for number, key in enumerate(wanted)}
    found = _plugin(settings).p_values(
        [columns[key] for key in wanted], [(place[_key(claim)], claim) for claim in asked], seed
    )
    p_values = {claim.id: p for claim, p in zip(asked, found, strict=True)}
    compared = [
        _comparison(claim, columns[_key(claim)], p_values.get(claim.id), settings, seed)
        for claim in claims
    ]
    return _corrected(compared)


_Key: TypeAlias = tuple[str, str, str, str, bool]


def _key(claim: Claim) -> _Key:
    """What a claim's pairs depend on; the gate pairs a silent baseline differently."""
    return claim.model, claim.baseline, claim.metric, claim.slice, claim.family == "F1"


def check(settings: SignificanceSettings, alpha: float | None = None) -> None:
    """Refuses settings out of range, all of them together.

    Args:
        settings: how differences are tested.
        alpha: the gate's level, if there is a gate; flips must be able to reach it.

    Raises:
        SamepoolError: they are.
    """
    limits = {
        "flips": (99, 10_000_000),
        "gate_flips": (99, 10_000_000),
        "exact_up_to": (0, 22),
        "min_nonzero": (0, 1_000_000),
    }
    problems = []
    for name, (low, high) in limits.items():
        value = getattr(settings, name)
        if not low <= value <= high:
            text = f"significance.{name} is {value:,}, not between {low:,} and {high:,}"
            problems.append(Problem("bad_option", "error", text))
    if not 0.5 < settings.confidence <= _MOST_CONFIDENT:
        text = f"significance.confidence is {settings.confidence!r}, not between 0.5 and 0.999"
        problems.append(Problem("bad_option", "error", text, "for 95 % write 0.95"))
    problems += _reach(settings, alpha)
    if problems:
        raise SamepoolError(problems)


def _reach(settings: SignificanceSettings, alpha: float | None) -> list[Problem]:
    """A level below the smallest p-value of the gate's flips or resamples: nothing could pass."""
    if alpha is None or settings.kind != "cluster_signflip":
        return []
    fewest = min(("flips", "gate_flips"), key=lambda name: getattr(settings, name))
    smallest = 1 / (getattr(settings, fewest) + 1)
    if alpha >= smallest:
        return []
    text = (
        f"gate.alpha is {alpha:g}, below {smallest:.2g}, the smallest p-value that "
        f"significance.{fewest}={getattr(settings, fewest)} can give"
    )
    return [Problem("bad_option", "error", text, f"a larger alpha, or more {fewest}")]


def _plugin(settings: SignificanceSettings) -> PairedTest:
    kind = registry.plugin("significance", settings.kind, "significance")
    options = {field.name: getattr(settings, field.name, None) for field in fields(kind)}
    test_plugin: PairedTest = registry.build(
        "significance", {"kind": settings.kind, **options}, "significance"
    )
    return test_plugin


def _columns(keys: Keys, claims: Sequence[Claim]) -> dict[_Key, Column]:
    columns: dict[_Key, Column] = {}
    problems: list[Problem] = []
    for claim in claims:
        try:
            if _key(claim) not in columns:
                columns[_key(claim)] = pair(keys, claim)
        except SamepoolError as error:
            problems.extend(error.problems)
    if len({claim.id for claim in claims}) < len(claims):
        problems.append(Problem("claim_twice", "error", "two claims have one id"))
    if problems:
        raise SamepoolError(dict.fromkeys(problems))
    return columns


def _comparison(
    claim: Claim, column: Column, found: PValue | None, settings: SignificanceSettings, seed: int
) -> Comparison:
    status = column.status(settings.min_nonzero)
    found = found or _degenerate(claim, column, status)
    spread = column.spread if status in {"ok", "too_few"} else None
    one_sided = claim.alpha / 2 if claim.side == "two-sided" else claim.alpha
    bounded = spread if claim.side != "two-sided" else None
    mde = spread.detectable(one_sided) if spread else None
    return Comparison(
        claim=claim,
        n=column.n,
        n_nonzero=column.n_nonzero,
        n_clusters=column.n_clusters,
        n_dropped=column.n_dropped,
        n_constant=column.n_constant,
        baseline_mean=column.baseline_mean,
        mean=column.mean,
        delta=column.delta,
        ci=spread.interval(settings.confidence) if spread else None,
        bound=bounded.bound(claim.alpha, sign(claim)) if bounded else None,
        joint_ci=None,
        p=found.p if found else None,
        p_adjusted=None,
        wins=column.wins,
        ties=column.n - column.wins - column.losses,
        losses=column.losses,
        mde=mde,
        n_needed=_further(claim, column.n, mde),
        status=status,
        method=found.method if found else "none",
        seed=seed,
    )


def sign(claim: Claim) -> float:
    """+1 where a claim's alternative lies above in raw deltas, -1 where below."""
    return -1.0 if claim.side == "less" else 1.0


def at_zero(claim: Claim) -> bool:
    """Whether the claim's null hypothesis is a mean difference of 0: what sign flips can test."""
    return claim.kind == "difference" or (claim.kind == "superior" and claim.margin == 0)


def _further(claim: Claim, n: int, mde: float | None) -> int | None:
    """Further queries for 80 % power to show non-inferiority of a model that is as good."""
    if claim.kind != "noninferior" or mde is None or mde <= claim.margin or not claim.margin:
        return None
    return int(-(-n * (mde / claim.margin) ** 2 // 1)) - n


def _degenerate(claim: Claim, column: Column, status: str) -> PValue | None:
    """P-values that need no test: of one cluster, of no differences, of one and the same."""
    if status == "single":
        return PValue(1.0, "none: one cluster")
    if status == "all_zero" and claim.kind in {"difference", "superior"}:
        return PValue(1.0, "none: no differences")
    if status == "zero_variance" and at_zero(claim):
        return PValue(_constant(claim, column), "exact sign-flip of equal differences")
    return None


def _constant(claim: Claim, column: Column) -> float:
    """Of 2^k sign patterns only the two uniform ones are as extreme as equal differences."""
    smallest = 2.0 ** -min(column.n_nonzero, 1_000)
    if claim.side == "two-sided":
        return 2 * smallest
    favours = sign(claim) * (column.delta or 0.0) > 0
    return smallest if favours else 1.0


def _corrected(compared: Sequence[Comparison]) -> tuple[Comparison, ...]:
    result = list(compared)
    for family in ("F2", "F3"):
        places = [
            place
            for place, comparison in enumerate(compared)
            if comparison.claim.family == family and comparison.status == "ok"
        ]
        for place, p in zip(places, holm([compared[i].p for i in places]), strict=True):
            result[place] = replace(compared[place], p_adjusted=p)
    return tuple(result)
