"""What a function of the user's returned, in the columns that lists are read from."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.problems import SamepoolError, fault

_COLUMNS = ("query_id", "item_id", "score")
_EXACT = 2**53  # whole numbers up to here are floats exactly
_LARGEST_RANK = 2**31 - 1


def table(call: str, returned: object) -> pa.Table:
    """``query_id``, ``item_id``, ``score`` and optional ``rank`` of a returned frame.

    Args:
        call: who returned it, for messages.
        returned: whatever that was.

    Raises:
        SamepoolError: it is no DataFrame, lacks a column or has it twice, or holds what is no id,
            score or rank.
    """
    if not isinstance(returned, pd.DataFrame):
        text = f"{call} returned {type(returned).__name__}, not a pandas DataFrame"
        raise fault("wrong_return", text, f"return columns {', '.join(_COLUMNS)}")
    _each_once(call, returned)
    columns = {name: _ids(call, name, returned[name]) for name in _COLUMNS[:2]}
    columns["score"] = _numbers(call, "score", returned["score"])
    if "rank" in returned.columns:
        columns["rank"] = _ranks(call, returned["rank"])
    return pa.table(columns)


def _each_once(call: str, returned: pd.DataFrame) -> None:
    names = list(returned.columns)
    missing = [name for name in _COLUMNS if name not in names]
    shown = ", ".join(map(str, names)) or "none"
    if missing:
        text = f"{call} returned no column {', '.join(missing)}"
        raise fault("wrong_return", text, f"it has: {shown}; rename or add columns")
    twice = [name for name in (*_COLUMNS, "rank") if names.count(name) > 1]
    if twice:
        text = f"{call} returned more than one column {', '.join(twice)}"
        raise fault("wrong_return", text, f"it has: {shown}; leave one of them")


def _ids(call: str, name: str, column: "pd.Series[Any]") -> pa.Array:
    try:
        ids = pa.array(column, type=pa.string(), from_pandas=True)
    except UnicodeEncodeError as error:
        text = f"{call} returned column {name} with what is no Unicode text: {error.object!a}"
        raise fault("wrong_return", text, "ids are text: keep those of the pool") from error
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        first = next(value for value in column if not isinstance(value, str))
        text = f"{call} returned column {name} of {column.dtype}, not text: {first!r}"
        fix = "ids are text: keep those of the pool, as 0012 read as a number becomes 12"
        raise fault("wrong_return", text, fix) from error
    absent = ids.null_count + (pc.sum(pc.equal(ids, "")).as_py() or 0)
    if absent:
        text = f"{call} returned {absent:,} rows without {name}"
        raise fault("wrong_return", text, "every row needs both ids")
    return ids


def _numbers(call: str, name: str, column: "pd.Series[Any]") -> pa.Array:
    kinds = pd.api.types
    if not kinds.is_numeric_dtype(column.dtype) or kinds.is_complex_dtype(column.dtype):
        text = f"{call} returned column {name} of {column.dtype}, not numbers"
        raise fault("wrong_return", text, f"convert {name} to float")
    large = kinds.is_integer_dtype(column.dtype) and len(column.dropna()) and column.max() > _EXACT
    values = column.to_numpy(dtype="float64", na_value=float("nan"))
    if large and np.unique(values).size < column.nunique():
        text = f"{call} returned column {name} of whole numbers up to {column.max()}"
        fix = "as floats some of them are equal: subtract their minimum, or scale them"
        raise fault("wrong_return", text, fix)
    return pa.array(values)


def _ranks(call: str, column: "pd.Series[Any]") -> pa.Array:
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        raise _no_rank(call, f"of {column.dtype}, not integers")
    if len(column) and not 0 <= column.min() <= column.max() <= _LARGEST_RANK:
        raise _no_rank(call, f"from {column.min()} to {column.max()}")
    return pa.array(column.to_numpy(dtype="int32"))


def _no_rank(call: str, what: str) -> SamepoolError:
    text = f"{call} returned column rank {what}"
    return fault("wrong_return", text, "rank from 1, without gaps in the column")
