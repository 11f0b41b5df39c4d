"""Loads and validates `tasks/<task>/task.yaml`, the declaration of a benchmark."""

import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, make_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from afrieval._util.calls import checked_call
from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.registry import Registry
from afrieval._util.resources import shipped
from afrieval._util.terminal import shortened
from afrieval._util.yaml_files import YamlFile, read_map_file
from afrieval.languages import ENGLISH
from afrieval.scoring.rubric import Rubric
from afrieval.scoring.user_code import NO_CODE, user_code
from afrieval.tasks.data.lock import check_sources
from afrieval.tasks.data.schema import Files
from afrieval.tasks.declaration.checks import PLACEHOLDERS, check_consistent, check_names
from afrieval.tasks.declaration.kinds import KINDS, Kind, TextKeys, kinds_of
from afrieval.tasks.declaration.schema import PUBLISHERS, AnswerSpec, ExamplesSpec, chosen_options, with_options
from afrieval.tasks.declaration.task_file import TaskFile
from afrieval.tasks.declaration.task_scoring import Scoring, scoring

T = TypeVar("T")
TASKS = shipped("tasks")
PATTERNS = ("*/task.yaml", "*/*/task.yaml")  # of task files in a folder of tasks
Folders = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
# Keys of `data` about one data set's files.
OF_THE_FILES = ("rows", "columns", "parts", "cut", "folders", "converted", "where")


@dataclass(frozen=True)
class TaskSpec(TaskFile):
    """A task.

    Attributes:
        folder: contains its prompts and samples, unless it shares them.
        root: the folder of tasks that it is in.
        scoring: how its answers are scored.
        kin: the task that it is like.
        direct: the original task, if this is a translated variant.
        switched: options of its extractor that the user has changed.
        chosen: its options, with their values.
        verbatim: whether texts of rows are used as they are, instead of in NFC and stripped.
        evaluated: the language that its columns are filled in for; empty before.
        further: the keys that only its kind has; None if it has none.
    """

    folder: Path = field(kw_only=True)
    root: Path = field(kw_only=True)
    scoring: Scoring = field(kw_only=True)
    kin: "TaskSpec | None" = field(default=None, kw_only=True)
    direct: "TaskSpec | None" = field(default=None, kw_only=True)
    switched: dict[str, bool] = field(default_factory=dict, kw_only=True)
    chosen: dict[str, str] = field(default_factory=dict, kw_only=True)
    verbatim: bool = field(default=False, kw_only=True)
    evaluated: str = field(default="", kw_only=True)
    further: Any = field(default=None, kw_only=True)

    def keys_of(self, schema: type[T]) -> T:
        """Returns the further keys that its kind has, if they are of a schema; else the defaults."""
        return self.further if isinstance(self.further, schema) else schema()

    @property
    def prompted(self) -> bool:
        """Whether models get prompts made from templates."""
        return not self.prompt and self.request != "rolling"

    @property
    def fewshot_source(self) -> str:
        """The data set of the few-shot examples; tasks on one data set use the same rows."""
        return (self.direct or self).data.hub

    @property
    def text_language(self) -> str | None:
        """The language of all texts; None if it is the evaluated language."""
        return ENGLISH if self.direct else None

    @property
    def shares_prompts(self) -> bool:
        """Whether it uses the prompts of the task that it is like."""
        return self.kin is not None and not (self.folder / "prompts").is_dir()

    @property
    def author(self) -> "TaskSpec":
        """The task whose prompts it uses: itself, or the task that it is like."""
        return self.kin.author if self.kin and self.shares_prompts else self

    @property
    def publisher(self) -> Any:
        """The publisher of its rows, if they are an evaluation of a model; else None.

        Raises:
            UserError: if no package knows the publisher.
        """
        return PUBLISHERS[self.data.hub.partition("/")[0]] if self.evals else None

    @property
    def prompts_folder(self) -> Path:
        """The folder of its prompts."""
        return self.author.folder / "prompts"

    @property
    def samples_folder(self) -> Path:
        """The folder of its sample rows."""
        own_samples = self.folder / self.data.samples
        shared = self.kin is not None and self.data.samples == self.kin.data.samples and not own_samples.is_dir()
        return self.kin.samples_folder if self.kin and shared else own_samples

    @property
    def own_data(self) -> Path | None:
        """The folder `data` next to its file, whose rows are used instead of the hub's; None without one."""
        return folder if (folder := self.folder / "data").is_dir() else None

    def answers_in(self, language: str) -> str:
        """Returns the language of the answers where a language is evaluated."""
        declared = self.answer_language
        named = declared.get(language) if isinstance(declared, dict) else declared
        return self.direction.get("to") or named or self.text_language or language

    @property
    def declaration(self) -> str:
        """Hash of everything that determines how rows are parsed and examples selected."""
        answer = asdict(self.answer) if isinstance(self.answer, AnswerSpec) else self.answer
        fields = self.fields | {name: asdict(of) for name, of in self.grouped_fields.items()}
        rows = [fields, self.choices, self.labels, answer, self.first_answer, self.worked, self.data.headed]
        parts: list[Any] = [*rows, self.chain_of_thought, self.apart]
        parts += [self.extract] if self.extract else []
        parts += [self.metrics] if self.metrics else []
        parts += ["choices", self.choice_labels, self.shuffle] if self.choice_labels or self.shuffle else []
        parts += ["columns", self.choices] if self.fewer_choices else []
        parts += ["blank", self.blank] if self.blank else []
        parts += [self.tags] if self.tags else []
        parts += ["examples", asdict(self.examples)] if self.examples != ExamplesSpec() else []
        parts += ["texts", self.data.verbatim, self.data.cut] if self.data.verbatim or self.data.cut else []
        parts += ["switched", self.switched] if self.switched else []
        keys = self.keys_of(TextKeys)
        parts += ["measured", self.texts, self.request, keys.end, keys.tokens] if self.texts else []
        parts += ["fit", self.fit] if self.fit else []
        parts += ["without_marks", self.without_marks] if self.without_marks else []
        parts += ["generation", asdict(self.generation)] if self.generation and not self.prompt else []
        if self.prompt:
            sections = [asdict(part) if part else None for part in (self.generation, self.join)]
            parts += [self.prompt, self.answer_in_prompt, *sections]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


