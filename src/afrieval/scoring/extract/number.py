"""Reads the number that a generated answer gives, in the digits of any script."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache

from afrieval.scoring.base import ExtractionContext, Extractor, Question

ANSWER = "{answer}"  # where the number stands in a lead-in; at its end if it is not there

LARGEST = 2**53  # up to which every program reads whole numbers in JSON exactly
_MARKS = " \u00a0\u2009\u202f.,'_،٬"  # between groups of three digits
_NUMBER = re.compile(
    rf"""(?<!\^)                                            # no exponent
    (?:(?P<whole>(?!0\.)\d{{1,3}}(?P<mark>[{_MARKS}])\d{{3}}(?:(?P=mark)\d{{3}})*(?!\d)  # 2,125 and 2 125 and 2.125
      |\d+(?:,\d{{3}})+(?!\d) |\d{{1,2}}(?:,\d\d)+,\d{{3}}(?!\d) |\d+             # 1234,567 and 12,34,567 and 18
      |(?<![\w.])(?=\.\d))                                                        # .75
    (?:[.,٫](?P<decimals>\d+))?
    |(?P<ethiopic>[፩-፼]+))""",
    re.VERBOSE,
)
_SIGN = re.compile(r"(?:^|[^\w)\]%])[-−]\s*$")
_BOXED = re.compile(r"\\boxed\s*{(.*?\d.*?)}|####(.*\d.*)")
_LIST = re.compile(r"^\s*1[.)]\s", re.MULTILINE)
_ITEM = re.compile(r"^\s*\d{1,2}[.)]\s+(?=\S)", re.MULTILINE)  # the number of an item in a list
_QUOTES = re.compile("[‘’ʼ]")
_LATEX_SIGNS = {r"\\!": "", r"\\[, ]": " ", r"\{,\}": ",", r"\\\$": "$", r"\\(?:times|cdot)": "×", r"\\div": "÷"}
_LATEX = {re.compile(pattern): sign for pattern, sign in _LATEX_SIGNS.items()}
_MINUTES = re.compile(r"(?<=\d):\d\d(?!\d)")


def number() -> Extractor:
    """Returns what takes the number that the answer gives; one that is not whole becomes a text."""

    def extract(text: str, question: Question, asked: ExtractionContext) -> int | str | None:
        if asked.runs_on and not asked.reasoned:  # what follows the line of the first number is made up
            text = next((line for line in text.splitlines() if _NUMBER.search(line)), text)
        return stored(read_number(text, asked.lead_ins, first=asked.runs_on))

    return extract


def stored(value: Decimal | None) -> int | str | None:
    """Returns a number in a form that JSON can hold without loss."""
    if value is None:
        return None
    return int(value) if abs(value) < LARGEST and value == int(value) else str(value)


def parse_number(text: str) -> Decimal | None:
    """Returns the value of a text that is a number and nothing else; None for other texts."""
    shown = text.strip()
    match = _NUMBER.fullmatch(shown.removeprefix("-"))
    return (-_value(match) if shown.startswith("-") else _value(match)) if match else None


def read_number(text: str, lead_ins: Sequence[str] = (), first: bool = False) -> Decimal | None:
    """Returns the number that an answer gives, or None if it has none.

    It is the number after one of the `lead_ins` ("The answer is"), or what an equation there comes to; or that in the
    last box of LaTeX; or else the last number of the text. A mark or blank before exactly three digits is a thousands
    mark, any other point or comma a decimal sign; currency and percent signs are passed over. Digits of every script
    count, and the Ethiopic numerals; numbers of list items, exponents and minutes do not.

    Args:
        text: what the model wrote.
        lead_ins: words before the number; `{answer}` in them stands for the number. Written without a space before
            `{answer}`, as in `Impendulo ngu-{answer}`, they are joined to a number that follows at once: ngu-7, ngu7.
        first: whether the first lead-in with a number counts and not the last, for a model that runs on.
    """
    given = _plain(text)
    led = sorted(_after_lead_ins(given, lead_ins))
    if led:
        return led[0 if first else -1][1]
    if boxes := _BOXED.findall(given):
        return _last("".join(boxes[-1]))
    return _last(_ITEM.sub("", given) if _LIST.search(given) else given)


def _plain(text: str) -> str:
    plain = _QUOTES.sub("'", unicodedata.normalize("NFC", text).casefold())
    for pattern, sign in _LATEX.items():
        plain = pattern.sub(sign, plain)
    return _MINUTES.sub("", plain)


def _after_lead_ins(text: str, lead_ins: Iterable[str]) -> Iterable[tuple[int, Decimal]]:
    """Yields where a lead-in stands and the number that it announces."""
    for lead_in in set(lead_ins) - {""}:
        before, after = _parts(lead_in)
        joined = ANSWER in lead_in and before[-1:].strip() != ""
        for match in _announcement(before, joined).finditer(text):
            said = text[match.end() : match.end() + _line_end(text[match.end() :])]
            if after.strip():
                said, found, _ = said.partition(after.strip())
                said = said if found else ""
            if number := _NUMBER.search(said):
                yield match.start(), _result(said, number)


@lru_cache(1024)
def _parts(lead_in: str) -> tuple[str, str]:
    """Returns what stands before and after the number in a lead-in, in the form of texts."""
    before, _, after = lead_in.partition(ANSWER)
    return _plain(before), _plain(after)


@lru_cache(1024)
def _announcement(before: str, joined: bool) -> re.Pattern[str]:
    """Returns the pattern of the words before a number; a joined prefix may end within the number's word."""
    if joined:
        words = re.escape(before.rstrip("-"))
        return re.compile(rf"(?<!\w){words}[-\u2010\u2011]?(?=[^\w\n]*r?[\d፩-፼])")  # r for rand
    return re.compile(rf"(?<!\w){re.escape(before.strip())}(?![\w'-])")


def _line_end(text: str) -> int:
    """Returns where the first line ends that has more than marks on it: a number may stand on the next line."""
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if any(c.isalnum() for c in line):
            break
    return end


def _result(said: str, number: re.Match[str]) -> Decimal:
    """Returns the number itself, or what an equation that begins with it comes to."""
    equation = re.match(r"(?:[^\W\d_](?![^\W\d_])|[\W\d_])*", said[number.start() :])  # up to the next word
    results = equation[0].split("=")[1:] if equation else []
    after = [found for part in results if (found := _NUMBER.search(part))]
    return _signed(after[-1] if after else number)


def last_number(text: str) -> re.Match[str] | None:
    """Returns where the last number of a text stands; `parse_number` of what is matched is its value, without sign."""
    return next(reversed(list(_NUMBER.finditer(text))), None)


def _last(text: str) -> Decimal | None:
    found = last_number(text)
    return _signed(found) if found else None


def _signed(match: re.Match[str]) -> Decimal:
    """A hyphen is a minus sign unless a word or number stands before it, as in the Zulu "ngu-18" and in "20-18"."""
    before = match.string[: match.start()].rstrip("$€£₦¢")
    return -_value(match) if before[-1:] in ("-", "−") and _SIGN.search(before) else _value(match)


def _value(match: re.Match[str]) -> Decimal:
    if match["ethiopic"]:
        return Decimal(_ethiopic(match["ethiopic"]))
    whole = re.sub(r"\D", "", match["whole"])
    return Decimal(f"{whole or 0}.{match['decimals'] or 0}")


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
