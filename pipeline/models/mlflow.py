"""A model of a registry, or a logged one, loaded into this process by the tracking stage."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Origin
from pipeline.models import Loaded, Ranking, Registry, Tools
from pipeline.models._blocks import rank_blocks
from pipeline.models._pairs import frame, sources


@dataclass(frozen=True, slots=True)
class Mlflow:
    """Scores every rankable pair with the model's ``predict`` on the pool's columns.

    The columns are those of the model's signature: candidate features, and columns of queries and
    items; every unambiguous one where it has no signature. ``predict`` returns one number a row,
    larger is better.

    Attributes:
        uri: ``models:/name@alias``, ``models:/name/version`` or ``runs:/id/path``.
    """

    recorded: ClassVar[bool] = True  # it was trained elsewhere, and cannot learn from other logs

    uri: str

    def origin(self, name: str, requested: str, registry: Registry | None = None) -> Origin:
        """The exact version that the URI stands for now; an alias is followed once, here.

        Raises:
            SamepoolError: there is no registry, or no such model.
            UnreachableError: the registry does not answer.
        """
        if registry is None:
            raise fault("no_registry", f"{self.uri}: there is no registry", "use tracking=mlflow")
        found = registry.resolve(self.uri)
        return replace(found, name=name, kind="mlflow", requested=requested)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Lists of the best ``tools.keep_depth`` rankable items of every query.

        Raises:
            SamepoolError: columns that the pool lacks, named before anything is scored; an answer
                that is not one number a row.
        """
        registry, origin = tools.registry, tools.origin
        if registry is None or origin is None:
            raise fault("no_registry", f"{self.uri}: there is no registry", "use tracking=mlflow")
        loaded = registry.load_model(origin)
        wanted = sources(pool, loaded.inputs, origin.resolved)

        def score(block: slice, mask: Bool) -> F64:
            rows, items = np.nonzero(mask)
            scores = np.zeros(mask.shape)
            if len(rows):
                inputs = frame(pool, wanted, rows + block.start, items, _features(pool, block))
                scores[rows, items] = _answer(loaded, inputs, origin)
            return scores

        return rank_blocks(pool, tools, origin.name, score)


def _answer(loaded: Loaded, inputs: pd.DataFrame, origin: Origin) -> F64:
    """The model's answer, one number a row."""
    scores = np.asarray(loaded.predict(inputs), dtype=np.float64)
    if scores.shape != (len(inputs),):
        text = f"{origin.resolved} gave an answer of shape {scores.shape} for {len(inputs)} rows"
        raise fault("bad_prediction", text, "predict must return one number a row")
    return scores


def _features(pool: Pool, block: slice) -> pa.Table | None:
    """The candidates of a block of queries; they are sorted by query and item, as the pairs are."""
    if pool.candidates is None:
        return None
    query = pc.index_in(pool.candidates["query_id"].combine_chunks(), pool.vocab.queries)
    first, last = np.searchsorted(query.to_numpy(), [block.start, block.stop])
    return pool.candidates.slice(int(first), int(last - first))


PLUGIN = Mlflow
