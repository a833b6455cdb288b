"""How numbers and names are written: the same in every output."""

import math
import unicodedata
from datetime import UTC, datetime, time, timedelta

NA = "n/a"
_SMALLEST = 0.00005  # below it four decimals would print a zero that is none


def mean(value: float | None) -> str:
    """A level, to four decimals.

    >>> mean(0.43118), mean(1234.5), mean(None), mean(-0.0), mean(0.00002)
    ('0.4312', '1,234.5000', 'n/a', '0.0000', '2e-05')
    """
    return _decimal(value, sign="-")


def delta(value: float | None) -> str:
    """A difference, always with its sign; a tiny one keeps its sign and is never printed as zero.

    >>> delta(0.00861), delta(-0.0129), delta(0.0), delta(-0.00001), delta(None)
    ('+0.0086', '-0.0129', '0.0000', '-1e-05', 'n/a')
    """
    return _decimal(value, sign="+")


def _decimal(value: float | None, sign: str) -> str:
    if value is None or math.isnan(value):
        return NA
    if value == 0:
        return "0.0000"
    form = f"{sign},.4f" if abs(value) >= _SMALLEST else f"{sign}.0e"
    return format(value, form)


def interval(bounds: tuple[float, float] | None) -> str:
    """An interval of a difference.

    >>> interval((-0.019, -0.0068)), interval(None)
    ('[-0.0190, -0.0068]', 'n/a')
    """
    return NA if bounds is None else f"[{delta(bounds[0])}, {delta(bounds[1])}]"


def level_interval(bounds: tuple[float, float] | None) -> str:
    """An interval of a level.

    >>> level_interval((0.9, 0.95))
    '[0.9000, 0.9500]'
    """
    return NA if bounds is None else f"[{mean(bounds[0])}, {mean(bounds[1])}]"


def p_value(p: float | None) -> str:
    """A p-value, to three decimals; never rounded to 0 or to 1.

    >>> p_value(0.00002), p_value(0.0124), p_value(0.5), p_value(0.9999), p_value(1.0)
    ('<.001', '.012', '.500', '>.999', '1')
    >>> p_value(None)
    'n/a'
    """
    if p is None or math.isnan(p):
        return NA
    if p >= 1:
        return "1"
    if p < 0.001:
        return "<.001"
    return ">.999" if p >= 0.9995 else f"{p:.3f}".removeprefix("0")


def count(n: int) -> str:
    """A count with thousands separators.

    >>> count(181701)
    '181,701'
    """
    return f"{n:,}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """A count and its noun.

    >>> counted(1, "query", "queries"), counted(2000, "rule")
    ('1 query', '2,000 rules')
    """
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent; a part that is not all of it is never printed as 100 %.

    >>> share(18, 8956), share(8956, 8956), share(8955, 8956), share(1, 10**6), share(0, 0)
    ('0.2 %', '100 %', '>99.9 %', '<0.1 %', 'n/a')
    """
    if whole == 0:
        return NA
    if part in {0, whole}:
        return "100 %" if part else "0 %"
    percent = 100 * part / whole
    if percent > 99.9:
        return ">99.9 %"
    return "<0.1 %" if percent < 0.1 else f"{percent:.1f} %"


def level(confidence: float) -> str:
    """A confidence level.

    >>> level(0.95), level(0.975)
    ('95 %', '97.5 %')
    """
    return f"{100 * confidence:.4g} %"


def clean(text: object) -> str:
    r"""Text from outside on one line, without what could steer a terminal or turn a line around.

    >>> clean("a\nb\x1b[31m"), clean("x\u202ey"), clean("\ud800") == "\ufffd"
    ('a b\ufffd[31m', 'x\ufffdy', True)
    """
    return "".join(_plain(char) for char in str(text))


def _plain(char: str) -> str:
    if char in "\t\n\r\v\f\x85\u2028\u2029":
        return " "
    turned = "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"
    if turned or char in "\ufffe\uffff" or unicodedata.category(char) in {"Cc", "Cs"}:
        return "\ufffd"
    return char


def moment(text: str) -> str:
    """A date, with hours and minutes unless it is midnight; other text stays as it is.

    >>> moment("1998-04-22T23:10:38Z"), moment("2026-06-01T00:00:00Z"), moment("2026-06-01")
    ('1998-04-22 23:10 UTC', '2026-06-01', '2026-06-01')
    >>> moment("2026-06-01T00:00+02:00"), moment("2026-06-01 09:30"), moment("spring")
    ('2026-06-01 00:00+02:00', '2026-06-01 09:30', 'spring')
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return clean(text)
    universal = at.utcoffset() in {None, timedelta(0)}
    if universal and at.time() == time():
        return at.date().isoformat()
    if universal:
        return f"{at:%Y-%m-%d %H:%M}" + (f" {UTC}" if at.tzinfo else "")
    return at.isoformat(" ", "minutes")


def digest(text: str) -> str:
    """The first eight characters of a digest.

    >>> digest("9f3a1c0d77")
    '9f3a1c0d'
    """
    return text.removeprefix("sha256:")[:8] or NA
