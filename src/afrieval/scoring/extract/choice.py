"""Reads which choice a generated answer names, in the ways in which models say it; what is ambiguous stays unread."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from afrieval.scoring.base import ExtractionContext, Extractor, Question
from afrieval.scoring.extract.announcement import BUT, announcement, is_unsaid
from afrieval.scoring.extract.phrase import (
    ALONE,
    CLOSE,
    GAP,
    GAPS,
    JOIN,
    OPEN,
    STOP,
    announcing,
    last_boxed,
    read_choice,
)
from afrieval.scoring.texts import LIKE, answer_key, visible

SEVERAL = -1  # stands for a list of choices, and for a letter with the text of another choice: they name none
_KINDS = ["sentiment", "classification", "class", "category", "topic", "relationship", "statement", "hypothesis"]
_CHOOSES = r"(?<!\w)(?:I(?:'d| would|'ll| will)?\s(?:choose|pick|select|go with)"
_CHOOSES += r"|[Ii]t(?:'s| is| must be| should be| would be))(?!\w)"
_RIGHT = (
    r"(?:the\s)?(?:(?:correct|right|best)(?:\s(?:answer|option|choice|one))?|answer)(?=\s?(?:[.,;:!?*)\]]|$|because\b))"
)
_REVISED = re.compile(r"\b(?:final|finally|actually|wait|sorry|correction)\b|\bno[,.!]", re.IGNORECASE)
_REVISES = re.compile(r"[.!?]\s+(?:No[,.!:]|Wait\b|Sorry\b|Actually\b|Correction\b)")
# Said of a choice: "(C) is wrong".
_IS = r"(?:is|was|are|would be)(?:\s+\w+ly|\s+also)?(?:\s+not)?\s+(?:wrong|incorrect|false|right|correct|the answer)"
_IS = rf"\s+(?:{_IS}|isn't|cannot be|ba|አይደለም)(?!\w)"
_DENIED, _ASKED = rf"(?!(?<=[{CLOSE}]){_IS})", rf"(?![{CLOSE}]*\s*(?:\?(?!!)|,?\s?or not\b))"
_SPOILT = rf"[{CLOSE}]*(?:{_IS}|\s*\?(?!!)|,?\s+or not\b)|'\w|\.\w\."
_ALONE = rf"(?:{ALONE}|\s+(?:given|rather|instead)\b|</|\s+[-–—]+\s\d)"
_SIGNS = "\u2190-\u2bff\U0001f000-\U0001faff"  # arrows, symbols, emoji
_BEFORE = re.compile(rf"(?:{GAPS}|(?i:(?:the )?letter)\b|[{_SIGNS}])*")
_BETWEEN = re.compile(rf"(?:[\s.:,=|/{CLOSE}{_SIGNS}]|is\s|-+>|[-–—]+(?=\s|[^\W\d]))*")  # a letter and its text
_ALSO = rf"(?:{JOIN}|\s*;)(?:\s*(?:but|also|maybe|possibly|perhaps|although|though)\b)*"
_CAPITALS = {0xFEE0 + n: chr(n) for n in range(65, 91)} | {ord("…"): "..."}  # of full width
_PLAIN = {
    re.compile(r"(?<=\S)\t+(?=\S)"): ": ",  # stands between a letter and its text as a colon does
    re.compile(r"\\(?:text|math)(?:bf|rm|it)?\{([^{}]*)\}"): r"\1",
    re.compile(r"</?(?:b|i|em|strong|p|code|u)>", re.IGNORECASE): "",
}
_END = re.compile(r"\.(?=\W*(?:\s|$))|[።۔]")  # of a sentence
_ASIDE = re.compile(
    r"[,;]\s(?!(?:so|but|or|and|which)\b)(?=(?:a\s)?[^\W\d]{2})|\s(?:because|since|as)\s|\s[-–—]+\s(?=[^\W\d]{2})"
)
_BULLET = re.compile(
    rf"(?:[-–—•>#]{{1,6}}\s+|\d{{1,2}}[.)]\s+(?=\D)|[{_SIGNS}∴]\s*|(?:so|therefore|thus|hence|yes|sure|okay|ok|hmm|well|probably|definitely"
    r"|I (?:think|believe|guess)|I(?:'d| would) say)(?:[,!.:]\s+|\s+))*",
    re.IGNORECASE,
)
_AROUND = " \t*_`\"'“”‘’«»()[]{}.:!$"
_MOST = 200  # announcements, from the last
_LONGEST = 200  # characters that are looked at after an announcement, beyond those of the longest choice


def choice(strict: bool = False) -> Extractor:
    """Returns what takes the choice that an answer names, as its index.

    Answers to published prompts are always read strictly.

    Args:
        strict: whether the answer must begin with its letter or label word.
    """

    def extract(text: str, question: Question, context: ExtractionContext) -> int | None:
        if strict or context.published:
            return read_choice(text, question.names)
        return named_choice(text, question.names, question.choices, context.lead_ins, context.runs_on)

    return extract


def named_choice(
    text: str, names: Sequence[str], texts: Sequence[str], lead_ins: Sequence[str] = (), runs_on: bool = False
) -> int | None:
    """Returns the index of the choice that an answer names; None if it names none, or several.

    The page "How answers are read" of the documentation has the readings; the first that names any choice decides.

    Args:
        text: what the model wrote.
        names: letters, or label words, as they were shown.
        texts: of the choices, as they were shown.
        lead_ins: words that announce an answer; a colon at their end must follow them.
        runs_on: whether the model may go on with questions it makes up, so that only its first line counts.
    """
    if not names:
        return None
    keys = [answer_key(_plain(shown)) for shown in texts]
    of_texts = {key: {index for index, other in enumerate(keys) if other == key} for key in keys}
    forms = _forms(tuple(names), tuple(lead_ins))
    forms = forms._replace(texts=of_texts, longest=max(map(len, texts), default=0) + _LONGEST)
    all_lines = [_unled(line.strip(), forms) for line in _plain(text).splitlines()]
    lines = [line for line in all_lines if any(c.isalnum() for c in line)]
    if not lines:
        return None
    rest = _unlisted(lines[:1] if runs_on else all_lines, forms)
    lines = lines[:1] if runs_on else lines
    answer, begin = "\n".join(lines), rest[0] if rest and rest[0] is lines[0] else ""
    first, *last = (_alone(line, forms) for line in (begin, *rest[-2:]))
    readings = [
        _announced(answer, first, forms),
        _alone(last_boxed(answer) or "", forms),
        _begun(begin, forms),
        _right(answer, forms),
        first.union(*last) if last and last[-1] else first,
    ]
    named: set[int] = next(filter(None, readings), set())
    return named.pop() if len(named) == 1 and SEVERAL not in named else None


class _Forms(NamedTuple):
    """The choices of a question as answers may have them."""

    names: tuple[str, ...]
    texts: dict[str, set[int]]  # what a text is compared by, to the choices that have it
    longest: int  # number of characters that are looked at for a text
    announcement: re.Pattern[str]
    named: re.Pattern[str]  # a name, or several
    alone: re.Pattern[str]  # a name and nothing else
    lettered: Sequence[re.Pattern[str]]  # a name, and a text before or after it
    listed: re.Pattern[str]  # an entry of a list within a line
    right: re.Pattern[str]  # a name that is said to be right


@lru_cache(256)
def _forms(names: tuple[str, ...], lead_ins: tuple[str, ...]) -> _Forms:
    names = tuple(map(_plain, names))
    letters = max(map(len, names)) == 1
    announced, nouns, rests = announcement([*map(_plain, lead_ins)], [] if letters else _KINDS)
    shown = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    name = f"(?:{shown})" if letters else f"(?i:{shown})"
    after = "|".join([_ALONE, rf"\s+{name}\s+nor\s+{name}", *rests])  # "neither true nor false", if Neither is a name
    # In lower case, a letter ends its line; one that may be a word ("a", "e", "i") has a mark before or after it.
    lower = rf"(?:(?<=[{OPEN}])|(?<=[:：] )|(?![aei])|(?=.[{STOP}{CLOSE}]))(?:{shown.lower()})"
    lower = rf"|(?P<lower>{lower})[{STOP}{CLOSE}]*\s*$" if letters else ""
    named = rf"(?P<several>{name}[{CLOSE}]*{_ALSO}{GAP}{name}(?:{after}))|(?P<name>{name}){_ASKED}(?:{after}){_DENIED}"
    any_case = f"(?P<name>(?i:{shown}))"
    return _Forms(
        names,
        {},
        0,
        re.compile(f"{announced}|{_CHOOSES}", re.MULTILINE),
        re.compile(f"{_BEFORE.pattern}(?:{named}{lower})", re.MULTILINE),
        re.compile(rf"(?:[*_]*{announcing(nouns)}[*_]*\s+)?{_BEFORE.pattern}{any_case}[{STOP}{CLOSE}\s]*(?<!\?)"),
        (
            re.compile(rf"{_BEFORE.pattern}{any_case}(?!\w)(?P<text>.+)"),
            re.compile(rf"(?P<text>.*\S)(?:\s*\(|\s+[-–—]+\s+){any_case}\W*"),
        ),
        re.compile(rf"(?:^|[\s{{,])[{OPEN}]?(?P<name>{name})(?:(?P<share>[\"']\s*:|\s?[:(]\s?\d)|[{CLOSE}]?[.:)])"),
        re.compile(rf"(?:(?<!\w)(?P<name>{name})[{CLOSE}]*)?\sis\s{_RIGHT}", re.MULTILINE),
    )


def _plain(text: str) -> str:
    plain = visible(text).translate(LIKE).translate(_CAPITALS)
    for pattern, sign in _PLAIN.items():
        plain = pattern.sub(sign, plain)
    return plain


def _unled(line: str, forms: _Forms) -> str:
    """Returns a line without what leads to an answer, as in "So C"; words may also be names or texts of choices."""
    rest = line[_BULLET.match(line).end() :]  # type: ignore[union-attr]  # it matches nothing too
    return line if rest != line and (_begun(line, forms) or _of_text(line[: forms.longest], forms)) else rest


def _index(name: str, forms: _Forms) -> int:
    return [shown.casefold() for shown in forms.names].index(name.casefold())


def _announced(answer: str, first: set[int], forms: _Forms) -> set[int]:
    """Returns the choices that an answer announces and the choice of its first line; revised ones do not count.

    Texts count where no name is announced: a chain of thought also announces what it works out on the way.
    """
    announcements = [*forms.announcement.finditer(answer)][-_MOST:]
    announcements = [match for match in announcements if not is_unsaid(answer, match.start())]
    for after in (_name_at, _text_at):
        named, end, any_announced = set(first), 0, False
        for match in announcements:
            if choices := after(BUT.sub("", answer[match.end() : match.end() + forms.longest]), forms):
                named = choices if _REVISED.search(answer, end, match.start()) else named | choices
                end, any_announced = match.end(), True
        if any_announced:
            return named
    return set()


def _name_at(text: str, forms: _Forms) -> set[int]:
    """Returns the choices whose names a text begins with, after marks; a text after a name must be its own."""
    if not (match := forms.named.match(text)):
        return set()
    name = str(match.lastgroup)
    if name == "several":
        return {SEVERAL}
    return _with_text(_index(match[name], forms), text[match.end(name) :].split("\n")[0][: forms.longest], forms)


def _with_text(index: int, rest: str, forms: _Forms) -> set[int]:
    """Returns a choice whose name stands before a text, unless that is the text of another choice."""
    for shown in (rest.lstrip(_AROUND), _BETWEEN.sub("", rest, count=1)):
        if named := _text_at(shown, forms) - {SEVERAL}:
            return {index} & named or {SEVERAL}
    return {index}


def _text_at(rest: str, forms: _Forms) -> set[int]:
    """Returns the choices whose text begins the rest of an answer, to the end of its line, sentence or clause."""
    line = rest.strip().split("\n")[0]
    sentence = _END.split(line, maxsplit=1)[0]
    if named := _of_text(line, forms) or _of_text(sentence, forms):
        return named
    for aside in _ASIDE.finditer(sentence):
        if named := _of_text(sentence[: aside.start()], forms):
            more = answer_key(sentence[aside.end() :])
            others = any(key and key in more for key, of in forms.texts.items() if not of & named)
            return {SEVERAL} if others and not more.startswith("not ") else named
    return set()


def _of_text(text: str, forms: _Forms) -> set[int]:
    """Returns the choices that have a text; a letter before or after it must be the choice's own."""
    for shown in (text, text.strip(_AROUND)):
        if named := forms.texts.get(answer_key(shown)):
            return named
    for pattern in forms.lettered:
        if match := pattern.fullmatch(text):
            for shown in (match["text"].strip(_AROUND), _BETWEEN.sub("", match["text"], count=1)):
                if named := forms.texts.get(answer_key(shown)):
                    return {_index(match["name"], forms)} & named or {SEVERAL}
    return set()


