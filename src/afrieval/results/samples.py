"""Reads sample files: one line at a time, each checked, whoever wrote it."""

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.schema import checked_line
from afrieval._util.terminal import one_line
from afrieval.results.cell_key import CellKey, is_prompt_id
from afrieval.results.packed import CURE, PACKED, is_packed, opened_samples
from afrieval.results.schema import SampleLine
from afrieval.scoring.base import Metric
from afrieval.scoring.labels import NOT_PARSED, REFUSED
from afrieval.scoring.learned import JUDGED

Sample = dict[str, Any]  # a SampleLine, and the scores under their metrics' names
DROPPED = "examples"  # in `fitted`, where a prompt has fewer of them than asked for
RIGHT = 1 - 1e-9  # a score of 1, but for rounding
LONGEST = 2**28  # bytes of a line that are read: an archive may hold an endless one
TEXTS = ("doc", "arguments", "target")  # what of a sample are texts of the data set, unless the target is a number
WITHHELD = "[left out: it repeats texts of the data set]"  # stands for such an answer in a copy for a board
OWN_KEYS = ("id", "choices", "roles", "gold", "worked", "prompt")  # keys of a document that are not fields of the data
_key = lru_cache(1000)(CellKey)  # a file may have a million lines of one cell
REDO = "delete the file and run again; only its cell is redone"


def read_samples(path: Path) -> list[Sample]:
    """Returns all samples of a file, as `read_lines` does."""
    return list(read_lines(path))


def read_lines(path: Path) -> Iterator[Sample]:
    """Yields the samples of a file, packed or not, one at a time: a list of them keeps the garbage collector busy.

    Raises:
        UserError: if the file cannot be read or is empty, or naming the first line that no run wrote.
    """
    empty, (where, cure) = True, named_file(path)
    with opened_samples(path, cure) as file:
        for number, whole in enumerate(bounded_lines(file), 1):
            if not (line := whole.removesuffix(b"\n")):
                continue
            empty = False
            sample = checked_line(SampleLine, line, f"{where}, line {number}", cure)
            if problem := _problem(sample):
                raise UserError(f"{where}, line {number}: {problem}", cure)
            yield sample
    if empty:
        raise UserError(f"{where} is empty", cure)


