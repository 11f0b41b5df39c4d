"""What a race is: its models, the averages that they compete in, and its looks; checked before anything is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval.analysis.suites import RULES, percent
from afrieval.config.files import Given
from afrieval.config.settings import RunConfig
from afrieval.config.short_form import model_settings
from afrieval.models.registry import backend_of
from afrieval.run.manifest import default_folder, folder_of_form
from afrieval.run.session import Session, plan_run
from afrieval.scoring.statistics.looks import looks, up_to
from afrieval.tasks.cells.cell import Plan
from afrieval.tasks.cells.templated import TemplateCell
from afrieval.tools.sweep.combinations import checked_config
from afrieval.tools.sweep.sweep_file import slug

ALL_ROWS = 10**9  # a sample that no test set exceeds
OF_A_RACE = {  # settings that a race does not take, to the reason
    "model.model_name": "the models of a race are given without a name: afrieval race MODEL MODEL",
    "eval.limit": "give --sample N, the most questions of each language and prompt",
    "eval.looks": "a race counts its looks itself",
    "eval.until": "a race enlarges its samples itself, up to --sample N",
}
OF_ALL_TASKS = ("task.suite", "task.groups", "task.derived")  # what runs of single tasks do not have
Place = tuple[str, str]  # task and language


class Course(NamedTuple):
    """An average in which all models compete.

    Attributes:
        language: that it is over; empty for all of them.
        languages: of each task.
        weights: of each task.
    """

    language: str
    languages: Mapping[str, Sequence[str]]
    weights: Mapping[str, float]

    @property
    def places(self) -> list[Place]:
        """Its tasks and languages."""
        return [(task, code) for task, codes in self.languages.items() for code in codes]


@dataclass(frozen=True, eq=False)
class RaceModel:
    """A model of a race.

    Attributes:
        name: as the command line has it; also of its job.
        options: of the run of each task, by dotted name.
        cells: of each task and language, with all rows.
        session: of all tasks.
    """

    name: str
    options: Mapping[str, dict[str, Any]]
    cells: Mapping[Place, Sequence[TemplateCell]]
    session: Session

    @property
    def is_served(self) -> bool:
        """Whether it is behind a server that runs already, so that it shares no machine with others."""
        model = self.session.config.model
        return not backend_of(model.model_type).local and not model.api.server

    @property
    def is_priced(self) -> bool:
        """Whether the prices of its tokens are known."""
        prices = self.session.config.model.api.prices
        return prices.input is not None and prices.output is not None

    @cached_property
    def folders(self) -> dict[str, Path]:
        """The run folder of each task, within the race's."""
        config, of_tasks = self.session.config, grouped(self.cells, lambda place: place[0])
        return {
            task: default_folder(
                replace(config, task=replace(config.task, task_name=task, suite=None, groups={})),
                Plan([cell for place in places for cell in self.cells[place]]),
            )
            for task, places in of_tasks.items()
        }

    def requests(self, places: Iterable[Place], size: int) -> int:
        """Returns how many requests a sample of a size has."""
        return sum(sampled(cell, size).n_requests for place in places for cell in self.cells[place]) if size else 0


def sampled(cell: TemplateCell, size: int) -> TemplateCell:
    """Returns a cell with the rows of a sample."""
    return replace(cell, config=replace(cell.config, eval=replace(cell.config.eval, sample=size)))


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


def race_setup(words: Sequence[str], given: Given, by_language: bool, margin: float, dry: bool = False) -> RaceSetup:
    """Returns a race.

    Args:
        words: its models, as `afrieval run` takes them.
        given: settings of all runs.
        by_language: whether there is a race in each language, and not one in the average.
        margin: the difference in points that does not matter.
        dry: whether nothing will be sent to a server.

    Raises:
        UserError: for fewer than two models, the same one twice, settings that a race does not take, tasks that have
            no average with an interval, and whatever `afrieval run` refuses.
    """
    for name, hint in OF_A_RACE.items():
        if name in dict(given):
            raise UserError(f"{name} is given to a race", hint)
    if len(words) < 2:
        raise UserError(f"a race is between two models or more, but {len(words)} is named", "name others, too")
    if repeated := [word for word in words if words.count(word) > 1]:
        raise UserError(f"{repeated[0]} is named {words.count(repeated[0])} times", "name each model once")
    settings = dict(given)
    folder, given = settings.get("run_dir"), [(name, value) for name, value in given if name != "run_dir"]
    sessions = {word: _planned(word, [*model_settings(word, None), *given], dry) for word in words}
    first = next(iter(sessions.values()))
    _check_different(words, sessions)
    for line in first.plan.lines:
        note(line)
    cells = [cell for cell in first.plan.cells if isinstance(cell, TemplateCell)]
    _check_scores(sessions)
    courses = _courses(first.config, cells, by_language)
    asked = {place for course in courses for place in course.places}
    rows = max(cell.rows.of for cell in cells if (cell.coordinates.task, cell.coordinates.language) in asked)
    models = [_model(word, [*model_settings(word, None), *given], of, asked, rows) for word, of in sessions.items()]
    place = user_path(folder) if folder else Path("races") / _tasks(first.config)
    return RaceSetup(place, models, courses, up_to(rows, settings.get("eval.sample")), rows, margin)


