"""Reads from a generated answer which labels apply, or how strongly each does; strictly, without guesses."""

import re
from collections.abc import Iterator

from afrieval.scoring.base import ExtractionContext, Extractor, Question
from afrieval.scoring.tagging import NONE
from afrieval.scoring.texts import visible

_COMMA, _REST = re.compile(r"[,;/|፣፤،؛、]"), re.compile(r"[.!?።]\s|\(")  # what follows a list on its line
_NOTE = re.compile(r"(?<=\w)\s*\([^()]*\)(?=\s*[,;/|፣፤،؛、])")  # about one entry, when others follow
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_MARKS = " \t.።*_`\"'“”‘’«»()[]{}"  # marks that models put around a word or a number
_AROUND = f"{_MARKS}-•"


def labels() -> Extractor:
    """Returns what takes the labels that the answer's first lines list, as a map of each label to 1 or 0.

    Labels are separated by commas or on lines of their own. They are the words that were shown, or the labels' names,
    in upper or lower case. The word for `none` says that no label applies. An answer whose first line has anything
    else in its list is unparsed, and so is one that has `none` among labels.
    """

    def extract(text: str, question: Question, context: ExtractionContext) -> dict[str, int] | None:
        labels_by_word, answered = _known(question), set[str]()
        for entries in _lines(text):
            named = {labels_by_word.get(entry.casefold(), "") for entry in entries}
            if "" in named:
                break
            answered |= named
        if not answered or (NONE in answered and len(answered) > 1):
            return None
        return {label: int(label in answered) for label in question.gold}

    return extract


def levels(highest: int = 3) -> Extractor:
    """Returns what takes the number of each label, as in `anger: 2, fear: 0`, separated by commas or line ends.

    An answer that does not begin with a number for every label, each label once, is unparsed.

    Args:
        highest: the highest number; the lowest is 0.
    """

    def extract(text: str, question: Question, context: ExtractionContext) -> dict[str, int] | None:
        labels_by_word, numbers = _known(question), dict[str, int]()
        for entry in (entry for entries in _lines(text) for entry in entries):
            word, _, digits = entry.replace("=", ":").partition(":")
            label, number = labels_by_word.get(word.strip(_AROUND).casefold()), digits.strip(_MARKS)
            if (
                label in (None, NONE)
                or label in numbers
                or not number.isdecimal()
                or len(number) > 9
                or int(number) > highest
            ):
                return None
            numbers[str(label)] = int(number)
            if len(numbers) == len(question.gold):
                return {label: numbers[label] for label in question.gold}
        return None

    return extract


def _known(question: Question) -> dict[str, str]:
    """Returns word to label, in lower case; where there is a word more than labels, it says that none applies."""
    names = [*question.gold, *([NONE] if len(question.names) > len(question.gold) else [])]
    shown = dict(zip(question.names, names, strict=True))
    return {word.casefold(): name for word, name in [*zip(names, names, strict=True), *shown.items()]}


def _lines(text: str) -> Iterator[list[str]]:
    """Yields the entries of each line with text on it, without bullets and what follows the list."""
    for line in visible(text).splitlines():
        listed = _REST.split(f"{_BULLET.sub('', _NOTE.sub('', line), count=1)} ", maxsplit=1)[0]
        if entries := [entry for part in _COMMA.split(listed) if (entry := part.strip(_AROUND))]:
            yield entries
