"""What a model returns for a table, read as one score a row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from pipeline.core.arrays import F64
from pipeline.core.problems import fault
from pipeline.core.suggest import did_you_mean
from pipeline.models import Loaded

_EXACT = 2**53  # whole numbers up to here are floats exactly
Output: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Reader:
    """Asks a model for a table of inputs and reads the score of each row from its answer.

    Attributes:
        ask: the model.
        who: its name in messages.
        output: a column of what it returns, or a class of a classifier; None for the only one.
        classes: of the columns of an array that it returns, where they are known.
    """

    ask: Callable[[pd.DataFrame], Any]
    who: str
    output: Output = None
    classes: tuple[Any, ...] | None = None

    def __call__(self, table: pd.DataFrame) -> F64:
        """(N,) scores; NaN and infinity as the model has them.

        Raises:
            SamepoolError: no number a row, or more than one and nothing says which.
        """
        answer = self.ask(table)
        _in_order(answer, len(table), self.who)
        values = self._picked(answer)
        if values.shape == (len(table), 1):
            values = values[:, 0]
        if values.shape != (len(table),):
            text = f"{self.who} gave an answer of shape {values.shape} for {len(table):,} rows"
            raise fault("bad_prediction", text, "it must return one number a row")
        return self._numbers(values)

    def _picked(self, answer: Any) -> np.ndarray[Any, Any]:
        named = _named(answer)
        if named is not None:
            return _array(named[self._key(tuple(named), "returns")])
        values = _array(answer)
        if values.ndim == 2 and values.shape[1] > 1:
            return self._column(values)
        if self.output is not None and self.classes is None:
            text = f"{self.who} returns one value a row, so there is no output {self.output!r}"
            fix = "leave output out; a class is known of a classifier loaded with env: inprocess"
            raise fault("no_output", text, fix)
        return values

    def _column(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A column of an array without names."""
        if self.classes is None or len(self.classes) != values.shape[1]:
            text = f"{self.who} returns {values.shape[1]} numbers a row and nothing names them"
            fix = "log it so that it returns one number a row, or a table with named columns"
            raise fault("unnamed_outputs", text, fix)
        found: np.ndarray[Any, Any] = values[:, self.classes.index(self._key(self.classes, "has"))]
        return found

    def _key(self, known: Sequence[Any], verb: str) -> Any:
        """The one of the names or classes that ``output`` stands for."""
        shown = ", ".join(map(str, known))
        if self.output is None:
            if len(known) == 1:
                return known[0]
            text = f"{self.who} {verb} {len(known)} outputs: {shown}"
            raise fault("which_output", text, f"say which is the score: output: {known[-1]}")
        return chosen(self.who, self.output, known)

    def _numbers(self, values: np.ndarray[Any, Any]) -> F64:
        if values.dtype.kind in "iu":
            return self._exact(values)
        if values.dtype.kind in "bf":
            return values.astype(np.float64)
        if values.dtype.kind in "mMc":
            text = f"{self.who} returns {values.dtype}, not a number a row"
            raise fault("bad_prediction", text, "return numbers that larger is better for")
        for value in values.tolist():
            if not _number(value):
                text = f"{self.who} returns {value!r}, not a number: a label is no score"
                fix = "a classifier needs output: CLASS (env: inprocess); else return numbers"
                raise fault("bad_prediction", text, fix)
        return np.array([np.nan if value is pd.NA else value for value in values], np.float64)

    def _exact(self, values: np.ndarray[Any, Any]) -> F64:
        """Whole numbers as floats; refused where that would make different ones equal."""
        found: F64 = values.astype(np.float64)
        large = values.size and int(values.max()) > _EXACT
        if large and np.unique(found).size < np.unique(values).size:
            text = f"{self.who} returns whole numbers up to {values.max()}"
            fix = "as floats some of them are equal: subtract their minimum, or scale them"
            raise fault("bad_prediction", text, fix)
        return found


def of_loaded(loaded: Loaded, who: str, output: Output, *, labels: bool) -> Reader:
    """The reader for a model in this process; a classifier is asked for probabilities.

    Args:
        loaded: the model.
        who: its name in messages.
        output: a column or class, or None.
        labels: whether labels may be the scores.

    Raises:
        SamepoolError: a classifier whose labels would be taken for scores, or which has no such
            class or no probabilities.
    """
    classes = loaded.classes
    if classes is None or (output is None and labels):
        return Reader(loaded.predict, who, output)
    if output is None:
        shown = ", ".join(map(str, classes))
        text = f"{who} is a classifier of {shown}, and labels are no scores"
        fix = f"output: {classes[-1]} scores by the probability of {classes[-1]}"
        raise fault("which_output", text, f"{fix}; allow_ties: true takes the labels")
    chosen(who, output, classes)
    if loaded.method != "predict":  # logged to return probabilities
        return Reader(loaded.predict, who, output, classes)
    if loaded.proba is None:
        text = f"{who} is a classifier without probabilities, so output has nothing to choose"
        raise fault("no_output", text, "log a model that returns a number a row")
    return Reader(loaded.proba, who, output, classes)


def chosen(who: str, output: Output, known: Sequence[Any]) -> Any:
    """The name or class that ``output`` stands for.

    Raises:
        SamepoolError: there is none.
    """
    for each in known:
        if type(each) is type(output) and each == output:
            return each
    for each in known:
        if str(each) == str(output):
            return each
    text = f"{who} has no output {str(output)!r}"
    raise fault("no_output", text, did_you_mean(str(output), map(str, known)))


def _named(answer: Any) -> Mapping[Any, Any] | None:
    """Columns of an answer that has names."""
    if isinstance(answer, list) and answer and isinstance(answer[0], Mapping):
        answer = pd.DataFrame(answer)
    if isinstance(answer, pd.DataFrame):
        if all(isinstance(name, int) for name in answer.columns) and answer.shape[1] > 1:
            return None  # numbered, not named
        return {name: answer[name] for name in answer.columns}
    return answer if isinstance(answer, Mapping) else None


def _in_order(answer: Any, n: int, who: str) -> None:
    """Refuses a table whose index says that its rows are those of the input in another order.

    Scores are read by place, as every other kind of answer has nothing else.
    """
    index = answer.index if isinstance(answer, pd.DataFrame | pd.Series) else None
    if index is None or len(index) != n or not pd.api.types.is_integer_dtype(index.dtype):
        return
    places = index.to_numpy()
    if (places != np.arange(n)).any() and (np.sort(places) == np.arange(n)).all():
        text = f"{who} returned the rows that it was given in another order"
        raise fault("bad_prediction", text, "return a score a row, in the order of the input")


def _number(value: Any) -> bool:
    """Whether it is a number, or missing."""
    return value is None or value is pd.NA or isinstance(value, int | float | np.number | np.bool_)


def _array(answer: Any) -> np.ndarray[Any, Any]:
    if hasattr(answer, "to_numpy"):
        return np.asarray(answer.to_numpy())
    try:
        return np.asarray(answer)
    except ValueError:  # rows of different lengths
        return np.asarray(answer, dtype=object)
