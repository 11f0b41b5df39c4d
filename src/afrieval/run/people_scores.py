"""Metrics from people's ratings of stored answers: their mean, and the judge's score corrected by it."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from afrieval.results.packed import is_packed
from afrieval.results.run_files import sample_path
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.scoring.learned import (
    AGAINST,
    CORRECTED,
    JUDGE,
    JUDGED,
    PEOPLE,
    RATINGS,
    corrected_name,
    is_of_rubric,
    learned_of,
    with_learned,
)
from afrieval.scoring.rubric import Rubric, worth
from afrieval.scoring.statistics.corrected import FEWEST

UNPARSED = 0.5  # what a judge is taken to say where its reply had no level


def with_people(lines: Sequence[Sample], levels: Mapping[str, str]) -> list[Sample]:
    """Returns a cell's samples with the metrics that follow from their ratings, and without those that no longer do.

    Args:
        lines: all of the cell.
        levels: of the rubric by which they were judged and rated.
    """
    ratings: list[float | None] = []
    for line in lines:
        document = line.get("doc")
        right = document.get("gold") if isinstance(document, dict) else None
        worths = [worth(levels, level, right) for level in line.get(RATINGS, {}).values()]
        ratings.append(float(np.mean(worths)) if worths and line["metrics"] else None)
    judges = dict.fromkeys(name for line in lines for name in line.get(JUDGED, {}) if AGAINST not in name)
    corrects = sum(rating is not None for rating in ratings) >= FEWEST
    scored = []
    for line, rating in zip(lines, ratings, strict=True):
        before = learned_of(line) if line["metrics"] else {}
        after = {name: of for name, of in before.items() if name != PEOPLE and not name.startswith(CORRECTED)}
        after |= {} if rating is None else {PEOPLE: [rating]}
        for name in judges if corrects and line["metrics"] else ():
            [by_judge] = line["measures"].get(name, [UNPARSED])
            after[corrected_name(name)] = [by_judge, rating or 0.0, float(rating is not None)]
        scored.append(line if after == before else with_learned(line, after))
    return scored


def levels_of(run: RunFolder, task: str) -> Mapping[str, str]:
    """Returns the levels of the rubric by which a task is judged and rated; empty without one."""
    levels: Mapping[str, str] = run.record["declared"][task].get("rubric", {}).get("levels", {})
    return levels


def with_earlier_ratings(run: RunFolder, name: str, lines: Sequence[Sample]) -> Sequence[Sample]:
    """Returns the new samples of a cell that has grown, with the earlier ratings of answers that did not change."""
    path = sample_path(run.path, name)
    stored = run.lines(name) if os.path.lexists(path) or is_packed(path) else iter(())
    rated = {line["doc_id"]: line for line in stored if RATINGS in line}
    if not rated:
        return lines
    with_ratings = []
    for line in lines:
        before = rated.get(line["doc_id"])
        same = before and (before["resps"][0][0], before.get("answer")) == (line["resps"][0][0], line.get("answer"))
        with_ratings.append({**line, RATINGS: before[RATINGS]} if before and same else line)
    return with_people(with_ratings, levels_of(run, lines[0]["task"]))


def is_of_another(declared: Mapping[str, Any], rubric: Rubric) -> bool:
    """Returns whether judgements and ratings of a task, as run.yaml has it, are by another rubric."""
    stored = rubric.stored
    return bool(declared.get("rubric", stored)["hash"] != stored["hash"])


def with_rubric(declared: Mapping[str, Any], rubric: Rubric, signatures: Mapping[str, str]) -> dict[str, Any]:
    """Returns a task's declaration in run.yaml with its rubric, and without signatures of another rubric."""
    before, another = declared.get("signatures", {}), is_of_another(declared, rubric)
    valid = {name: of for name, of in before.items() if not (another and is_of_rubric(name))} | dict(signatures)
    judges = {name: of for name, of in valid.items() if name.startswith(JUDGE) and AGAINST not in name}
    corrected = {corrected_name(name): f"{of}|people" for name, of in judges.items()}
    people = {PEOPLE: f"rubric:{rubric.stored['hash']}|version:{rubric.version}", **corrected}
    return {**declared, "rubric": rubric.stored, "signatures": valid | people}


def without_rubric(line: Sample) -> Sample:
    """Returns a line without all that depends on its task's rubric: judgements, ratings, and their metrics."""
    measures = {name: of for name, of in learned_of(line).items() if not is_of_rubric(name)}
    bare = with_learned(line, measures) if line["metrics"] else line
    return {key: of for key, of in bare.items() if key not in (JUDGED, RATINGS)}
