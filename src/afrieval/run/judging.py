"""A judge as a scorer of stored answers, by the rubrics of their tasks."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.stamps import digest
from afrieval.languages import LANGUAGES
from afrieval.results.comparable_runs import model_labels
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample, answer_text
from afrieval.run.judge_model import JudgeModel
from afrieval.run.scorer import AnswerAddress, Answers, Scorer, document_of, scored_answers, specs_of
from afrieval.scoring.judge import FIRST, SECOND, TIE, VERSION, Answered, Verdict, question, question_of_pair, verdict
from afrieval.scoring.learned import JUDGE, JUDGED, learned_name, learned_of, pair_name, with_learned
from afrieval.scoring.rubric import Rubric, worth
from afrieval.tasks.declaration.spec import Folders, TaskSpec

TOO_LONG = "The question and the answer do not fit the judge's context."
OUTCOMES = {FIRST: "win", TIE: "tie", SECOND: "loss"}  # of the first of two answers
TURNED = {FIRST: SECOND, TIE: TIE, SECOND: FIRST}
WORTH = {"win": 1.0, "tie": 0.5, "loss": 0.0}


def worth_of(level: str, levels: Mapping[str, str], right: Any) -> float:
    """Returns the worth of a level as it is stored: one of a rubric's, or what two orders of a pair gave."""
    if level in levels:
        return worth(levels, level, right)
    orders = [WORTH[name] for name in level.split(" or ")]
    return sum(orders) / len(orders)


def questions(rubric: Rubric, answered: Answered) -> list[str]:
    """Returns what a judge is asked about an answer; about two answers, in both orders."""
    if answered.other is None:
        return [question(rubric, answered)]
    turned = answered._replace(answer=answered.other)
    pairs = ((answered, answered.other), (turned, answered.answer))
    return [question_of_pair(rubric, asked, other) for asked, other in pairs]


def outcome(rubric: Rubric, answered: Answered, replies: Sequence[str | None]) -> tuple[float | None, dict[str, Any]]:
    """Returns the worth of an answer, None if a reply could not be parsed, and what is stored of the replies."""
    levels = rubric.levels if answered.other is None else OUTCOMES
    verdicts = [Verdict(None, TOO_LONG) if reply is None else verdict(reply, levels) for reply in replies]
    if answered.other is None:
        (one,) = verdicts
        return None if one.level is None else worth(rubric.levels, one.level, answered.gold), one._asdict()
    levels_of = (verdicts[0].level, verdicts[1].level and TURNED[verdicts[1].level])
    names = [level and OUTCOMES[level] for level in levels_of]
    orders = [{"level": name, "reason": of.reason} for name, of in zip(names, verdicts, strict=True)]
    parsed = [name for name in names if name]
    level = " or ".join(dict.fromkeys(parsed)) if len(parsed) == len(names) else None
    mean = sum(WORTH[name] for name in parsed) / 2 if level else None
    return mean, {"level": level, "reason": verdicts[0].reason, "orders": orders}


