"""The words with which answers close: of prompts, of vocabularies, and of the worked solutions of a data set."""

import re
from collections import Counter
from collections.abc import Sequence

from afrieval.languages import ENGLISH
from afrieval.scoring.extract.announcement import ANSWER
from afrieval.scoring.extract.number import last_number, parse_number
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.vocabulary import CLOSING, VOCABULARY, load_vocabulary, vocabulary_of

END = re.compile(r"^([^{}()\n]*[^{}()\s:：])\s*(?:\(.*\)\s*)?[:：]\s*\Z", re.MULTILINE)  # of a prompt
MOST, FEWEST = 3 / 4, 3  # the share of solutions that must agree, and their number
_ENDS, _BLANKS = ".!?።\n", " \u00a0\u202f"


def closing_lead_in(worked: Sequence[Document]) -> str:
    """Returns the words around the answer at the end of worked solutions, with `{answer}`; empty if they differ.

    Only the sentence of the last number counts, and only if that number is the right answer. A heading such as
    "Step-by-step answer:" announces the reasoning, whose first number is not the answer, so it is not used.
    """
    counts = Counter(_closing(document) for document in worked if document.worked)
    if not counts:
        return ""
    words, times = counts.most_common(1)[0]
    return words if times >= max(FEWEST, MOST * counts.total()) else ""


def _closing(document: Document) -> str:
    number = last_number(document.worked)
    if number is None or parse_number(number[0]) != document.gold:
        return ""
    before, after = document.worked[: number.start()], document.worked[number.end() :].rstrip(_ENDS + _BLANKS)
    before = before[max(before.rfind(mark) for mark in _ENDS) + 1 :].lstrip()
    if any(mark in after for mark in _ENDS) or not any(c.isalpha() for c in before + after):
        return ""
    plain = not before or before[-1].isspace() or before[-1].isalpha() or before[-1] == "-"
    return f"{before}{ANSWER}{after}" if plain else ""


def closing_words(spec: TaskSpec) -> dict[str, str]:
    """Returns what closes an answer in each language: the vocabulary's words, or the English ones."""
    files = {code: spec.prompts_folder / f"{code}.yaml" for code in (*spec.languages, ENGLISH)}
    paths = {code: vocabulary_of(file, spec.author.root) for code, file in files.items()}
    words = {code: load_vocabulary(path).words for code, path in paths.items() if path.is_file()}
    return {code: shown_closing(words.get(code, {}).get(CLOSING, "")) for code in paths}


def shown_closing(words: str) -> str:
    """Returns a vocabulary's closing words, or the English ones if it has none, as prompts show them."""
    return (words or load_vocabulary(VOCABULARY / "eng.yaml").words[CLOSING]).replace(ANSWER, "...")