@checked_call
def task_names(folder: Folders = TASKS) -> list[str]:
    """Returns the names of all tasks in one or more folders and their subfolders, sorted.

    Raises:
        UserError: for a folder without tasks.
    """
    return sorted({name for of in task_folders(folder) for name in task_files(of)})


def task_files(folder: Path) -> dict[str, Path]:
    """Returns the name of each task in a folder and its subfolders, and its file."""
    return {path.parent.name: path for pattern in PATTERNS for path in folder.glob(pattern)}


@checked_call
def load_task(name: str, folder: Folders = TASKS, options: Mapping[str, str] | None = None) -> TaskSpec:
    """Returns the declaration of a task.

    Args:
        name: its folder's name.
        folder: contains task folders; one or several. The suite's own tasks are found, too.
        options: values of options, of which those that the task has are used.

    Raises:
        UserError: if the task does not exist, or its file has an invalid or missing key.
    """
    folders = [*task_folders(folder), TASKS]
    location = _task_file(name, folders)
    if location is None:
        raise UserError(f"unknown task {name!r}", nearest(name, task_names(folders), "afrieval list"))
    return _loaded(*location, folders, options or {})


def task_folders(folder: Folders) -> list[Path]:
    """Returns one or more folders of tasks as paths.

    Raises:
        UserError: for a folder without tasks.
    """
    paths = [user_path(of) for of in ([folder] if isinstance(folder, str | os.PathLike) else folder)]
    for path in paths:
        if not any(itertools.chain.from_iterable(path.glob(pattern) for pattern in PATTERNS)):
            raise UserError(f"{path} contains no tasks", "give a folder that contains TASK/task.yaml, or omit it")
    return paths


def _loaded(root: Path, path: Path, folders: Sequence[Path], options: Mapping[str, str]) -> TaskSpec:
    file = read_map_file(path)
    kin = _kin(file, folders)
    whole = _completed(file, kin)
    chosen = chosen_options(path.parent.name, whole.content.get("options"), options)
    check_names(chosen, PLACEHOLDERS, f"{path}: options")
    # The suite's own tasks have no code.
    code, kinds = (NO_CODE, KINDS) if root == TASKS else (user_code(path.parent), kinds_of(path.parent))
    code = kin.scoring.user_code if kin and code == NO_CODE else code
    named = [kinds.get(str(whole.content.get("kind"))), *([kin.scoring.kind] if kin else [])]
    content = with_options(whole, chosen).checked(_with_keys(tuple(kind.keys for kind in named if kind and kind.keys)))
    kind = _kind(file, content.kind, kinds, kin)
    try:
        scored = scoring(content, kind, code)
    except UserError as e:
        raise UserError(f"{path}: {e.message}", e.hint) from None
    declared = {f.name: getattr(content, f.name) for f in fields(TaskFile)} | {"answer_forms": scored.answer_forms}
    rubric = content.judge if "judge" in whole.content else rubrics().get(content.kind)
    if rubric:
        declared["judge"] = replace(rubric, shows=rubric.shows or [*content.field_columns])
    keys = kind.keys(**{f.name: getattr(content, f.name) for f in fields(kind.keys)}) if kind.keys else None
    spec = TaskSpec(**declared, folder=path.parent, root=root, scoring=scored, kin=kin, chosen=chosen, further=keys)
    check_sources(path, spec.data, spec.translate, spec.join, spec.languages)
    check_consistent(spec, scored, keys, path)
    return spec


