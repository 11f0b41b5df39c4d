"""Reads and checks `tasks/<task>/task.yaml`: everything declared about a benchmark."""

import hashlib
import json
import re
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from afrieval.errors import UserError
from afrieval.languages import LANGUAGES
from afrieval.yamlfile import check_keys, nearest, read_map

TASKS = Path(__file__).parents[3] / "tasks"

KINDS = ("multiple_choice",)
FORMS = ("text", "letter", "generate")
RESERVED = ("id", "choices", "gold", "labels", "language")  # names that prompts and documents have already


@dataclass(frozen=True)
class DataSpec:
    """Where a benchmark's rows are.

    Attributes:
        hub: dataset repository on the hub.
        revision: branch, tag or commit of it.
        files: split to file pattern below the repository; `{code}` is the data set's language code.
        evaluate: the split that is scored.
        fewshot: the split that few-shot examples come from; none if the benchmark has no pool.
    """

    hub: str
    revision: str
    files: dict[str, str]
    evaluate: str
    fewshot: str | None = None


@dataclass(frozen=True)
class TaskSpec:
    """A benchmark, declared once.

    Attributes:
        languages: the suite's language code to the data set's own.
        parallel: per split, groups of languages whose row i is a translation of one another's row i.
        fields: name used in prompts to column of the data.
        choices: column with the option texts of each row, or a column for each; none if `labels` are the choices.
        labels: names of the classes in the order of the data set's numbers; empty if rows bring choices.
        answer: column with the gold answer: a letter, a number or a label's name.
        first_answer: what the data's numbers begin with, 0 or 1.
        breakdowns: fields by which results are broken down.
        folder: where the task's prompts and samples are.
    """

    name: str
    version: int
    title: str
    description: str
    citation: str
    licence: str
    kind: str
    answer_forms: list[str]
    data: DataSpec
    languages: dict[str, str]
    parallel: dict[str, list[list[str]]]
    fields: dict[str, str]
    answer: str
    folder: Path
    choices: str | list[str] | None = None
    first_answer: int = 0
    labels: list[str] = field(default_factory=list)
    breakdowns: list[str] = field(default_factory=list)

    @property
    def declaration(self) -> str:
        """Changes when rows are read in another way."""
        parts = [self.fields, self.choices, self.labels, self.answer, self.first_answer]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def task_names() -> list[str]:
    """Returns the names of all declared tasks, sorted."""
    return sorted(p.parent.name for p in TASKS.glob("*/task.yaml"))


def load_task(name: str, folder: Path = TASKS) -> TaskSpec:
    """Returns the declaration of a task.

    Args:
        name: its folder's name.
        folder: where task folders are.

    Raises:
        UserError: if there is no such task, or its file has an unknown, missing or inconsistent key.
    """
    path = folder / name / "task.yaml"
    if not path.is_file():
        raise UserError(f"there is no task {name!r}", nearest(name, task_names()))
    content = read_map(path)
    data = content.pop("data", None)
    if not isinstance(data, dict):
        raise UserError(f"{path}: data is missing or no map", "see tasks/afrimmlu/task.yaml")
    _check(DataSpec, data, f"{path}, data", given_elsewhere=())
    _check(TaskSpec, content, str(path), given_elsewhere=("data", "folder"))
    spec = TaskSpec(**content, data=DataSpec(**data), folder=path.parent)
    _check_consistent(spec, path)
    return spec


def _check(cls: type, content: dict[str, Any], where: str, given_elsewhere: tuple[str, ...]) -> None:
    known = [f for f in fields(cls) if f.name not in given_elsewhere]
    check_keys(content, [f.name for f in known], where)
    for f in known:
        if f.name not in content and f.default is MISSING and f.default_factory is MISSING:
            raise UserError(f"{where}: key {f.name!r} is missing", "see tasks/afrimmlu/task.yaml")


def _check_consistent(spec: TaskSpec, path: Path) -> None:
    if not isinstance(spec.languages, dict):
        raise UserError(f"{path}: languages are no map", "write the suite's code: the data set's code, one a line")
    if not isinstance(spec.parallel, dict):
        raise UserError(f"{path}: parallel is no map", "write {} if no rows are known to be parallel")
    problems = {
        "answer_forms are empty": not spec.answer_forms,
        f"version is {spec.version!r}, no whole number": not isinstance(spec.version, int),
        "data.files have other braces than {code}": any(
            set(re.findall("{(.*?)}", pattern)) - {"code"} for pattern in spec.data.files.values()
        ),
        f"kind is {spec.kind!r}, not one of {', '.join(KINDS)}": spec.kind not in KINDS,
        f"answer_forms {spec.answer_forms} are not among {', '.join(FORMS)}": not set(spec.answer_forms) <= set(FORMS),
        f"a field is named {', '.join(RESERVED)}": bool(set(spec.fields) & set(RESERVED)),
        f"name is {spec.name!r}, its folder {path.parent.name!r}": spec.name != path.parent.name,
        "it needs either choices or labels": bool(spec.choices) == bool(spec.labels),
        f"data.evaluate {spec.data.evaluate!r} has no file": spec.data.evaluate not in spec.data.files,
        f"data.fewshot {spec.data.fewshot!r} has no file": spec.data.fewshot not in (None, *spec.data.files),
        f"breakdowns {spec.breakdowns} are not all fields": not set(spec.breakdowns) <= set(spec.fields),
    }
    for language in spec.languages:
        problems[f"language {language!r} is not in the language table"] = language not in LANGUAGES
    for split, groups in spec.parallel.items():
        known = set(spec.languages)
        problems[f"parallel {split} names an unknown split"] = split not in spec.data.files
        problems[f"parallel {split} names unknown languages"] = not {c for g in groups for c in g} <= known
    for problem, found in problems.items():
        if found:
            raise UserError(f"{path}: {problem}", "docs/adding-a-task.md describes each key")
