"""Composes the config with Hydra, runs the command on it, and collects the exit codes.

The only module that runs Hydra. Every job of a sweep, in whatever process, leaves a record of how
it ended; the worst exit code is the program's.
"""

import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from pipeline.cli import _jobs
from pipeline.cli._argv import Invocation
from pipeline.cli._conf import config_folder
from pipeline.cli._errors import explain, headless_models, quoted, refused
from pipeline.cli._keys import opened
from pipeline.core import settings as schema
from pipeline.core.problems import Problem, SamepoolError
from pipeline.core.suggest import did_you_mean
from pipeline.workflow.voice import complain, report

SCHEMAS: dict[str, type[Any]] = {
    "compare": schema.CompareSettings,
    "check": schema.CompareSettings,
    "gate": schema.GateCommand,
    "stamp": schema.StampCommand,
    "freeze": schema.FreezeCommand,
    "upload": schema.UploadCommand,
    "ui": schema.UiCommand,
}
BUG = 1


@dataclass(frozen=True, slots=True)
class Context:
    """What a command knows beside its settings.

    Attributes:
        run: the text after ``run=``.
        config: the composed config before interpolations are resolved, so without secrets.
        overrides: what the user overrode.
    """

    run: str | None
    config: str
    overrides: tuple[str, ...]


def run(invocation: Invocation) -> int:
    """Runs the command once, or once a job of a sweep.

    Returns:
        The worst exit code of the jobs.

    Raises:
        SamepoolError: the config cannot be composed.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra hands us the exception instead of a traceback
    store = ConfigStore.instance()
    for name, node in SCHEMAS.items():
        store.store(name=f"{name}_schema", node=node)
    with tempfile.TemporaryDirectory(prefix="samepool-") as records, _argv(invocation):
        os.environ[_jobs.RECORDS] = records
        try:
            _start(invocation)
        finally:
            jobs = _jobs.read(Path(records))
            if invocation.multirun:
                _jobs.close(jobs)
    return _jobs.worst(jobs)


def _start(invocation: Invocation) -> None:
    job = hydra.main(
        version_base="1.3", config_path=str(config_folder()), config_name=invocation.command
    )(_job(invocation))
    try:
        job()
    except (KeyboardInterrupt, SamepoolError, BrokenPipeError):
        raise
    except SystemExit as error:
        if error.code not in {0, None}:
            raise explain(error, invocation) from error
    except Exception as error:
        raise explain(error, invocation) from error


@contextmanager
def _argv(invocation: Invocation) -> Iterator[None]:
    before = sys.argv
    words = [quoted(opened(word)) for word in invocation.overrides]
    sys.argv = ["samepool", *invocation.flags, *words]
    try:
        yield
    finally:
        sys.argv = before


def _job(invocation: Invocation) -> Callable[[DictConfig], None]:
    given = [word.partition("=")[2] for word in invocation.overrides if word.startswith("hydra.")]
    kept = {str(Path(folder).resolve()) for folder in given if os.path.isdir(folder)}  # noqa: PTH112 - never raises
    makes_folders = invocation.command == "compare"

    def job(config: DictConfig) -> None:
        folder = Path(HydraConfig.get().runtime.output_dir).resolve()
        try:
            code = _guarded(invocation, config)
        finally:  # what was there before the run stays, empty or not
            if makes_folders and str(folder) not in kept:
                _jobs.tidy(folder)
        _jobs.record(code)

    return job


def _guarded(invocation: Invocation, config: DictConfig) -> int:
    """One job's exit code; nothing but an interruption leaves it as an exception."""
    try:
        return _command(invocation, config)
    except SamepoolError as error:
        report(error.problems)
        return error.exit_code
    except KeyboardInterrupt:
        raise
    except OSError as error:
        known = refused(error, config.get("out"))
        if known is None:
            return _bug()
        report(known.problems)
        return known.exit_code
    except Exception:  # noqa: BLE001 - a bug of ours; the other jobs of a sweep go on
        return _bug()


def _bug() -> int:
    """Shows the exception being handled."""
    complain("samepool: this is a bug of samepool, not a mistake of yours; please report it with:")
    complain(traceback.format_exc())
    return BUG


def _command(invocation: Invocation, config: DictConfig) -> int:
    cls = SCHEMAS[invocation.command]
    _known(config, cls, invocation)
    text = OmegaConf.to_yaml(config)
    try:
        settings = OmegaConf.to_object(config)
    except Exception as error:
        raise explain(error, invocation) from error
    context = Context(invocation.run, text, invocation.overrides)
    module = importlib.import_module(f"pipeline.cli.{invocation.command}")
    code: int = module.run(settings, context)
    return code


def _known(config: DictConfig, cls: type[Any], invocation: Invocation) -> None:
    """Refuses top-level keys that the command does not have, and models that are none."""
    known = [field.name for field in fields(cls)]
    problems = [
        Problem("unknown_key", "error", f"unknown key {key!s}", did_you_mean(str(key), known))
        for key in config
        if key not in known
    ]
    models = config.get("models")
    if isinstance(models, Mapping):
        problems += headless_models(models, invocation)
    if problems:
        raise SamepoolError(problems)
