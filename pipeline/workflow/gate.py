"""samepool gate: decide again from logged evidence."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline import evidence as files
from pipeline.core.problems import fault
from pipeline.core.settings import GateCommand
from pipeline.gate import build, rules_digest
from pipeline.report import render
from pipeline.workflow import decide
from pipeline.workflow.publish import fetch
from pipeline.workflow.show import show
from pipeline.workflow.voice import say


def gate(settings: GateCommand, run: str) -> int:
    """Recomputes tests and decisions from a finished comparison.

    Args:
        settings: other rules, if any; a rule of the same name as a logged one changes the options
            it names and keeps the others.
        run: an output folder, an MLflow run id, or ``latest``.

    Returns:
        The decision's exit code.

    Raises:
        SamepoolError: no such run, altered evidence, rules that name what was not measured.
    """
    with tempfile.TemporaryDirectory(prefix="samepool-") as scratch:
        folder = fetch(run, settings.tracking, Path(scratch))
        evidence = files.read(folder)
        about = f"experiment {evidence.settings['tracking_experiment']}, pool {evidence.pool.name}"
        say(f"run: {run if run != 'latest' else folder} ({about})")
        rules = _rules(settings, evidence.settings["rules"])
        alpha = _given(settings.gate.alpha, evidence.settings["alpha"])
        same = rules_digest(build(rules), alpha) == evidence.settings["rules_digest"]
        tested, decisions = decide.conclude(evidence, rules, alpha)
        out = _out(settings, folder, run)
        if (out / "manifest.json").exists():
            text = "holds a finished comparison, whose own decision must stay"
            raise fault("folder_taken", text, "give another out=", file=str(out))
        show(tested, decisions, settings.report)
        if not same:
            say("rules: not those fixed before scoring; this decision is exploratory")
        code = decide.exit_code(decisions, tested.models, settings.candidate)
        files.write_decisions(tested, decisions, out, same=same)
        render(tested, decisions, out, settings.report)
        say(f"written: {out}")
    return 0 if settings.gate.informational else code


def _rules(settings: GateCommand, logged: Mapping[str, Any]) -> dict[str, Any]:
    """The rules to apply.

    ``gate=strict`` gives whole rules and replaces; ``+gate.rules.x.max_drop=.02`` changes one.
    """
    given = settings.gate.rules
    if not given:
        return dict(logged)
    whole = {name: rule for name, rule in given.items() if "kind" in rule}
    partial = {name: rule for name, rule in given.items() if "kind" not in rule}
    base = whole or dict(logged)
    changed = {name: {**base.get(name, {}), **rule} for name, rule in partial.items()}
    return {**base, **changed}


def _given(alpha: float | None, logged: float) -> float:
    """The level to decide at: the one asked for, else the comparison's own."""
    if alpha is None:
        return logged
    if not 0 < alpha < 0.5:
        raise fault("bad_option", f"gate.alpha={alpha}", "give a number between 0 and .5")
    return alpha


def _out(settings: GateCommand, folder: Path, run: str) -> Path:
    if settings.out:
        return Path(settings.out)
    return folder / "gate" if run == "latest" or Path(run).is_dir() else Path("gate")
