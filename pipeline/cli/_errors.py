"""Turns what Hydra and OmegaConf say of a bad config into one line with the fix."""

import errno
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from pipeline.cli import _files
from pipeline.cli._argv import TAKES_RUN, Invocation
from pipeline.cli._conf import config_folder
from pipeline.cli._keys import opened
from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.core.settings import CompareSettings
from pipeline.core.suggest import did_you_mean, nearest


def quoted(word: str) -> str:
    """The override with its value quoted for Hydra, where it is plain text that Hydra cannot read.

    Paths like ``data/dt=2026-06-01/q.parquet`` or ``~/runs/bm25.trec`` reach us as typed.

    >>> quoted("pool.qrels=data/dt=2026/q.parquet")
    "pool.qrels='data/dt=2026/q.parquet'"
    >>> quoted("seed=3")
    'seed=3'
    """
    key, equals, value = word.partition("=")
    if not equals or not value or value[0] in "[{'\"":
        return word
    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"{key}='{escaped}'"
    return word


def explain(error: BaseException, invocation: Invocation) -> SamepoolError:
    """The user's error behind an exception; anything else is raised on as it is."""
    chain = list(_chain(error))
    known = _known(error, chain, invocation)
    if known is not None:
        return known
    text = "\n".join(str(link) for link in chain)
    for pattern, make in _PATTERNS:
        match = re.search(pattern, text)
        if match:
            return make(match, invocation)
    if isinstance(error, HydraException | OmegaConfBaseException | yaml.YAMLError | SystemExit):
        return fault("bad_config", " ".join(str(chain[-1]).split()) or "bad command line", _HELP)
    if isinstance(error, ValueError):
        return fault("bad_config", " ".join(str(error).split()), _HELP)
    raise error


def _known(
    error: BaseException, chain: list[BaseException], invocation: Invocation
) -> SamepoolError | None:
    """An error of ours, of the machine, or of a file that can be named."""
    for link in chain:
        if isinstance(link, SamepoolError):
            return link
    if isinstance(error, OSError) and not isinstance(error, HydraException):
        return no_folder(error)
    return _files.fault_in(chain, _folders(invocation)[1:], invocation.overrides)


_HELP = "samepool COMMAND --help shows examples"
# What the machine refuses: no bug of ours and no mistake in a file.
_REFUSED = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG,
    errno.ELOOP,
}  # fmt: skip


def no_folder(error: OSError) -> SamepoolError:
    """The run's folder, which Hydra makes before any command runs, cannot be made."""
    shown = _shortened(error.filename)
    text = f"cannot make this folder: {error.strerror}"
    return fault("no_folder", text, "give another out=", file=shown)


def refused(error: OSError, out: str | None) -> SamepoolError | None:
    """The error of a file that the machine will not read or write; None for anything else."""
    name = str(error.filename) if error.filename else None
    about_out = bool(out and name and (Path(out) / "x").is_relative_to(name))
    within = bool(out and name and Path(name).is_relative_to(out))
    if error.errno not in _REFUSED and not about_out and not within:
        return None
    fix = "give another out=" if about_out or within else "free some space, or mend its rights"
    return fault("file_refused", str(error.strerror), fix, file=_shortened(name))


def _shortened(name: object) -> str | None:
    text = str(name) if name else None
    return f"{text[:60]}..." if text and len(text) > 200 else text


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those behind it, each once: a cause's context may lead back to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _folders(invocation: Invocation) -> list[Path]:
    """Our conf/ and the user's --config-dir."""
    named = [Path(v) for f, v in pairwise(invocation.flags) if f == "--config-dir"]
    return [config_folder(), *(folder.resolve() for folder in named)]


def _options(group: str, invocation: Invocation) -> list[str]:
    """Names of a group's options."""
    found = (path for folder in _folders(invocation) for path in (folder / group).glob("*.yaml"))
    return sorted({path.stem for path in found})


def _inside(name: str) -> list[str]:
    """Keys of that name in the groups of a comparison, e.g. ``engine.reuse``."""
    groups: list[tuple[str, Any]] = [(f.name, f.default_factory) for f in fields(CompareSettings)]
    return [
        f"{group}.{name}"
        for group, made in groups
        if is_dataclass(made) and name in {f.name for f in fields(made)}
    ]


def _no_option(match: re.Match[str], invocation: Invocation) -> SamepoolError:
    group, _, name = match["path"].rpartition("/")
    options = _options(group, invocation)
    text = f"{group or 'config'}: there is no option {name!r}"
    return fault("unknown_option", text, did_you_mean(name, options))


