"""What a scoring model asks for: the columns of its input."""

from dataclasses import dataclass


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
    """The inputs that a model says it takes.

    Attributes:
        columns: None where it has no signature, or one whose inputs have no names.
        unnamed: whether it has a signature of inputs without names.
    """

    columns: tuple[Column, ...] | None = None
    unnamed: bool = False
