"""Reads what a text begins with ("B."), announces ("The best answer is **B**.", "Answer: 5") or puts into a box."""

import random
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from afrieval.scoring.base import ExtractionContext, Extractor, Guess, Question

Which = Literal["first", "last"]
Words = str | list[str]

OPEN, CLOSE, STOP = r"(\[{*_$`\"'“‘«", r")\]}*_$`\"'”’»\\", r".,:;!?።፣፤፥፦"
GAPS = rf"[\s:：{OPEN}]|\\[(\[]|\\(?:boxed|fbox|(?:text|math)(?:bf|rm|it)?)\s*(?={{)|(?i:option|choice)(?!\w)"
GAP = f"(?:{GAPS})*"
JOIN = r"(?:\s*(?:[,/&]|and\b|or\b))+"
# What shows that a letter stands alone: in "A good one" and "E coli" it does not; in "A because", "A (good)" it does.
ALONE = rf"(?:[{STOP}{CLOSE}]+(?![\w{{^])|[^\S\n]*(?:$|[(\[]|[-–—]+\s\w\w)|\s+(?:because|since|as|which|and|or)\b)"
_SENTENCE = r"[^\S\n]*(?:[:：]\s*)?(.*?)(?:\.(?=[*_\"'”’»]*(?:\s|$))|[።۔]|$)"
_AROUND = ' \t\r*`"“”«»'


def phrase(
    after: Words, which: Which = "last", bare: bool = True, lone: bool = False, guess: bool = False
) -> Extractor:
    """Returns what takes the answer that certain words announce: the index of a choice, or a text.

    Args:
        after: the words that announce an answer; a list if they differ, as between languages.
        which: the announcement that counts, if there are several.
        bare: whether a letter alone on the first or last line counts without an announcement.
        lone: whether to take a letter as MMLU-Pro's authors do, which guesses where no single letter is announced.
        guess: whether to draw a letter, as they do, where none is found.
    """

    def extract(text: str, question: Question, context: ExtractionContext) -> int | str | Guess | None:
        names = question.names
        if not names:
            return announced_text(text, after, which)
        read = announced_letter(text, names, after, which, bare)
        if lone and (letter := taken(text, names, after, which)) is not None:
            index = names.index(letter) if letter in names else None  # F where there are four: wrong, and not drawn
            return index if index in (read, None) else Guess(index, "lone")
        return Guess(drawn(len(names)), "drawn") if guess and read is None else read

    return extract


TEN = "ABCDEFGHIJ"  # the letters that the authors look for, however many choices a question has
SEED = 12345
GUESSING = ("lone", "guess")  # options that make an extractor guess


def taken(text: str, names: Sequence[str], after: Words, which: Which) -> str | None:
    """Returns the letter that the authors' three steps take, which need not be among the choices; None for none.

    It is the letter that the words announce, even if it begins a word or a list of several; or the last that "Answer:"
    announces on the first such line; or the last that stands between blanks or marks, which takes J for joule.
    """
    letter = "|".join(map(re.escape, dict.fromkeys([*names, *TEN])))
    if announced := re.findall(rf"(?:{'|'.join(map(re.escape, _listed(after)))}) \(?({letter})", text):
        return str(announced[0 if which == "first" else -1])
    if headed := list(re.finditer(rf"[aA]nswer:\s*({letter})", text)):
        first = headed[0].start()
        return [match[1] for match in headed if "\n" not in text[first : match.start()]][-1]
    alone = re.findall(rf"\b(?:{letter})\b", text)
    return str(alone[-1]) if alone else None


def drawn(n: int) -> int:
    """Returns the choice that the authors draw of `n`: always the same, whatever was drawn before."""
    return random.Random(SEED).randint(0, n - 1)


def announced_letter(text: str, names: Sequence[str], after: Words, which: Which, bare: bool = True) -> int | None:
    r"""Returns the index of the choice that an answer announces; None if it announces none, which is not guessed.

    The letter follows the words, or "Answer:", and marks or LaTeX may stand around it. It counts in the form shown and
    alone: "The answer is A good one" names none, and "(A) and (C)" does not choose.

    Args:
        text: what the model wrote.
        names: the letters that were shown.
        after: the words, at least one, such as "best answer is"; in upper or lower case alike.
        which: of several announcements that name a letter, the one that counts.
        bare: where nothing is announced, whether an answer that begins with a letter names it, unless other lines begin
            with others, or else one whose last line is a letter.
    """
    plain = unicodedata.normalize("NFC", text)
    announcement = rf"(?:{announcing(after)}|(?<!\w)(?i:answer)[\s*_]*[:：]){GAP}{_letter(names)}"
    if letters := [match["letter"] for match in re.finditer(announcement, plain, re.MULTILINE)]:
        return names.index(letters[0 if which == "first" else -1])
    lines = [line for line in plain.splitlines() if any(c.isalnum() for c in line)]
    if not lines or not bare:
        return None
    read = _begun(lines, names)
    return _bare(lines[-1], names) if read is None else read


