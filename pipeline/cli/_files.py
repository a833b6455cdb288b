"""Faults in a user's own config files, by file and line."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import yaml

from pipeline.core.problems import Problem, SamepoolError, fault

_STR = "tag:yaml.org,2002:str"
_NAMED = (None, "defs", "rules", "models")  # mappings whose keys are names


def fault_in(
    chain: Sequence[BaseException], folders: Iterable[Path], words: Iterable[str]
) -> SamepoolError | None:
    """The error of the file that made Hydra give up; None where no file is at fault.

    Args:
        chain: the exception and its causes.
        folders: where the user's configs are.
        words: the overrides; files that they name are looked at first.
    """
    for link in chain:
        if isinstance(link, yaml.MarkedYAMLError) and link.problem_mark is not None:
            return _broken(link, link.problem_mark)
    look = _search(chain)
    if look is None:
        return None
    every = [path for folder in folders for path in sorted(folder.rglob("*.yaml"))]
    named = set(re.findall(r"[\w-]+", " ".join(word.partition("=")[2] for word in words)))
    for paths in ([path for path in every if path.stem in named], every):
        problems = [problem for path in paths for problem in look(path)]
        if problems:
            return SamepoolError(problems)
    return None


def _search(chain: Sequence[BaseException]) -> Callable[[Path], list[Problem]] | None:
    """What to look for in files, by what Hydra says."""
    text = "\n".join(str(link) for link in chain)
    if any(isinstance(link, UnicodeDecodeError) for link in chain):
        return _not_utf8
    if "with ListConfig" in text:
        return _list
    return _keys if "incompatible with (str)" in text else None


def _broken(error: yaml.MarkedYAMLError, mark: yaml.Mark) -> SamepoolError:
    text = f"this is no YAML: {error.problem}"
    fix = "mend it; YAML indents by spaces and quotes text with : or #"
    return fault("bad_yaml", text, fix, file=mark.name, where=f"line {mark.line + 1}")


def _not_utf8(path: Path) -> list[Problem]:
    raw = path.read_bytes()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        text, fix = f"byte {raw[error.start]:#04x} is not UTF-8", "save the file as UTF-8"
        return [Problem("not_utf8", "error", text, fix, str(path), f"line {line}")]
    return []


def _root(path: Path) -> yaml.Node | None:
    try:
        root: yaml.Node | None = yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError):
        return None
    return root


def _list(path: Path) -> list[Problem]:
    root = _root(path)
    if not isinstance(root, yaml.SequenceNode):
        return []
    where = f"line {root.start_mark.line + 1}"
    text, fix = "a list, where options by name are wanted", "write KEY: VALUE lines"
    return [Problem("not_a_mapping", "error", text, fix, str(path), where)]


def _keys(path: Path) -> list[Problem]:
    """Names that YAML reads as a truth value, a number or null."""
    root = _root(path)
    return [
        Problem(
            "unquoted_key",
            "error",
            f"YAML reads the key {key.value} as {key.tag.rpartition(':')[2]}, not as a name",
            f'quote the key: "{key.value}"',
            file=str(path),
            where=f"line {key.start_mark.line + 1}",
        )
        for key in (_unquoted(root, None) if root else ())
    ]


def _unquoted(node: yaml.Node, above: str | None) -> Iterator[yaml.ScalarNode]:
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.tag != _STR and above in _NAMED and key.value != "<<":
                yield key
            yield from _unquoted(value, key.value)