def _alone(line: str, forms: _Forms) -> set[int]:
    """Returns the choices that a line names which has nothing else on it."""
    if match := forms.alone.fullmatch(line):
        return {_index(match["name"], forms)}
    return _of_text(line, forms) if len(line) <= forms.longest else set()


def _begun(line: str, forms: _Forms) -> set[int]:
    """Returns the choice that a line begins with, unless something is said of it or another one joins it."""
    rest, named, begun = (
        _BEFORE.sub("", line, count=1)[: forms.longest],
        _name_at(line, forms),
        read_choice(line, forms.names),
    )
    if not named and begun is not None:
        named = _with_text(begun, rest[len(forms.names[begun]) :], forms)
    if SEVERAL in named or not named:
        return named
    after = rest[len(forms.names[min(named)]) :]
    joined = len(forms.names[0]) == 1 and re.match(r"\s+(?:and|or)\b", after)
    return set() if joined or re.match(_SPOILT, after) or _REVISES.search(after) else named


def _right(answer: str, forms: _Forms) -> set[int]:
    """Returns the choices that are said to be right, by name or by text."""
    matches = [match for match in forms.right.finditer(answer) if not is_unsaid(answer, match.start())]
    named = {_index(match["name"], forms) for match in matches if match["name"]}
    for match in () if named else matches[-_MOST:]:
        clause = re.split(r"\n|[.!?]\s", answer[max(match.start() - forms.longest, 0) : match.start()])[-1]
        named |= _of_text(clause.strip(), forms)
    return named


def _unlisted(lines: Sequence[str], forms: _Forms) -> list[str]:
    """Returns the lines that list no choices.

    Entries of a list begin with different names, on lines that follow each other or in the order of the choices.
    """
    runs: list[list[str]] = []
    names, end = [SEVERAL], 0
    for number, line in enumerate(lines):
        if not any(c.isalnum() for c in line):
            continue
        match = forms.named.match(line)
        name = _index(match["name"], forms) if match and match["name"] else SEVERAL
        if SEVERAL in (name, *names) or name in names or (number > end + 1 and name != names[-1] + 1):
            runs.append([])
            names = []
        runs[-1].append(line)
        names, end = [*names, name], number
    return [line for line, *more in runs if not more and not _is_list(line, forms)]


def _is_list(line: str, forms: _Forms) -> bool:
    """Returns whether a line goes through all choices, or gives several a number, as in `{"A": 0.2, "B": 0.8}`."""
    entries = [*forms.listed.finditer(line[: forms.longest * len(forms.names)])]
    shares = {_index(match["name"], forms) for match in entries if match["share"]}
    return [match["name"] for match in entries] == [*forms.names] or len(shares) > 1
