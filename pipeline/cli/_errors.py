"""Turns what Hydra and OmegaConf say of a bad config into one line with the fix."""

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from pipeline.cli._argv import Invocation
from pipeline.cli._conf import config_folder
from pipeline.core.problems import SamepoolError, fault
from pipeline.core.suggest import did_you_mean


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
    for link in chain:
        if isinstance(link, SamepoolError):
            return link
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


_HELP = "samepool COMMAND --help shows examples"


def _chain(error: BaseException | None) -> Iterable[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _folders(invocation: Invocation) -> list[Path]:
    """Our conf/ and the user's --config-dir."""
    named = [Path(v) for f, v in pairwise(invocation.flags) if f in {"--config-dir", "-cd"}]
    return [config_folder(), *(folder.resolve() for folder in named)]


def _options(group: str, invocation: Invocation) -> list[str]:
    """Names of a group's options."""
    found = (path for folder in _folders(invocation) for path in (folder / group).glob("*.yaml"))
    return sorted({path.stem for path in found})


def _no_option(match: re.Match[str], invocation: Invocation) -> SamepoolError:
    group, _, name = match["path"].rpartition("/")
    options = _options(group, invocation)
    text = f"{group or 'config'}: there is no option {name!r}"
    return fault("unknown_option", text, did_you_mean(name, options))


def _no_key(match: re.Match[str], invocation: Invocation) -> SamepoolError:
    key = match["key"]
    parent, _, name = key.rpartition(".")
    known = _keys(parent, invocation)
    if not known and re.match(r"^models\.\w", key):
        model, selected = key.split(".")[1], _keys("models", invocation)
        fix = f"models=[{','.join([*selected, model])}] selects it"
        return fault("unknown_key", f"{key}: model {model} is not selected", fix)
    fix = did_you_mean(name, known) if known else f"+{key}=... adds a key where new ones may stand"
    return fault("unknown_key", f"there is no key {key}", fix)


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
            node = compose(invocation.command, [*groups, f"hydra.searchpath=[{path}]"])
        for part in parent.split(".") if parent else []:
            node = node[part]
        return [str(key) for key in node if key != "kind"]
    except Exception:  # noqa: BLE001 - only a suggestion
        return []


def _bad_value(match: re.Match[str], _invocation: Invocation) -> SamepoolError:
    override, reason = match["override"], " ".join(match["why"].split())
    key, _, value = override.partition("=")
    fix = f"write a list: '{key}=[{value}]'" if "is not a ListConfig" in reason else _HELP
    return fault("bad_value", f"{override}: {reason.rstrip('.')}", fix)


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
    (r"Environment variable '(?P<name>[^']*)' not found", _unset),
    (r"Config group override must be a string or a list", _no_name),
)
