"""What a race is: its models, the averages that they compete in, and its looks; checked before anything is asked."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval.analysis.suites import RULES, percent
from afrieval.config.files import Settings, model_settings
from afrieval.config.settings import CODED_TASKS
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import run_cells
from afrieval.results.run_folder import RunFolder
from afrieval.results.usage import works
from afrieval.run.manifest import default_folder
from afrieval.run.session import Session, plan_run
from afrieval.scoring.statistics.looks import looks, up_to
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.files import SAMPLES
from afrieval.tools.jobs.jobs import slug
from afrieval.tools.jobs.start import checked_config

ALL_ROWS = 10**9  # a sample that no test set exceeds
OF_ALL_TASKS = ("task.suite", "task.groups", "task.derived", "run_dir")  # what runs of single tasks do not have
TestSets = Collection[tuple[str, str]]  # tasks and languages


class Course(NamedTuple):
    """An average in which all models compete.

    Attributes:
        language: that it is over; empty for all of them.
        test_sets: its tasks and languages.
        weights: of each task.
    """

    language: str
    test_sets: TestSets
    weights: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class RaceModel:
    """A model of a race.

    Attributes:
        name: as the command line has it; also of its job.
        cells: that it may be asked, with all rows.
        options: of the run of each task, by dotted name.
        folders: of these runs.
        session: of all tasks.
    """

    name: str
    cells: Sequence[TaskCell]
    options: Mapping[str, dict[str, Any]]
    folders: Mapping[str, RunFolder]
    session: Session

    def cells_of(self, test_sets: TestSets) -> list[TaskCell]:
        """Returns its cells in some tasks and languages."""
        return [cell for cell in self.cells if test_set_of(cell) in test_sets]

    def requests(self, test_sets: TestSets, size: int) -> int:
        """Returns how many requests a sample of a size has."""
        return sum(sampled(cell, size).n_requests for cell in self.cells_of(test_sets)) if size else 0

    def runs(self, cells: Sequence[TaskCell], size: int) -> Iterator[dict[str, Any]]:
        """Yields the options of the runs of some cells, with a sample of a size."""
        for task, task_cells in grouped(cells, lambda cell: cell.task.name).items():
            languages = sorted({cell.language for cell in task_cells})
            yield self.options[task] | {"task.languages": languages, "eval.sample": size}

    def has(self, cells: Sequence[TaskCell], size: int) -> bool:
        """Returns whether it has answered a sample of some cells."""
        return all(self.folders[cell.task.name].has(cell.name, sampled(cell, size).n) for cell in cells)

    def stored(self) -> dict[str, CellScores]:
        """Returns its scores by cell, on all rows that it was asked, in the race or before."""
        names = {cell.name for cell in self.cells}
        cells = [cell for run in self.folders.values() if run.names for cell in run_cells(run, self.name)]
        return {cell.name: cell for cell in cells if cell.name in names}

    def seconds(self) -> float:
        """Returns how long it has taken to answer, without being loaded."""
        return sum(work.amount["seconds"] for run in self.folders.values() for work in works(run.record, run.path))


def test_set_of(cell: TaskCell) -> tuple[str, str]:
    """Returns the task and the language of a cell."""
    return cell.task.name, cell.language


def sampled(cell: TaskCell, size: int) -> TaskCell:
    """Returns a cell with the rows of a sample."""
    return replace(cell, settings=replace(cell.settings, sample=size))


@dataclass(frozen=True)
class RaceSetup:
    """A race that is ready to be run.

    Attributes:
        sizes: of the sample at each look.
        rows: of the largest test set.
        margin: the difference in points that does not matter.
    """

    folder: Path
    models: Sequence[RaceModel]
    courses: Sequence[Course]
    sizes: Sequence[int]
    rows: int
    margin: float


def race_setup(
    words: Sequence[str], common: Settings, by_language: bool, margin: float, dry: bool = False
) -> RaceSetup:
    """Returns a race.

    Args:
        words: its models, as `afrieval run` takes them.
        common: settings of all runs.
        by_language: whether there is a race in each language, and not one in the average.
        margin: the difference in points that does not matter.
        dry: whether nothing will be sent to a server.

    Raises:
        UserError: for fewer than two models, the same one twice, tasks that have
            no average with an interval, and whatever `afrieval run` refuses.
    """
    if len(words) < 2:
        raise UserError(f"a race is between two models or more, but {len(words)} is named", "name others, too")
    if repeated := [word for word in words if words.count(word) > 1]:
        raise UserError(f"{repeated[0]} is named {words.count(repeated[0])} times", "name each model once")
    settings_of = {word: model_settings(word, common) | common for word in words}
    sessions = {word: _planned(word, of, dry) for word, of in settings_of.items()}
    first = sessions[words[0]]
    for line in first.plan.lines:
        note(line)
    _check_scores(sessions)
    courses = _courses(first, by_language)
    test_sets = {test_set for course in courses for test_set in course.test_sets}
    rows = max(cell.rows.total for cell in _cells(first) if test_set_of(cell) in test_sets)
    folder = user_path(common.get("run_dir") or Path("races") / default_folder(first.config).parts[1])
    models = [_model(word, settings_of[word], of, test_sets, len(looks(rows)), folder) for word, of in sessions.items()]
    for index, model in enumerate(models):
        for other in models[:index]:
            paths, others = ([run.path for run in of.folders.values()] for of in (model, other))
            if model.name == other.name or paths == others:
                problem = f"{words[index]} and {other.name} are the same model, or have the same name"
                raise UserError(problem, "name each model once, by files with different names")
    return RaceSetup(folder, models, courses, up_to(rows, common.get("eval.sample")), rows, margin)


def _planned(word: str, settings: Mapping[str, Any], dry: bool) -> Session:
    """Returns the planned session of a model, with all rows."""
    without_folder = {name: value for name, value in settings.items() if name != "run_dir"}
    config = checked_config(without_folder | {"eval.sample": ALL_ROWS}, word, [])
    both = config.task.prompt_language == "both"
    if config.task.wants_harness or config.task.coded or both:
        what = "both prompt languages" if both else " nor over ".join(["tasks of the harness,", *CODED_TASKS])
        hint = "name tasks of the suite (afrieval list), and --prompt-language eng or native"
        raise UserError(f"a race has no average over {what}", hint)
    if config.data.source == SAMPLES:
        hint = "give --data hub or a folder of data; afrieval run shows how models answer the sample rows"
        raise UserError("the sample rows of the suite are too few, and its own, to say which model is best", hint)
    return plan_run(config, dry=dry)


def _cells(session: Session) -> list[TaskCell]:
    return [cell for cell in session.plan.cells if isinstance(cell, TaskCell)]


def _check_scores(sessions: Mapping[str, Session]) -> None:
    """Refuses tasks whose scores have no interval or no highest value, and models that answer in different forms."""
    of_tasks: dict[str, tuple[str, str]] = {}
    for word, cell in ((word, cell) for word, session in sessions.items() for cell in _cells(session)):
        metric, task, form = cell.metrics[0], cell.task.name, cell.answer_form
        if percent(metric) is None or metric.interval == "none":
            hint = f"leave {task} out; afrieval leaderboard shows it"
            raise UserError(f"{metric.name}, the metric of {task}, has no interval in an average", hint)
        before, other = of_tasks.setdefault(task, (form, word))
        if form != before:
            hint = "give --answer-form generate, or another form that all models have"
            raise UserError(f"in {task}, {other} answers in the form {before}, but {word} in the form {form}", hint)


def _courses(session: Session, by_language: bool) -> list[Course]:
    """Returns the averages: each language, or the suite's, over African languages without defective data if any are."""
    cells, groups = _cells(session), session.config.task.groups
    test_sets = dict.fromkeys(map(test_set_of, cells))
    if by_language:
        return [_course(groups, of, code) for code, of in grouped(test_sets, lambda test_set: test_set[1]).items()]
    includes = RULES["suite"].includes
    sound = dict.fromkeys(test_set_of(cell) for cell in cells if includes(cell.language, bool(cell.data.defect)))
    for task, code in test_sets if sound else ():
        if (task, code) not in sound:
            note(f"left out: {task} {code}, which is not in the average; --by language includes it")
    return [_course(groups, list(sound or test_sets))]