@dataclass
class Judge(Scorer):
    """A judge for the answers of a run.

    Attributes:
        specs: the declarations of the tasks.
        others: cell to row to the answer of another model, which answers are compared with; None if to none.
        how: whether single answers or pairs are judged.
        model: loaded, unless it is only asked for its questions.
    """

    specs: Mapping[str, TaskSpec]
    model: JudgeModel
    others: Mapping[str, Mapping[int, str]] | None = None
    how: str = "single answers"

    def opened(self, check: Callable[[], None]) -> AbstractContextManager[None]:
        """Opens the file of the model's replies in the run's folder."""
        return self.model.opened(self.run, check)

    def read(self, address: AnswerAddress, line: Sample) -> Answered:
        """Returns a stored answer with its question."""
        rubric = self.rubrics[line["task"]]
        document = document_of(address, line, rubric.shows)
        right = document.get("gold")
        if not rubric.is_scale and right not in rubric.levels:
            problem = f"{address} has the right answer {right!r}, but the levels are {', '.join(rubric.levels)}"
            raise UserError(problem, "correct the task's rubric or its data")
        shown = str(right) if rubric.shows_right and right is not None else ""
        language = self.specs[line["task"]].answers_in(line["language"])
        fields = {of: str(document[of]) for of in rubric.shows}
        other = self.others[address.cell][address.row] if self.others else None
        return Answered(fields, shown, answer_text(line), LANGUAGES[language].name, right, other)

    def questions(self, address: AnswerAddress, line: Sample) -> list[str]:
        """Returns what the judge is asked about a stored answer."""
        return questions(self.rubrics[line["task"]], self.read(address, line))

    def scored(self, answers: Answers) -> list[Sample]:
        """Returns answers with judgements."""
        prompts = [self.questions(address, line) for address, line in answers]
        replies = iter(self.model.replies([question for of_answer in prompts for question in of_answer]))
        lines = []
        for (address, line), of_answer in zip(answers, prompts, strict=True):
            rubric, of_judge = self.rubrics[line["task"]], [next(replies) for _ in of_answer]
            score, judgement = outcome(rubric, self.read(address, line), of_judge)
            measured = {} if score is None else {self.name: [score]}
            judgements = {**line.get(JUDGED, {}), self.name: judgement}
            lines.append({**with_learned(line, learned_of(line) | measured), JUDGED: judgements})
        return lines

    def signature_of(self, task: str) -> str:
        """Returns the model's signature with the rubric's, the prompt's version and what is judged."""
        rubric = self.rubrics[task]
        by = f"rubric:{rubric.stored['hash']}|version:{rubric.version}|prompt:{VERSION}"
        return f"{self.model.signature}|{by}|{self.how}"

    def notes_on(self, task: str) -> list[str]:
        """Returns sentences on tasks of which no judgement could be parsed, and on pairs whose order decided."""
        judgements = [
            line[JUDGED][self.name] for _, line in scored_answers(self.run, self.cells) if line["task"] == task
        ]
        parsed = any(of["level"] is not None for of in judgements)  # tables then count the others
        sentences = [] if parsed else [f"None of {len(judgements):,} judgements could be parsed."]
        if self.others:
            verdicts = [{order["level"] for order in of["orders"]} for of in judgements if of["level"]]
            turned = sum(len(of) > 1 for of in verdicts)
            sentences.append(f"The order of the answers changed {turned:,} of {len(verdicts):,} verdicts on pairs.")
        return sentences


def judge_of(run: RunFolder, model: JudgeModel, folder: Folders | None, against: RunFolder | None) -> Judge:
    """Returns a judge for the answers of a run.

    Args:
        run: the run.
        model: the judge's model.
        folder: of the user's own tasks.
        against: a run with other answers to the same questions.

    Raises:
        UserError: if no task of the run has a rubric, or the runs do not have the same questions.
    """
    specs, cells = specs_of(run, folder), [run.scores(name) for name in run.names]
    rubrics = {task: of.judge for task, of in specs.items() if of.judge and (of.judge.is_scale or not against)}
    names = [cell.name for cell in cells if cell.task in rubrics]
    if not names and against:
        problem = f"{run.path} has no task whose rubric has numbers as levels, which pairs are for"
        raise UserError(problem, "leave --judge.against out")
    if not names:
        tasks = ", ".join(dict.fromkeys(cell.task for cell in cells))
        hint = "add judge: to the task's file; name the folder of tasks of your own with --task.folder"
        raise UserError(f"{run.path} has no task with a rubric for judges: it has {tasks}", hint)
    judge = Judge(run, names, learned_name(JUDGE, str(model.model.model_name)), rubrics, specs, model)
    if not against:
        return judge
    labels = model_labels({run.path: run.record, against.path: against.record})
    other = {name: of for name, of in against.record["identity"].items() if name != "tasks"}  # of which it may get more
    return replace(
        judge,
        name=pair_name(judge.name, labels[against.path]),
        others={cell: _answers(run, against, cell) for cell in names},
        how=f"pairs in both orders|other:{digest(json.dumps(other, sort_keys=True))}",
    )


def _answers(run: RunFolder, against: RunFolder, name: str) -> dict[int, str]:
    """Returns the answers of another run to the questions of a cell, by row."""
    problem = f"{against.path} does not have the questions of {name} in {run.path}"
    hint = "compare runs of the same tasks, languages, prompts and documents"
    if name not in against.names:
        raise UserError(problem, hint)
    theirs = {place.row: line for place, line in scored_answers(against, [name])}
    if any(theirs.get(place.row, {}).get("doc") != line.get("doc") for place, line in scored_answers(run, [name])):
        raise UserError(problem, hint)
    return {row: answer_text(of) for row, of in theirs.items()}
