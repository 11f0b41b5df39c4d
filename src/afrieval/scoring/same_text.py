"""Whether two short answers are the same text: a label, a number, a few words, or brackets and nothing else."""

import re
import unicodedata

_LIKE = str.maketrans("‘’ʼʻ“”−", "''''\"\"-")
_THOUSANDS = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+)(?!,?\d)")
_COMMA = re.compile(r"[,،፣]")
_PAIRS = ("()", "[]", "{}", '""', "''", "«»", "``", "**")
_LABEL = re.compile(r"[(\[{]?(\w+)[)\]}]?")  # "B)" as models write it


def same_text(given: str, gold: str) -> bool:
    """Returns whether two answers are the same. Which is which makes no difference.

    Upper and lower case, runs of blanks, quotes, brackets and asterisks around an answer, a full stop at its end,
    thousands commas and commas between words are passed over: "(A)." is "a", and "1,234" is "1234". Signs and decimal
    points are not: "-5" is not "5". Of answers without a letter or digit only blanks are passed over: "] )" is not
    "} >". Mathematics has `same_answer`, for which (0, 1) is not [0, 1].

    Args:
        given: what a model gave.
        gold: the right answer.
    """
    return _key(given) == _key(gold)


def _key(text: str) -> str:
    """Returns what an answer is compared by; caseless in the canonical sense of Unicode (definition D145)."""
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold()).translate(_LIKE)
    if not any(c.isalnum() for c in plain):
        return "".join(plain.split())
    plain = _THOUSANDS.sub(lambda number: number[1].replace(",", ""), _without_marks(plain))
    return " ".join(_COMMA.sub(" ", plain).split())


def _without_marks(text: str) -> str:
    while True:
        text = text.strip().rstrip(".,።").rstrip()
        if text[:1] + text[-1:] not in _PAIRS:
            return label[1] if (label := _LABEL.fullmatch(text)) else text
        text = text[1:-1]
