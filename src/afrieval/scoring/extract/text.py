"""Reads texts, lists, spans, tags and labels from generated answers."""

import re
import unicodedata
from collections.abc import Callable, Iterator

from afrieval.scoring.base import ExtractionContext, Extractor, Question
from afrieval.scoring.tagging import NONE, Pair
from afrieval.scoring.texts import visible


def entries(separator: str = ",", none: str = "none") -> Extractor:
    """Returns what splits the first line with text on it.

    Args:
        separator: what stands between two entries.
        none: what the prompt asks to write if there is no entry; upper and lower case are the same.
    """

    def extract(text: str, question: object, context: object) -> list[str] | None:
        lines = [line.strip() for line in visible(text).splitlines() if line.strip()]
        if not lines or lines[0].casefold() == none.casefold():
            return [] if lines else None
        return [entry for part in lines[0].split(separator) if (entry := part.strip())]

    return extract


def instructions() -> Extractor:
    """Returns what lists, for each instruction, whether it is followed: `strict`, as written, and `loose`."""

    def extract(text: str, question: Question, context: ExtractionContext) -> dict[str, list[bool]]:
        from afrieval.scoring.ifeval.instructions import followed  # here, since it loads a language detector

        return followed(question.gold, text)

    return extract


_COMMA, _REST = re.compile(r"[,;/|፣፤،؛、]"), re.compile(r"[.!?።]\s|\(")  # what follows a list on its line
_NOTE = re.compile(r"(?<=\w)\s*\([^()]*\)(?=\s*[,;/|፣፤،؛、])")  # about one entry, when others follow
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_MARKS = " \t.።*_`\"'“”‘’«»()[]{}"  # marks that models put around a word or a number
_DASHES = f"{_MARKS}-•"


def labels() -> Extractor:
    """Returns what takes the labels that the answer's first lines list, as a map of each label to 1 or 0.

    Labels are separated by commas or on lines of their own. They are the words that were shown, or the labels' names,
    in upper or lower case. The word for `none` says that no label applies. An answer whose first line has anything
    else in its list is unparsed, and so is one that has `none` among labels.
    """

    def extract(text: str, question: Question, context: ExtractionContext) -> dict[str, int] | None:
        labels_by_word, answered = _known(question), set[str]()
        for listed_labels in _lines(text):
            named = {labels_by_word.get(label.casefold(), "") for label in listed_labels}
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
        for entry in (entry for line_entries in _lines(text) for entry in line_entries):
            word, _, digits = entry.replace("=", ":").partition(":")
            label, number = labels_by_word.get(word.strip(_DASHES).casefold()), digits.strip(_MARKS)
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
        if entries := [entry for part in _COMMA.split(listed) if (entry := part.strip(_DASHES))]:
            yield entries


def line() -> Extractor:
    """Returns what takes the first line with visible text and no code fence, without blanks at its ends."""

    def extract(text: str, question: object, context: object) -> str | None:
        lines = (each.strip() for each in visible(text).splitlines())
        return next((each for each in lines if each and not each.startswith("```")), None)

    return extract


def listed(text: str, parse: Callable[[str], Pair | None], is_none: Callable[[str], bool]) -> list[Pair] | None:
    """Returns the first entries that follow each other; None if no line is one.

    Lines before them are an introduction. The first line with text after them that is not an entry ends the list; chat
    models put empty lines between entries.

    Args:
        text: what the model wrote.
        parse: a line, without blanks at its ends or runs of blanks, to its entry; None if it is none.
        is_none: whether a line says that the list is empty.
    """
    pairs: list[Pair] = []
    for line in visible(text).split("\n"):
        plain = " ".join(line.split())
        if (entry := parse(plain)) is not None:
            pairs.append(entry)
        elif pairs and plain:
            break
        elif not pairs and is_none(plain):
            return []
    return pairs or None


_BLANK_LINE = re.compile(r"\n\s*\n")


def passage() -> Extractor:
    """Returns what takes the text, in NFC, without blanks at its ends; up to the first blank line if the model runs on.

    A text without content is an empty answer and not an unparsed one: the model wrote nothing, which
    texts are scored for, and the metric `empty` counts it.
    """

    def extract(text: str, question: Question, context: ExtractionContext) -> str:
        plain = unicodedata.normalize("NFC", text).strip()
        return _BLANK_LINE.split(plain)[0].rstrip() if context.runs_on else plain

    return extract


_BULLETS = "-*•"
_AROUND = " .-*•_`\"'()[]"  # marks that models put around `none`


def spans() -> Extractor:
    """Returns what takes the first lines that follow each other and are spans, as [type, text].

    A type counts in upper or lower case, and a text as it is. `none` after a type says that there is no
    span of that type. An answer without a span or `none` is unparsed.
    """

    def extract(text: str, question: Question, context: ExtractionContext) -> list[Pair] | None:
        types = {name.casefold(): name for name in question.names}

        def span(line: str) -> Pair | None:
            bullet, _, rest = line.partition(" ")
            kind, colon, text = (rest if bullet in _BULLETS else line).partition(":")
            name = types.get(kind.strip().casefold())
            return [name, text.strip()] if colon and name and text.strip() else None

        pairs = listed(text, span, _is_none)
        return None if pairs is None else [pair for pair in pairs if not _is_none(pair[1])]

    return extract


def _is_none(text: str) -> bool:
    return text.casefold().strip(_AROUND) == NONE


def tags() -> Extractor:
    """Returns what takes the first lines that follow each other and are tagged tokens, as [token, tag].

    The tag is what follows the line's last blank, in upper or lower case; a token counts as it is. An
    answer without a tagged token is unparsed.
    """

    def extract(text: str, question: Question, context: ExtractionContext) -> list[Pair] | None:
        tags_by_word = {name.casefold(): name for name in question.names}

        def tagged(line: str) -> Pair | None:
            token, _, tag = line.rpartition(" ")
            return [token, tags_by_word[tag.casefold()]] if token and tag.casefold() in tags_by_word else None

        return listed(text, tagged, lambda line: False)

    return extract


def whole() -> Extractor:
    """Returns what takes the text itself, in NFC, without blanks at its ends."""
    return lambda text, question, context: unicodedata.normalize("NFC", text).strip() or None
