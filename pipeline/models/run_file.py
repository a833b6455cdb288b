"""A run file: lists that a model wrote down earlier, in any format that is read here."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, fault, raise_errors
from pipeline.core.run import Origin
from pipeline.formats import beside, place, read_manifest, read_run, unusable
from pipeline.kernels.digest import of_file, of_json, of_parts
from pipeline.models import Model, Ranking, Registry, Tools, _provenance
from pipeline.models._check import Place
from pipeline.models._encode import encode, flat
from pipeline.models._unlike import all_foreign, renumbered


@dataclass(frozen=True, slots=True)
class RunFile(Model):
    """Lists read from a file.

    Rows keep their order within a query; a rank column is kept beside the scores. Rows for queries
    outside the pool are left out and counted. Items outside the pool keep their places.

    Attributes:
        path: the run.
        retrieval: the run of the stage before it, which it re-ranked; without one the run is its
            own candidate list.
        format: name of the files' format; recognised where unset.
        version: URI of the registered version that the run stands for; an alias is followed once.
            A run with a manifest stands for the manifest's version, where unset.
        manifest: what was written down when the run was scored; unset: ``PATH.manifest.json``, if
            there is one. ``samepool stamp`` makes it.
    """

    path: str
    retrieval: str | None = None
    format: str | None = None
    version: str | None = None
    manifest: str | None = None

    on_disk: ClassVar[bool] = True  # reading it scores nothing: check does
    recorded: ClassVar[bool] = True  # answers only the queries that it was written for

    def origin(self, name: str, requested: str, registry: Registry | None = None) -> Origin:
        """The files, by their bytes; and the version that they stand for, where one is stamped.

        Raises:
            SamepoolError: a file is missing, was edited after it was stamped, or stands for a
                version that is no more, or another than asked for.
            UnreachableError: the registry does not answer.
        """
        missing = [problem for path in self._paths() if (problem := unusable(path, "run file"))]
        if missing:
            raise SamepoolError(missing)
        digests = [of_file(path) for path in self._paths()]
        origin = Origin(
            name=name,
            kind="run_file",
            requested=requested,
            resolved=self.path,
            source_digest=self._digest(digests),
            path=self.path,
        )
        said = self._manifest()
        if said is None:
            return origin
        manifest = read_manifest(said)
        files = dict(zip(self._paths(), digests, strict=True))
        _provenance.unchanged(manifest, said, files, self.path)
        return _provenance.attested(origin, manifest.model, self.version, registry)

    def fits(self, pool: Pool, origin: Origin, _registry: Registry | None, /) -> Iterable[Problem]:
        """An error where the run was stamped for another pool; what its manifest made of it."""
        said = self._manifest()
        if said is None:
            return []
        manifest = read_manifest(said)
        notes = _provenance.notes(manifest, said, origin, self.version)
        return [*_provenance.other_pool(manifest, self.path, pool), *notes]

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """The file's lists for the queries of the pool.

        Raises:
            SamepoolError: a file is missing, cannot be read or was written anew meanwhile, or no
                query id matches.
        """
        problems: list[Problem] = []
        tables = [read_run(path, problems, format=self.format) for path in self._paths()]
        raise_errors(problems)
        self._unchanged(tools.origin)
        encoded = encode(pool, tables)
        for path, table, lists, outside in zip(
            self._paths(), tables, encoded.lists, encoded.outside, strict=True
        ):
            if outside:
                asked = flat(table["query_id"])
                problems += renumbered("query_id", asked, pool.vocab.queries, path)
            if not len(lists.query) and not problems:
                raise _strangers(path, table, pool)
            problems += _padded(path, table, pool)
        problems += renumbered("item_id", encoded.foreign, pool.vocab.items, self.path)
        raise_errors(problems)
        problems += all_foreign("run", encoded, pool, self.path)
        return Ranking(
            final=encoded.lists[0],
            retrieval=encoded.lists[1] if self.retrieval else None,
            foreign=encoded.foreign,
            outside=encoded.outside[0],
            problems=tuple(problems),
            places=tuple(map(_places, tables, encoded.rows)),
        )

    def _digest(self, files: Iterable[str]) -> str:
        parts = {str(stage): digest for stage, digest in enumerate(files)}
        return of_parts(parts | {"format": of_json(self.format)})

    def _unchanged(self, origin: Origin | None) -> None:
        """Refuses files that are others by now: their lists would be kept as those of the first."""
        if origin is None or not origin.source_digest:
            return
        if self._digest(of_file(path) for path in self._paths()) != origin.source_digest:
            text = "was written anew while the comparison was under way"
            raise fault("file_changed", text, "start again once it is finished", file=self.path)

    def _manifest(self) -> str | None:
        """Where the run's manifest is; None where there is none and none is needed."""
        said = self.manifest or beside(self.path)
        if self.manifest or Path(said).exists():
            return said
        if self.version is None:
            return None
        first = f" retrieval={self.retrieval}" if self.retrieval else ""
        text = f"nothing says that {self.version} made it: there is no {said}"
        fix = f"samepool stamp run={self.path}{first} version={self.version} pool=..."
        raise fault("no_manifest", text, f"{fix}, where it was scored", file=self.path)

    def _paths(self) -> tuple[str, ...]:
        return (self.path, self.retrieval) if self.retrieval else (self.path,)


def _places(table: pa.Table, rows: I64 | None) -> Place:
    """Where a row of a list stood in the file that its table was read from."""
    return lambda row: place(table, row if rows is None else int(rows[row]))


def _strangers(path: str, table: pa.Table, pool: Pool) -> SamepoolError:
    asked = table["query_id"].unique()
    text = (
        f"0 of {len(asked):,} query ids match: run has `{asked[0]}`,"
        f" pool has `{pool.vocab.queries[0]}`"
    )
    fix = "write the pool's query ids into the run, or name the pool that it was made for"
    return fault("no_query_matches", text, fix, file=path)


def _padded(path: str, table: pa.Table, pool: Pool) -> list[Problem]:
    """Ids that are in the pool but for white space around them: they would match nothing."""
    found = []
    for name, vocab in (("query_id", pool.vocab.queries), ("item_id", pool.vocab.items)):
        column = table[name]
        trimmed = pc.ascii_trim_whitespace(column)
        padded = pc.not_equal(trimmed, column)
        if not pc.any(padded, min_count=0).as_py():
            continue
        meant = pc.is_in(trimmed, value_set=vocab.cast(column.type))
        rows = np.flatnonzero(np.asarray(pc.and_(padded, meant)))
        if len(rows):
            first = int(rows[0])
            text = f"{name} {column[first].as_py()!r} has white space around it"
            fix, where = "remove it: ids are compared to the byte", place(table, first)[1]
            found.append(Problem("padded_id", "error", text, fix, path, where, (), len(rows)))
    return found


PLUGIN = RunFile
