"""The checkers of IFEval's instructions: the harness' own, built without a download and without chance.

The 25 types are described in Zhou et al. 2023, "Instruction-Following Evaluation for Large Language Models",
arXiv 2311.07911; the harness' classes are its authors' own.
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from io import StringIO
from typing import Any

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.scoring.ifeval.other_languages import RELATIONS, Checker, own_checker

LETTER_FREQUENCY = "keywords:letter_frequency"
SPLIT_SENTENCES = ("length_constraints:number_sentences", "change_case:capital_word_frequency")
DETECT_LANGUAGE = ("language:response_language", "change_case:english_capital", "change_case:english_lowercase")
SENTENCE_MODEL = "punkt_tab"  # nltk's, with which it splits a text into sentences
SENTENCE_MODEL_FOLDER = f"tokenizers/{SENTENCE_MODEL}/english/"

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
        UserError: if the id is unknown, the arguments are not the ones it takes, or it needs a model that is not there.
    """
    if instruction_id not in _registry():
        raise UserError(f"{row}: {instruction_id!r} is not an instruction of IFEval", "take the rows of google/IFEval")
    if language == ENGLISH and instruction_id in SPLIT_SENTENCES and not _has_sentence_model():
        raise UserError(
            f"IFEval counts sentences with nltk's {SENTENCE_MODEL}, which is not on this machine",
            "run `afrieval prefetch` for this task where there is a network; NLTK_DATA may name the model's folder",
        )
    try:
        given = {name: whole(value) for name, value in kwargs.items() if value is not None}
        if language != ENGLISH:
            given = {name: _composed(value) for name, value in given.items()}
        return _build(instruction_id, given, language)
    except (KeyError, ValueError) as e:
        raise UserError(
            f"{row}: {instruction_id} does not take {dict(kwargs)}: {e}", "take the rows of google/IFEval"
        ) from e


def fetch_sentence_model() -> str:
    """Returns the folder of nltk's sentence model, which is downloaded unless it is there."""
    import nltk

    if not _has_sentence_model():
        try:
            nltk.download(SENTENCE_MODEL, quiet=True, raise_on_error=True, print_error_to=StringIO())  # reported below
        except (OSError, ValueError) as e:  # nltk makes a ValueError of what its server or its archive does
            raise UserError(
                f"nltk's {SENTENCE_MODEL} cannot be fetched: {e}",
                "it comes from github.com/nltk/nltk_data; copy nltk_data from another machine and set NLTK_DATA to it",
            ) from e
    return str(nltk.data.find(SENTENCE_MODEL_FOLDER))


def _has_sentence_model() -> bool:
    from nltk.tokenize import punkt_model_available

    return bool(punkt_model_available())


@cache
def _registry() -> Mapping[str, Any]:
    """Returns the harness' checker classes by id.

    When imported, the harness downloads the sentence model, or waits for a network and prints that it did; but it
    leaves that to the process of rank 0, which this one is not for as long as the import takes.
    """
    with _environment("LOCAL_RANK", "1"):
        from lm_eval.tasks.ifeval.instructions_registry import INSTRUCTION_DICT
    checkers: Mapping[str, Any] = INSTRUCTION_DICT
    return checkers


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _build(instruction_id: str, arguments: dict[str, Any], language: str) -> Checker:
    """Returns the checker; a ValueError or KeyError tells what of the arguments is wrong.

    They are looked at first: what is missing or odd, the harness would replace by something random.
    """
    instruction = _registry()[instruction_id](instruction_id)
    wanted = instruction.get_instruction_args_keys()
    if set(arguments) != set(wanted):
        raise ValueError(f"it takes {', '.join(wanted) or 'nothing'}")
    for name, value in arguments.items():
        _check_argument(name, value)
    if not 1 <= arguments.get("nth_paragraph", 1) <= arguments.get("num_paragraphs", 1):
        raise ValueError("there is no such paragraph")
    if language != ENGLISH and (own := own_checker(instruction_id, arguments, language)):
        return own
    if instruction_id == LETTER_FREQUENCY:
        return _letter_frequency(**arguments)
    instruction.build_description(**arguments)
    check: Checker = instruction.check_following
    return _seeded(check) if instruction_id in DETECT_LANGUAGE else check


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
    compare = RELATIONS[let_relation]
    return lambda response: compare(response.lower().count(letter.lower()), let_frequency)


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