def _no_key(match: re.Match[str], invocation: Invocation) -> SamepoolError:
    key = match["key"]
    if key == "experiment":
        return _no_header(invocation)
    parent, _, name = key.rpartition(".")
    known = _keys(parent, invocation)
    if not known and re.match(r"^models\.\w", key):
        model, selected = key.split(".")[1], _keys("models", invocation)
        if model not in selected:
            fix = f"models=[{','.join([*selected, model])}] selects it"
            return fault("unknown_key", f"{key}: model {model} is not selected", fix)
        above, _, last = parent.rpartition(".")
        around = _keys(above, invocation)
        if last in around:
            fix = f"'{parent}={{...}}' makes it one"
            return fault("unknown_key", f"{key}: {parent} is no mapping of options", fix)
        parent, name, known = above, last, around
    if name in known:  # a mapping, which an override may change but not add to
        text = f"{key}=... names entries that {key} does not have"
        return fault("unknown_key", text, f"+{key}=... adds entries")
    if not parent and invocation.command in TAKES_RUN:
        known = sorted({*known, "run"})
    inside = [] if parent else _inside(name)
    if inside:
        return fault("unknown_key", f"there is no key {key}", f"did you mean {inside[0]}?")
    fix = did_you_mean(name, known) if known else f"+{key}=... adds a key where new ones may stand"
    return fault("unknown_key", f"there is no key {key}", fix)


def _no_header(invocation: Invocation) -> SamepoolError:
    """An experiment that Hydra has put below a key of its own."""
    chosen = [w.partition("=")[2] for w in invocation.overrides if w.startswith("experiment=")]
    found = [
        path
        for folder in reversed(_folders(invocation))
        for name in chosen
        if (path := folder / "experiment" / f"{name}.yaml").is_file()
    ]
    text = "an experiment needs its header, or its keys are read as experiment.KEY"
    fix = "make this its first line: # @package _global_"
    return fault("no_header", text, fix, file=str(found[0]) if found else None)


def headless_models(config: Mapping[Any, Any], invocation: Invocation) -> list[Problem]:
    """Models whose options stand in no mapping of their own, and options of no model.

    Args:
        config: the mapping ``models`` of the composed config.
        invocation: the command.
    """
    problems = []
    if isinstance(config.get("kind"), str):
        folders = [folder / "models" for folder in _folders(invocation)[1:]]
        files = [path for folder in folders for path in sorted(folder.glob("*.yaml"))]
        words = " ".join(w for w in invocation.overrides if w.startswith("models="))
        lacking = [p for p in files if "@package" not in p.read_text("utf-8", errors="replace")]
        asked = [p for p in lacking if re.search(rf"\b{re.escape(p.stem)}\b", words)]
        for path in asked or lacking:
            text = "a model needs its header, or its options belong to no model"
            fix = f"make this its first line: # @package models.{path.stem}"
            problems.append(Problem("no_header", "error", text, fix, file=str(path)))
    selected = [str(name) for name, spec in config.items() if _whole(spec)]
    for name, spec in config.items():
        if isinstance(spec, Mapping) and "kind" not in spec and not problems:
            options = [f"models.{name}.{option}" for option in spec] or [f"models.{name}"]
            text = f"{options[0]}: model {name} is not selected"
            problems.append(
                Problem("unknown_key", "error", text, _select(str(name), selected, invocation))
            )
    return problems


def _whole(spec: object) -> bool:
    return isinstance(spec, Mapping) and "kind" in spec


def _select(name: str, selected: list[str], invocation: Invocation) -> str:
    options = _options("models", invocation)
    if name in options:
        return f"models=[{','.join([*selected, name])}] selects it"
    near = nearest(name, [*selected, *options], n=1)
    return f"did you mean {near[0]}?" if near else f"models.{name}.kind=... makes it a new one"


def _keys(parent: str, invocation: Invocation) -> list[str]:
    """Keys of the composed config below ``parent``, without the faulty overrides."""
    from hydra import compose, initialize_config_dir  # noqa: PLC0415 - only in this error's way
    from hydra.core.global_hydra import GlobalHydra  # noqa: PLC0415

    words = [w for w in invocation.overrides if re.match(r"^[\w/]+=[\w\[\],]+$", w)]
    groups = [w for w in words if (config_folder() / w.partition("=")[0]).is_dir()]
    path = ",".join(f"'{folder}'" for folder in _folders(invocation)[1:])
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(config_folder()), version_base="1.3"):
            node: Any = compose(invocation.command, [*groups, f"hydra.searchpath=[{path}]"])
        for part in parent.split(".") if parent else []:
            node = node[part]
        if not isinstance(node, Mapping):
            return []
        return [str(key) for key in node if key != "kind"]
    except Exception:  # noqa: BLE001 - only a suggestion
        return []


