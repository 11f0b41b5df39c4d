"""Reads sample files: one line at a time, each checked, whoever wrote it."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from afrieval.errors import UserError
from afrieval.files.content import read_bytes
from afrieval.files.schema import validated_line
from afrieval.results.schema import SampleLine

Sample = dict[str, Any]  # a SampleLine, and the scores under their metrics' names
REDO = "delete the file and run again; only its cell is redone"


def read_samples(path: Path) -> list[Sample]:
    """Returns all samples of a file; errors are those of `read_lines`."""
    return list(read_lines(path))


def read_lines(path: Path) -> Iterator[Sample]:
    """Yields the samples of a file, one at a time: a list of them all keeps the garbage collector busy.

    Raises:
        UserError: if the file cannot be read or is empty, or naming the first line that no run wrote.
    """
    number, empty = 0, True
    for number, line in enumerate(read_bytes(path, REDO).split(b"\n"), 1):
        if not line:
            continue
        empty = False
        sample: Sample = dict(validated_line(SampleLine, line, f"{path}, line {number}", REDO))
        if problem := _problem(sample):
            raise UserError(f"{path}, line {number}: {problem}", REDO)
        yield sample
    if empty:
        raise UserError(f"{path} is empty", REDO)


def is_harness(sample: Sample) -> bool:
    """Tells a sample of a harness task from one of ours: it has no prompt number."""
    return bool(sample["prompt"] == "")


def _problem(sample: Sample) -> str:
    """Returns what in a sample does not go together; empty if all does."""
    if is_harness(sample):
        return "" if "filter" in sample else "the key 'filter' is missing"
    for metric in sample["metrics"]:
        if not is_score(sample.get(metric)):
            return f"{metric} must be a number, not {sample.get(metric)!r}"
    if not sample["metrics"]:
        return ""
    if not sample["resps"]:
        return "resps must not be empty"
    return "" if isinstance(sample["resps"][0][0], str) else _problem_of_choices(sample)


def _problem_of_choices(sample: Sample) -> str:
    """Returns what is wrong with the likelihoods of choices."""
    n = sample.get("n_choices")
    answers = sample["resps"]
    if n is not None and len(answers) != n:
        return f"there are {len(answers)} resps for {n} choices"
    if "arguments" in sample and len(sample["arguments"]) != len(answers):
        return f"there are {len(answers)} resps for {len(sample['arguments'])} arguments"
    for (answer,) in answers:
        if not (isinstance(answer, list) and answer and isinstance(answer[0], float | int)):
            return f"a log-likelihood is {str(answer)[:60]}"
    for name in ("gold", "picked"):
        index = sample.get(name, 0)
        if not (isinstance(index, int) and 0 <= index < len(answers)):
            return f"{name} is {index!r}, and there are {len(answers)} choices"
    return ""


def is_score(value: Any) -> bool:
    """Tells whether a value is a score, or a list of them as metrics of single instructions have."""
    if isinstance(value, list):
        return bool(value) and all(is_score(each) and not isinstance(each, list) for each in value)
    return isinstance(value, float | int) and math.isfinite(value)
