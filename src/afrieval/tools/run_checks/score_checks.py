"""Computes the scores of stored runs again, to find those that their answers do not give."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from math import isfinite
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.files import read_text
from afrieval._util.schema import validated_json
from afrieval.config.settings import DataConfig
from afrieval.results.cell_scores import CellScores
from afrieval.results.changes import alike, score_differences
from afrieval.results.identity import merged
from afrieval.results.run_files import RESULTS, RUN, SUMMARY, sample_path
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import WITHHELD, Sample, cell_name
from afrieval.results.schema import HarnessResults, RunRecord
from afrieval.run.judging import worth_of
from afrieval.run.people_scores import with_people
from afrieval.run.rescore import rescored
from afrieval.scoring.base import Likelihood, Metric, Question, Response
from afrieval.scoring.learned import JUDGED
from afrieval.scoring.responses import of_likelihoods
from afrieval.scoring.rubric import is_scale
from afrieval.tasks.cells.rescored import RUN_AGAIN
from afrieval.tasks.data.hub import only_cached
from afrieval.tasks.declaration.spec import TaskSpec

LARGEST = 2**28  # bytes of summary.csv and results.json
SHOWN = 20  # differences of a file
OWN = ("sample_rows", "unreviewed", "signatures", "title")  # no part of scores, or depending on what is installed


def score_problems(run: RunFolder, cells: Sequence[CellScores], specs: Mapping[str, TaskSpec]) -> tuple[list[str], str]:
    """Returns where scores, picks and extracted answers are not those of the stored answers, and what was not checked.

    With the data set on this machine, answers are scored again as `afrieval score` does it. Without, what the samples
    say is compared.

    Args:
        run: a finished run of the installed tasks.
        cells: its cells with scores.
        specs: the declarations of their tasks.
    """
    remark, differing = "", {}
    for source in dict.fromkeys((None, DataConfig().source)):
        try:
            with only_cached():
                again = rescored(run, source, locked=False)
        except UserError as e:
            if e.hint.startswith(RUN_AGAIN):
                return [e.message], ""
            remark = f"its scores are checked without the data set: {e.message}"
            continue
        facts: Any = reduce(merged, (of.cell.facts["declared"] for of in again.cells), dict[str, Any]())
        lines = declared_problems(facts, run.record)
        remark = "; ".join(f"not scored again: {line}" for line in again.left_out)
        differing = {of.cell.name: [(each.line, each.what) for each in of.changed] for of in again.cells}
        break
    else:
        lines = []
    withheld = sum(
        line["resps"][0][0] == WITHHELD for cell in cells for line in run.lines(cell.name) if line["metrics"]
    )
    if withheld:
        remark += (
            f"{'; ' * bool(remark)}{withheld:,} answers were left out of the copy, so their scores are not checked"
        )
    for cell in cells:
        spec, form = specs[cell.task], cell.answer_form
        metrics = spec.scoring.metrics_of(form, language=spec.answers_in(cell.language))
        other = _of_stored(run, cell, [] if cell.name in differing else metrics)
        where = sample_path(run.path, cell.name).name
        differences = [
            f"{where}, line {number}: {what}" for number, of in (*differing.get(cell.name, []), *other) for what in of
        ]
        lines += [
            *differences[:SHOWN],
            *([f"{where}: {len(differences) - SHOWN:,} more"] if differences[SHOWN:] else []),
        ]
    return [*lines, *_of_files(run, cells)], remark


def declared_problems(facts: Mapping[str, Mapping[str, Any]], record: RunRecord) -> list[str]:
    """Returns what run.yaml lacks of what tasks declare, or says differently."""
    lines = []
    for task, declared in facts.items():
        stored: Mapping[str, Any] = record.get("declared", {}).get(task, {})
        for name in [name for name in declared if name not in OWN]:
            recorded, expected = stored.get(name), declared[name]
            if isinstance(recorded, list) and isinstance(expected, list):
                recorded = [of for of in recorded if of in expected]  # a metric may need what is not installed here
            elif isinstance(recorded, Mapping) and isinstance(expected, Mapping):
                recorded = {
                    key: of for key, of in recorded.items() if key in expected
                }  # other cells may have more languages
            if not alike(recorded, expected):
                lines.append(f"{RUN} does not have {name} of {task} as its task file and data give it")
    return lines


def _of_stored(run: RunFolder, cell: CellScores, metrics: Sequence[Metric]) -> Iterator[tuple[int, list[str]]]:
    """Yields the lines whose score is not what their own numbers, judgements and ratings give, and how it differs."""
    levels = cell.declared.get("rubric", {}).get("levels", {})
    lines = list(run.lines(cell.name))
    kinds = bool(levels) and not is_scale(levels)
    for number, (line, rated) in enumerate(zip(lines, with_people(lines, levels), strict=True), 1):
        if line["metrics"] and not line.get("roles"):
            document: Mapping[str, Any] = line["doc"] if isinstance(line.get("doc"), dict) else {}
            again = {**(line if kinds and not document else rated)}
            if line["n_choices"] and not isinstance(line["resps"][0][0], str):  # the choice that likelihoods pick
                picked = of_likelihoods(_likelihoods(line)).answer
                again |= {name: picked for name in ("answer", "picked") if name in line}
            measures = again["measures"] | _measured(line, again, document, metrics)
            judgements = {} if kinds and not document else line.get(JUDGED, {})
            for name, level in ((name, of.get("level")) for name, of in judgements.items()):
                if name in line["measures"] and level is not None:
                    measures[name] = [worth_of(level, levels, document.get("gold"))]
            yield number, score_differences(line, {**again, "measures": measures})


def _likelihoods(line: Sample) -> list[Likelihood]:
    return [Likelihood(*answers[0][:3]) for answers in line["resps"] if not isinstance(answers[0], str)]


def _measured(
    line: Sample, again: Sample, document: Mapping[str, Any], metrics: Sequence[Metric]
) -> dict[str, list[float]]:
    """Returns the measures of a choice, of those metrics that need no more of its question than is stored."""
    n = line["n_choices"]
    if not n or (line["defect"] and not document) or line["resps"][0][0] == WITHHELD:
        return {}
    texts = document.get("choices") or list(map(str, range(n)))  # without names, lengths are not known
    response = Response(again.get("answer"), likelihoods=_likelihoods(line), neutral=line.get("neutral", ()))
    question = Question(line.get("gold"), texts)
    measures = {
        metric.name: metric.measure(response, question) for metric in metrics if metric.name in line["measures"]
    }
    return {name: measure for name, measure in measures.items() if measure is not None}


def _of_files(run: RunFolder, cells: Sequence[CellScores]) -> Iterator[str]:
    """Yields the scores in summary.csv and results.json that the samples do not give; copies have no such files."""
    for name, stated in _stated(run.path):
        for cell in cells:
            for metric in cell.metrics:
                score, stated_score = cell.with_metric(metric).score, stated.get(cell.name, {}).get(metric, "nothing")
                if str(stated_score) != str(score) and isfinite(score):
                    yield f"{name}: {metric} of {cell.name} is {stated_score}, and its samples give {score}"


def _stated(folder: Path) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """Yields the files with scores that are not samples, with cell to metric to score."""
    hint = "delete it, and run the same command again"
    if (path := folder / SUMMARY).exists():
        rows = csv.DictReader(io.StringIO(read_text(path, hint, LARGEST)))
        yield SUMMARY, {cell_name(row): {**row, str(row.get("metric")): row.get("score")} for row in rows}
    if (path := folder / RESULTS).exists():
        text = read_text(path, hint, LARGEST)
        results = validated_json(HarnessResults, text, str(path), hint)["results"]
        maps = {of: each for of, each in results.items() if isinstance(each, dict)}
        yield RESULTS, {of: {n.removesuffix(",none"): one for n, one in each.items()} for of, each in maps.items()}
