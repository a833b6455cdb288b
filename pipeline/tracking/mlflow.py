"""Logs to MLflow: an embedded store, a database, or a server."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.core.problems import SamepoolError, fault
from pipeline.core.run import Origin
from pipeline.core.signature import Signature
from pipeline.tracking import _fetch, _load, _origin, _probe, _publish, _runs, _serve, _state
from pipeline.tracking._errors import translated
from pipeline.tracking._store import Store, Where, connect, find_experiment, locate, open_store
from pipeline.tracking._values import Links, Loaded, Served, Start, Ticket

_LOCK_SECONDS = 600.0


@dataclass(frozen=True)
class MlflowTracker:
    """Implements Tracker.

    Attributes:
        uri: tracking URI; unset: MLFLOW_TRACKING_URI, else the embedded store.
        registry_uri: unset: MLFLOW_REGISTRY_URI, else the same store.
        experiment: name; made if it does not exist.
    """

    uri: str | None = None
    registry_uri: str | None = None
    experiment: str = "samepool"

    def __post_init__(self) -> None:
        """Checks what can be checked without MLflow.

        Raises:
            ValueError: an empty name.
        """
        if not self.experiment.strip():
            raise ValueError("experiment has no name")

    @property
    def where(self) -> Where:
        """The store, as the settings and the environment say now."""
        return locate(self.uri, self.registry_uri)

    def check(self) -> None:
        """Asks the store whether it is there; see Tracker."""
        _probe.answer(self.where.uri)

    def begin(self, start: Start) -> Ticket:
        """Opens the parent run; see Tracker."""
        store = open_store(self.where, self.experiment)
        _runs.sweep(store)
        with store.doing("create a run"):
            run = store.client.create_run(
                store.experiment_id, tags=_runs.begun(start), run_name=start.name
            )
        ticket = Ticket(run.info.run_id, store.experiment_id, store.where.shown)
        if start.out.is_dir():
            _state.write(start.out, _waiting(ticket.uri, ticket))
        return ticket

    def publish(
        self,
        ticket: Ticket | None,
        folder: Path,
        evidence: Evidence,
        decisions: Sequence[Decision],
    ) -> Links:
        """Logs the folder, once; see Tracker."""
        manifest = _state.manifest(folder)
        where = self.where
        try:
            with FileLock(str(folder / _state.LOCK), timeout=_LOCK_SECONDS):
                known = _known(ticket, folder, where)
                _state.write(folder, _waiting(where.shown, known[0] if known else None))
                store = open_store(where, self.experiment)
                job = _publish.Job(store, folder, manifest, evidence, tuple(decisions))
                return _published(job, [each.run_id for each in known])
        except Timeout as error:
            text = "another process is publishing this folder"
            raise fault("publishing", text, "wait for it", file=str(folder)) from error

    def finish(self, ticket: Ticket | None, status: str) -> bool:
        """Ends a run that is still open, and its children; see Tracker."""
        if ticket is None or not ticket.run_id or status not in _runs.ENDED:
            return False
        try:
            where = self.where
            client = connect(where, create=False)
            store = Store(client, where, self.experiment, ticket.experiment_id)
            for run in (
                *_runs.children(store, ticket.run_id).values(),
                _runs.get(store, ticket.run_id),
            ):
                if run is not None and run.info.status == "RUNNING":
                    with translated(where.uri, "end a run"):
                        client.set_terminated(run.info.run_id, status)
        except SamepoolError:  # told where the service was needed; here an exit is under way
            return False
        return True

    def fetch(self, run_id: str, into: Path) -> Path:
        """Downloads a comparison; see Tracker."""
        return _fetch.fetch(self.where, run_id, into)

    def latest(self, pool: str | None = None) -> str:
        """Newest comparison of the experiment; see Tracker."""
        return _fetch.latest(find_experiment(self.where, self.experiment), pool)

    def resolve(self, uri: str) -> Origin:
        """The exact model behind a URI; see Tracker."""
        return _origin.resolve(self.where, uri)

    def signature(self, origin: Origin) -> Signature:
        """What the model asks for; see Tracker."""
        return _load.signature(self.where, origin)

    def load_model(self, origin: Origin) -> AbstractContextManager[Loaded]:
        """The model, in this process; see Tracker."""
        return _load.load(self.where, origin)

    def serve_model(self, origin: Origin, timeout: float) -> AbstractContextManager[Served]:
        """The model, in a process of its own; see Tracker."""
        return _serve.serve(self.where, origin, timeout)


def _known(ticket: Ticket | None, folder: Path, where: Where) -> list[Ticket]:
    """Runs of this store that the folder may belong to, most trusted first."""
    state = _state.read(folder)
    found = [ticket] if ticket else []
    if state:
        found.append(Ticket(state.run_id, state.experiment_id, state.uri))
    return [each for each in found if each.run_id and each.uri == where.shown]


def _published(job: _publish.Job, run_ids: Sequence[str]) -> Links:
    run = _publish.parent(job, run_ids)
    ticket = Ticket(run.info.run_id, job.store.experiment_id, job.store.where.shown)
    _state.write(job.folder, _waiting(ticket.uri, ticket))
    links = _publish.comparison(job, run)
    pages = {"run": links.run, "leaderboard": links.leaderboard, "charts": links.charts}
    state = _state.State("published", links.uri, links.experiment_id, links.run_id, pages)
    _state.write(job.folder, state)
    return links


def _waiting(uri: str, ticket: Ticket | None) -> _state.State:
    if ticket is None:
        return _state.State("waiting", uri)
    return _state.State("waiting", uri, ticket.experiment_id, ticket.run_id)


PLUGIN = MlflowTracker