@cache
def rubrics() -> dict[str, Rubric]:
    """Returns kind of task to how answers of its tasks may be judged, unless a task says so itself."""
    return read_map_file(TASKS / "rubrics.yaml").checked(dict[str, Rubric])


@cache
def _with_keys(schemas: tuple[type[Any], ...]) -> type[TaskFile]:
    """Returns the schema of a task file with further keys: of its kind, and of that of the task that it is like."""
    bases = (*dict.fromkeys(schemas), TaskFile)
    return make_dataclass("TaskFileOfKind", [], bases=bases, frozen=True) if schemas else TaskFile


def _kind(file: YamlFile, name: str, kinds: Registry[Kind], kin: TaskSpec | None) -> Kind:
    """Returns the kind of a task: of all, of the file next to the task's, or that of the task that it is like."""
    if kin and name == kin.kind:
        return kin.scoring.kind
    if name not in kinds:
        *others, last = kinds
        shown = shortened(json.dumps(name, ensure_ascii=False))
        problem = f"line {file.line(('kind',))}: kind must be {', '.join(others)} or {last}, not {shown}"
        raise UserError(f"{file.path}, {problem}", nearest(name, list(kinds)))
    return kinds[name]


def _task_file(name: str, folders: Sequence[Path]) -> tuple[Path, Path] | None:
    """Returns the first folder that has a task, and its file; lists all tasks only where it must, as it is slow."""
    for folder in folders:
        if not re.fullmatch(r"\w+", name):
            path = task_files(folder).get(name)
        elif not (path := folder / name / "task.yaml").is_file():
            path = next(folder.glob(f"*/{name}/task.yaml"), None)
        if path:
            return folder, path
    return None


def _kin(file: YamlFile, folders: Sequence[Path]) -> TaskSpec | None:
    """Returns the task that a file is like, if it names one."""
    name, itself = file.content.get("like"), file.path.parent.name
    if name is None:
        return None
    location = _task_file(str(name), folders) if name != itself else None
    if location is None:
        names = [known for known in task_names(folders) if known != itself]
        where = f"{file.path}, line {file.line(('like',))}: like"
        raise UserError(f"{where} is {shortened(repr(name))}, an unknown task", nearest(str(name), names))
    if "like" in read_map_file(location[1]).content:
        raise UserError(f"{file.path}: {name} is itself like another task", "name that task")
    return _loaded(*location, folders, {})


def _completed(file: YamlFile, kin: TaskSpec | None) -> YamlFile:
    """Returns a file with the keys that it takes over from another; not those about the files of another data set.

    Fields that are groups of another field's values are taken over one by one.
    """
    if kin is None:
        return file
    other, content = read_map_file(kin.folder / "task.yaml").content, file.content
    data, named = content.get("data", {}), content.get("fields", {})
    if isinstance(data, dict):
        left = (*(OF_THE_FILES if "hub" in data else ()), *(["converted"] if "files" in data else ()))
        shared = {k: v for k, v in other["data"].items() if k not in left}
        data = {**shared, **data}
    if isinstance(named, dict):
        named = dict(named or other["fields"])
        for name, field in kin.grouped_fields.items():
            if field.of in named:  # also where it is itself one of these groups
                named.setdefault(name, other["fields"][name])
    return file._replace(content={**other, **content, "data": data, "fields": named})


def translated(spec: TaskSpec) -> TaskSpec:
    """Returns the variant of a task whose evaluated split was machine-translated to English.

    Its few-shot examples are the task's English ones.

    Raises:
        UserError: if the task has no translation.
    """
    if spec.translate is None:
        raise UserError(f"{spec.name} has no translated test set", "give --task.variant direct")
    where = spec.translate
    files: dict[str, Files] = {spec.data.evaluate: where.file}
    data = replace(spec.data, hub=where.hub, revision=where.revision, files=files, converted={}, rows=None)
    languages = {ours: theirs for ours, theirs in spec.languages.items() if ours != ENGLISH}
    name = f"{spec.name}_translate"
    return replace(spec, name=name, data=data, languages=languages, parallel={}, key=[], direct=spec)
