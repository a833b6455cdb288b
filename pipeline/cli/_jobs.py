"""What the jobs of a run leave behind: a record each, and no empty folders.

A job may run in another process, so its record is a file in a folder that the environment names.
"""

import json
import os
import re
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from pipeline.workflow.voice import say

RECORDS = "SAMEPOOL_EXIT_CODES"
SEVERITY = (1, 2, 5, 3, 4, 0)  # worst first
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Job:
    """One job that ended.

    Attributes:
        number: its place in the sweep; 0 outside one.
        overrides: its own, as Hydra read them.
        folder: where its output went.
        code: its exit code.
    """

    number: int
    overrides: tuple[str, ...]
    folder: str
    code: int


def record(code: int) -> None:
    """Leaves this job's record, in the job's own process."""
    config = HydraConfig.get()
    words: Any = OmegaConf.to_container(config.overrides.task, resolve=False)
    job = Job(
        0 if OmegaConf.is_missing(config.job, "num") else int(config.job.num),
        tuple(words),
        str(config.runtime.output_dir),
        code,
    )
    path = Path(os.environ[RECORDS]) / uuid.uuid4().hex
    path.write_text(json.dumps(asdict(job)), encoding="utf-8")


def read(records: Path) -> list[Job]:
    """The jobs that ended, in the order of the sweep."""
    found = [json.loads(path.read_text("utf-8")) for path in records.iterdir()]
    jobs = [Job(**{**one, "overrides": tuple(one["overrides"])}) for one in found]
    return sorted(jobs, key=lambda job: job.number)


def worst(jobs: Sequence[Job]) -> int:
    """The program's exit code."""
    codes = {job.code for job in jobs}
    return next((code for code in SEVERITY if code in codes), 0)


def close(jobs: Sequence[Job]) -> None:
    """Says how each job of a sweep ended; only what sets it apart is named."""
    common = set.intersection(*(set(job.overrides) for job in jobs)) if len(jobs) > 1 else set()
    for job in jobs:
        own = " ".join(word.lstrip("+") for word in job.overrides if word not in common)
        made = f" -> {os.path.relpath(job.folder)}" if Path(job.folder).is_dir() else ""
        say(f"job {job.number}: {own or 'as given'}{made} (exit code {job.code})")
    if jobs:
        say(f"worst exit code of {len(jobs)} job{'s' * (len(jobs) > 1)}: {worst(jobs)}")


def tidy(folder: Path) -> None:
    """Takes away a job's folder, its sweep's and its date's where nothing was written into them."""
    for path in (folder, folder.parent, folder.parent.parent):
        if path != folder and not _made_by_us(path):
            return
        try:
            if [child.name for child in path.iterdir()] == ["multirun.yaml"]:
                (path / "multirun.yaml").unlink()
            path.rmdir()
        except OSError:  # something is in it, or it is gone
            return


def _made_by_us(path: Path) -> bool:
    """Whether the path is a date's folder, or stands in one."""
    return bool(_DATE.fullmatch(path.name) or _DATE.fullmatch(path.parent.name))
