"""Makes cells of other programs' runs, with scores per document, and translates names of tasks and metrics."""

import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from afrieval._util.stamps import digest
from afrieval.analysis.published_files import PublishedTable
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.languages import names as language_names
from afrieval.results.cell_key import CellKey
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import short_name
from afrieval.results.identity import Kind, Selection
from afrieval.scoring.base import Metric, not_measured
from afrieval.tasks.declaration.spec import load_task, task_names

K = TypeVar("K")
# yor or yor_Latn, but not part of a pair of languages, nor agieval_lsat_ar (analytical reasoning) and blimp_nl's om_te.
LANGUAGE = r"(?<=_)(?<!_lsat_)(?!om_te)({code})(?:_[A-Z][a-z]{{3}})?+(?=_|$)"
WRITTEN = re.compile(r"_(en|eng|native)(?=_)")


@dataclass(frozen=True)
class TaskName(CellKey):
    """A parsed name; its language is blank if the suite does not have it, and its prompt 0 if the name has none.

    Attributes:
        ours: whether it has the form of our exported tasks.
    """

    ours: bool = False

    @property
    def is_namesake(self) -> bool:
        """Whether one of our tasks has its name, so that a harness task must be marked."""
        return self.task.removesuffix("_translate") in task_names()

    @property
    def problem(self) -> str:
        """Why scores under this name are left out; empty if they are not."""
        if not self.language:
            return "its name has no language of the suite"
        if self.language == ENGLISH and self.prompt_language == "native":
            return "for English, native prompts are the English ones"
        return ""


def named(name: str) -> TaskName:
    """Parses a task's name; the rest, without language and prompt, is the task."""
    if name in _complete():
        return TaskName(name, ENGLISH, 1, "eng", ours=True)
    key = CellKey.parse(name)
    if key and key.language in LANGUAGES and key.task.removesuffix("_translate") in task_names():
        return TaskName(**vars(key), ours=True)
    task, _, end = name.partition("_prompt_")
    prompt = int(end) if end.isdecimal() else 0
    task = task if prompt else name
    matches = list(re.finditer(LANGUAGE.format(code="|".join(_codes())), task))
    if not matches:
        return TaskName(name, "", 0, "eng")
    last = matches[-1]
    task = task[: last.start() - 1] + task[last.end() :]
    written = WRITTEN.search(task)
    task = WRITTEN.sub("", task, count=1)
    return TaskName(task, _codes()[last[1]], prompt, "native" if written and written[1] == "native" else "eng")


@cache
def _complete() -> set[str]:
    """Returns the tasks with complete prompts, which are exported by their names."""
    return {name for name in task_names() if load_task(name).prompt}


@cache
def _codes() -> dict[str, str]:
    """Returns all names of languages to the suite's codes: the data sets' own, and the codes and names of standards."""
    theirs = {code: ours for name in task_names() for ours, code in load_task(name).languages.items()}
    theirs = {code: ours for code, ours in theirs.items() if "-" not in code}  # en-yor is a pair of languages
    short = {code.split("_")[0]: ours for code, ours in theirs.items()}
    return short | {name.replace(" ", "_"): code for name, code in language_names().items()} | {c: c for c in LANGUAGES}


def short_names(names: Mapping[K, str]) -> dict[K, str]:
    """Returns names of models in short: the last part of a path, unless two are the same."""
    short = {key: short_name(name) for key, name in names.items()}
    again = Counter(short.values())
    return {key: names[key] if again[name] > 1 else name for key, name in short.items()}


def scored_form(continuations: Iterable[object]) -> str:
    """Returns `letter` if all continuations are single letters, else `text`."""
    parts = {str(part).strip(" ().:\n") for part in continuations}
    return "letter" if all(len(part) == 1 and part.isalpha() for part in parts) else "text"


class Answered(NamedTuple):
    """A document as a program scored it.

    Attributes:
        id: the same for the same document in every run.
        score: from 0 to 1.
        gold: the right choice; -1 if it is not known.
        n_choices: 0 if the answer was not chosen.
        data: the question's own content, such as its choices.
        prompt: what was sent to the model, as far as the program says, without worked examples.
    """

    id: int
    score: float
    gold: int
    n_choices: int
    data: str
    prompt: str