def _course(groups: Mapping[str, Sequence[str]], test_sets: Sequence[tuple[str, str]], language: str = "") -> Course:
    group_of = {task: group for group, members in groups.items() for task in members}
    of_groups = grouped(dict.fromkeys(task for task, _ in test_sets), lambda task: group_of.get(task, task)).values()
    return Course(language, test_sets, {task: 1 / len(of_groups) / len(of) for of in of_groups for task in of})


def _model(
    word: str, settings: Mapping[str, Any], session: Session, test_sets: TestSets, planned: int, folder: Path
) -> RaceModel:
    config = session.config
    shared = {name: value for name, value in settings.items() if not name.startswith(OF_ALL_TASKS)}
    shared |= {"eval.looks": planned} | ({"task.folder": config.task.folder} if config.task.folder else {})
    cells = [cell for cell in _cells(session) if test_set_of(cell) in test_sets]
    options, folders = dict[str, dict[str, Any]](), dict[str, RunFolder]()
    for task, task_cells in grouped(cells, lambda cell: cell.task.name).items():
        options[task] = shared | {"task.task_name": task}
        task_config = replace(config, task=replace(config.task, task_name=task, suite=None, groups={}))
        folders[task] = RunFolder(folder / default_folder(task_config, list(task_cells)))
    path = user_path(word)
    name = path.stem if path.suffix in (".yaml", ".yml") else path.name if path.is_dir() else word
    return RaceModel(slug(name), cells, options, folders, session)
