"""Reads the number that a generated answer gives, in the digits of any script."""

import re
import unicodedata
from decimal import Decimal

EXACT_MATCH = "exact_match"
ANSWER = "{answer}"  # where the number stands in a lead-in; at its end if it is not there

_BLANK = " \u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"""(?P<european>\d{{1,3}}(?:\.\d{{3}})+(?=,\d{{1,2}}(?!\d))|\d{{1,3}}(?:\.\d{{3}}){{2,}}(?!\d))(?:,(?P<cents>\d{{1,2}})(?!\d))?
    |(?P<grouped>\d{{1,3}}(?:[{_BLANK}]\d{{3}}(?!\d))+|\d+(?:[,٬]\d{{3}}(?!\d))*)(?:[.,٫](?P<decimals>\d+))?
    |(?P<ethiopic>[፩-፼]+)""",
    re.VERBOSE,
)
_SIGN = re.compile(r"(?:^|[^\w)\]%])[-−]\s*$")


def parse_number(text: str) -> Decimal | None:
    """Returns the number that a text is, without a word beside it; None if it is none."""
    shown = text.strip()
    match = _NUMBER.fullmatch(shown.removeprefix("-"))
    return (-_value(match) if shown.startswith("-") else _value(match)) if match else None


def read_number(text: str, lead_in: str = "") -> Decimal | None:
    """Returns the number that an answer gives, or None if it has none.

    It is the first number after the last `lead_in` ("The answer is") that has one on its line, or else the last number
    of the text. A comma or blank before exactly three digits is a thousands mark, any other comma a decimal sign;
    currency and percent signs are passed over. Digits of every script count, and the Ethiopic numerals.

    Args:
        text: what the model wrote.
        lead_in: the words before the number in the prompt's language; `{answer}` in it stands for the number.
    """
    given = _plain(text)
    before = _plain(lead_in.partition(ANSWER)[0]).strip()
    for led in reversed(given.split(before)[1:] if before else []):
        if (found := _NUMBER.search(led, 0, _line_end(led))) is not None:
            return _signed(found)
    numbers = list(_NUMBER.finditer(given))
    return _signed(numbers[-1]) if numbers else None


def score_number(read: Decimal | None, gold: int) -> dict[str, float]:
    """Returns exact match of a number that was read from an answer, and whether none could be read.

    Args:
        read: the number; None, where none could be read, is wrong.
        gold: the right one.
    """
    return {EXACT_MATCH: float(read == gold), "unread": float(read is None)}


def _plain(text: str) -> str:
    return re.sub("[‘’ʼ]", "'", unicodedata.normalize("NFC", text).casefold())


def _line_end(text: str) -> int:
    """Returns where the first line ends that has more than marks on it: a number may stand on the next line."""
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if any(c.isalnum() for c in line):
            break
    return end


def _signed(match: re.Match[str]) -> Decimal:
    """A hyphen is a minus sign unless a word or number stands before it, as in the Zulu "ngu-18" and in "20-18"."""
    before = match.string[: match.start()].rstrip("$€£₦¢")
    attached = before[-1:] in "-−"
    return -_value(match) if attached and _SIGN.search(before) else _value(match)


def _value(match: re.Match[str]) -> Decimal:
    if match["ethiopic"]:
        return Decimal(_ethiopic(match["ethiopic"]))
    if match["european"]:
        return Decimal(f"{match['european'].replace('.', '')}.{match['cents'] or 0}")
    whole = re.sub(r"\D", "", match["grouped"])
    return Decimal(f"{whole}.{match['decimals'] or 0}")


def _ethiopic(numerals: str) -> int:
    """Returns the value of Ethiopic numerals: tens and ones, times hundred (፻) and ten thousand (፼)."""
    total = hundreds = ones = 0
    for numeral in numerals:
        value = int(unicodedata.numeric(numeral))
        if value == 100:
            hundreds, ones = hundreds + (ones or 1) * 100, 0
        elif value == 10_000:
            total, hundreds, ones = (total + (hundreds + ones or 1)) * 10_000, 0, 0
        else:
            ones += value
    return total + hundreds + ones
