"""Evidence: the output folder as a contract between the commands.

Every file is a section: a module of this folder that names its file, its producer and its columns,
and writes and reads it. ``gate``, ``diff``, ``judge``, ``promote`` and ``upload`` read nothing
else. Files are replaced whole, never half-written; the manifest is written last, so that a folder
without one is unfinished.
"""

from collections.abc import Sequence
from pathlib import Path

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.evidence import (
    _by_slice,
    _comparison,
    _comparisons,
    _config,
    _gate,
    _lists,
    _manifest,
    _membership,
    _metrics,
    _models,
    _per_query,
    _pool,
    _top,
    _units,
)

SECTIONS = (
    _pool,
    _models,
    _metrics,
    _units,
    _membership,
    _per_query,
    _lists,
    _by_slice,
    _top,
    _comparison,
)  # what rests on the evidence alone; comparisons.csv and gate.json show decisions too

REQUIRED = (*(section.FILE for section in SECTIONS), _comparisons.FILE, _per_query.LENGTHS)

claim = _manifest.claim
refuse_taken = _manifest.refuse_taken
seal = _manifest.seal
write_decisions = _gate.write
write_config = _config.write_config


def write(evidence: Evidence, folder: Path, decisions: Sequence[Decision] = ()) -> None:
    """Writes every section of the evidence, each file atomically.

    Args:
        evidence: one comparison.
        folder: made if it is not there.
        decisions: put into the ``verdict`` column of comparisons.csv, which is for people.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for section in SECTIONS:
        section.write(evidence, folder)
    _comparisons.write(evidence, folder, decisions)


def verify(folder: Path) -> str:
    """Checks that a folder holds a finished comparison, whole and unchanged.

    Returns:
        The digest of its manifest.

    Raises:
        SamepoolError: it does not; every missing or changed file is named.
    """
    return _manifest.verify(folder, REQUIRED)


def read(folder: Path) -> Evidence:
    """The evidence that :func:`write` left in a folder.

    Raises:
        SamepoolError: the folder is not a finished comparison, a file is missing or has another
            schema, or its content is not what the manifest says.
    """
    verify(folder)
    slices = _membership.read(folder)
    units = _units.read(folder)
    metrics = _metrics.read(folder)
    models = _models.read(folder)
    summary = _comparison.read(folder)
    names = tuple(model.name for model in models)
    return Evidence(
        schema=summary.schema,
        settings=summary.settings,
        pool=_pool.read(folder),
        models=models,
        metrics=metrics.infos,
        conventions=metrics.conventions,
        units=units,
        slices=slices,
        scores=_per_query.read(folder, names, units, _lists.read(folder)),
        tops=_top.read(folder),
        comparisons=_comparisons.read(folder),
        problems=summary.problems,
    )
