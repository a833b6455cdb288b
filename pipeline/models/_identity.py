"""Which model a fitted kind is: its options, its code and the libraries that compute it."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline.core.run import Origin
from pipeline.kernels import eligibility
from pipeline.kernels.digest import of_file, of_json, of_parts


def fitted(model: Any, name: str, requested: str, *libraries: str) -> Origin:
    """The origin of a model that is fitted anew on the pool's logs.

    Args:
        model: the plugin; its fields are its options.
        name: key in the comparison.
        requested: what the user wrote.
        libraries: distributions whose version may change the scores.
    """
    kind = type(model).__module__.rpartition(".")[2]
    options: Mapping[str, Any] = asdict(model)
    digest = of_parts(
        {
            "kind": kind,
            "options": of_json(options),
            "code": code_of(type(model).__module__),
            **{library: version(library) for library in libraries},
        }
    )
    shown = ", ".join(f"{key}={value}" for key, value in options.items())
    return Origin(name, kind, requested, f"{kind}({shown})", source_digest=digest)


def code_of(module: str) -> str:
    """Digest of the plugin's file and of every helper that it may call."""
    files = [Path(str(sys.modules[module].__file__)), Path(str(eligibility.__file__))]
    helpers = sorted(Path(__file__).parent.glob("_*.py"))
    return of_parts({path.name: of_file(str(path)) for path in (*files, *helpers)})
