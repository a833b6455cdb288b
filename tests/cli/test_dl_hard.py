"""Six published runs, compared by path, against trec_eval's own numbers for each query."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

CASES = Path(__file__).parents[3] / "shared" / "cases" / "dl_hard_passage"
METRIC = "nDCG(gain=linear)@10"


def published(path: Path) -> dict[str, float]:
    lines = (line.split() for line in path.read_text().splitlines())
    return {query: float(value) for name, query, value in lines if name == "ndcg_cut_10"}


@pytest.mark.skipif(not CASES.is_dir(), reason="the recorded runs are not beside this checkout")
def test_six_runs_agree_with_trec_eval_to_4_decimals(samepool: Any, here: Path) -> None:
    runs = sorted(CASES.glob("*.run.gz"))
    assert len(runs) == 6
    done = samepool(
        "compare", f"pool.qrels={CASES / 'dl_hard-passage.qrels'}", f"baseline={runs[-1]}",
        f"candidates=[{','.join(map(str, runs[:-1]))}]", f"metrics.names=['{METRIC}']",
        "tracking=none", "out=out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = pq.read_table(here / "out/per_query.parquet").to_pylist()
    for run in runs:
        name = run.name.removesuffix(".run.gz")
        ours = {r["query_id"]: r["value"] for r in rows if r["model"] == name}
        theirs = published(run.with_suffix("").with_suffix(".run.eval"))
        mean = theirs.pop("all")
        assert ours.keys() == theirs.keys()
        assert all(abs(ours[q] - theirs[q]) < 5.1e-5 for q in theirs), name
        assert abs(sum(ours.values()) / len(ours) - mean) < 5.1e-5, name
