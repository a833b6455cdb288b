"""What the metrics of this folder share: the label, checks of parameters, the description."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

from pipeline.core.scores import MetricInfo

Stage: TypeAlias = Literal["final", "retrieval"]


@dataclass(frozen=True)
class Base:
    """A metric as a value: its fields are the parameters of its notation, ``cutoff`` the @.

    Attributes:
        NAME: name in the notation.
        ALIASES: names that are read as well, never written.
        PRINTED: parameters that the label shows even where they have their default.
        SPELLINGS: parameter of another tool -> its value -> our parameter and value.
    """

    NAME: ClassVar[str] = ""
    ALIASES: ClassVar[tuple[str, ...]] = ()
    PRINTED: ClassVar[frozenset[str]] = frozenset()
    SPELLINGS: ClassVar[Mapping[str, Mapping[str, tuple[str, str]]]] = {}

    def __post_init__(self) -> None:
        """Refuses numbers that no parameter of a metric may have.

        Raises:
            ValueError: cutoff below 1, or a threshold that is not above 0.
        """
        cutoff = getattr(self, "cutoff", None)
        if cutoff is not None and cutoff < 1:
            raise ValueError(f"cutoff must be at least 1, not {cutoff}")
        for name in ("rel", "new"):
            value = getattr(self, name, None)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be above 0, not {_plain(value)}")

    @property
    def label(self) -> str:
        """Canonical notation; parsing it gives an equal metric."""
        shown = [
            f"{field.name}={_plain(getattr(self, field.name))}"
            for field in fields(self)
            if field.name != "cutoff"
            and (field.name in self.PRINTED or getattr(self, field.name) != field.default)
        ]
        cutoff = getattr(self, "cutoff", None)
        params = f"({','.join(shown)})" if shown else ""
        return f"{self.NAME}{params}{'' if cutoff is None else f'@{cutoff}'}"

    def describe(self, **facts: Any) -> MetricInfo:
        """The description, higher is better, 0 to 1 and 0 worst, per query, unless told otherwise.

        Args:
            facts: fields of :class:`MetricInfo`; formula and words are always needed.
        """
        usual: dict[str, Any] = {
            "label": self.label,
            "direction": "higher",
            "range": (0.0, 1.0),
            "worst": 0.0,
            "per": "query",
            "stage": getattr(self, "stage", "final"),
        }
        return MetricInfo(**(usual | facts))

    def within(self) -> str:
        """Words for the cutoff: ``in the first 10``, or ``in the whole list``."""
        cutoff = getattr(self, "cutoff", None)
        return "in the whole list" if cutoff is None else f"in the first {cutoff}"


def _plain(value: Any) -> str:
    """A value as the notation has it; 2.0 is written 2."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
