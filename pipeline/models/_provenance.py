"""A run that stands for a registered version: what its manifest says, checked against all it names.

The manifest is an attestation: whoever stamped the run says which version made it. What can be
verified is: the files are still those that were stamped, the version is still the one that was
meant, and the pool is the one that was scored.
"""

from collections.abc import Mapping
from dataclasses import replace

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, fault, raise_errors
from pipeline.core.run import Origin
from pipeline.formats import Manifest, Version, Written
from pipeline.models import Registry

_AGAIN = "stamp it again once you know why: samepool stamp run=..."
_OFF = "tracking_off"


def unchanged(manifest: Manifest, place: str, files: Mapping[str, str], path: str) -> None:
    """Checks that the files are those that were stamped.

    Args:
        manifest: of the run.
        place: the manifest's own path, for messages.
        files: path -> SHA-256, the run first, then its retrieval if there is one.
        path: of the run.

    Raises:
        SamepoolError: one is not, or its digest was never written down.
    """
    problems = []
    for file, digest in files.items():
        stamped: Written | None = manifest.run if file == path else manifest.retrieval
        if stamped is None:
            text = f"{place} says nothing of it as the retrieval of {path}"
            fix = f"samepool stamp run={path} retrieval={file} ..."
            problems.append(Problem("not_stamped", "error", text, fix, file))
        elif stamped.sha256 != digest and _other(manifest, file == path) == digest:
            role = "retrieval" if file == path else "run"
            text = f"is what {place} has as the {role}"
            fix = "path and retrieval are the wrong way round"
            problems.append(Problem("run_swapped", "error", text, fix, file))
        elif stamped.sha256 != digest:
            text = f"was edited after it was stamped: SHA-256 {digest}, {place} has"
            text = f"{text} {stamped.sha256}"
            problems.append(Problem("run_edited", "error", text, _AGAIN, file))
    raise_errors(problems)


def _other(manifest: Manifest, is_run: bool) -> str | None:  # noqa: FBT001 - of two
    """SHA-256 of the file in the other place."""
    if not is_run:
        return manifest.run.sha256
    return None if manifest.retrieval is None else manifest.retrieval.sha256


def attested(origin: Origin, said: Version, asked: str | None, registry: Registry | None) -> Origin:
    """The origin of the run as that of the version that it stands for.

    Args:
        origin: of the run file.
        said: by the manifest.
        asked: URI of the version as the user wrote it; None where the manifest alone says so.
        registry: where versions are; an alias is followed once, here.

    Returns:
        The origin with ``registered``, ``version`` and ``model_id``. As it was, where nobody asked
        for a version and there is no registry to verify it: :func:`notes` warns of that.

    Raises:
        SamepoolError: no such version, another one than was stamped, or one made again since.
        UnreachableError: the registry does not answer.
    """
    found = _resolved(asked or said.resolved, registry, origin.path, needed=asked is not None)
    if found is None:
        return origin
    if (found.registered, found.version) != (said.registered, said.version):
        text = f"was stamped for {said.resolved}, and {asked} is {found.resolved}"
        fix = f"name the run of that version, or write version: {said.resolved}"
        raise fault("other_version", text, fix, file=origin.path)
    for what, ours, theirs in (
        ("model_id", said.model_id, found.model_id),
        ("source digest", said.source_digest, found.source_digest),
    ):
        if ours and ours != theirs:
            text = f"{said.resolved} is not the one that {origin.path} was stamped for:"
            text = f"{text} {what} {theirs or 'none'} in the registry, {ours} in the manifest"
            fix = "it was made again, or its files changed; score it anew and stamp the run"
            raise fault("version_changed", text, fix)
    return replace(
        origin,
        resolved=found.resolved,
        registered=found.registered,
        version=found.version,
        model_id=found.model_id,
    )


def _resolved(
    uri: str, registry: Registry | None, file: str | None, *, needed: bool
) -> Origin | None:
    try:
        if registry is None:
            raise fault(_OFF, f"{uri} cannot be resolved without a registry", "tracking=mlflow")
        return registry.resolve(uri)
    except SamepoolError as error:
        if not needed and all(problem.code == _OFF for problem in error.problems):
            return None
        placed = [replace(problem, file=problem.file or file) for problem in error.problems]
        raise type(error)(placed) from error


def notes(manifest: Manifest, place: str, origin: Origin, asked: str | None) -> list[Problem]:
    """What a manifest that nobody named made of the run."""
    version, file = manifest.model.resolved, origin.path
    if asked is not None:
        return []
    if origin.registered is None:
        text = f"{place} says that it stands for {version}, which was not verified"
        fix = "use tracking=mlflow; until then it stands for itself"
        return [Problem("not_verified", "warning", text, fix, file)]
    return [Problem("stands_for", "note", f"stands for {version}, as {place} says", "", file)]


def other_pool(manifest: Manifest, path: str, pool: Pool) -> list[Problem]:
    """An error where the run was made for another pool than the one it is measured on."""
    if manifest.pool.digest == pool.digest:
        return []
    made = f"{manifest.pool.name or ''}@{manifest.pool.digest[:8]}"
    text = f"was made for pool {made}, and this is pool {pool.name}@{pool.digest[:8]}"
    fix = f"score this pool and stamp that run; digests: {manifest.pool.digest}, {pool.digest}"
    return [Problem("other_pool", "error", text, fix, path)]
