"""A model of a registry, or a logged one, loaded into this process by the tracking stage."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I64
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Lists
from pipeline.models import Ranking, Tools
from pipeline.models._blocks import blocks
from pipeline.models._pairs import frame, sources
from pipeline.models._rankable import rankable
from pipeline.models._top import cut


@dataclass(frozen=True, slots=True)
class Mlflow:
    """Scores every rankable pair with the model's ``predict`` on the pool's columns.

    The columns are those of the model's signature: candidate features, and columns of queries and
    items; every unambiguous one where it has no signature. ``predict`` returns one number a row,
    larger is better.

    Attributes:
        uri: ``models:/name@alias``, ``models:/name/version`` or ``runs:/id/path``.
    """

    uri: str

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Lists of the best ``tools.keep_depth`` rankable items of every query.

        Raises:
            SamepoolError: columns that the pool lacks, named before anything is scored; an answer
                that is not one number a row.
        """
        if tools.registry is None or tools.origin is None:
            raise fault("no_registry", f"{self.uri}: no registry to load it from", "tracking=mlflow")
        loaded = tools.registry.load_model(tools.origin)
        wanted = sources(pool, loaded.inputs, tools.origin.resolved)
        rule = rankable(pool)
        parts = [Lists(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float64))]
        for block in tools.progress(blocks(pool), tools.origin.name):
            mask = rule.mask(block)
            rows, items = np.nonzero(mask)
            if not len(rows):
                continue
            query: I64 = rows + block.start
            inputs = frame(pool, wanted, query, items, _features(pool, block))
            scores = np.asarray(loaded.predict(inputs), dtype=np.float64)
            if scores.shape != query.shape:
                text = f"{tools.origin.resolved} gave {scores.shape} scores for {len(query)} rows"
                raise fault("bad_prediction", text, "predict must return one number a row")
            kept = cut(rows, scores, tools.keep_depth)
            lists = query[kept].astype(np.int32), items[kept].astype(np.int32), scores[kept]
            parts.append(Lists(*lists))
        final = Lists(
            query=np.concatenate([part.query for part in parts]),
            item=np.concatenate([part.item for part in parts]),
            score=np.concatenate([part.score for part in parts]),
        )
        return Ranking(final, retrieval=None, foreign=pa.array([], pa.string()))


def _features(pool: Pool, block: slice) -> pa.Table | None:
    """The candidates of a block of queries; they are sorted by query and item, as the pairs are."""
    if pool.candidates is None:
        return None
    query = pc.index_in(pool.candidates["query_id"].combine_chunks(), pool.vocab.queries)
    first, last = np.searchsorted(query.to_numpy(), [block.start, block.stop])
    return pool.candidates.slice(int(first), int(last - first))


PLUGIN = Mlflow
