"""CSV files with the probability of each choice, as the program of MMLU's authors writes them.

One per value of a field, such as the subject: columns of the data without names, numbered as pandas does it, then
whether the answer was right, the probability of each choice among the choices, and among all texts.
"""

import csv
import io
import math
import urllib.parse
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.results.run_files import write_atomically
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import OWN_KEYS, Sample, log_likelihoods

FOLDER = "probabilities"
IMPOSSIBLE = -1e9  # a log-likelihood that stands for a choice whose probability is not known, or 0


def write_probabilities(run: RunFolder) -> list[str]:
    """Writes the files of all cells whose task declares them and whose choices have likelihoods.

    A file that cannot be written stops nothing.

    Returns:
        Lines on files that were not written.
    """
    record = run.record
    declared = {task: of for task, of in record.get("declared", {}).items() if of.get("probabilities")}
    model = str(record["identity"]["model"]["model_name"])
    notes = []
    for name in run.names if declared else ():
        lines = [line for line in run.lines(name) if line["task"] in declared]
        if not any(map(log_likelihoods, lines)):
            continue
        of_task = declared[lines[0]["task"]]
        field, hidden = of_task["probabilities"], [*OWN_KEYS, *of_task.get("grouped_fields", {})]
        if any(field not in (line.get("doc") or {}) for line in lines):
            notes.append(f"{name}: no files of probabilities, since --eval.log_samples false stores no documents")
            continue
        try:
            _write(run.path / FOLDER / urllib.parse.quote(name, safe="()"), lines, field, hidden, model)
        except (OSError, ValueError) as e:  # a folder that is in the way, or text that is not Unicode
            notes.append(f"{name}: files of probabilities cannot be written: {e}")
    return notes


def _write(folder: Path, lines: list[Sample], field: str, hidden: list[str], model: str) -> None:
    def value_of(line: Sample) -> str:
        return str(line["doc"][field])

    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(".*.csv.*"):  # of a process that was killed
        path.unlink()
    for value, of_value in grouped(filter(value_of, lines), value_of).items():
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows(_rows(of_value, [*hidden, field], model))
        write_atomically(folder / f"{urllib.parse.quote(value, safe=' ()')}.csv", table.getvalue())


def _rows(lines: list[Sample], hidden: list[str], model: str) -> Iterator[list[Any]]:
    n = max(line["n_choices"] or 0 for line in lines)
    letters = ascii_uppercase[:n]
    texts = [_texts(line["doc"], hidden, n) for line in lines]
    added = [f"{model}_choice{letter}_{of}" for of in ("probs", "vocabulary_probs") for letter in letters]
    yield [*range(len(texts[0])), f"{model}_correct", *added]
    for line, row in zip(lines, texts, strict=True):
        correct = line.get("picked") == line["gold"] if "gold" in line else None
        yield [*row, correct, *_probabilities(line, n)]


def _texts(document: dict[str, Any], hidden: list[str], n: int) -> list[str]:
    """Returns the fields of a document in its data set, its choices and the letter of the right one.

    The value of the field that names the file and what follows from it are left out.
    """
    fields = [text for name, text in document.items() if name not in hidden]
    choices, gold = document.get("choices", []), document.get("gold")
    letter = ascii_uppercase[gold] if isinstance(gold, int) and 0 <= gold < n else ""
    return [*fields, *choices, *[""] * (n - len(choices)), letter]


def _probabilities(line: Sample, n: int) -> list[float | None]:
    """Returns the probability of each choice among the choices, then among all texts; None where it is not known."""
    logarithms = log_likelihoods(line)
    rest: Sequence[None] = [None] * (n - len(logarithms))
    highest = max(logarithms, default=IMPOSSIBLE)
    if highest <= IMPOSSIBLE:
        return [None] * (2 * n)
    odds = [math.exp(value - highest) for value in logarithms]
    return [*(odd / sum(odds) for odd in odds), *rest, *map(math.exp, logarithms), *rest]
