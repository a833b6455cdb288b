"""The life of a tracked run around a comparison, and sending what waits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from pipeline import evidence as files
from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.core.problems import UnreachableError, fault
from pipeline.core.redact import HIDDEN, redact
from pipeline.core.settings import TrackingSettings, UiCommand, UploadCommand
from pipeline.tracking import Links, Start, Ticket, destination, open_tracker, waiting
from pipeline.tracking import ui as serve
from pipeline.workflow import decide
from pipeline.workflow.voice import report, say

UNREACHABLE = UnreachableError.exit_code


class Publication:
    """Opens the run before scoring and ends it with the right status, whatever happens.

    A server that does not answer stops nothing: results are on disk first, and wait there for
    ``samepool upload``.
    """

    def __init__(self, settings: TrackingSettings, start: Start) -> None:
        """Knows where to log and what is fixed before scoring."""
        self._tracker = open_tracker(settings)
        self._start = start
        self._ticket: Ticket | None = None
        self._done = False
        self._told = False

    def __enter__(self) -> "Publication":
        """Opens the run, if the server answers."""
        try:
            self._ticket = self._tracker.begin(self._start)
        except UnreachableError as error:
            on = "; the comparison goes on, and its results are kept on disk"
            report([replace(problem, fix=problem.fix + on) for problem in error.problems])
            self._told = True
        return self

    def publish(
        self, folder: Path, evidence: Evidence, decisions: Sequence[Decision]
    ) -> tuple[list[str], int]:
        """Logs the folder.

        Returns:
            Lines that say where it can be seen, and the exit code: 0, or 5 if it has to wait.
        """
        try:
            links = self._tracker.publish(self._ticket, folder, evidence, decisions)
        except UnreachableError as error:
            report(() if self._told else error.problems)
            self._done = True
            return [f"results are safe in {folder}; send them later with: samepool upload"], 5
        self._done = True
        report(links.problems)
        return describe(links), 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the run as FAILED or KILLED where it did not end well."""
        if kind is not None and not self._done:
            status = "KILLED" if issubclass(kind, KeyboardInterrupt) else "FAILED"
            self._tracker.finish(self._ticket, status)


def describe(links: Links) -> list[str]:
    """Lines for the terminal."""
    pages = {"run": links.run, "leaderboard": links.leaderboard, "charts": links.charts}
    lines = [f"{name}: {address}" for name, address in pages.items() if address]
    if lines and links.needs_ui:
        lines.insert(0, "MLflow UI: samepool ui   (then open:)")
    return lines


def upload(settings: UploadCommand, run: str | None) -> int:
    """Publishes one folder, or every folder that waits, each once.

    Raises:
        SamepoolError: a folder is not a finished comparison.
        UnreachableError: the server does not answer.
    """
    root = Path(settings.root)
    folders = [find(run, root)] if run else waiting(root)
    if not folders:
        say(f"nothing waits below {settings.root}")
        return 0
    for folder in folders:
        _send(folder, settings.tracking)
    return 0


def _send(folder: Path, asked: TrackingSettings) -> None:
    """Publishes one folder where it was meant to go, in the experiment it was made for."""
    evidence = files.read(folder)
    uri = asked.uri or destination(folder) or None
    if uri and HIDDEN in uri:
        text = f"{folder} was meant for {uri}, whose credentials are not kept"
        raise fault("no_credentials", text, "give tracking.uri= in full")
    experiment = str(evidence.settings["tracking_experiment"])
    settings = replace(asked, uri=uri, experiment=experiment)
    say(f"sending {folder} to {redact(uri or 'the embedded store')}, experiment {experiment}")
    tracker = open_tracker(settings)
    tracker.check()  # before tests are computed again, which may take a while
    rules, alpha = evidence.settings["rules"], evidence.settings["alpha"]
    tested, decisions = decide.conclude(evidence, rules, alpha)
    links = tracker.publish(None, folder, tested, decisions)
    report(links.problems)
    say(f"published {folder}")
    for line in describe(links):
        say(line)


def ui(settings: UiCommand) -> int:
    """Serves the embedded store's UI until interrupted."""
    return serve(settings.tracking, settings.host, settings.port, say)


def fetch(run: str, settings: TrackingSettings, into: Path) -> Path:
    """The output folder that ``run=`` names: a folder, ``latest``, or an MLflow run id.

    Args:
        run: as typed.
        settings: where comparisons are logged.
        into: where a logged one is downloaded to.

    Raises:
        SamepoolError: there is none.
        UnreachableError: the server does not answer.
    """
    if _is_local(run):
        return find(run, Path("outputs"))
    return open_tracker(settings).fetch(run, into)


def _is_local(run: str) -> bool:
    return run == "latest" or "/" in run or Path(run).is_dir()


def find(run: str, root: Path) -> Path:
    """A finished comparison on this disk: a folder, or the latest below ``root``.

    Raises:
        SamepoolError: there is none.
    """
    if run != "latest":
        if not Path(run).is_dir():
            fix = "give an output folder, an MLflow run id, or latest"
            raise fault("no_run", f"run={run}: there is no such folder", fix)
        return Path(run)
    found = list(root.rglob("manifest.json"))
    if not found:
        text = f"run=latest: there is no finished comparison below {root}"
        raise fault("no_run", text, "compare first, or give run=FOLDER")
    return max(found, key=lambda path: path.stat().st_mtime_ns).parent
