"""Blind sheets with stored answers, for people who rate them: which answers, and what is shown of each."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.stamps import digest
from afrieval._util.terminal import visible
from afrieval.languages import LANGUAGES
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample, answer_text
from afrieval.run.people_scores import UNPARSED
from afrieval.run.scorer import AnswerAddress, document_of, scored_answers, specs_of
from afrieval.scoring.learned import JUDGE
from afrieval.scoring.rubric import Rubric
from afrieval.tasks.declaration.spec import Folders, TaskSpec
from afrieval.tools.review.forms import HOW_TO, ID, SheetForm

TITLE, NAME, TASKS_RATED, RUNS, LEVEL_IS = "afrieval ratings", "your name", "tasks", "code", "level "
RIGHT, ANSWER, LEVEL, COMMENT = "right answer", "answer", "level", "comment"
HOW = (
    "Each row has an answer that a computer wrote. Choose the level that describes it best, and rate each row by "
    "itself. Rate all rows, also those that are hard; you may write a comment. Do not change anything else, and do not "
    "talk about answers with other raters before all have finished. Then save the file and send it."
)
WIDTHS = {ID: 15, RIGHT: 40, ANSWER: 60, LEVEL: 10, COMMENT: 30}
LONGEST = 30_000  # characters of a cell; spreadsheets have room for 32,767
EMPTY = "(the answer is empty)"


class Shown(NamedTuple):
    """What a sheet shows of a stored answer; `id` is a hash of the task, language, question and answer."""

    id: str
    fields: dict[str, str]
    right: str
    answer: str


class Rated(NamedTuple):
    """Tasks whose answers in a language are rated by the same rubric."""

    language: str
    specs: dict[str, TaskSpec]
    rubric: Rubric


def to_rate(runs: Sequence[RunFolder], language: str, tasks: Sequence[str], folder: Folders | None) -> Rated:
    """Returns the tasks of runs that people can rate in a language.

    Raises:
        UserError: if there are none, or they have several rubrics.
    """
    cells = [cell for run in runs for cell in cells_in(run, language)]
    run_tasks = dict.fromkeys(cell.task for cell in cells)
    if unknown := [task for task in tasks if task not in run_tasks]:
        problem = f"the runs have no answers of {unknown[0]} in {LANGUAGES[language].name}"
        raise UserError(problem, f"they have {', '.join(run_tasks) or 'none in this language'}")
    spec_of = {task: spec for run in runs for task, spec in specs_of(run, folder).items()}
    specs = {task: spec_of[task] for task in tasks or run_tasks if task in spec_of and spec_of[task].judge}
    if lacking := [task for task in tasks if task not in specs] or (() if specs else list(run_tasks)):
        problem = f"{', '.join(lacking)}: no rubric says how people rate the answers"
        raise UserError(problem, "add judge: to the task's file; name the folder of your own tasks with --task.folder")
    if not specs:
        problem = f"the runs have no answers in {LANGUAGES[language].name}"
        raise UserError(problem, "afrieval show RUN prints their languages")
    first, rubric = next((task, spec.judge) for task, spec in specs.items())
    if others := [task for task, spec in specs.items() if spec.judge != rubric]:
        raise UserError(f"{first} and {others[0]} have different rubrics", f"write a sheet for each: --tasks {first}")
    assert rubric is not None
    return Rated(language, specs, rubric)


def cells_in(run: RunFolder, language: str) -> list[CellScores]:
    """Returns the cells of a run in a language with scored answers."""
    cells = [run.scores(name) for name in run.names]
    return [cell for cell in cells if cell.language == language and not cell.harness and cell.n]


def answer_form(runs: Sequence[RunFolder], rated: Rated, n: int, seed: int) -> tuple[SheetForm, int]:
    """Returns a sheet with answers of some runs, and how many stored answers it is of.

    All runs, and all their prompts, have the same documents in it, so that their differences are as sure as possible.
    Answers to the same question that are equal have one row.

    Raises:
        UserError: if the runs do not have the same documents, or were stored without texts.
    """
    rubric, cells = rated.rubric, [cell for run in runs for cell in cells_in(run, rated.language)]
    chosen = {task: chosen_documents([cell for cell in cells if cell.task == task], n, seed) for task in rated.specs}
    candidates = [shown(at, line, rubric) for at, line in answers(runs, rated) if at.row in chosen[line["task"]]]
    rows = sorted({each.id: each for each in candidates}.values())
    random.Random(seed).shuffle(rows)
    levels = {f"{LEVEL_IS}{name}": meaning for name, meaning in rubric.levels.items()}
    codes = ", ".join(sorted({run_code(run) for run in runs}))
    widths = dict.fromkeys(rubric.shows, 40) | ({RIGHT: WIDTHS[RIGHT]} if rubric.shows_right else {})
    asked_in = dict.fromkeys(spec.answers_in(rated.language) for spec in rated.specs.values())
    form = SheetForm(
        title=TITLE,
        language=rated.language,
        head={
            NAME: "",
            TASKS_RATED: ", ".join(rated.specs),
            HOW_TO: HOW,
            "answers in": " or ".join(LANGUAGES[code].name for code in asked_in),
            "what is rated": rubric.asks,
            **levels,
            RUNS: codes,
        },
        columns={ID: WIDTHS[ID], **widths, **{name: WIDTHS[name] for name in (ANSWER, LEVEL, COMMENT)}},
        rows=[[of.id, *of.fields.values(), *([of.right] if RIGHT in widths else []), of.answer, "", ""] for of in rows],
        groups=[("Answers", f"Answer {number}") for number in range(1, len(rows) + 1)],
        chosen=LEVEL,
        choices=rubric.levels,
        filled=(NAME, LEVEL, COMMENT),
        native=(ANSWER,) if [*asked_in] == [rated.language] else (),
        checked=ANSWER,
    )
    return form, len(candidates)


def answers(runs: Sequence[RunFolder], rated: Rated) -> Iterator[tuple[AnswerAddress, Sample]]:
    """Yields the answers of runs that people may rate."""
    for run in runs:
        names = [cell.name for cell in cells_in(run, rated.language) if cell.task in rated.specs]
        yield from scored_answers(run, names)


def chosen_documents(cells: Sequence[CellScores], n: int, seed: int) -> set[int]:
    """Returns documents of a task in a language, spread over the judged scores if there are any.

    Each document has the same probability to be chosen: the correction takes the rated answers for a random sample.
    That is why they are taken at equal distances, from a random start, of all documents sorted by score.

    Raises:
        UserError: if the cells do not have the same documents: those that all have are no random sample of each.
    """
    first = cells[0]
    for cell in cells:
        if not np.array_equal(cell.ids, first.ids):
            problem = f"{first.path} and {cell.path} do not have the same documents"
            raise UserError(problem, "write a sheet for each of the runs, or make them with the same rows")
    chance = random.Random(f"{seed} {first.task} {first.language}")
    judged = [
        np.nan_to_num(of[:, 0], nan=UNPARSED)
        for cell in cells
        for name, of in cell.measures.items()
        if name.startswith(JUDGE)
    ]
    scores = np.mean(judged, axis=0) if judged else np.zeros(first.n)
    order = sorted(range(first.n), key=lambda index: (scores[index], chance.random()))
    step = max(first.n / n, 1.0)
    start = chance.uniform(0, step)
    positions = (int(start + step * number) for number in range(min(n, first.n)))
    return {int(first.ids[order[min(place, first.n - 1)]]) for place in positions}


def shown(address: AnswerAddress, line: Sample, rubric: Rubric) -> Shown:
    """Returns the texts of a stored answer as a sheet shows them.

    Raises:
        UserError: if its question was not stored.
    """
    document = document_of(address, line, rubric.shows)
    fields = {name: _cell(document[name]) for name in rubric.shows}
    right = document.get("gold")
    answer = _cell(answer_text(line)) or EMPTY
    key = json.dumps([line["task"], line["language"], [*fields.values()], answer])
    id = f"a{digest(key, 12)}"  # a letter: spreadsheets take 12e4567 for a number
    return Shown(id, fields, _cell(right) if rubric.shows_right and right is not None else "", answer)


def _cell(text: Any) -> str:
    """Returns a text as a spreadsheet can hold it."""
    plain = visible(str(text).replace("\r\n", "\n")).strip()
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]} [...]"


def run_code(run: RunFolder) -> str:
    """Returns what identifies a run on a sheet, whatever tasks it gets later, and does not name its model."""
    identity: Any = run.record["identity"]
    parts = [identity.get(name) for name in ("model", "variant", "fewshot")]
    return digest(json.dumps(parts, sort_keys=True, default=str), 8)
