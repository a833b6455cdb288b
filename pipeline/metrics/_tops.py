"""The first places of every list as a table, for people."""

import numpy as np
import pyarrow as pa

from pipeline.core.conventions import Conventions
from pipeline.core.judged import Judged
from pipeline.core.pool import Pool
from pipeline.metrics._view import View


def tops(model: str, judged: Judged, pool: Pool, depth: int) -> pa.Table:
    """The first places of one stage's lists, with what is known of the items.

    Args:
        model: key of the model.
        judged: its ordered lists.
        pool: what they were judged on.
        depth: places to keep.

    Returns:
        model, stage, query_id, rank (from 1), item_id, score, grade (null if unjudged), eligible;
        by query and rank.
    """
    codes = judged.top[:, :depth]
    grade = np.full(codes.shape, np.nan)
    shown = judged.rank <= codes.shape[1]
    judgment = judged.hit_judgment[shown]
    grade[judged.hit_query[shown], judged.rank[shown] - 1] = pool.judgments.grade[judgment]
    query, place = np.nonzero(codes >= 0)
    allowed = View(judged, pool, Conventions()).eligible(depth)[query, place]
    ids = pa.concat_arrays([pool.vocab.items, judged.foreign])
    return pa.table(
        {
            "model": pa.array([model] * len(query), pa.string()),
            "stage": pa.array([judged.stage] * len(query), pa.string()),
            "query_id": pool.vocab.queries.take(pa.array(query)),
            "rank": pa.array(place + 1, pa.int32()),
            "item_id": ids.take(pa.array(codes[query, place])),
            "score": pa.array(judged.top_score[query, place]),
            "grade": pa.array(grade[query, place], from_pandas=True),
            "eligible": pa.array(allowed),
        }
    )
