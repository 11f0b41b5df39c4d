"""Reads the number that a generated answer gives, in the digits of any script."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache

from afrieval.scoring.base import ExtractionContext, Extractor, Question
from afrieval.scoring.extract.announcement import ANSWER, BUT, announcement, is_unsaid
from afrieval.scoring.extract.expression import NUMBER, number_value, values
from afrieval.scoring.extract.phrase import BOX, announcing, last_boxed
from afrieval.scoring.texts import folded

LARGEST = 2**53  # up to which every program reads whole numbers in JSON exactly
_MARKED = re.compile(r"####[^\S\n]*([^\w\n]{0,9}\d[^\n]*)")
# The number of an item: "1. ", "(1) ", "Step 1: ".
_ITEM = re.compile(
    r"^(?P<words>[^\S\n]*[(*#]*(?:[^\W\d]+[^\S\n]){0,3})(?P<n>\d{1,2})\*{0,2}(?:\s?:|[.)])\*{0,2}[^\S\n]+(?=\S)",
    re.MULTILINE,
)
_MILLIONS = re.compile(r"(?<=\d)[MB](?!\w)")  # in lower case, metres
_NOTE = re.compile(r"(\d[^\n\[\]]{0,40})\[\d{1,2}\]")  # 18 [1]
_ASIDE_LAST = re.compile(
    r"(\d[^\n()]{0,60})(?<![-+*/×÷·=^])(?<!\d[xX])(?<!\d\s[xX])\s\([^()]*[^\W\d_][^()]*\)\W*$"
)  # 18 (9 each), not 3 + (1x1) nor 3 x (1x1)
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]?")
_SENTENCE = re.compile(r"[.!?።](?=\W*(?:\s|$))")
# What is said of a number: "18, since 2 x 9 is 18", "18 for 2 people", `18, "steps": 3`.
_ASIDE = re.compile(
    r"\b(?:since|because|as|which|where|when|while|for|in|per|at|every|each|from|after|by|with|if|so|not|than)\b"
    r"|,\s+(?:[^\W\d]+\s+){3}|[\"'],|,\s*[\"']|\s[-–—]\s|[→}<]"
)
_POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_PLAIN: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"(?<=[\d)}])[⁻⁰¹²³⁴-⁹]+": lambda power: f"^{power[0].translate(_POWERS)}",
    "[‘’]": "'", "＝": "=", "[／⁄∕]": "/", "＋": "+",
    r"(?<=\d)\*\*(?=\d)": "^", r"\*\*|\\(?:left|right|displaystyle)(?![a-z])|\\!|(?<=\d)[:፡]00(?!\d)": "",
    r"\\[, ;]|~(?!\d)": " ", r"\{,\}": ",", r"\\([$%])": r"\1",
    r"\\(?:times|cdot)(?![a-z])": "×", r"\\div(?![a-z])": "÷",
    r"(?<=frac)\s?(\d)": r"{\1}", r"(?<=frac\{\d\})\s?(\d)": r"{\1}",
    r"(?<=\d)\s?\\[dtc]?frac\s?\{(\d+)\}\s?\{(\d+)\}": r" \1/\2",
    r"\\[dtc]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}": r"(\1)/(\2)",
    r"\\(?:text|math)(?:rm|bf|it)?\s?\{([^{}]*)\}": r" \1 ", r"[^\S\n]{2,}": " ",
    r"\bbetween\s([^\s\d]?\d\S{0,20}(?:\s[^\W\d]+)?)\sand(?=\s[\d$])": r"\1 to",
    r"\bplus(?=\s[\d$(])": "+", r"\b(?:minus|negative)\s(?=[\d$(])": "-", r"\b(?:times|multiplied by)(?=\s[\d$(])": "×",
    r"(?<=\d)\s(?:divided by|over)(?=\s[\d$(])": "÷",
}  # fmt: skip
_SPELLED = {re.compile(pattern): sign for pattern, sign in _PLAIN.items()}
_APART = r"(?![\w'\u2010-\u2014-])"
_MOST = 200  # times that a lead-in is looked at, from where the answer is
_REACH = 1000  # characters after a lead-in in which its number stands
_RUN = 10_000  # characters of the longest run of numbers


def number() -> Extractor:
    """Returns what takes the number that the answer gives; one that is not whole becomes a text."""

    def extract(text: str, question: Question, context: ExtractionContext) -> int | str | None:
        if context.runs_on and not context.reasoned:  # what follows the line of the first number is made up
            text = next((line for line in text.splitlines() if NUMBER.search(line)), text)
        return stored(read_number(text, context.lead_ins, first=context.runs_on))

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

    The page "How answers are read" of the documentation has the order in which it is looked for, and what is computed.

    Args:
        text: what the model wrote.
        lead_ins: words before the number; `{answer}` in them stands for the number. Written without a space before
            `{answer}`, as in `Impendulo ngu-{answer}`, they are joined to a number that follows at once: ngu-7, ngu7.
        first: whether the first lead-in with a number counts and not the last, for a model that runs on.
    """
    plain, led, unsaid = _plain(text), list[tuple[int, Decimal | None]](), list[tuple[int, int]]()
    patterns = _patterns(tuple(lead_ins))
    for pattern, after in patterns:
        if led and pattern is patterns[-1][0]:  # "Answer:" may be of another question, which the model made up
            break
        matches = [*pattern.finditer(plain)]
        for match in matches[:_MOST] if first else matches[: -_MOST - 1 : -1]:
            announced = _said(plain[match.end() : match.end() + _REACH], after, match[0][-1:])
            if announced and (announced[1] or is_unsaid(plain, match.start())):
                unsaid.append((match.start(), match.end() + announced[2]))
            elif announced:
                led.append((match.end(), announced[0]))
                break
    if led:
        return (min if first else max)(led, key=lambda announcement: announcement[0])[1]
    for start, end in sorted(unsaid, reverse=True):
        plain = plain[:start] + plain[max(start, end) :]
    if BOX.search(plain):
        return _single(last_boxed(plain) or "")
    if marked := _MARKED.findall(plain):
        return _last(marked[-1])
    items = {(item["words"], item["n"]) for item in _ITEM.finditer(plain)}
    lists = {words for words, n in items if n == "1" and ((words, "2") in items or not words.strip())}
    plain = _ITEM.sub(lambda item: "" if item["words"] in lists else item[0], plain)
    return _last(_NOTE.sub(r"\1", plain))


