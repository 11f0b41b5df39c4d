"""What announces an answer, in the words of any language, and the clauses that deny or suppose one."""

import re
from collections.abc import Sequence

from afrieval.scoring.extract.phrase import CLOSE, announcing

ANSWER = "{answer}"  # where the answer stands in a lead-in; at its end if it is not there

_NOUNS = ["answer", "ans", "option", "choice", "label", "letter", "prediction", "correct one"]
_NOUNS += [f"{which}_{noun}" for which in ("final", "correct") for noun in _NOUNS[:4]]  # in JSON
_COLON = r"[\"'*_\s]{0,9}(?:\([^()\n]{1,80}\)[*_\s]{0,9})?(?:[:：፦፡→]|=?>|=|-+>|(?<=\s)[-–—](?=\s))"
_SAYS = r"(?:\s+(?:to|of|for|here|among)\b[^.:;!?\n]{0,80}?)?\s+(?:is|would be|will be|should be|must be|can only be"
_SAYS += r"|(?:has|seems|appears) to be)(?!\w)"
_SURELY = r"(?:\s(?:clearly|definitely|simply|indeed|actually|really|certainly|obviously|likely|most likely|probably"
_SURELY += r"|therefore|thus)(?!\w))?"
# In the clause before an announcement: "if the answer is A", "the wrong answer is", "I don't think the answer is".
_UNSAID = re.compile(
    r"\b(?:if|whether|suppos|assum|not\b|never|cannot|unless|nobody|no one|(?<!no )doubt)|n't\b|^\W*why\b"
    r"|\b(?:some|many|others|people|one)\s(?:\w+\s)?(?:say|think|believe|argue|claim|might)"
    r"|\b(?:wrong|incorrect|worst|least \w+|each|every|any|one|other|another|next)\W*$"
    r"|\b(?:first|second|third|fourth)\W*$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.,;:!?።\n]|\b(?:so|therefore|thus|hence|and|but|because)\b", re.IGNORECASE)
BUT = re.compile(r"\A\W*not\b[^.\n]{0,80}?\bbut\b")  # "not 63 but 64"


def announcement(lead_ins: Sequence[str], further: Sequence[str] = ()) -> tuple[str, list[str], list[str]]:
    """Returns the pattern of what announces an answer, the nouns in it, and patterns of words that follow an answer.

    Nouns are followed by a colon or the like, by "is", or by the last words of any lead-in: of `Jibu ni`, `ni` also
    follows `Jibu sahihi`.

    Args:
        lead_ins: words that announce; those that end with a colon are nouns.
        further: nouns of the task.
    """
    leads = [[part.strip() for part in words.partition(ANSWER)] for words in lead_ins]
    own_nouns = [words.rstrip(":： ") for words, _, _ in leads if words.endswith((":", "："))]
    sentences = [words for words, _, _ in leads if words and not words.endswith((":", "：", "-"))]
    closings = {
        " ".join(words.split()[n:]) for words, place, _ in leads if not place for n in range(1, len(words.split()))
    }
    rests = [rest for _, _, rest in leads if rest]
    nouns = [*_NOUNS, *further, *own_nouns]
    pattern = rf"{announcing(nouns)}(?:{_COLON}|{_SAYS}{_SURELY})"
    pattern += rf"|{announcing(sentences)}{_SURELY}" if sentences else ""
    if own_nouns:
        closing = "|".join(map(announcing, sorted(closings - {""}, key=len, reverse=True)))
        pattern += rf"|{announcing(own_nouns)}(?:\s+(?!non)[^\W\d_]{{1,5}}[-‐‑](?=\w)"  # Impendulo ngu-C
        pattern += (rf"|\s+(?:{closing})" if closing else "") + ")"
    if own_nouns and rests:
        pattern += rf"|{announcing(own_nouns)}(?=\s[^\n]{{1,40}}?\s{announcing(rests)})"
    return pattern, nouns, [rf"[{CLOSE}]*\s*{re.escape(rest)}(?!\w)" for rest in rests]


def is_unsaid(text: str, start: int) -> bool:
    """Returns whether the clause before an announcement denies or supposes it."""
    return _UNSAID.search(_CLAUSE.split(text[max(0, start - 80) : start])[-1]) is not None
