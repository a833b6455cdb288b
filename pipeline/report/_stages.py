"""Retrieval beside the final list: which stage lost what, in words that the numbers bear."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipeline.core.evidence import Evidence, ModelRecord
from pipeline.core.scores import MetricInfo
from pipeline.core.slices import ALL
from pipeline.report import _format as fmt
from pipeline.report._means import Mean, Place
from pipeline.report._rows import NOTHING, Cell, cell

_LABEL = re.compile(r"(?P<name>\w+)(?:\((?P<params>[^)]*)\))?(?:@(?P<cutoff>\d+))?")


@dataclass(frozen=True, slots=True)
class Pair:
    """A retrieval metric and the same metric of the final list, for one model."""

    metric: str
    twin: str | None
    retrieval: Cell
    final: Cell


@dataclass(frozen=True, slots=True)
class Stage:
    """One model's two stages."""

    model: str
    pairs: tuple[Pair, ...]
    sentences: tuple[str, ...]
    known: bool


def stages(evidence: Evidence, means: Mapping[Place, Mean]) -> tuple[Stage, ...]:
    """A value a model; empty where no retrieval metric was asked for."""
    before = [info for info in evidence.metrics if info.stage == "retrieval"]
    if not before:
        return ()
    after = {_key(info): info for info in evidence.metrics if info.stage == "final"}
    return tuple(_stage(model, before, after, means) for model in evidence.models)


def _key(info: MetricInfo) -> tuple[str, tuple[str, ...], str]:
    match = _LABEL.fullmatch(info.label)
    if match is None:
        return info.label, (), ""
    params = (part.strip() for part in (match["params"] or "").split(","))
    kept = tuple(part for part in params if part and not part.startswith("stage="))
    return match["name"], kept, match["cutoff"] or ""


def _stage(
    model: ModelRecord,
    before: list[MetricInfo],
    after: Mapping[tuple[str, tuple[str, ...], str], MetricInfo],
    means: Mapping[Place, Mean],
) -> Stage:
    def at(info: MetricInfo) -> Mean:
        return means.get((model.name, info.label, ALL), NOTHING)

    pairs, sentences = [], []
    for info in before:
        twin = after.get(_key(info))
        final = at(twin) if twin else NOTHING
        label = fmt.clean(twin.label) if twin else None
        pairs.append(Pair(fmt.clean(info.label), label, cell(at(info)), cell(final)))
        if twin:
            sentences += _moved(info, twin, at(info), final)
        sentences += _missed(info, at(info))
        sentences += _unranked(info, at(info), after, at)
    name = fmt.clean(model.name)
    if not model.has_retrieval:
        only = "Its final list is its own candidate list, so the two stages cannot be told apart."
        return Stage(name, tuple(pairs), (only,), known=False)
    return Stage(name, tuple(pairs), tuple(sentences), known=True)


def _missed(info: MetricInfo, mean: Mean) -> list[str]:
    name, params, cutoff = _key(info)
    if name != "R" or params or mean.value is None:
        return []
    depth = f"the first {cutoff} candidates" if cutoff else "the candidates"
    lost = fmt.mean(1 - mean.value)
    text = f"Retrieval lost {lost}: the mean share of a query's relevant items not among {depth}."
    return [f"{text} No ranking can bring them back."]


def _unranked(
    info: MetricInfo,
    mean: Mean,
    after: Mapping[tuple[str, tuple[str, ...], str], MetricInfo],
    at: Callable[[MetricInfo], Mean],
) -> list[str]:
    name, params, depth = _key(info)
    if name != "R" or params or mean.value is None:
        return []
    found = []
    for (other, others, cutoff), final in after.items():
        value = at(final)
        shallower = cutoff and (not depth or int(cutoff) < int(depth))
        if other == "R" and not others and shallower and value.value is not None:
            if value.n != mean.n:
                continue
            found.append(
                f"Ranking lost {fmt.mean(mean.value - value.value)} more before place {cutoff}: "
                f"{fmt.clean(info.label)} less {fmt.clean(final.label)}, relevant items retrieved "
                f"but not in the top {cutoff} (a query with more than {cutoff} relevant items "
                "cannot hold them all)."
            )
    return found


def _moved(info: MetricInfo, twin: MetricInfo, before: Mean, after: Mean) -> list[str]:
    if before.value is None or after.value is None or before.n != after.n:
        return []
    change = after.value - before.value
    if change == 0:
        verdict = "ranking left it as retrieval had it"
    else:
        better = (change > 0) == (info.direction == "higher")
        verdict = f"ranking {'improved' if better else 'worsened'} the order that retrieval gave"
    went = f"{fmt.clean(twin.label)} went from {fmt.mean(before.value)} in retrieval's own order"
    to = f"to {fmt.mean(after.value)} in the final list ({fmt.delta(change)})"
    return [f"{went} {to}: in the mean, {verdict}. This difference is not tested."]
