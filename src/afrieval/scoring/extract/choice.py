"""Reads which choice a generated answer names, in the ways in which models say it; what is ambiguous stays unread."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from afrieval.scoring.base import ExtractionContext, Extractor, Question
from afrieval.scoring.extract.number import ANSWER
from afrieval.scoring.extract.phrase import ALONE, CLOSE, GAP, JOIN, OPEN, STOP, announcing, last_boxed
from afrieval.scoring.extract.strict import read_choice
from afrieval.scoring.texts import LIKE, answer_key, visible

SEVERAL = -1  # stands for a list of choices, which names none
_NOUNS = ["answer", "ans", "option", "choice", "label", "letter", "prediction"]
_NOUNS += [f"{which}_{noun}" for which in ("final", "correct") for noun in _NOUNS[:4]]  # in JSON
_COLON = r"[\"'*_\s]{0,9}(?:\([^()\n]{1,80}\)[*_\s]{0,9})?[:：=>]"
_SAYS = r"(?:\s+(?:to|of|for)\b[^.:;!?\n]{1,80}?)?\s+(?:is|would be|will be|should be|must be)(?!\w)"
_SAYS += r"(?:\s(?:clearly|definitely|likely|most likely|probably|therefore|thus)(?!\w))?"
_CHOOSES = r"(?<!\w)(?:I(?:'d| would|'ll| will)?\s(?:choose|pick|select|go with)"
_CHOOSES += r"|[Ii]t(?:'s| is| must be| should be| would be))(?!\w)"
_RIGHT = (
    r"(?:the\s)?(?:(?:correct|right|best)(?:\s(?:answer|option|choice|one))?|answer)(?=\s?(?:[.,;:!?*)\]]|$|because\b))"
)
# In the clause before an announcement: "if the answer is A", "the wrong answer is", "I don't think the answer is".
_UNSAID = re.compile(
    r"\b(?:if|whether|suppos|assum|not\b|never|cannot|wrong|incorrect|unless|why|each|every|any)|n't\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.,;:!?።\n]|\b(?:so|therefore|thus|hence|and|but|because)\b", re.IGNORECASE)
_REVISED = re.compile(r"\b(?:final|finally|actually|wait|sorry|correction)\b|\bno[,.!]", re.IGNORECASE)
# Said of a choice: "(C) is wrong".
_IS = r"(?:is|was|are|would be)(?:\s+\w+ly|\s+also)?(?:\s+not)?\s+(?:wrong|incorrect|false|right|correct|the answer)"
_IS = rf"\s+(?:{_IS}|isn't|cannot be)\b"
_DENIED, _ASKED = rf"(?!(?<=[{CLOSE}]){_IS})", rf"(?![{CLOSE}]*\s*\?)"
_TAB = re.compile(r"(?<=\S)\t+(?=\S)")  # stands between a letter and its text as a colon does
_END = re.compile(r"\.(?=\W*(?:\s|$))|[።۔]")  # of a sentence
_DASH, _BULLET = re.compile(r"^[-–—]\s+"), re.compile(r"^[-–—•>#]{1,6}\s+")
_AROUND = " \t*_`\"'“”‘’«»()[]{}.:"
_MOST = 200  # announcements, from the last
_LONGEST = 200  # characters that are looked at after an announcement, beyond those of the longest choice


def choice(strict: bool = False) -> Extractor:
    """Returns what takes the choice that an answer names, as its index.

    Answers to published prompts are always read strictly.

    Args:
        strict: whether the answer must begin with its letter or label word.
    """

    def extract(text: str, question: Question, asked: ExtractionContext) -> int | None:
        if strict or asked.published:
            return read_choice(text, question.names)
        return named_choice(text, question.names, question.choices, asked.lead_ins, asked.runs_on)

    return extract


def named_choice(
    text: str, names: Sequence[str], texts: Sequence[str], lead_ins: Sequence[str] = (), runs_on: bool = False
) -> int | None:
    """Returns the index of the choice that an answer names; None if it names none, or several.

    The first of these that names any choice decides, and if it names several, none is read:

    1. what is announced ("The answer is C", `{"answer": "C"}`, the last line of the prompt) and is not denied, supposed
       or asked; a first line that is nothing but a choice counts as announced too, unless it is revised;
    2. the last box of LaTeX;
    3. what the answer begins with, as `read_choice` has it, unless it repeats the list of choices;
    4. what is said to be right ("C is correct");
    5. a first or last line that is nothing but a letter, in upper or lower case, or the text of a choice.

    Args:
        text: what the model wrote.
        names: letters, or label words, as they were shown.
        texts: of the choices, as they were shown.
        lead_ins: words that announce an answer; a colon at their end must follow them.
        runs_on: whether the model may go on with questions it makes up, so that only its first line counts.
    """
    lines = [_BULLET.sub("", line.strip()) for line in _plain(text).splitlines() if any(c.isalnum() for c in line)]
    if not lines or not names:
        return None
    lines = lines[:1] if runs_on else lines
    known, keys = _forms(tuple(names), tuple(lead_ins)), [*map(answer_key, texts)]
    of_texts = {key: {index for index, other in enumerate(keys) if other == key} for key in keys}
    known = known._replace(texts=of_texts, longest=max(map(len, texts), default=0))
    said, repeats = "\n".join(lines), _repeats(lines, known)
    first, *last = (_alone(line, known, by_text=not repeats) for line in (lines[0], *lines[-2:]))
    readings = [
        _announced(said, set() if repeats else first, known),
        _alone(last_boxed(said) or "", known),
        set() if repeats else _begun(lines[0], known),
        {_index(found["name"], known) for found in known.right.finditer(said) if not _is_unsaid(said, found.start())},
        first.union(*last) if last[-1] else first,
    ]
    named: set[int] = next(filter(None, readings), set())
    return named.pop() if len(named) == 1 and SEVERAL not in named else None


class _Forms(NamedTuple):
    """The choices of a question as answers may have them.

    Attributes:
        names: as shown.
        texts: what a text is compared by, to the choices that have it.
        longest: number of characters of the longest text.
        announcement: words that announce.
        said: a name after an announcement, or several.
        alone: a name and nothing else.
        right: a name that is said to be right.
    """

    names: tuple[str, ...]
    texts: dict[str, set[int]]
    longest: int
    announcement: re.Pattern[str]
    said: re.Pattern[str]
    alone: re.Pattern[str]
    right: re.Pattern[str]


@lru_cache(256)
def _forms(names: tuple[str, ...], lead_ins: tuple[str, ...]) -> _Forms:
    names = tuple(map(_plain, names))
    leads = [_plain(words).partition(ANSWER) for words in lead_ins]
    nouns = [*_NOUNS, *(words.rstrip(":： ") for words, _, _ in leads if words.rstrip().endswith((":", "：")))]
    sentences = [words for words, _, _ in leads if not words.rstrip().endswith((":", "："))]
    announcement = rf"{announcing(nouns)}(?:{_COLON}|{_SAYS})|{_CHOOSES}"
    announcement += rf"|{announcing(sentences)}(?:{_COLON})?" if sentences else ""
    letters = max(map(len, names)) == 1
    shown = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    name = f"(?:{shown})" if letters else f"(?i:{shown})"
    after = "|".join(
        [ALONE, "</", *(rf"[{CLOSE}]*\s*{re.escape(rest.strip())}(?!\w)" for _, _, rest in leads if rest.strip())]
    )
    # In lower case, a letter ends its line; one that may be a word ("a", "e", "i") has a mark before or after it.
    lower = rf"(?:(?<=[{OPEN}])|(?<=[:：] )|(?![aei])|(?=.[{STOP}{CLOSE}]))(?:{shown.lower()})"
    lower = rf"|(?P<lower>{lower})[{STOP}{CLOSE}]*\s*$" if letters else ""
    said = rf"(?P<several>{name}[{CLOSE}]*{JOIN}{GAP}{name}(?:{after}))|(?P<name>{name}){_ASKED}(?:{after}){_DENIED}"
    return _Forms(
        names,
        {},
        0,
        re.compile(announcement, re.MULTILINE),
        re.compile(f"{said}{lower}", re.MULTILINE),
        re.compile(rf"(?:{announcing(nouns)}\s+)?{GAP}(?P<name>(?i:{shown}))[{STOP}{CLOSE}\s]*"),
        re.compile(rf"(?<!\w)(?P<name>{name})[{CLOSE}]*\sis\s{_RIGHT}", re.MULTILINE),
    )


def _plain(text: str) -> str:
    return _TAB.sub(": ", visible(text).translate(LIKE))


def _index(name: str, known: _Forms) -> int:
    return [shown.casefold() for shown in known.names].index(name.casefold())


def _announced(said: str, first: set[int], known: _Forms) -> set[int]:
    """Returns the choices that are announced, with that of the first line; what is revised does not count.

    Texts count where no name is announced: a chain of thought also announces what it works out on the way.
    """
    announcements = [*known.announcement.finditer(said)][-_MOST:]
    announcements = [match for match in announcements if not _is_unsaid(said, match.start())]
    for after in (_name_after, _text_after):
        named, end, any_announced = set(first), 0, False
        for match in announcements:
            if found := after(said[match.end() : match.end() + known.longest + _LONGEST], known):
                named = found if _REVISED.search(said, end, match.start()) else named | found
                end, any_announced = match.end(), True
        if any_announced:
            return named
    return set()


def _name_after(rest: str, known: _Forms) -> set[int]:
    """Returns the choices whose names follow an announcement."""
    if not (match := known.said.match(rest, _gap(rest))):
        return set()
    groups = match.groupdict()
    return {SEVERAL} if groups["several"] else {_index(groups["name"] or groups["lower"], known)}


def _text_after(rest: str, known: _Forms) -> set[int]:
    """Returns the choices whose text follows an announcement, to the end of the line or sentence."""
    line = rest.strip().split("\n")[0]
    return _of_text(line, known) or _of_text(_END.split(line, maxsplit=1)[0], known)


def _of_text(text: str, known: _Forms) -> set[int]:
    """Returns the choices that have a text; a letter before it must be the choice's own."""
    for shown in (text, text.strip(_AROUND)):
        if named := known.texts.get(answer_key(shown)):
            return named
    letter, _, rest = text.strip(_AROUND).partition(" ")
    named = known.texts.get(answer_key(rest), set())
    named = named or known.texts.get(answer_key(_DASH.sub("", rest)), set())
    letter = letter.strip(_AROUND).upper()
    return {index for index in named if known.names[index] == letter}


