"""Addresses of MLflow's pages, and the view that makes a leaderboard of a comparison."""

import json
from collections.abc import Sequence
from urllib.parse import urlencode

from pipeline.core.problems import Problem
from pipeline.core.redact import redact_uris
from pipeline.tracking._store import Where
from pipeline.tracking._values import Links

LOCAL = "http://127.0.0.1:5000"
# Without it the pages open in a mode for chat applications, without a model registry.
MODE = {"workflowType": "machine_learning"}
OPEN = 2
VIEWS = "mlflow.sharedViewState."  # tags of an experiment, a view each
# Distinct also to colour-blind eyes; the baseline is grey.
BASELINE_COLOR = "#7f7f7f"
COLORS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c6d31", "#6a3d9a",
    "#b2df8a", "#1b4f4f",
)  # fmt: skip


def links(
    where: Where,
    experiment_id: str,
    run_id: str,
    view: str,
    problems: Sequence[Problem] = (),
    *,
    ui: str = LOCAL,
) -> Links:
    """Links of a published comparison.

    Args:
        where: the store.
        experiment_id: of the parent run.
        run_id: of the parent run.
        view: key of the leaderboard's view; empty where it could not be stored.
        problems: to be passed on.
        ui: where the UI is served for stores that are no server.
    """
    http = where.uri.startswith("http")
    if not http and "databricks" in where.uri:
        return Links(run_id, experiment_id, where.shown, problems=tuple(problems))
    base = f"{where.shown.rstrip('/') if http else ui}/#/experiments/{experiment_id}/runs"
    query = {"viewStateShareKey": view} if view else {}
    return Links(
        run_id,
        experiment_id,
        where.shown,
        run=f"{base}/{run_id}?{urlencode(MODE)}",
        leaderboard=f"{base}?{urlencode(query | MODE)}",
        charts=f"{base}?{urlencode(query | {'compareRunsMode': 'CHART'} | MODE)}",
        needs_ui=not http,
        problems=tuple(problems),
    )


def view_key(run_id: str) -> str:
    """Key of the view that is a comparison's leaderboard."""
    return run_id[:12]


def experiments_page(base: str) -> str:
    """The page that lists experiments."""
    return f"{redact_uris(base).rstrip('/')}/#/experiments?{urlencode(MODE)}"


def leaderboard(
    run_id: str, columns: Sequence[str], order_by: str, groups: Sequence[str], *, ascending: bool
) -> str:
    """State of a runs table that shows one comparison's models, best first, as JSON.

    MLflow does not document it; where it is not understood the plain table is shown.

    Args:
        run_id: of the parent run.
        columns: ``metrics.`key```, ``params.`key``` and ``tags.`key``` in order.
        order_by: one of them.
        groups: sections of the charts page, in order, the first ``OPEN`` of them open; MLflow
            fills them with the metrics whose keys begin so, and appends those that are not here.
        ascending: smallest first.
    """
    state = {
        "searchFilter": f"tags.mlflow.parentRunId = '{run_id}'",
        "orderByKey": order_by,
        "orderByAsc": ascending,
        "selectedColumns": list(columns),
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        # Left alone MLflow sorts sections by name, and opens with the first slice.
        "compareRunCharts": [],
        "compareRunSections": [
            {"uuid": name, "name": name, "display": place < OPEN, "isReordered": True}
            for place, name in enumerate(groups)
        ],
        "isAccordionReordered": True,
    }
    return json.dumps(state)
