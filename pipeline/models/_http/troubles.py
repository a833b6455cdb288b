"""What can go wrong with one request, by what shall be done about it."""


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