def _tasks(config: RunConfig) -> str:
    """Returns the name of its tasks in folders."""
    return folder_of_form(config, "", shots=False).parts[1]


def _planned(word: str, given: Given, dry: bool) -> Session:
    """Returns all that a model may be asked."""
    config = checked_config(dict([*given, ("eval.sample", ALL_ROWS)]), word, [])
    if config.wants_harness or config.asks_memorisation or config.task.prompt_language == "both":
        what = "both prompt languages" if config.task.prompt_language == "both" else "such tasks"
        hint = "name tasks of the suite (afrieval list), and --prompt-language eng or native"
        raise UserError(f"a race has no average over {what}", hint)
    if config.data.source == "samples":
        hint = "give --data hub or a folder of data; afrieval run shows how models answer the sample rows"
        raise UserError("the sample rows of the suite are too few, and its own, to say which model is best", hint)
    return plan_run(config, dry=dry)


def _check_different(words: Sequence[str], sessions: Mapping[str, Session]) -> None:
    """Refuses a model that is named twice, or two whose runs or jobs would have the same folder."""
    for at, word in enumerate(words):
        for other in words[:at]:
            if sessions[word].stored.path == sessions[other].stored.path:
                raise UserError(f"{word} and {other} are the same model", "name each model once")
            if _name(word) == _name(other):
                raise UserError(f"{word} and {other} would both be called {_name(word)}", "rename a model file")


def _check_scores(sessions: Mapping[str, Session]) -> None:
    """Refuses tasks whose scores have no interval or no highest value, and models that answer in different forms."""
    of_tasks: dict[str, tuple[str, str]] = {}
    for word, session in sessions.items():
        for cell in session.plan.cells:
            assert isinstance(cell, TemplateCell)
            metric, task, form = cell.metrics[0], cell.task.name, cell.answer_form
            if percent(metric) is None or metric.interval == "none":
                hint = f"leave {task} out, or look at it with afrieval leaderboard"
                raise UserError(f"{metric.name}, the metric of {task}, has no interval in an average", hint)
            before, other = of_tasks.setdefault(task, (form, word))
            if form != before:
                hint = "give --answer-form generate or letter, which all models then have"
                raise UserError(f"in {task}, {other} answers in the form {before}, but {word} in {form}", hint)


def _courses(config: RunConfig, cells: Sequence[TemplateCell], by_language: bool) -> list[Course]:
    """Returns the averages: each language, or the suite's, over African languages without defective data if any are."""
    includes = RULES["suite"].includes
    places = dict.fromkeys((cell.task.name, cell.language) for cell in cells)
    sound = dict.fromkeys((c.task.name, c.language) for c in cells if includes(c.language, bool(c.data.defect)))
    if by_language:
        return [_course(config, of, code) for code, of in grouped(places, lambda place: place[1]).items()]
    left_out = [place for place in places if sound and place not in sound]
    for task, code in left_out:
        note(f"left out: {task} {code}, which is not in the average (--by language has it)")
    return [_course(config, list(sound or places))]


def _course(config: RunConfig, places: Sequence[Place], language: str = "") -> Course:
    group_of = {task: group for group, members in config.task.groups.items() for task in members}
    languages = {task: [code for _, code in of] for task, of in grouped(places, lambda place: place[0]).items()}
    groups = grouped(languages, lambda task: group_of.get(task, task)).values()
    return Course(language, languages, {task: 1 / len(groups) / len(of) for of in groups for task in of})


def _model(word: str, given: Given, session: Session, asked: set[Place], rows: int) -> RaceModel:
    config = session.config
    kept = {name: value for name, value in given if not name.startswith(OF_ALL_TASKS)}
    kept |= {"task.folder": config.task.folder} if config.task.folder else {}
    kept |= {"eval.looks": len(looks(rows))}
    cells = grouped(
        (cell for cell in session.plan.cells if isinstance(cell, TemplateCell)), lambda c: (c.task.name, c.language)
    )
    cells = {place: of for place, of in cells.items() if place in asked}
    return RaceModel(_name(word), {task: kept | {"task.task_name": task} for task, _ in cells}, cells, session)


def _name(word: str) -> str:
    path = user_path(word)
    return slug(path.stem if path.suffix in (".yaml", ".yml") else path.name if path.is_dir() else word)


def runs_of(model: RaceModel, languages: Mapping[str, Sequence[str]], size: int) -> Iterator[dict[str, Any]]:
    """Yields the options of the run of each task, in some languages and with a sample of a size."""
    for task, codes in languages.items():
        yield model.options[task] | {"task.languages": sorted(codes), "eval.sample": size}
