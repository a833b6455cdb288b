"""MovieLens-100K: 943 people, 1,682 films, 100,000 ratings from 1 to 5 in 1997 and 1998.

A query is a person who asks what to watch; what they rated afterwards is the judgment. Two splits:

- ``per_user``: of each person's ratings by time (equal times by the bytes of the item id), the last
  share is held out, rounded half to even; the query is asked at the first held-out rating. Other
  people's ratings in the logs may be later than that.
- ``global_time``: one cut-off for all, the quantile 1 - share of all times. Ratings after it are
  held out, the logs end with it, and people without a held-out rating are no queries.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from pipeline.core.arrays import I64
from pipeline.core.pool import Declared
from pipeline.core.problems import Problem
from pipeline.pool._package import Package, fetched
from pipeline.pool._tables import Tables
from pipeline.pool._types import MICROS

_TERMS = """\
samepool: MovieLens-100K was collected by GroupLens Research at the University of Minnesota. Its
terms: research use, no commercial use without permission, no redistribution, acknowledge the
source in publications (Harper and Konstan 2015, doi:10.1145/2827872). This is said once.
"""
WHEEL = Package(
    what="MovieLens-100K",
    name="recbole",
    version="1.2.1",
    file="recbole-1.2.1-py3-none-any.whl",
    sha256="9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407",
    terms=_TERMS,
)
_MEMBER = "recbole/dataset_example/ml-100k/ml-100k."
_DAY = 86_400
_SECOND = 1_000_000  # microseconds
_AGES = ((18, "under 18"), (25, "18-24"), (35, "25-34"), (45, "35-44"), (55, "45-54"))
_REASON = "people rated the films themselves, after the query's time, on a scale of 1 to 5"


@dataclass(frozen=True, slots=True)
class MovieLens:
    """The demo pool.

    Attributes:
        split: ``per_user`` or ``global_time``.
        test_share: share of ratings held out as judgments.
        relevant_from: smallest rating that is relevant; grade = max(rating - relevant_from + 1, 0).
    """

    split: Literal["per_user", "global_time"] = "per_user"
    test_share: float = 0.2
    relevant_from: int = 4

    def __post_init__(self) -> None:
        """Refuses shares and ratings off their scales."""
        if not 0 < self.test_share < 1:
            raise ValueError(f"test_share is {self.test_share}; it must be between 0 and 1")
        if not 1 <= self.relevant_from <= 5:
            raise ValueError(f"relevant_from is {self.relevant_from}; ratings go from 1 to 5")

    def tables(self, problems: list[Problem]) -> Tables:
        """Fetches the data where needed, and splits it.

        Raises:
            UnreachableError: the data cannot be fetched.
            SamepoolError: what was fetched is not the data, or the cache cannot be written.
        """
        path = fetched(WHEEL)
        ratings, people, films = (_member(path, name) for name in ("inter", "user", "item"))
        ratings = ratings.astype({"rating": np.int64, "timestamp": np.int64})
        held, asked = self._held(ratings)
        test, train = ratings[held], ratings[~held]
        queries = _queries(people, train, asked)
        if self.split == "per_user":
            problems.append(_leak(train, asked))
        return Tables(
            name=f"movielens-100k-{self.split}",
            queries=queries,
            items=_items(films, ratings, train),
            qrels=self._qrels(test),
            logs=_logs(train, asked),
            declared=self._declared(ratings, asked, len(films)),
        )

    def _held(self, ratings: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
        """Which ratings are held out, and when each person with such ratings asks (seconds)."""
        if self.split == "global_time":
            cut = int(np.quantile(ratings["timestamp"], 1 - self.test_share))
            held = ratings["timestamp"] > cut
            who = ratings.loc[held, "user_id"].unique()
            return held, pd.Series(cut, index=who)
        ordered = ratings.sort_values(["user_id", "timestamp", "item_id"])
        by_user = ordered.groupby("user_id")
        size = by_user["item_id"].transform("size")
        last = by_user.cumcount(ascending=False) < np.round(size * self.test_share)
        asked = ordered[last].groupby("user_id")["timestamp"].min()
        return last.reindex(ratings.index), asked

    def _qrels(self, test: pd.DataFrame) -> pa.Table:
        grade = np.maximum(test["rating"] - self.relevant_from + 1, 0)
        return pa.table(
            {
                "query_id": pa.array(test["user_id"], pa.string()),
                "item_id": pa.array(test["item_id"], pa.string()),
                "grade": pa.array(grade, pa.float64()),
            }
        )

    def _declared(self, ratings: pd.DataFrame, asked: pd.Series, catalogue: int) -> Declared:
        whole = self.split == "per_user"
        end = int(ratings["timestamp"].max() if whole else asked.iloc[0])
        return Declared(
            labels="rating",
            labels_reason=_REASON,
            as_of=pd.Timestamp(end, unit="s", tz="UTC").strftime("%Y-%m-%dT%H:%M:%SZ"),
            catalogue=catalogue,
            grades=(0.0, float(6 - self.relevant_from)),
            sampling="everyone with a held-out rating",
            unit="query",
            seen="removed",
            facts={
                "data": "MovieLens-100K",
                "split": self.split,
                "test_share": self.test_share,
                "relevant_from": self.relevant_from,
                "others_after_query": "in the logs" if whole else "not in the logs",
            },
        )


PLUGIN = MovieLens


def _member(path: Path, name: str) -> pd.DataFrame:
    """A table of strings; the header's ``name:type`` loses its type."""
    with zipfile.ZipFile(path) as archive, archive.open(_MEMBER + name) as stream:
        found = pd.read_csv(stream, sep="\t", dtype=str, keep_default_na=False, quoting=3)
    return found.rename(columns=lambda column: str(column).split(":")[0])


