"""A model of a registry, or a logged one, loaded into this process by the tracking stage."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I64
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Lists, Origin
from pipeline.models import Ranking, Tools
from pipeline.models._blocks import blocks
from pipeline.models._pairs import frame, sources
from pipeline.models._rankable import rankable
from pipeline.models._top import top


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
        registry, origin = tools.registry, tools.origin
        if registry is None or origin is None:
            raise fault("no_registry", f"{self.uri}: there is no registry", "use tracking=mlflow")
        loaded = registry.load_model(origin)
        wanted = sources(pool, loaded.inputs, origin.resolved)
        rule = rankable(pool)
        parts = [Lists(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float64))]
        for block in tools.progress(blocks(pool), origin.name):
            mask = rule.mask(block)
            rows, items = np.nonzero(mask)
            if not len(rows):
                continue
            query: I64 = rows + block.start
            inputs = frame(pool, wanted, query, items, _features(pool, block))
            scores = np.full(mask.shape, -np.inf)
            answer = loaded.predict(inputs)
            scores[rows, items] = _checked(answer, (query, items), pool, origin)
            rows, items = top(scores, mask, tools.keep_depth)
            kept = (rows + block.start).astype(np.int32), items.astype(np.int32)
            parts.append(Lists(*kept, scores[rows, items]))
        final = Lists(
            query=np.concatenate([part.query for part in parts]),
            item=np.concatenate([part.item for part in parts]),
            score=np.concatenate([part.score for part in parts]),
        )
        return Ranking(final, retrieval=None, foreign=pa.array([], pa.string()))


def _checked(answer: F64, pairs: tuple[I64, I64], pool: Pool, origin: Origin) -> F64:
    """The model's answer as N finite scores; a NaN must not vanish in the cut."""
    scores = np.asarray(answer, dtype=np.float64)
    query, item = pairs
    if scores.shape != query.shape:
        text = f"{origin.resolved} gave an answer of shape {scores.shape} for {len(query)} rows"
        raise fault("bad_prediction", text, "predict must return one number a row")
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        pair = f"{pool.vocab.queries[query[wrong[0]]]}/{pool.vocab.items[item[wrong[0]]]}"
        text = f"{origin.name} scored NaN or infinity for {len(wrong):,} pairs, first {pair}"
        raise fault("bad_score", text, "return a finite number for every row")
    return scores


def _features(pool: Pool, block: slice) -> pa.Table | None:
    """The candidates of a block of queries; they are sorted by query and item, as the pairs are."""
    if pool.candidates is None:
        return None
    query = pc.index_in(pool.candidates["query_id"].combine_chunks(), pool.vocab.queries)
    first, last = np.searchsorted(query.to_numpy(), [block.start, block.stop])
    return pool.candidates.slice(int(first), int(last - first))


PLUGIN = Mlflow
