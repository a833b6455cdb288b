"""Models of a registry: what a URI stands for at this moment."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pipeline.core.problems import SamepoolError, fault
from pipeline.core.run import Origin
from pipeline.core.suggest import did_you_mean
from pipeline.kernels.digest import of_file, of_json
from pipeline.tracking._errors import translated
from pipeline.tracking._store import Where, connect

_FORMS = "models:/NAME@ALIAS, models:/NAME/VERSION, models:/m-ID or runs:/RUN_ID/PATH"


def resolve(where: Where, uri: str) -> Origin:
    """Which exact model ``uri`` stands for now; an alias is followed once, here.

    Raises:
        UnreachableError: the registry does not answer.
        SamepoolError: no such form, model, alias, version or run; the message says what there is.
    """
    scheme, _, rest = uri.partition(":/")
    rest = rest.strip("/")
    if scheme == "runs" and "/" in rest:
        return _of_run(where, uri, *rest.split("/", 1))
    if scheme != "models" or not rest:
        raise fault("bad_model_uri", f"{uri!r} names no model", f"write {_FORMS}")
    if re.fullmatch(r"m-[0-9a-f]{32}", rest):
        return _of_logged(where, uri, rest)
    client = connect(where, create=False)
    if "@" in rest:
        name, _, alias = rest.rpartition("@")
        return _of_version(where, uri, _by_alias(client, where, name, alias))
    name, _, version = rest.rpartition("/")
    if not name:
        known = _versions(client, where, rest)
        fix = f"write models:/{rest}/{known[-1] if known else 'VERSION'} or models:/{rest}@ALIAS"
        raise fault("bad_model_uri", f"{uri!r} names no version and no alias", fix)
    return _of_version(where, uri, _by_version(client, where, name, version))


def _by_alias(client: Any, where: Where, name: str, alias: str) -> Any:
    known = _versions(client, where, name)
    with translated(where.registry_uri, f"read model {name!r}"):
        aliases = dict(client.get_registered_model(name).aliases)
        if alias in aliases:
            return client.get_model_version_by_alias(name, alias)
    there = f"versions {_spans(known)}" if known else "no versions"
    near = [f"@{each}" for each in sorted(aliases)]
    fix = did_you_mean(f"@{alias}", near) if near else "it has no alias yet"
    fix = f"{fix}; set it in MLflow, or write models:/{name}/VERSION"
    raise fault("no_alias", f"{name} has no @{alias}; {there}", fix)


def _by_version(client: Any, where: Where, name: str, version: str) -> Any:
    known = _versions(client, where, name)
    if version.lower() == "latest" and known:
        version = known[-1]
    if version not in known:
        there = f"there are {_spans(known)}" if known else "it has none"
        raise fault("no_version", f"{name} has no version {version}; {there}", f"write {_FORMS}")
    with translated(where.registry_uri, f"read version {version} of {name!r}"):
        return client.get_model_version(name, version)


def _versions(client: Any, where: Where, name: str) -> list[str]:
    """Versions of a registered model, ascending; an error with the nearest names if it is none."""
    if "'" in name:
        raise fault("no_model", f"there is no registered model {name!r}")
    with translated(where.registry_uri, f"look for model {name!r}"):
        found = client.search_model_versions(f"name = '{name}'")
        if not found:
            names = [model.name for model in client.search_registered_models(max_results=1000)]
    if not found and name not in names:
        text = f"the registry at {where.shown} has no model {name}"
        raise fault("no_model", text, did_you_mean(name, names))
    return [str(number) for number in sorted(int(each.version) for each in found)]


def _spans(versions: list[str]) -> str:
    """Ascending versions, runs of them shortened.

    >>> _spans(["1", "2", "3", "7", "8"])
    '1-3, 7-8'
    """
    spans: list[list[int]] = []
    for number in map(int, versions):
        if spans and spans[-1][-1] == number - 1:
            spans[-1] = [spans[-1][0], number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, span)) for span in spans)


def _of_version(where: Where, uri: str, found: Any) -> Origin:
    resolved = f"models:/{found.name}/{found.version}"
    # Registries in a database keep the logged model's id in the version's source alone.
    behind = re.fullmatch(r"models:/(m-[0-9a-f]{32})", found.source or "")
    model_id = getattr(found, "model_id", None) or (behind[1] if behind else None)
    origin = Origin(
        "", "mlflow", uri, resolved, found.name, str(found.version), model_id, path=found.source
    )
    # A version's number can be given again after a deletion, so its birth is part of its identity.
    facts = [resolved, found.creation_timestamp, found.source, model_id, found.run_id]
    return _with_digest(where, origin, facts)


def _of_logged(where: Where, uri: str, model_id: str) -> Origin:
    client = connect(where, create=False)
    with translated(where.uri, f"read logged model {model_id}"):
        try:
            found = client.get_logged_model(model_id)
        except Exception as error:
            if getattr(error, "error_code", "") != "RESOURCE_DOES_NOT_EXIST":
                raise
            raise _missing(where, f"logged model {model_id}") from error
    origin = Origin("", "mlflow", uri, f"models:/{model_id}", model_id=model_id)
    return _with_digest(where, origin, [model_id, found.creation_timestamp])


def _of_run(where: Where, uri: str, run_id: str, path: str) -> Origin:
    client = connect(where, create=False)
    with translated(where.uri, f"read run {run_id}"):
        try:
            run = client.get_run(run_id)
        except Exception as error:
            if getattr(error, "error_code", "") != "RESOURCE_DOES_NOT_EXIST":
                raise
            raise _missing(where, f"run {run_id}") from error
        outputs = run.outputs.model_outputs if run.outputs else []
        models = [client.get_logged_model(each.model_id) for each in outputs or []]
        files = [each.path for each in client.list_artifacts(run_id)]
    for model in models:
        if model.name == path:
            return _of_logged(where, uri, str(model.model_id))
    if path.partition("/")[0] not in files:
        known = [*files, *(model.name for model in models)]
        raise fault("no_model", f"run {run_id} has no {path}", did_you_mean(path, known))
    origin = Origin("", "mlflow", uri, f"runs:/{run_id}/{path}")
    return _with_digest(where, origin, [run_id, path, run.info.end_time])


def _missing(where: Where, what: str) -> SamepoolError:
    return fault("no_model", f"MLflow at {where.shown} has no {what}", f"write {_FORMS}")


def _with_digest(where: Where, origin: Origin, facts: list[Any]) -> Origin:
    """The origin with its source digest: of the files where they are here, else of the facts."""
    client = connect(where, create=False)
    with translated(where.registry_uri, f"find the files of {origin.resolved}"):
        address = location(client, origin)
    parts = urlsplit(address)
    folder = Path(unquote(parts.path)) if parts.scheme in {"", "file"} else None
    files = sorted(p for p in folder.rglob("*") if p.is_file()) if folder else []
    if folder and files:
        content = {p.relative_to(folder).as_posix(): of_file(str(p)) for p in files}
    else:
        content = {"facts": of_json([str(fact) for fact in facts])}
    values = {name: getattr(origin, name) for name in Origin.__slots__}
    return Origin(**{**values, "source_digest": of_json(content), "path": address})


def location(client: Any, origin: Origin) -> str:
    """Where a model's files are: an artifact URI that is no ``models:/``.

    A registered version is asked of the registry, which may be another server than the one that
    has the logged models.
    """
    if origin.registered and origin.version:
        found = str(client.get_model_version_download_uri(origin.registered, origin.version))
        if not found.startswith("models:"):
            return found
    if origin.model_id:
        return str(client.get_logged_model(origin.model_id).artifact_location)
    run_id, _, path = origin.resolved.removeprefix("runs:/").partition("/")
    return f"{client.get_run(run_id).info.artifact_uri.rstrip('/')}/{path}"