def _queries(people: pd.DataFrame, train: pd.DataFrame, asked: pd.Series) -> pa.Table:
    people = people[people["user_id"].isin(asked.index)]
    ids = people["user_id"]
    frequency = train["user_id"].value_counts().reindex(ids, fill_value=0)
    age = people["age"].astype(np.int64)
    return pa.table(
        {
            "query_id": pa.array(ids, pa.string()),
            "user_id": pa.array(ids, pa.string()),
            "issued_at": _time(asked.reindex(ids).to_numpy(np.int64)),
            "frequency": pa.array(frequency.to_numpy(np.int64)),
            "gender": pa.array(people["gender"], pa.string()),
            "age": pa.array(age.to_numpy()),
            "age_band": pa.array([_band(years) for years in age], pa.string()),
            "occupation": pa.array(people["occupation"], pa.string()),
        }
    )


def _items(films: pd.DataFrame, ratings: pd.DataFrame, train: pd.DataFrame) -> pa.Table:
    ids = films["item_id"]
    first = ratings.groupby("item_id")["timestamp"].min().reindex(ids).to_numpy(np.int64)
    day = _time(first // _DAY * _DAY)
    year = pd.to_numeric(films["release_year"], errors="coerce").astype("Int64")
    popularity = train["item_id"].value_counts().reindex(ids, fill_value=0)
    return pa.table(
        {
            "item_id": pa.array(ids, pa.string()),
            "text": pa.array(films["movie_title"], pa.string()),
            "created_at": day,
            "eligible_from": day,
            "release_year": pa.array(year, pa.int64()),
            "genres": pa.array(films["class"], pa.string()),
            "popularity": pa.array(popularity.to_numpy(np.int64)),
        }
    )


def _logs(train: pd.DataFrame, asked: pd.Series) -> pa.Table:
    """Everyone's ratings before the split; query_id is null for people who are no query."""
    train = train.sort_values(["timestamp", "user_id", "item_id"])
    user = train["user_id"]
    return pa.table(
        {
            "query_id": pa.array(user.where(user.isin(asked.index), None), pa.string()),
            "item_id": pa.array(train["item_id"], pa.string()),
            "reward": pa.array(train["rating"].to_numpy(np.int64)),
            "at": _time(train["timestamp"].to_numpy(np.int64)),
            "user_id": pa.array(user, pa.string()),
        }
    )


def _leak(train: pd.DataFrame, asked: pd.Series) -> Problem:
    early = int((asked < train["timestamp"].max()).sum())
    text = (
        f"{early:,} of {len(asked):,} queries are asked before the logs end: under"
        " split=per_user models learn from other people's later ratings"
    )
    fix = "pool.split=global_time has no such leak"
    return Problem("others_after_query", "note", text, fix, "logs", None, (), early)


def _band(years: int) -> str:
    return next((name for limit, name in _AGES if years < limit), "55 and over")


def _time(seconds: I64) -> pa.Array:
    return pa.array(seconds * _SECOND, pa.int64()).cast(MICROS)