def _last(text: str) -> Decimal | None:
    """Returns what the last number of a text and the operators on its line come to; of a bare list, nothing."""
    if not (number := last_number(text)):
        return None
    start = max(text.rfind("\n", 0, number.end()) + 1, number.end() - _RUN)
    line = text[start : number.end() + _REACH].split("\n")[0]
    if not re.search(r"[^\W\d_]|=", line):
        return _single(line)
    return ([None] + [value for *_, value in values(_ASIDE_LAST.sub(r"\1", line))])[-1]


def _single(text: str) -> Decimal | None:
    """Returns what a text comes to that is a number with what is said of it; None if it has several."""
    runs = [*values(text)]
    if not runs:
        return None
    _, end, value = runs[0]
    rest = _ASIDE.split(_BRACKETS.sub("", text[end:]), maxsplit=1)[0]
    return value if {other for *_, other in values(rest)} <= {value} else None


def _said(rest: str, after: str, last: str) -> tuple[Decimal | None, bool, int] | None:
    """Returns what number follows an announcement, whether it is asked or denied, and its end; None without a number.

    After a colon the number must be all that is said: "Answer: She sells 16 eggs" begins to work one out.
    """
    is_list = not last.isalnum() and re.match(r"\W*(?:\n\W*1[.)]\s|1[.)][^\S\n]+[$\d])", rest)
    start = next((n for n, character in enumerate(rest) if character.isalnum()), len(rest))  # maybe on the next line
    line = "" if is_list else rest[:start] + rest[start:].split("\n")[0]
    if after:
        line, closing, _ = line.partition(after)
        line = line if closing else ""
    statement = BUT.sub("", line)
    if not (run := next(values(statement), None)):
        return None
    stop = _SENTENCE.search(statement, run[1])
    sentence = statement[: stop.start()] if stop else statement
    value, tail = _single(sentence), _ASIDE.split(_BRACKETS.sub("", sentence[run[1] :]), maxsplit=1)[0]
    is_bare = len(re.findall(r"[^\W\d]+", statement[: run[0]])) < 2 and not re.search(r"(?:[^\W\d]+\W+){3}", f"{tail} ")
    if not (last.isalnum() or (is_bare and "=" not in statement[len(sentence) :])):
        return None
    is_asked = bool(stop and stop[0] == "?") or re.match(r"\W*(?:not|never)\b", statement) is not None
    return value, is_asked, len(line) - len(statement) + len(sentence)


def _plain(text: str) -> str:
    plain = folded(_MILLIONS.sub("k", text))
    for pattern, sign in _SPELLED.items():
        plain = pattern.sub(sign, plain)
    return plain


@lru_cache(1024)
def _patterns(lead_ins: tuple[str, ...]) -> list[tuple[re.Pattern[str], str]]:
    """Returns the patterns of what announces a number, each with the words that must follow the number.

    A joined prefix may end within the number's word.
    """
    nouns = [words.rstrip(":： ") for words in lead_ins if words.endswith((":", "："))]
    rests = {rest for words in lead_ins if (rest := words.partition(f" {ANSWER}")[2])}
    of_nouns = [f"{noun} {ANSWER}{rest}" for noun in nouns for rest in sorted(rests)]
    patterns = []
    for lead_in in [*(words for words in lead_ins if ANSWER in words), *of_nouns]:
        before, _, after = map(_plain, lead_in.partition(ANSWER))
        words = re.escape(before.strip()) + _APART
        if before[-1:].strip():
            words = re.escape(before.rstrip("-")) + r"[-\u2010-\u2014\u2212]?(?=[^\w\n]*r?[\d፩-፼])"  # r for rand
        patterns.append((re.compile(rf"(?<!\w){words}"), after.strip()))
    plain = [_plain(words) for words in lead_ins if ANSWER not in words]
    sentences = [words for words in plain if not words.endswith(":")]
    ways = [rf"{announcing(sentences)}|{announcing(['final answer'])}\W*:", announcement(plain)[0]]
    patterns += [(re.compile(rf"(?:{way})(?:(?<!\w)|{_APART})"), "") for way in ways[not sentences :]]
    return patterns if lead_ins else []


def last_number(text: str) -> re.Match[str] | None:
    """Returns where the last number of a text stands; `parse_number` of what is matched is its value, without sign."""
    return next(reversed(list(NUMBER.finditer(text))), None)
