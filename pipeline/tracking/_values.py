"""What passes between the workflow and a tracker."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.core.problems import Problem


@dataclass(frozen=True, slots=True)
class Start:
    """What is known, and fixed, before the first model is scored.

    Attributes:
        name: of the run while it is running; a publication renames it by its outcome.
        pool, pool_digest: the pool's name and SHA-256.
        rules_digest: SHA-256 of the gate's rules, logged here so that nobody can change them
            after having seen scores.
        settings_digest: SHA-256 of the settings that determine numbers.
        n_models: models to be scored.
        out: the output folder.
        seed: of the resampling.
    """

    name: str
    pool: str
    pool_digest: str
    rules_digest: str
    settings_digest: str
    n_models: int
    out: Path
    seed: int


@dataclass(frozen=True, slots=True)
class Ticket:
    """The run that was opened.

    Attributes:
        run_id: id of the parent run; empty where nothing is logged.
        experiment_id: id of its experiment.
        uri: tracking URI without credentials.
    """

    run_id: str
    experiment_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class Links:
    """Where a published comparison can be seen. Strings are empty where there is no such page.

    Attributes:
        run_id, experiment_id, uri: as in :class:`Ticket`.
        run: the parent run's page.
        leaderboard: a flat table of the models, best first.
        charts: one bar chart a metric.
        needs_ui: whether the links work only while ``samepool ui`` runs.
        problems: warnings: what the server lacks or forbids, where the rest was logged.
    """

    run_id: str = ""
    experiment_id: str = ""
    uri: str = ""
    run: str = ""
    leaderboard: str = ""
    charts: str = ""
    needs_ui: bool = False
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model of a registry, loaded into this process.

    Attributes:
        predict: a table of inputs (N rows) to whatever the model returns for it.
        classes: labels that a classifier tells apart; None where it is none, or does not say.
        proba: a table of inputs to probabilities (N, classes); None where it has none.
        method: the method of the model that ``predict`` calls.
    """

    predict: Callable[[pd.DataFrame], Any]
    classes: tuple[Any, ...] | None = None
    proba: Callable[[pd.DataFrame], Any] | None = None
    method: str = "predict"


@dataclass(frozen=True, slots=True)
class Served:
    """A model that a process of its own serves.

    Attributes:
        url: of the server, on this machine.
        ended: the last lines that the server said, where it has ended; None while it runs.
    """

    url: str
    ended: Callable[[], str | None]