def announced_text(text: str, after: Words, which: Which) -> str | None:
    """Returns what an answer says after the words, to the end of that sentence or line; None if it says nothing there.

    A full stop ends the sentence if a blank or the end follows: "3.5" stays whole. Quotes and asterisks around are left
    out.
    """
    plain = unicodedata.normalize("NFC", text)
    sentences = re.finditer(announcing(after) + _SENTENCE, plain, re.MULTILINE)
    announced = [words for match in sentences if (words := match[1].strip(_AROUND))]
    return announced[0 if which == "first" else -1] if announced else None


def _listed(after: Words) -> list[str]:
    return [after] if isinstance(after, str) else after


def announcing(after: Words) -> str:
    """Returns a pattern for words, in any case and with any blanks between, that do not go on in another word."""
    phrases = [unicodedata.normalize("NFC", words).split() for words in _listed(after)]
    words = "|".join(r"\s+".join(map(re.escape, of)) for of in phrases)
    return rf"(?<!\w)(?i:{words})(?!\w)"


def _letter(names: Sequence[str]) -> str:
    """Returns a pattern for a letter that stands alone and is not the first of several."""
    letter = "|".join(map(re.escape, names))
    several = rf"[{CLOSE}]*{JOIN}{GAP}(?:{letter}){ALONE}"
    return rf"(?P<letter>{letter})(?!{several}){ALONE}"


def _begun(lines: Sequence[str], names: Sequence[str]) -> int | None:
    """Returns the choice that the first line begins with; None if the lines go through several choices."""
    begun = read_choice(lines[0], names)
    if not re.match(rf"{GAP}{_letter(names)}", lines[0]):  # "A, B and C are points", "A's mass"
        return None
    if _bare(lines[0], names) is None and {read_choice(line, names) for line in lines} - {begun, None}:
        return None
    return begun


def _bare(line: str, names: Sequence[str]) -> int | None:
    match = re.fullmatch(rf"{GAP}{_letter(names)}\s*", line)
    return names.index(match["letter"]) if match else None


BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)  # an escaped brace is a sign and opens nothing
_END = re.compile(r"\$|\n|\\[)\]]|\Z")  # of mathematics in a line


def boxed() -> Extractor:
    """Returns what takes the content of the last box."""
    return lambda text, question, context: last_boxed(text)


def last_boxed(text: str) -> str | None:
    r"""Returns what the last box of a text holds; None if there is no box, or if it was not closed.

    A box cut short holds no answer, and no earlier box is taken in its stead. `\boxed 5`, without braces, holds what
    stands before the end of the formula or line. Of boxes in one another the innermost counts.
    """
    boxes = list(BOX.finditer(text))
    if not boxes:
        return None
    start = boxes[-1].end()
    if text[start : start + 1] != "{":
        end = _END.search(text, start)
        return (text[start : end.start()].strip() if end else "") or None
    close = closing_brace(text, start)
    return None if close is None else text[start + 1 : close]


def closing_brace(text: str, start: int) -> int | None:
    """Returns where the brace closes that opens at `start`; None if it does not."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return None


# Marks that models put around an answer, and ones that end it.
_WRAPPED = " \t*_`\"'“”‘’«»()[]{}"
_MARK = r"[.,:;!?)\]*_`\"'”’»።፣፤፥፦،؛؟]"
_AFTER_WORD, _AFTER_LETTER = re.compile(rf"$|\s|{_MARK}"), re.compile(rf"\s*$|{_MARK}")
# What stands between the entries of a list: a comma or the like; between words also a single word, such as "or".
_COMMA = r"[\s)\]*_`\"'”’»]*[,/|;፣፤،؛][\s(\[*_`\"'“‘«]*"
_BETWEEN_LETTERS, _BETWEEN_WORDS = re.compile(_COMMA), re.compile(rf"{_COMMA}|[*_]*\s+\w+\s+[*_]*")


def read_choice(text: str, names: Sequence[str]) -> int | None:
    """Returns the index of the choice that an answer begins with, or None if it begins with none or with a list.

    The first line that is not empty is read. A letter counts if it stands alone or before a mark ("B", "(B)", "**B**",
    "B. p = 8"), in the capital form that was shown; a label word counts in upper or lower case. A list of several
    ("A, B, or C", "True or False"), with which models repeat the question, names none of them.

    Args:
        text: what the model wrote.
        names: letters, or label words, as they were shown; none begins with another.
    """
    lines = [line for line in unicodedata.normalize("NFC", text).splitlines() if line.strip(_WRAPPED)]
    if not lines:
        return None
    answer = lines[0].strip().lstrip(_WRAPPED)
    if (index := _named(answer, names)) is None:
        return None
    rest = answer.casefold()[len(names[index].casefold()) :] if len(names[index]) > 1 else answer[1:]
    after = (_BETWEEN_LETTERS if len(names[index]) == 1 else _BETWEEN_WORDS).match(rest)
    return index if after is None or _named(rest[after.end() :], names) in (None, index) else None


def _named(answer: str, names: Sequence[str]) -> int | None:
    for index, name in enumerate(names):
        letter = len(name) == 1  # as it was shown and no article: "A" is also a word
        shown, answered = (name, answer) if letter else (name.casefold(), answer.casefold())
        if answered.startswith(shown) and (_AFTER_LETTER if letter else _AFTER_WORD).match(answered, len(shown)):
            return index
    return None
