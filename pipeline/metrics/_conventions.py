"""Which conventions there are."""

from pipeline.core.conventions import Conventions
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.core.suggest import did_you_mean

PROFILES = ("samepool",)

KNOWN = {
    "ties": ("id_desc", "id_asc", "given"),
    "precision": ("float64", "float32"),
    "topics": ("judged",),
    "missing": ("worst",),
    "no_relevant": ("default", "zero", "skip", "one", "error"),
    "unjudged": ("nonrelevant",),
}


def check(conventions: Conventions) -> None:
    """Refuses conventions that do not exist, rather than read them as others.

    Raises:
        SamepoolError: all that is unknown.
    """
    check_profile(conventions.profile)
    problems = [
        Problem("bad_option", "error", f"unknown {name} {value!r}", did_you_mean(value, known))
        for name, known in KNOWN.items()
        if (value := str(getattr(conventions, name))) not in known
    ]
    if not conventions.relevant_from > 0:
        text = f"relevant_from must be above 0, not {conventions.relevant_from}"
        problems.append(Problem("bad_option", "error", text, "1 reads grades 1, 2, 3 as relevant"))
    raise_errors(problems)


def check_profile(profile: str) -> None:
    """Refuses profiles that this version does not read.

    Raises:
        SamepoolError: the profile is not ``samepool``.
    """
    if profile not in PROFILES:
        raise fault(
            "unknown_profile",
            f"profile {profile!r} is not supported",
            "use profile samepool; gain=linear and no_relevant=zero give most numbers of trec_eval",
        )
