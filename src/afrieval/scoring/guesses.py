"""Guesses at what a text does not say: the answer, as MMLU-Pro's authors do, and the language it is in."""

import random
import re
from collections.abc import Sequence
from typing import Literal

TEN = "ABCDEFGHIJ"  # the letters that the authors look for, however many choices a question has
SEED = 12345
OPTIONS = ("lone", "guess")  # of extractors, that make them guess


def taken(text: str, names: Sequence[str], after: str, which: Literal["first", "last"]) -> str | None:
    """Returns the letter that the authors' three steps take, which need not be among the choices; None for none.

    It is the letter that the words announce, even if it begins a word or a list of several; or the last that "Answer:"
    announces on the first such line; or the last that stands between blanks or marks, which takes J for joule.
    """
    letter = "|".join(map(re.escape, dict.fromkeys([*names, *TEN])))
    if found := re.findall(rf"{re.escape(after)} \(?({letter})", text):
        return str(found[0 if which == "first" else -1])
    if headed := list(re.finditer(rf"[aA]nswer:\s*({letter})", text)):
        first = headed[0].start()
        return [match[1] for match in headed if "\n" not in text[first : match.start()]][-1]
    alone = re.findall(rf"\b(?:{letter})\b", text)
    return str(alone[-1]) if alone else None


def drawn(n: int) -> int:
    """Returns the choice that the authors draw of `n`: always the same, whatever was drawn before."""
    return random.Random(SEED).randint(0, n - 1)


# The suite's codes to py3langid's codes, as far as it knows the language.
CODES = {"afr": "af", "amh": "am", "arb": "ar", "ary": "ary", "arz": "arz", "eng": "en", "fra": "fr", "fuv": "fuv"}
CODES |= {"hau": "ha", "ibo": "ig", "kab": "kab", "kik": "kik", "kin": "rw", "lin": "ln", "lug": "lg", "nso": "nso"}
CODES |= {"orm": "om", "pcm": "pcm", "plt": "mg", "por": "pt", "sna": "sn", "som": "so", "sot": "st", "swa": "sw"}
CODES |= {"xho": "xh", "yor": "yo", "zul": "zu"}
TAKEN_FOR_OTHERS = {"ary", "arz"}  # over 90 of 100 sentences of FLORES are taken for Standard Arabic
RELIABLE = CODES.keys() - TAKEN_FOR_OTHERS


def identified(text: str) -> str:
    """Returns py3langid's code of the likeliest language."""
    import py3langid

    return str(py3langid.classify(text)[0])
