"""Reads and checks `tasks/<task>/task.yaml`: everything declared about a benchmark."""

import hashlib
import json
import re
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from afrieval.errors import UserError
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.yamlfile import check_keys, nearest, read_map

TASKS = Path(__file__).parents[3] / "tasks"

KINDS = ("multiple_choice", "number")
FORMS = ("text", "letter", "generate")
RESERVED = ("id", "choices", "gold", "worked", "labels", "language")  # names that prompts and documents have already


@dataclass(frozen=True)
class DataSpec:
    """Where a benchmark's rows are.

    Attributes:
        hub: dataset repository on the hub.
        revision: branch, tag or commit of it.
        files: split to file pattern below the repository; `{code}` is the data set's language code.
        evaluate: the split that is scored.
        fewshot: the split that few-shot examples come from; none if the benchmark has no pool.
        headed: whether the texts of that split begin with a heading, such as `Question:`, which is cut off.
        samples: folder of the sample rows, seen from the task's own.
    """

    hub: str
    revision: str
    files: dict[str, str]
    evaluate: str
    fewshot: str | None = None
    headed: bool = False
    samples: str = "sample"


@dataclass(frozen=True)
class TranslateSpec:
    """Where the evaluated split is that was translated to English by machine; for all languages but English.

    Attributes:
        hub: dataset repository on the hub.
        revision: branch, tag or commit of it.
        file: file pattern below the repository; `{code}` is the data set's language code.
    """

    hub: str
    revision: str
    file: str


@dataclass(frozen=True)
class TaskSpec:
    """A benchmark, declared once.

    Attributes:
        languages: the suite's language code to the data set's own.
        parallel: per split, groups of languages whose row i is a translation of one another's row i.
        fields: name used in prompts to column of the data.
        choices: column with the option texts of each row, or a column for each; none if `labels` are the choices.
        labels: names of the classes in the order of the data set's numbers; empty if rows bring choices.
        answer: column with the gold answer: a letter, a number or a label's name; of several, the first with a value.
        first_answer: what the data's numbers begin with, 0 or 1.
        worked: column of the few-shot split with worked solutions.
        chain_of_thought: whether examples show the worked solution in place of the bare answer.
        apart: fields in which an example must differ from the question, such as a passage that several questions share.
        breakdowns: fields by which results are broken down.
        folder: where the task's prompts and samples are.
        translate: the same questions in English, for the variant `translate`.
        direct: of that variant, the task that it is a variant of.
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
    answer: str | list[str]
    folder: Path
    choices: str | list[str] | None = None
    first_answer: int = 0
    worked: str | None = None
    chain_of_thought: bool = False
    apart: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    breakdowns: list[str] = field(default_factory=list)
    translate: TranslateSpec | None = None
    direct: "TaskSpec | None" = None

    @property
    def fewshot_source(self) -> str:
        """The data set of the few-shot examples; tasks on one data set draw the same rows."""
        return (self.direct or self).data.hub

    @property
    def text_language(self) -> str | None:
        """The language that all texts are in; None if they are in the language evaluated."""
        return ENGLISH if self.direct else None

    @property
    def declaration(self) -> str:
        """Changes when rows are read in another way, or other examples stand before them."""
        rows = [self.fields, self.choices, self.labels, self.answer, self.first_answer, self.worked, self.data.headed]
        parts = [*rows, self.chain_of_thought, self.apart]
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
    translate = content.pop("translate", None)
    if translate is not None:
        _check(TranslateSpec, translate, f"{path}, translate", given_elsewhere=())
        content["translate"] = TranslateSpec(**translate)
    _check(TaskSpec, content, str(path), given_elsewhere=("data", "folder", "direct"))
    spec = TaskSpec(**content, data=DataSpec(**data), folder=path.parent)
    _check_consistent(spec, path)
    return spec


def translated(spec: TaskSpec) -> TaskSpec:
    """Returns the variant of a task whose evaluated split was translated to English by machine.

    Its languages are those it was translated from; its few-shot examples are those of the task in English.

    Raises:
        UserError: if there is none.
    """
    if spec.translate is None:
        raise UserError(f"{spec.name} has no test set translated to English", "give --task.variant direct")
    where = spec.translate
    data = replace(spec.data, hub=where.hub, revision=where.revision, files={spec.data.evaluate: where.file})
    languages = {ours: theirs for ours, theirs in spec.languages.items() if ours != ENGLISH}
    name = f"{spec.name}_translate"
    return replace(spec, name=name, data=data, languages=languages, parallel={}, direct=spec)


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
        "it needs either choices or labels": spec.kind == "multiple_choice" and bool(spec.choices) == bool(spec.labels),
        "kind number has neither choices nor labels": spec.kind == "number" and bool(spec.choices or spec.labels),
        "kind number has the answer form generate alone": spec.kind == "number" and spec.answer_forms != ["generate"],
        "chain_of_thought needs a column with worked solutions": spec.chain_of_thought and not spec.worked,
        f"apart {spec.apart} are not all fields": not set(spec.apart) <= set(spec.fields),
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
