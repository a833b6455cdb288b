"""How lists are read and measured: part of every number's identity."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conventions:
    """Settings that change numbers, kept constant between models and printed in the report.

    Attributes:
        profile: name of the set of conventions, ``samepool`` unless asked otherwise.
        ties: order of items with equal scores: ``id_desc`` (as trec_eval), ``id_asc``, or
            ``given`` (the rank column, else the order of the file).
        precision: ``float64`` or ``float32``: what scores are compared in.
        topics: ``judged``: pool queries that have judgments.
        relevant_from: smallest grade that counts as relevant for binary metrics.
        missing: ``worst``: an unanswered query scores the metric's worst value.
        no_relevant: ``default`` (each metric's own), or ``zero``, ``skip``, ``one``, ``error``.
        unjudged: ``nonrelevant``: an unjudged item gains nothing and holds its rank.
        digest: SHA-256 of the above.
    """

    profile: str = "samepool"
    ties: str = "id_desc"
    precision: str = "float64"
    topics: str = "judged"
    relevant_from: float = 1.0
    missing: str = "worst"
    no_relevant: str = "default"
    unjudged: str = "nonrelevant"
    digest: str = ""
