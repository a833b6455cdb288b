"""What a scoring model asks for, the columns of its input, and what it says that it returns."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Column:
    """One input of a model.

    Attributes:
        name: as the signature has it.
        kind: ``boolean``, ``integer`` (32 bits), ``long``, ``float`` (32 bits), ``double``,
            ``string``, ``datetime``, ``binary``, or ``other``: lists, mappings, tensors.
        required: whether the model cannot do without it.
    """

    name: str
    kind: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class Signature:
    """The inputs that a model says it takes, and its outputs.

    Attributes:
        columns: None where it has no signature, or one whose inputs have no names.
        unnamed: whether it has a signature of inputs without names.
        outputs: names of the columns of its answer; empty where they have none, None where nothing
            is said.
        returns: what a classifier's answer is known to be: ``labels``, or ``probabilities`` of its
            classes, in an order that is written down nowhere.
    """

    columns: tuple[Column, ...] | None = None
    unnamed: bool = False
    outputs: tuple[str, ...] | None = None
    returns: Literal["", "labels", "probabilities"] = ""