def _alone(line: str, known: _Forms, by_text: bool = True) -> set[int]:
    """Returns the choices that a line names which has nothing else on it."""
    if match := known.alone.fullmatch(line):
        return {_index(match["name"], known)}
    return _of_text(line, known) if by_text and len(line) <= known.longest + _LONGEST else set()


def _begun(line: str, known: _Forms) -> set[int]:
    """Returns the choice that a line begins with, unless something is said of it or another one joins it."""
    match = known.said.match(line, _gap(line))
    if match and match["several"]:
        return {SEVERAL}
    begun = read_choice(line, known.names)
    said = begun is not None and re.match(
        rf"(?i:{re.escape(known.names[begun])})(?:[{CLOSE}]*{_IS}|'\w|\.\w\.)", line[_gap(line) :]
    )
    return set() if begun is None or said else {begun}


def _gap(text: str) -> int:
    """Returns where a name may begin after marks."""
    return len(re.match(GAP, text)[0])  # type: ignore[index]  # it matches nothing too


def _is_unsaid(said: str, start: int) -> bool:
    """Returns whether the clause before an announcement denies or supposes it."""
    return _UNSAID.search(_CLAUSE.split(said[max(0, start - 80) : start])[-1]) is not None


def _repeats(lines: Sequence[str], known: _Forms) -> bool:
    """Returns whether an answer begins with the list of choices."""
    names = "|".join(map(re.escape, known.names))
    marked = re.findall(rf"(?:^|\s)[{OPEN}]?({names})[.:)]", lines[0][: sum(map(len, known.texts)) + _LONGEST])
    return marked == [*known.names] or [read_choice(line, known.names) for line in lines[:2]] == [0, 1]
