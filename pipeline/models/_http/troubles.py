"""What can go wrong with one request, by what shall be done about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Advice:
    """What can be done about it, in terms of the options of the kind that asks.

    Attributes:
        option: name of the address.
        status: by HTTP status.
        refused: of any other status that asking again does not change.
        large: an answer is too large.
        certificate: it is signed by somebody unknown.
    """

    option: str = "url"
    status: Mapping[int, str] = field(
        default_factory=lambda: {
            401: "set auth to credentials that may search",
            403: "set auth to credentials that may search",
            404: "check the url and the name of the index",
            405: "set method to GET or POST",
        }
    )
    refused: str = "mend the body, params or url"
    large: str = "ask for ids and scores alone, or for fewer items"
    certificate: str = "name the authority that signed it: ca_bundle=FILE"


class TroubleError(Exception):
    """One attempt that gave no answer; asking again may help.

    Attributes:
        text: what happened, in a few words.
        fix: what the user can do about it.
        after: seconds that the endpoint asks to be left alone for, if it does.
        unreached: no connection came about at all.
    """

    def __init__(
        self, text: str, fix: str = "", *, after: float | None = None, unreached: bool = False
    ) -> None:
        """Keeps what happened."""
        super().__init__(text)
        self.text, self.fix, self.after, self.unreached = text, fix, after, unreached


class AwayError(TroubleError):
    """The endpoint does not answer, or not now."""


class GarbledError(TroubleError):
    """It answered with what cannot be read."""


class MistakeError(TroubleError):
    """The question or the options are wrong: asking again would change nothing."""