def cell_of(
    program: str,
    task: str,
    model: str,
    shots: int,
    answer_form: str,
    metric: str,
    documents: Iterable[Answered],
    comparable_on: Mapping[str, object],
    recorded_settings: Mapping[str, object],
    path: Path,
    limited: Kind = "all",
) -> CellScores | str:
    """Returns the scores of a task as a program evaluated it, or the reason why it is left out.

    Task, language and prompt number are those that the task's name says, as for tasks of lm_eval.

    Args:
        program: it marks the model, and tasks that are called as one of ours but have other prompts.
        task: its name.
        model: its name.
        shots: number of few-shot examples.
        answer_form: `text`, `letter` or `generate`.
        metric: its name.
        documents: all that have a score.
        comparable_on: what has to match in a comparison, next to documents and prompts.
        recorded_settings: what may differ.
        path: where the scores are from.
        limited: which rows of the test set were run, if not all: the `first` ones, or a `sample` of them.
    """
    name = named(task)
    if name.problem:
        return name.problem
    scored = sorted(documents)
    ids = np.array([d.id for d in scored], dtype=np.int64)
    if len(np.unique(ids)) < len(ids):
        return "several of its documents have the same id"
    return CellScores(
        name=task,
        task=f"{name.task} ({program})" if name.is_namesake else name.task,
        language=name.language,
        prompt_language=name.prompt_language,
        prompt=name.prompt,
        model=f"{model} ({program})",
        shots=shots,
        answer_form=answer_form,
        metrics={metric: Metric(metric, not_measured)},
        measures={metric: np.array([[d.score] for d in scored], dtype=np.float64)},
        ids=ids,
        golds=np.array([d.gold for d in scored], dtype=np.int64),
        picked=np.full(len(ids), -1, dtype=np.int64),
        n_choices=np.array([d.n_choices for d in scored], dtype=np.int64),
        rows=len(ids),
        selection=Selection(limited, len(ids)),
        request_hashes={
            "data": np.array([number(d.data) for d in scored], dtype=np.int64),
            "prompt text": np.array([number(d.prompt) for d in scored], dtype=np.int64),
        },
        comparable_on={
            "data": digest("\0".join(d.data for d in scored)),
            "prompt text": digest("\0".join(d.prompt for d in scored)),
            **comparable_on,
        },
        recorded_settings=dict(recorded_settings),
        path=path,
    )


def id_number(identifier: int | str) -> int:
    """Returns an id as a number: itself if it is not negative and has at most 18 digits; else one for its text."""
    value = int(identifier) if re.fullmatch("0|[1-9][0-9]{0,17}", str(identifier)) else -1
    return value if value >= 0 else number(str(identifier))


def number(text: str) -> int:
    """Returns a hash of a text as a number."""
    return int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:8], "big") >> 1


def is_mean(stated: object, values: Sequence[object]) -> bool:
    """Returns whether a score is the mean of a number from 0 to 1 for each document."""
    shares = [value for value in values if isinstance(value, int | float) and 0 <= value <= 1]
    if not isinstance(stated, int | float) or not 0 < len(values) == len(shares):
        return False
    return math.isclose(float(np.mean(shares)), stated, abs_tol=1e-6)


class RunReader(ABC):
    """How results of another program are recognised and read, as cells with scores per document.

    Attributes:
        of_files: whether each file is read alone; files inside of a run folder are of the run.
        parts: subfolders of results, in which nothing else is looked for.
    """

    of_files = False
    parts: tuple[str, ...] = ()

    @abstractmethod
    def wrote(self, path: Path) -> bool:
        """Returns whether a folder or file holds results of the program."""

    @abstractmethod
    def read(self, path: Path) -> list[CellScores]:
        """Returns the scores in such a folder or file, and prints a note for each task that is left out.

        Models are marked with the program, such as `(lm_eval)`, and so are tasks that are called as one of ours, since
        their prompts, and possibly their documents, differ.
        """

    def paths_in(self, folder: Path, subfolders: Sequence[str]) -> list[Path]:
        """Returns what to read of a folder with these subfolders: the folder itself if the program wrote it."""
        return [folder] if self.wrote(folder) else []


class TableReader(ABC):
    """How scores of another program are recognised and read that have no documents, as published ones."""

    @abstractmethod
    def wrote(self, path: Path) -> bool:
        """Returns whether a folder or file holds such scores."""

    @abstractmethod
    def read(self, path: Path) -> PublishedTable:
        """Returns the scores in such a folder or file."""
