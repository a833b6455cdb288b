"""Semanlink: 7,300 web pages and papers that one person bookmarked from 2004 to 2021, with tags.

A query is a tag's label, asked when the collection ends; what carries the tag is relevant. So it is
like search, but not search: nobody typed the queries, a tag was given to a document that was read,
and a document without the tag may fit it as well. Some tags name no topic (`Tutorial`, `Slides`).
How often a tag was given stands in for how often it is asked for.
"""

import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from pipeline.core.pool import Declared
from pipeline.core.problems import Problem, fault
from pipeline.pool._package import Package, fetched
from pipeline.pool._tables import Tables
from pipeline.pool._types import MICROS

SOURCE = Package(
    what="Semanlink",
    name="cherche",
    version="2.2.1",
    file="cherche-2.2.1.tar.gz",
    sha256="7984a88f0bf9349cd08907baefc2527deaacea95d3acf5f4a1692896c507fe34",
)
_MEMBER = "cherche-2.2.1/cherche/data/semanlink/"
_REASON = (
    "one person read each document and chose its tags; documents without the tag were not judged"
)


@dataclass(frozen=True, slots=True)
class Semanlink:
    """The second demo pool: search by tags.

    Documents without title and comment are left out, with their tags. The text of a document is
    its title and comment; its tags are in no column, since they are the answer.

    Attributes:
        min_documents: a tag with fewer documents is no query.
    """

    min_documents: int = 5

    def __post_init__(self) -> None:
        """Refuses queries with nothing relevant."""
        if self.min_documents < 1:
            raise ValueError(f"min_documents is {self.min_documents}; a query needs at least 1")

    def tables(self, problems: list[Problem]) -> Tables:
        """Fetches the data where needed, and makes queries of tags.

        Raises:
            UnreachableError: the data cannot be fetched.
            SamepoolError: what was fetched is not the data, or the cache cannot be written.
        """
        path = fetched(SOURCE)
        everything = pd.DataFrame(_member(path, "docs"))
        documents = _documents(everything)
        tagged = documents[["document", "day", "tag"]].explode("tag").dropna(subset="tag")
        count = tagged.groupby("tag")["document"].transform("size")
        tagged = tagged[count >= self.min_documents]
        if tagged.empty:
            text = f"no tag has {self.min_documents:,} documents"
            raise fault("no_queries", text, "set a smaller pool.min_documents")
        problems.append(_left_out(len(everything) - len(documents)))
        last = date.fromisoformat(documents["day"].max())
        return Tables(
            name="semanlink",
            queries=_queries(tagged, _member(path, "tags")),
            items=_items(documents),
            qrels=_qrels(tagged),
            declared=self._declared(last + timedelta(days=1), len(documents)),
        )

    def _declared(self, end: date, catalogue: int) -> Declared:
        return Declared(
            labels="tag",
            labels_reason=_REASON,
            as_of=f"{end.isoformat()}T00:00:00Z",
            catalogue=catalogue,
            grades=(0.0, 1.0),
            sampling=f"every tag of at least {self.min_documents} documents",
            unit="query",
            facts={
                "data": "Semanlink, in cherche 2.2.1",
                "min_documents": self.min_documents,
                "frequency": "documents with the tag, not a count of queries",
            },
        )


PLUGIN = Semanlink


def _member(path: Path, name: str) -> Any:
    with tarfile.open(path) as archive:
        stream = archive.extractfile(f"{_MEMBER}{name}.json")
        assert stream is not None  # the archive is the pinned one
        return json.load(stream)


def _documents(everything: pd.DataFrame) -> pd.DataFrame:
    """Those with a text: document, title, comment, text, day, tag (a list)."""
    title, comment = everything["title"].str.strip(), everything["comment"].str.strip()
    found = everything.assign(title=title, comment=comment, day=everything["creationDate"])
    found["text"] = (title + "\n" + comment).str.strip()
    return found[found["text"] != ""]


def _queries(tagged: pd.DataFrame, tags: Mapping[str, Any]) -> pa.Table:
    by_tag = tagged.groupby("tag")
    days = by_tag["day"].agg(["size", "min"])
    labels = [tags[tag]["prefLabel"][0].strip() for tag in days.index]
    return pa.table(
        {
            "query_id": pa.array([_short(tag) for tag in days.index], pa.string()),
            "text": pa.array(labels, pa.string()),
            "frequency": pa.array(days["size"].to_numpy(np.int64)),
            "words": pa.array([len(label.split()) for label in labels], pa.int64()),
            "first_year": pa.array([int(day[:4]) for day in days["min"]], pa.int64()),
            "has_alias": pa.array([bool(tags[tag]["altLabel"]) for tag in days.index]),
            "has_parent": pa.array([bool(tags[tag]["broader"]) for tag in days.index]),
        }
    )


def _items(documents: pd.DataFrame) -> pa.Table:
    day = pa.array([date.fromisoformat(text) for text in documents["day"]]).cast(MICROS)
    return pa.table(
        {
            "item_id": pa.array(documents["document"], pa.string()),
            "text": pa.array(documents["text"], pa.string()),
            "title": pa.array(documents["title"], pa.string()),
            "created_at": day,
            "eligible_from": day,
            "has_comment": pa.array(documents["comment"].to_numpy() != ""),
        }
    )


def _qrels(tagged: pd.DataFrame) -> pa.Table:
    return pa.table(
        {
            "query_id": pa.array([_short(tag) for tag in tagged["tag"]], pa.string()),
            "item_id": pa.array(tagged["document"], pa.string()),
            "grade": pa.array(np.ones(len(tagged))),
        }
    )


def _short(tag: str) -> str:
    """The last part of a tag's address, which no two tags share."""
    return tag.rpartition("/")[2]


def _left_out(n: int) -> Problem:
    text = f"{n:,} documents without title and comment are left out, with their tags"
    return Problem("no_text", "note", text, "", "items", None, (), n)