# What OmegaConf says of a value -> what is wanted, and how it is written.
_WANTED = (
    (r"to Integer", "a whole number", "10"),
    (r"to Float", "a number", "0.5"),
    (r"valid bool", "true or false", "true"),
    (r"to string|to String", "text", "TEXT"),
    (r"is not a ListConfig", "a list", "[{value}]'"),
    (r"to Dict|is not a DictConfig|to dict", "a mapping", "{{name: {{option: value}}}}'"),
)


def _bad_value(match: re.Match[str], _invocation: Invocation) -> SamepoolError:
    override, reason = match["override"].lstrip("+"), " ".join(match["why"].split())
    key, _, value = override.partition("=")
    if "is not Optional" in reason:
        return fault("bad_value", f"{override}: {key} may not be null", "leave it out")
    for pattern, wanted, example in _WANTED:
        if re.search(pattern, reason):
            text = f"{override}: {key} is {wanted}"
            quote = "'" if example.endswith("'") else ""
            fix = f"write {wanted}: {quote}{key}={example.format(value=value)}"
            return fault("bad_value", text, fix)
    return fault("bad_value", f"{override}: {reason.rstrip('.')}", _HELP)


def _unset(match: re.Match[str], _invocation: Invocation) -> SamepoolError:
    name = match["name"]
    text = f"the config asks for the environment variable {name}, which is not set"
    return fault("no_variable", text, f"export {name}=...")


def _no_name(_match: re.Match[str], invocation: Invocation) -> SamepoolError:
    words = [w for w in invocation.overrides if re.match(r"^\w*=[^\w\[]*[\d.]+$", w)]
    text = f"{' '.join(words) or 'an override'}: a group takes the name of one of its options"
    return fault("bad_override", text, _HELP)


def _ambiguous(match: re.Match[str], _invocation: Invocation) -> SamepoolError:
    key, _, value = match["override"].partition("=")
    fix = f"'{key}=[{value}]' for one comparison of all; -m for a comparison of each"
    return fault("ambiguous", f"{key}={value} has a comma", fix)


def _unreadable(match: re.Match[str], invocation: Invocation) -> SamepoolError:
    words = [w for w in invocation.overrides if match["rest"] in w]
    text = f"cannot read {words[0] if words else match['rest']}"
    fix = "write KEY=VALUE, and put quotes around values with spaces, commas or brackets: "
    return fault("unreadable_override", text, fix + "\"KEY='a, b'\"")


def _unlexed(_match: re.Match[str], invocation: Invocation) -> SamepoolError:
    """Characters that Hydra's grammar does not have."""
    for word in invocation.overrides:
        try:
            OverridesParser.create().parse_override(quoted(opened(word)))
        except HydraException:
            return fault("unreadable_override", f"cannot read {word}", "write KEY=VALUE")
    return fault("unreadable_override", "cannot read an override", "write KEY=VALUE")


def _group(match: re.Match[str], _invocation: Invocation) -> SamepoolError:
    text = f"{match['override']}: a key may hold no @ "
    return fault("bad_key", text.strip(), "name rules and slices plainly, the metric is an option")


_PATTERNS = (
    (r"Could not find '(?P<path>[^']+)'", _no_option),
    (r"Could not load '(?P<path>[^']+)'", _no_option),
    (r"In '[^']*': Could not find '(?P<path>[^']+)'", _no_option),
    (r"Could not override '(?P<key>[^']+)'", _no_key),
    (r"Key '(?P<key>[^']+)' (?:is )?not in '", _no_key),
    (r"Ambiguous value for argument '(?P<override>[^']+)'", _ambiguous),
    (r"Override (?P<override>\S*@\S*) looks like a config group", _group),
    (r"Error merging override (?P<override>[^\n]+)\n(?P<why>[^\n]+)", _bad_value),
    (r"Error parsing override '(?P<rest>[^']*)", _unreadable),
    (r"no viable alternative at input '(?P<rest>[^\n]*)'\n", _unreadable),
    (r"mismatched input '(?P<rest>[^\n']*)' expecting", _unreadable),
    (r"LexerNoViableAlt", _unlexed),
    (r"Environment variable '(?P<name>[^']*)' not found", _unset),
    (r"Config group override must be a string or a list", _no_name),
)
