"""What passes between the workflow and a tracker."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
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
    """A model taken from a registry.

    Attributes:
        predict: a table of inputs (N rows) to scores (N,).
        inputs: column names that its signature asks for; None where it has no named columns.
    """

    predict: Callable[[pd.DataFrame], np.ndarray[tuple[int, ...], np.dtype[np.float64]]]
    inputs: tuple[str, ...] | None
