"""IFEval's checkers for responses in other languages than English, where the authors' own would go wrong.

To the authors' patterns, a word ends at a mark that forms no letter of its own, as in ọ̀rọ̀ (for those of nltk, up to
version 3.9), and at the apostrophe of ng'ombe; their sentences are English; and they know neither other quotation marks
nor Yoruba. What is counted stays theirs: a keyword may be part of a word, a hyphen divides words, and a letter with
another mark is another letter: ò and ọ are not o.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from afrieval.scoring.identified_language import CODES, identified

Checker = Callable[[str], bool]

RELATIONS: Mapping[str, Callable[[int, int], bool]] = {"less than": operator.lt, "at least": operator.ge}
# What prompts ask to answer with: "labda" in BenchMAX, the others in Marco-Bench-MIF.
CONSTRAINED = {
    "swa": [f"Jibu langu {end}." for end in ("ni ndiyo", "ni ndio", "ni hapana", "ni labda", "linaweza kuwa")],
    "yor": [f"Ìdáhùn mi ni {end}." for end in ("bẹ́ẹ̀ni", "bẹ́ẹ̀kọ́", "bóyá", "ó ṣe é ṣe")],
    "eng": [f"My answer is {end}." for end in ("yes", "no", "maybe")],
}
# Words whose full stop ends no sentence; names or numbers follow.
TITLES = {"dr", "hon", "mr", "mrs", "prof", "rev", "st"}
ABBREVIATIONS = {
    "swa": TITLES | {"bi", "bw", "dk", "dkt", "k.m", "k.v", "mh", "mhe", "mt", "na", "sh", "uk"},
    "yor": TITLES | {"alh", "ọ̀gb"},
}

_MARKS = "\u0300-\u036f"
_WORD = re.compile(rf"[\w{_MARKS}]+(?:'[\w{_MARKS}]+)*")
_HYPHENATED = re.compile(rf"[\w{_MARKS}]+(?:['-][\w{_MARKS}]+)*")
_LETTER = re.compile(rf"[^{_MARKS}][{_MARKS}]*")
_LIST_NUMBER = re.compile(r"^\W*(?:\d+|[A-Za-z])[.)]\s", re.MULTILINE)
_STOPS = (".", "!", "?", "…", "؟", "።", "፧", "፨")
_OPENING, _CLOSING = "\"'“‘«([{*_#-•", "\"'”’»)]}*_"
_QUOTES = '"“”„«»'
_COMMAS = frozenset(",，、،፣")


def _apostrophes(text: str) -> str:
    return re.sub("[’‘ʼ]", "'", text)


def _folded(text: str) -> str:
    return _apostrophes(text.casefold())


def _spaced(text: str) -> str:
    """Returns the words of a text, with a blank before and after each."""
    return " ".join(["", *_WORD.findall(_folded(text)), ""])


def _parts(text: str, part: str) -> int:
    """Returns how often a text has another one in it, in upper or lower case, that does not end within a letter."""
    return len(re.findall(rf"{re.escape(_folded(part))}(?![{_MARKS}])", _folded(text)))


def counted(count: Callable[[str], int], number: int, relation: str) -> Checker:
    """Returns what tells whether a count of something in a response is as asked."""
    compare = RELATIONS[relation]
    return lambda text: compare(count(text), number)


def count_words(text: str) -> int:
    """Returns the number of words; a hyphen divides them."""
    return len(_WORD.findall(_apostrophes(text)))


def count_sentences(text: str, language: str) -> int:
    """Returns the number of sentences; what follows the last is one more, and the number of an item of a list none."""
    words = _LIST_NUMBER.sub("", text).split()
    cased = any(map(str.isupper, text))  # if not, as where all is to be in lower case, a small letter says nothing
    abbreviations = ABBREVIATIONS.get(language, TITLES)
    following = [*words[1:], ""] if cased else [""] * len(words)
    ends = [at for at, pair in enumerate(zip(words, following, strict=True), 1) if _ends(*pair, abbreviations)]
    rest = "".join(words[ends[-1] if ends else 0 :])
    return len(ends) + any(map(str.isalnum, rest))


def _ends(word: str, following: str, abbreviations: set[str]) -> bool:
    """Returns whether a word ends a sentence: a name's initial and an abbreviation do not."""
    bare = word.rstrip(_CLOSING)
    if not bare.endswith(_STOPS) or following.lstrip(_OPENING)[:1].islower():
        return False
    name = bare.lstrip(_OPENING).removesuffix(".")
    is_initial = name.isupper() and _LETTER.fullmatch(name) is not None
    return not (bare.endswith(".") and (is_initial or name.casefold() in abbreviations))


def _letter_frequency(letter: str, let_frequency: int, let_relation: str) -> Checker:
    if not _LETTER.fullmatch(letter):
        raise ValueError(f"letter is {letter!r}")
    return counted(lambda text: _parts(text, letter), let_frequency, let_relation)


# Instructions to what makes a checker of their arguments, which have the names that rows have.
_CHECKERS: Mapping[str, Callable[..., Checker]] = {
    "keywords:existence": lambda keywords: lambda text: all(_parts(text, word) for word in keywords),
    "keywords:frequency": lambda keyword, frequency, relation: counted(
        lambda text: _parts(text, keyword), frequency, relation
    ),
    "keywords:forbidden_words": lambda forbidden_words: (
        lambda text: not any(_spaced(word) in _spaced(text) for word in forbidden_words)
    ),
    "keywords:letter_frequency": _letter_frequency,
    "length_constraints:number_words": lambda num_words, relation: counted(count_words, num_words, relation),
    "length_constraints:nth_paragraph_first_word": lambda num_paragraphs, nth_paragraph, first_word: (
        lambda text: (
            len(paragraphs := [part for part in text.split("\n\n") if part.strip()]) == num_paragraphs
            and _spaced(paragraphs[nth_paragraph - 1]).startswith(_spaced(first_word))
        )
    ),
    "change_case:capital_word_frequency": lambda capital_frequency, capital_relation: counted(
        lambda text: sum(map(str.isupper, _HYPHENATED.findall(_apostrophes(text)))), capital_frequency, capital_relation
    ),
    "punctuation:no_comma": lambda: _COMMAS.isdisjoint,
    "startend:quotation": lambda: (
        lambda text: len(quoted := text.strip()) > 1 and quoted[0] in _QUOTES and quoted[-1] in _QUOTES
    ),
    "startend:end_checker": lambda end_phrase: (
        lambda text: _folded(text.strip().strip(_QUOTES)).endswith(_folded(end_phrase.strip()))
    ),
}


def own_checker(instruction_id: str, arguments: Mapping[str, Any], language: str) -> Checker | None:
    """Returns what tells whether a response follows an instruction; None where the authors' own checker is right.

    Args:
        instruction_id: group and type, as "punctuation:no_comma".
        arguments: the instruction's arguments, in NFC.
        language: the suite's code of the language of the prompt.

    Raises:
        ValueError, KeyError: for an argument with a wrong value.
    """
    match instruction_id:
        case "detectable_format:constrained_response":
            options = CONSTRAINED.get(language, CONSTRAINED["eng"])
            return lambda text: any(option in text for option in options)
        case "length_constraints:number_sentences":
            return counted(
                lambda text: count_sentences(text, language), arguments["num_sentences"], arguments["relation"]
            )
        case "language:response_language" if arguments["language"] in CODES.values():
            return lambda text: not any(map(str.isalpha, text)) or identified(text) == arguments["language"]
    build = _CHECKERS.get(instruction_id)
    return build(**arguments) if build else None