def named_file(path: Path) -> tuple[str, str]:
    """Returns what messages call a sample file, which may be in an archive, and how to fix it."""
    return (f"{path.with_name(PACKED)}, {path.name}", CURE) if is_packed(path) else (str(path), REDO)


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yields the lines of a file, in parts where one is longer than any that a run writes."""
    return iter(partial(file.readline, LONGEST), b"")


def without_texts(sample: Sample) -> Sample:
    """Returns a sample without document, prompt and right answer, as `eval.log_samples false` stores it."""
    return {key: of for key, of in sample.items() if key not in TEXTS or (key == "target" and type(of) is int)}


def is_harness(sample: Sample) -> bool:
    """Tells a sample of a harness task from one of ours: it has no prompt number."""
    return bool(sample["prompt"] == "")


def is_unparsed(sample: Sample) -> bool:
    """Tells whether no answer was found in a generated text.

    A refusal has none either, but is not a text that could have been parsed.
    """
    return not sample.get(REFUSED) and "answer" in sample and sample["answer"] is None


def document_score(sample: Sample, metric: Metric) -> float:
    """Returns the score of a document by itself, from 0 to 1."""
    return float(metric.score(np.array([sample["measures"][metric.name]]), np.ones((1, 1)))[0]) / metric.bounds[1]


def verdict(sample: Sample, metric: Metric) -> str:
    """Returns what the score of a sample says of its answer: right, wrong, unparsed, refused, or a share in percent.

    Where likelihoods of texts are measured, or a score does not say how good answers are, it is the measure itself.
    """
    if sample.get("roles"):
        return f"{metric.name} {sample[metric.name]}"
    score = document_score(sample, metric)
    if sample.get(REFUSED):
        return REFUSED
    if not metric.ranked:
        return f"{metric.name} {score:g}"
    if is_unparsed(sample) and score < RIGHT:
        return NOT_PARSED
    return "right" if score >= RIGHT else "wrong" if score <= 0 else f"{100 * score:.1f}% right"


def generated_text(sample: Sample) -> str | None:
    """Returns the text that a model generated; None where it was asked for likelihoods, or not at all."""
    answers = sample["resps"]
    return answers[0][0] if answers and isinstance(answers[0][0], str) else None


def log_likelihoods(sample: Sample) -> list[float]:
    """Returns the log-likelihood of each choice or text; empty where answers were generated."""
    if generated_text(sample) is not None:
        return []
    return [answer[0] if isinstance(answer, list) else answer for answer, *_ in sample["resps"]]


def answer_text(sample: Sample) -> str:
    """Returns the text that is judged: the answer, or all that was written if none could be extracted."""
    answer = sample.get("answer")
    return str(sample["resps"][0][0] if answer is None else answer)


def judgements(sample: Sample) -> list[str]:
    """Returns what each judge says of an answer, and why."""
    return [
        f"{name}: {said.get('level') or NOT_PARSED}, {one_line(said.get('reason') or 'no reason')}"
        for name, said in sample.get(JUDGED, {}).items()
    ]


def cell_name(sample: Sample) -> str:
    """Returns the name of the cell that a sample says it is of."""
    return _key(sample["task"], sample["language"], sample["prompt"], sample["prompt_language"]).text()


def _problem(sample: Sample) -> str:
    if is_harness(sample):
        return "" if "filter" in sample else "the key 'filter' is missing"
    if "defect" not in sample or "n_choices" not in sample:
        return f"the key {'n_choices' if 'defect' in sample else 'defect'!r} is missing"
    if not is_prompt_id(sample["prompt"]):
        return f"prompt must be a number, or such as paper3, not {sample['prompt']!r}"
    if not sample["prompt_language"]:
        return "prompt_language must be eng or native"
    if not sample["metrics"]:
        return "" if sample["defect"] else "it has neither a score nor a defect"
    if len(set(sample["metrics"])) < len(sample["metrics"]):
        return "its metrics are repeated"
    if missing := [name for name in sample["metrics"] if name not in sample.get("measures", {})]:
        return f"it has no measure of {missing[0]}"
    if not sample["resps"]:
        return "resps must not be empty"
    if isinstance(document := sample.get("doc"), dict) and not isinstance(document.get("choices", []), list):
        return "the choices of its doc must be a list"
    likelihoods = not isinstance(sample["resps"][0][0], str)
    return _problem_of_choices(sample) or (_problem_of_resps(sample) if likelihoods else "")


def _problem_of_choices(sample: Sample) -> str:
    n = sample["n_choices"]
    if not n:
        return ""
    gold, picked = sample.get("gold", 0), sample.get("picked", 0)
    if type(gold) is not int or not 0 <= gold < n:
        return f"gold is {gold!r}, and there are {n} choices"
    if picked is not None and (type(picked) is not int or not 0 <= picked < n):
        return f"picked is {picked!r}, and there are {n} choices"
    return ""


def _problem_of_resps(sample: Sample) -> str:
    n, answers = sample.get("n_choices"), sample["resps"]
    if n is not None and len(answers) != n:
        return f"there are {len(answers)} resps for {n} choices"
    if "arguments" in sample and len(sample["arguments"]) != len(answers):
        return f"there are {len(answers)} resps for {len(sample['arguments'])} arguments"
    for answer in answers:
        first = answer[0]
        value = first[0] if type(first) is list and first else None
        if (type(value) is not float and type(value) is not int) or value != value:  # the latter is NaN
            return f"a log-likelihood is {str(answer)[:60]}"
    return ""
