"""Reads the number that a generated answer gives, in the digits of any script."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache

from afrieval.scoring.base import ExtractionContext, Extractor, Question
from afrieval.scoring.extract.expression import NUMBER, number_value, values
from afrieval.scoring.extract.phrase import last_boxed
from afrieval.scoring.texts import folded

ANSWER = "{answer}"  # where the number stands in a lead-in; at its end if it is not there

LARGEST = 2**53  # up to which every program reads whole numbers in JSON exactly
_BOX = re.compile(r"\\(?:boxed|fbox)(?![a-z])")
_MARKED = re.compile(r"####[^\S\n]*([^\w\n]{0,9}\d[^\n]*)")
_LIST = re.compile(r"^[^\S\n]*1[.)]\s", re.MULTILINE)
_ITEM = re.compile(r"^[^\S\n]*\d{1,2}[.)]\s+(?=\S)", re.MULTILINE)  # the number of an item in a list
_POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_PLAIN: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"(?<=[\d)}])[⁻⁰¹²³⁴-⁹]+": lambda power: f"^{power[0].translate(_POWERS)}",
    "[‘’]": "'", "＝": "=", "／": "/", "＋": "+",
    r"(?<=\d)\*\*(?=\d)": "^", r"\*\*|\\(?:left|right|displaystyle)(?![a-z])|\\!|(?<=\d):00(?!\d)": "",
    r"\\[, ;]|~(?!\d)": " ", r"\{,\}": ",", r"\\([$%])": r"\1",
    r"\\(?:times|cdot)(?![a-z])": "×", r"\\div(?![a-z])": "÷",
    r"(?<=\d)\s?\\[dtc]?frac\s?\{(\d+)\}\s?\{(\d+)\}": r" \1/\2",
    r"\\[dtc]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}": r"(\1)/(\2)",
    r"\\(?:text|math)(?:rm|bf|it)?\s?\{([^{}]*)\}": r" \1 ",
    r"\bplus(?=\s[\d$(])": "+", r"\b(?:minus|negative)\s(?=[\d$(])": "-", r"\b(?:times|multiplied by)(?=\s[\d$(])": "×",
    r"(?<=\d)\s(?:divided by|over)(?=\s[\d$(])": "÷",
}  # fmt: skip
_SPELLED = {re.compile(pattern): sign for pattern, sign in _PLAIN.items()}
_MOST = 200  # times that a lead-in is looked at, from where the answer is
_REACH = 1000  # characters after a lead-in in which its number stands
_RUN = 10_000  # characters of the longest run of numbers


def number() -> Extractor:
    """Returns what takes the number that the answer gives; one that is not whole becomes a text."""

    def extract(text: str, question: Question, asked: ExtractionContext) -> int | str | None:
        if asked.runs_on and not asked.reasoned:  # what follows the line of the first number is made up
            text = next((line for line in text.splitlines() if NUMBER.search(line)), text)
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
    match = NUMBER.fullmatch(shown.removeprefix("-"))
    value = number_value(match) if match else None
    return -value if value is not None and shown.startswith("-") else value


def read_number(text: str, lead_ins: Sequence[str] = (), first: bool = False) -> Decimal | None:
    """Returns the number that an answer gives, or None if it has none.

    It is the number after one of the `lead_ins` ("The answer is"), or that in the last box of LaTeX, or after the last
    `####`, or else the last number of the text. What stands with operators, signs, powers or scales is computed, and an
    equation comes to what follows its last equals sign; where that is not sure, as in a range, there is no number. A
    mark or blank before exactly three digits is a thousands mark, any other point or comma a decimal sign; currency,
    units and percent signs are passed over. Digits of every script count, and the Ethiopic numerals; numbers of list
    items do not.

    Args:
        text: what the model wrote.
        lead_ins: words before the number; `{answer}` in them stands for the number. Written without a space before
            `{answer}`, as in `Impendulo ngu-{answer}`, they are joined to a number that follows at once: ngu-7, ngu7.
        first: whether the first lead-in with a number counts and not the last, for a model that runs on.
    """
    given = _plain(text)
    led = [place for lead_in in {*lead_ins} - {""} if (place := _after_lead_in(given, lead_in, first))]
    if led:
        return (min if first else max)(led, key=lambda place: place[0])[1]
    if _BOX.search(given):
        given = last_boxed(given) or ""
    elif marked := _MARKED.findall(given):
        given = marked[-1]
    elif _LIST.search(given):
        given = _ITEM.sub("", given)
    return _last(given)


def _last(text: str) -> Decimal | None:
    """Returns what the last number of a text and the operators on its line come to."""
    if not (number := last_number(text)):
        return None
    start = max(text.rfind("\n", 0, number.end()) + 1, number.end() - _RUN)
    return ([None] + [value for _, value in values(text[start : number.end() + _REACH].split("\n")[0])])[-1]


def _plain(text: str) -> str:
    plain = folded(text)
    for pattern, sign in _SPELLED.items():
        plain = pattern.sub(sign, plain)
    return plain


def _after_lead_in(text: str, lead_in: str, first: bool) -> tuple[int, Decimal | None] | None:
    """Returns where a lead-in stands first or last that announces a number, and the number; None if none does."""
    before, after = _parts(lead_in)
    joined = ANSWER in lead_in and before[-1:].strip() != ""
    matches = list(_announcement(before, joined).finditer(text))
    for match in matches[:_MOST] if first else matches[: -_MOST - 1 : -1]:
        said = _line(text[match.end() : match.end() + _REACH])
        if after.strip():
            said, found, _ = said.partition(after.strip())
            said = said if found else ""
        if NUMBER.search(said) and (number := next(values(said), None)):
            return match.start(), number[1]
    return None


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
        return re.compile(rf"(?<!\w){words}[-\u2010-\u2014\u2212]?(?=[^\w\n]*r?[\d፩-፼])")  # r for rand
    return re.compile(rf"(?<!\w){re.escape(before.strip())}(?![\w'\u2010-\u2014-])")


def _line(text: str) -> str:
    """Returns a text to the end of the first line that has more than marks on it: a number may stand on the next."""
    start = next((place for place, character in enumerate(text) if character.isalnum()), len(text))
    return text[:start] + text[start:].split("\n")[0]


def last_number(text: str) -> re.Match[str] | None:
    """Returns where the last number of a text stands; `parse_number` of what is matched is its value, without sign."""
    return next(reversed(list(NUMBER.finditer(text))), None)
