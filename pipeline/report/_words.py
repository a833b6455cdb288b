"""What numbers may be said to mean, in words. Not significant is never called no worse."""

from collections import Counter

from pipeline.core.comparison import Claim, Comparison
from pipeline.core.decision import Decision
from pipeline.report import _format as fmt

STATUS = {
    "pass": "pass",
    "fail": "FAIL",
    "inconclusive": "inconclusive",
    "invalid": "INVALID",
    "no_criteria": "not judged",
}

FAMILIES = {
    "F1": "F1 (gate): a model must pass all its rules, so there is no correction over rules; "
    "then Holm over the candidates",
    "F2": "F2 (alarm): Holm over its models, metrics and slices",
    "F3": "F3 (exploration): Holm over its models, metrics and slices; it never gates",
}

UNTESTED = {
    "no_data": "no data",
    "single": "one pair",
    "all_zero": "all deltas 0",
    "zero_variance": "no variance",
    "too_few": "too few",
    "invalid": "invalid",
}
SHORT = {
    "inconclusive": "?",
    "not tested": "untested",
    "all deltas 0": "all 0",
    "no variance": "same",
    "too few": "few",
    "uncorrected": "raw",
}
UNTESTED_LONG = {
    "no_data": "no query has a value on both sides",
    "single": "one pair of queries only; nothing can be tested",
    "all_zero": "every delta is zero; that alone does not show that the models are equivalent",
    "zero_variance": "every delta is the same, so there is no variance to test against",
    "too_few": "too few clusters with a non-zero delta; shown, not relied on",
    "invalid": "a value exists on one side only",
}


def claim(claim_: Claim) -> str:
    """The claim as a phrase after the model's name."""
    base, margin = fmt.clean(claim_.baseline), fmt.mean(claim_.margin)
    if claim_.kind == "superior":
        by = f" by more than {margin}" if claim_.margin else ""
        phrase = f"better than {base}{by}"
    elif claim_.kind == "noninferior":
        phrase = f"not worse than {base} by {margin} or more"
    elif claim_.kind == "equivalent":
        phrase = f"within {margin} of {base}, either way"
    else:
        phrase = f"different from {base}"
    return phrase if claim_.on == "point" else f"{phrase} ({claim_.on} bound over unjudged items)"


def level(claim_: Claim) -> str:
    """Side and level of a claim's test."""
    side = "two-sided" if claim_.side == "two-sided" else "one-sided"
    return f"{side}, alpha {claim_.alpha:g}"


def bound(claim_: Claim, *, turned: bool) -> str:
    """What a claim's one-sided bound is, once the delta's sign has been turned or not."""
    if claim_.side == "two-sided":
        return ""
    lower = (claim_.side == "greater") != turned
    return f"{'lower' if lower else 'upper'} {fmt.level(1 - claim_.alpha)} bound"


def decision(decision_: Decision) -> str:
    """One sentence on a candidate."""
    name, n = fmt.clean(decision_.model), len(decision_.verdicts)
    if decision_.status == "no_criteria":
        return f"{name} was measured, not judged: there are no rules."
    if decision_.status == "pass":
        return f"{name} passes: {'its one check holds' if n == 1 else f'all {n} checks hold'}."
    by = Counter[str](verdict.status for verdict in decision_.verdicts)
    parts = [
        _part(decision_, status, words, by[status])
        for status, words in (("invalid", "invalid"), ("fail", "failed"))
        if by[status]
    ]
    if by["inconclusive"]:
        parts.append(_part(decision_, "inconclusive", "inconclusive", by["inconclusive"]))
    verb = {"fail": "fails", "invalid": "cannot be judged"}.get(decision_.status, "is undecided")
    tail = ""
    if decision_.status == "inconclusive":
        tail = " That is no pass, and no proof that nothing got worse."
    return f"{name} {verb}: of {fmt.counted(n, 'check')}, {'; '.join(parts)}.{tail}"


def _part(decision_: Decision, status: str, words: str, number: int) -> str:
    rules = dict.fromkeys(v.rule for v in decision_.verdicts if v.status == status)
    shown = [fmt.clean(rule) for rule in list(rules)[:5]]
    more = f" and {len(rules) - 5} more" if len(rules) > 5 else ""
    return f"{fmt.count(number)} {words} ({', '.join(shown)}{more})"


def checks(decision_: Decision) -> str:
    """How many of a candidate's checks hold, and what became of the others.

    >>> checks(Decision("a", "no_criteria", None, None, (), "", ""))
    'no rules'
    """
    by = Counter[str](verdict.status for verdict in decision_.verdicts)
    n = len(decision_.verdicts)
    if not n:
        return "no rules"
    named = (("invalid", "invalid"), ("fail", "failed"), ("inconclusive", "inconclusive"))
    others = [f"{fmt.count(by[status])} {word}" for status, word in named if by[status]]
    return ", ".join([f"{fmt.count(by['pass'])} of {fmt.count(n)} checks hold", *others])


def needed(n: int | None) -> str:
    """How many further queries would settle it."""
    if n is None:
        return ""
    return f"about {fmt.counted(n, 'more query', 'more queries')} would settle it"


def tendency(comparison: Comparison, *, higher: bool) -> str:
    """``better`` or ``worse`` where the corrected p-value allows it, else ``unclear``."""
    if comparison.p_adjusted is None or comparison.delta is None:
        return "uncorrected"
    if comparison.p_adjusted > comparison.claim.alpha or comparison.claim.kind != "difference":
        return "unclear"
    return "better" if (comparison.delta > 0) == higher else "worse"
