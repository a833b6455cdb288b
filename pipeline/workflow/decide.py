"""Claims, tests, decisions: one path, whether models were scored now or long ago."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.core.comparison import Claim
from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence, ModelRecord
from pipeline.core.problems import fault
from pipeline.core.scores import MetricInfo
from pipeline.core.settings import SignificanceSettings
from pipeline.gate import Axes, build, claims, decide
from pipeline.kernels.digest import of_arrays, of_json, of_parts
from pipeline.metrics import parse
from pipeline.significance import test

EXIT_CODES = {"pass": 0, "fail": 3, "invalid": 3, "inconclusive": 4, "no_criteria": 2}


def axes(
    models: Sequence[tuple[str, str]],
    metrics: Sequence[MetricInfo],
    slices: Sequence[str],
    primary: str,
    alpha: float,
) -> Axes:
    """What rules may speak of.

    Args:
        models: pairs of key and role.
        metrics: what was, or will be, measured.
        slices: names of slices.
        primary: label of the primary metric.
        alpha: the gate's one-sided level.
    """
    return Axes(
        baseline=next((name for name, role in models if role == "baseline"), None),
        candidates=tuple(name for name, role in models if role == "candidate"),
        metrics=tuple(metrics),
        slices=tuple(slices),
        primary=primary,
        alpha=alpha,
        canonical=lambda text: parse(text).label,
    )


def all_claims(
    about: Axes, rules: Mapping[str, Any], significance: SignificanceSettings
) -> tuple[Claim, ...]:
    """Every claim to be tested: all differences for the report, then what the rules need.

    Raises:
        SamepoolError: a rule names a metric or slice that there is not.
    """
    wanted = claims(build(rules), about)
    return (*_differences(about, significance), *wanted) if about.baseline else ()


def _differences(about: Axes, significance: SignificanceSettings) -> list[Claim]:
    return [
        Claim(
            id=f"report/{model}/{info.label}/{name}",
            rule="report",
            model=model,
            baseline=str(about.baseline),
            metric=info.label,
            slice=name,
            average="macro",
            kind="difference",
            margin=0.0,
            side="two-sided",
            alpha=1 - significance.confidence,
            family="F3",
        )
        for model in about.candidates
        for info in about.metrics
        if info.per == "query"
        for name in about.slices
    ]


def conclude(
    evidence: Evidence, rules: Mapping[str, Any], alpha: float
) -> tuple[Evidence, tuple[Decision, ...]]:
    """Tests all claims on the evidence's scores and decides on every candidate.

    Args:
        evidence: scores, slices and units; comparisons it may hold are not believed but made anew.
        rules: gate rules by name, as configured.
        alpha: the gate's one-sided level.

    Returns:
        The evidence with its comparisons, and a decision a candidate (none without a baseline).
    """
    settings = evidence.settings
    significance = SignificanceSettings(**settings["significance"])
    models = [(model.name, model.role) for model in evidence.models]
    names, primary = evidence.slices.names, settings["primary"]
    about = axes(models, evidence.metrics, names, primary, alpha)
    comparisons = test(
        {scores.model: scores for scores in evidence.scores},
        evidence.metrics,
        evidence.slices,
        evidence.units,
        all_claims(about, rules, significance),
        significance,
        settings["seed"],
    )
    tested = replace(evidence, comparisons=comparisons)
    if about.baseline is None:
        return tested, ()
    return tested, decide(build(rules), about, tested, digest(evidence))


def digest(evidence: Evidence) -> str:
    """SHA-256 of what decisions rest on: pool, models, settings, slices, scores."""
    parts = {
        "pool": evidence.pool.digest,
        "settings": of_json(evidence.settings),
        "slices": of_arrays({"query": evidence.slices.query}),
    }
    for scores, model in zip(evidence.scores, evidence.models, strict=True):
        parts[f"values/{scores.model}"] = of_arrays({"values": scores.values})
        parts[f"reason/{scores.model}"] = of_arrays({"reason": scores.reason})
        parts[f"run/{scores.model}"] = model.run_digest
    return of_parts(parts)


def exit_code(
    decisions: Sequence[Decision], models: Sequence[ModelRecord], candidate: str | None
) -> int:
    """The exit code of a gate: that of one candidate, or of the best of all.

    Raises:
        SamepoolError: there is no such candidate.
    """
    if not decisions:
        names = ", ".join(model.name for model in models)
        text = f"nothing to decide: there is no baseline or no candidate (models: {names})"
        raise fault("no_criteria", text, "set baseline=")
    if candidate is not None:
        decisions = [d for d in decisions if d.model == candidate]
        if not decisions:
            names = ", ".join(m.name for m in models if m.role == "candidate")
            raise fault("unknown_candidate", f"no candidate {candidate!r}", f"there are: {names}")
    codes = {EXIT_CODES[decision.status] for decision in decisions}
    return next(code for code in (0, 4, 3, 2) if code in codes)
