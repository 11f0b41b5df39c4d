"""What is logged of a run, whatever program it is logged to: scores, some samples and all settings."""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from afrieval.analysis.means import means
from afrieval.analysis.scores import by_language
from afrieval.report.formats import flat
from afrieval.report.run import scores_of_run
from afrieval.results.prompts import SUITE
from afrieval.results.reader import RunFolder
from afrieval.results.runs import described
from afrieval.results.samples import Sample, document_score, verdict
from afrieval.results.scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.tasks.sources.lines import likelihood_lines
from afrieval.terminal import visible

PER_CELL = 5  # samples
LONGEST = 2000  # characters of a text

Row = dict[str, Any]


@dataclass(frozen=True)
class Logged:
    """What is logged of a run.

    Attributes:
        settings: the identity of the run and the circumstances of its last visit, as run.yaml has them.
        summary: `TASK/LANGUAGE/PROMPT LANGUAGE` to the score, or the prompt set, if it is not the suite's; `mean` in
            place of the language is the mean over the African languages, if there are several.
        tables: `scores` has a row per task, language and prompt language, `samples` one per selected sample.
    """

    settings: Mapping[str, Any]
    summary: Mapping[str, float]
    tables: Mapping[str, list[Row]]


def logged(run: RunFolder) -> Logged:
    """Returns what is logged of a run.

    Raises:
        UserError: if a file of the folder is damaged; its line is named.
    """
    record = run.record
    cells = [described(cell, run, "") for name in run.names if not (cell := run.scores(name)).harness and cell.n]
    scores = [{k: v for k, v in row.items() if k != "table"} for row in flat(scores_of_run(run))]
    return Logged(
        settings={"identity": record["identity"], **record["visits"][-1]},
        summary=_summary(cells) | _of_harness(scores),
        tables={"scores": scores, "samples": [row for cell in cells for row in _samples(run, cell)]},
    )


def _summary(cells: list[CellScores]) -> dict[str, float]:
    found = {_key(s.task, s.language, s.prompt_language, s.prompt_set): s.score for s in by_language(cells)}
    several = [(mean, mean.dimensions) for mean in means(cells, ["Africa"]) if len(mean.members) > 1]
    return found | {_key(m.task, "mean", of["prompt_language"], of["prompt_set"]): m.score for m, of in several}


def _key(task: str, language: str, prompt_language: str, prompt_set: str) -> str:
    return f"{task}/{language}/{prompt_language if prompt_set == SUITE else prompt_set}"


def _of_harness(scores: list[Row]) -> dict[str, float]:
    """Returns the scores of harness tasks, which are in no prompt language."""
    return {row["task"]: row["score"] for row in scores if not row["prompt_language"]}


def _samples(run: RunFolder, cell: CellScores) -> Iterator[Row]:
    """Yields the samples of a cell with the lowest scores: wrong ones, then right ones, each in order."""
    scored = (line for line in run.lines(cell.name) if line["metrics"])
    for line in heapq.nsmallest(PER_CELL, scored, key=partial(_score, known=cell.metric)):
        yield _sample(line, cell.metric)


def _score(line: Sample, known: Metric) -> float:
    """Returns the score of a document; likelihoods of texts are neither right nor wrong."""
    return 0.0 if line.get("roles") else document_score(line, known)


def _sample(line: Sample, known: Metric) -> Row:
    asked, answer = line.get("arguments"), line["resps"][0][0]
    texts = {
        "question": asked[0][0] if asked else "",
        "answer": answer if isinstance(answer, str) else "\n".join(likelihood_lines(line)),
        "gold": str(line["target"]),
    }
    place = {name: line[name] for name in ("task", "language", "prompt_language", "prompt", "doc_id")}
    return {**place, "verdict": verdict(line, known), **{name: _shortened(text) for name, text in texts.items()}}


def _shortened(text: str) -> str:
    """Returns the beginning of a text, without what a terminal would obey or JSON cannot hold."""
    rest = len(text) - LONGEST
    return visible(text[:LONGEST]) + (f" ... [{rest:,} more characters]" if rest > 0 else "")
