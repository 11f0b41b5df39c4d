"""The checkers of IFEval's instructions: the harness' own, built without a download and without chance.

The 25 types are described in Zhou et al. 2023, "Instruction-Following Evaluation for Large Language Models",
arXiv 2311.07911; the harness' classes are its authors' own.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.scoring.ifeval.other_languages import Checker, counted, own_checker

DETECT_LANGUAGE = ("language:response_language", "change_case:english_capital", "change_case:english_lowercase")

_LISTS = ("keywords", "forbidden_words")
_COUNT = re.compile(r"num_\w+|\w*frequency|nth_paragraph")
_SEED = 0  # any one will do


def build_checker(instruction_id: str, kwargs: Mapping[str, Any], row: str, language: str = ENGLISH) -> Checker:
    """Returns what tells whether a response, in NFC if it is not English, follows an instruction.

    Args:
        instruction_id: group and type, as "punctuation:no_comma".
        kwargs: the instruction's arguments; nulls are as good as absent, and a count may be a whole float.
        row: where they come from, for messages.
        language: the suite's code of the prompt's language; English if the response is to be English.

    Raises:
        UserError: if the id is unknown, or the arguments are not the ones it takes.
    """
    if instruction_id not in _registry():
        raise UserError(f"{row}: {instruction_id!r} is not an instruction of IFEval", "take the rows of google/IFEval")
    try:
        arguments = {name: whole(value) for name, value in kwargs.items() if value is not None}
        if language != ENGLISH:
            arguments = {name: _composed(value) for name, value in arguments.items()}
        instruction = _registry()[instruction_id](instruction_id)
        names = instruction.get_instruction_args_keys()
        if set(arguments) != set(names):  # what is missing or odd, the harness would replace by something random
            raise ValueError(f"it takes {', '.join(names) or 'nothing'}")
        for name, value in arguments.items():
            _check_argument(name, value)
        if not 1 <= arguments.get("nth_paragraph", 1) <= arguments.get("num_paragraphs", 1):
            raise ValueError("there is no such paragraph")
        if language != ENGLISH and (checker := own_checker(instruction_id, arguments, language)):
            return checker
        if instruction_id in _OWN:
            return _OWN[instruction_id](**arguments)
        instruction.build_description(**arguments)
    except (KeyError, ValueError) as e:
        raise UserError(
            f"{row}: {instruction_id} does not take {dict(kwargs)}: {e}", "take the rows of google/IFEval"
        ) from e
    check: Checker = instruction.check_following
    return _seeded(check) if instruction_id in DETECT_LANGUAGE else check


@cache
def _registry() -> Mapping[str, Any]:
    """Returns the harness' checker classes by id.

    When imported, the harness downloads the sentence model, or waits for a network and prints that it did; but it
    leaves that to the process of rank 0, which this one is not for as long as the import takes.
    """
    before = os.environ.get("LOCAL_RANK")
    os.environ["LOCAL_RANK"] = "1"
    try:
        from lm_eval.tasks.ifeval.instructions_registry import INSTRUCTION_DICT
    finally:
        del os.environ["LOCAL_RANK"]
        os.environ.update({} if before is None else {"LOCAL_RANK": before})
    checkers: Mapping[str, Any] = INSTRUCTION_DICT
    return checkers


def whole(value: Any) -> Any:
    """Returns a whole float as an integer: tables with gaps make floats of counts, and one of them is an index."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _composed(value: Any) -> Any:
    """Returns texts in NFC; words of a list without the blanks around them that some translations have."""
    if isinstance(value, list):
        return [_composed(entry).strip() if isinstance(entry, str) else entry for entry in value]
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def _check_argument(name: str, value: object) -> None:
    if name in _LISTS:
        fits = isinstance(value, list) and bool(value) and all(isinstance(word, str) and word for word in value)
    elif _COUNT.fullmatch(name):
        fits = isinstance(value, int) and value >= 0
    else:
        fits = isinstance(value, str) and bool(value)
    if not fits:
        raise ValueError(f"{name} is {value!r}")


def _letter_frequency(letter: str, let_frequency: int, let_relation: str) -> Checker:
    """Returns a checker that counts a letter in either case, or another character.

    The harness counts a random letter where a row asks for none of a to z, as rows 1122 ("#") and 1129 ("!") of
    IFEval do (google-research issue 3427); elsewhere this one says the same.
    """
    if len(letter) != 1:
        raise ValueError(f"letter is {letter!r}")
    return counted(lambda response: response.lower().count(letter.lower()), let_frequency, let_relation)


@cache
def _split_sentences() -> Callable[[str], list[str]]:
    """Returns nltk's splitter of English sentences, with the parameters that nltk itself would download."""
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt import load_model

    learned, parameters = load_model("english"), PunktParameters()
    for name in ("abbrev_types", "collocations", "sent_starters", "ortho_context"):
        getattr(parameters, name).update(getattr(learned, name))
    split: Callable[[str], list[str]] = PunktSentenceTokenizer(parameters).tokenize
    return split


def _capital_words(capital_frequency: int, capital_relation: str) -> Checker:
    from nltk.tokenize import NLTKWordTokenizer

    words = NLTKWordTokenizer().tokenize

    def count(response: str) -> int:
        return sum(word.isupper() for sentence in _split_sentences()(response) for word in words(sentence))

    return counted(count, capital_frequency, capital_relation)


# The harness' own would need a model that nltk downloads, or count something else.
_OWN: Mapping[str, Callable[..., Checker]] = {
    "keywords:letter_frequency": _letter_frequency,
    "length_constraints:number_sentences": lambda num_sentences, relation: counted(
        lambda response: len(_split_sentences()(response)), num_sentences, relation
    ),
    "change_case:capital_word_frequency": _capital_words,
}


def _seeded(check: Checker) -> Checker:
    """Returns the check with langdetect seeded for as long as it runs: else equal texts may get unequal languages."""
    from langdetect import DetectorFactory

    def follows(response: str) -> bool:
        before, DetectorFactory.seed = DetectorFactory.seed, _SEED
        try:
            return check(response)
        finally:
            DetectorFactory.seed = before

    return follows
