"""A progress bar on standard error, and none where nobody watches."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def bar(steps: Sequence[slice], label: str) -> Iterator[slice]:
    """Yields the steps and shows how many are done."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from steps
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        yield from progress.track(steps, description=label)


def silent(steps: Sequence[slice], _label: str) -> Iterator[slice]:
    """Yields the steps."""
    yield from steps
