"""Loads and validates `tasks/<task>/task.yaml`, the declaration of a benchmark."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from afrieval._util.calls import checked_call
from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.resources import shipped
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, UNIQUE, Positive, Text
from afrieval._util.terminal import shortened
from afrieval._util.yaml_files import YamlFile, read_map_file
from afrieval.languages import ENGLISH
from afrieval.tasks.data.lock import check_sources
from afrieval.tasks.data.schema import DataSpec, Files, JoinSpec, TranslateSpec
from afrieval.tasks.declaration.answers import with_groups_of
from afrieval.tasks.declaration.checks import PLACEHOLDERS, check_consistent, check_names
from afrieval.tasks.declaration.presets import AnswerForm, Kind, Scoring, scoring
from afrieval.tasks.declaration.schema import (
    AnswerSpec,
    DerivedSpec,
    EvalsSpec,
    ExamplesSpec,
    GenerationSpec,
    GroupedField,
    PaperSpec,
    PromptSpec,
    ReadSpec,
    chosen_options,
    with_options,
)

TASKS = shipped("tasks")
OF_THE_FILES = (
    "rows",
    "columns",
    "parts",
    "cut",
    "folders",
    "converted",
)  # keys of `data` that describe one data set's files
Columns = Annotated[list[Text], AT_LEAST_ONE, UNIQUE]
Options = dict[str, str | int | float | bool]  # `name`, and options of what is named


@dataclass(frozen=True)
class TaskFile:
    """The content of `task.yaml`.

    Attributes:
        like: a task whose keys this one has unless it gives its own, and whose prompts and samples
            it shares.
        languages: the suite's language code to the data set's.
        kind: a preset of answer type, extractor and metrics, which other keys may override.
        parallel: per split, groups of languages whose rows are translations of one another: rows
            with the same number, or the same `key` if declared.
        fields: name used in prompts to column of the data; of several columns, the first that a row has. A list of
            tokens is shown with blanks between them. In this and other names of columns, `{code}` and `{language}`
            stand for the codes of the language, and dots lead into nested maps. Or `of` and `groups`: groups of the
            values of another field.
        choices: column with the option texts of each row, or a column per option; none if `labels`
            are the choices.
        labels: names of the classes in the order of the data set's numbers; empty if rows have
            choices.
        tags: names of the tags of tokens in the order of the data set's numbers, such as O, B-PER.
        answer: column with the gold answer (a letter, number, label name or text); of several
            columns, the first with a value; or a map with the answer's type.
        answer_forms: supported answer forms; the first is the default. Defaults to the kind's.
        request: `loglikelihood` or `generate`, to support only one of them; or `rolling`, for the likelihood of
            whole texts without a prompt.
        extract: extracts the answer from a generated text.
        metrics: the first is the main one.
        texts: role to column, for texts whose likelihood is measured; a cell may have a list of them.
        end: whether the likelihood of a text includes that of its end.
        tokens: how many tokens of a whole text are used; None for all.
        options: name to values of what stands as `{name}` in `data`, metrics and names of columns; the first is the
            default. Instead of a list, a value that any other may replace.
        contrast: the metric that compares prompt languages, if not the main one.
        derived: name to a score computed from others.
        groups: name to documents that are reported together, selected by field and values.
        choice_labels: column with the labels of each row's choices, by which the answer names one.
        shuffle: whether choices are put in an order that depends on the row's number alone.
        first_answer: lowest number in the data's answers, 0 or 1.
        worked: column of the few-shot split with worked solutions.
        chain_of_thought: whether examples show worked solutions instead of bare answers.
        examples: how few-shot examples are selected.
        apart: fields in which an example must differ from the question, such as a passage shared by
            several questions.
        breakdowns: fields by which results are broken down.
        prompts: number to English prompt, instead of a file `prompts/eng.yaml`.
        prompt: column with complete prompts, including examples and special tokens; the task then
            has no prompt files.
        answer_in_prompt: whether that prompt ends with a space and the answer's letter, which are
            removed.
        verdict: column that says whether the answer of the authors' model was right.
        macro: field over whose values the macro mean is computed.
        probabilities: field for each of whose values a run writes a CSV file with the probabilities of the choices.
        key: columns that together identify a question in every language; by default the row number.
        read: an older form of `extract: {name: phrase, ...}`.
        generation: limits of generated answers; by default derived from the data.
        join: rows of another data set that contain the answers.
        evals: selects Meta's evaluation data sets that include the task; `{evals}` in `data` stands
            for the chosen one.
        translate: the same questions in English, for the variant `translate`.
        without_marks: fields from whose texts all diacritics are removed.
        fit: the field that is shortened if a prompt does not fit the model's context.
        direction: for translation, the language of the other side: `from` or `to` it.
        answer_language: the language of the answers, if not the evaluated one; or a map from the
            evaluated language.
        paper: the prompts of the task's paper, for the prompt set `paper`.
    """

    __pydantic_config__ = CLOSED

    name: str
    version: Positive
    title: Text
    description: Text
    citation: Text
    licence: Text
    kind: Kind
    data: DataSpec
    languages: Annotated[dict[str, str], AT_LEAST_ONE]
    parallel: dict[str, list[Annotated[list[str], AT_LEAST_ONE, UNIQUE]]]
    fields: dict[str, Text | Columns | GroupedField]
    answer: Text | Columns | AnswerSpec = ""
    answer_forms: Annotated[list[AnswerForm], AT_LEAST_ONE, UNIQUE] = field(default_factory=list)
    request: Literal["loglikelihood", "generate", "rolling"] | None = None
    extract: str | Options | None = None
    metrics: Annotated[list[str | Options], AT_LEAST_ONE] | None = None
    texts: dict[Text, Text] = field(default_factory=dict)
    end: bool = False
    tokens: Positive | None = None
    options: dict[str, Text | Annotated[list[Text], AT_LEAST_ONE, UNIQUE]] = field(default_factory=dict)
    contrast: str | None = None
    derived: dict[str, DerivedSpec] = field(default_factory=dict)
    groups: dict[Text, Annotated[dict[str, Columns], AT_LEAST_ONE]] = field(default_factory=dict)
    choices: Text | Columns | None = None
    choice_labels: Text | None = None
    shuffle: bool = False
    first_answer: Literal[0, 1] = 0
    worked: Text | None = None
    chain_of_thought: bool = False
    examples: ExamplesSpec = field(default_factory=ExamplesSpec)
    apart: Annotated[list[str], UNIQUE] = field(default_factory=list)
    labels: Annotated[list[Text], UNIQUE] = field(default_factory=list)
    tags: Annotated[list[Text], UNIQUE] = field(default_factory=list)
    breakdowns: Annotated[list[str], UNIQUE] = field(default_factory=list)
    prompts: dict[Positive, PromptSpec] = field(default_factory=dict)
    prompt: Text | None = None
    answer_in_prompt: bool = False
    verdict: Text | None = None
    macro: str | None = None
    probabilities: str | None = None
    key: Annotated[list[Text], UNIQUE] = field(default_factory=list)
    read: ReadSpec | None = None
    generation: GenerationSpec | None = None
    join: JoinSpec | None = None
    evals: EvalsSpec | None = None
    translate: TranslateSpec | None = None
    direction: dict[Literal["from", "to"], str] = field(default_factory=dict)
    answer_language: str | dict[str, str] | None = None
    paper: PaperSpec | None = None
    fit: str | None = None
    without_marks: Annotated[list[str], UNIQUE] = field(default_factory=list)
    like: str | None = None


@dataclass(frozen=True)
class TaskSpec(TaskFile):
    """A task.

    Attributes:
        folder: contains its prompts and samples, unless it shares them.
        root: contains all tasks.
        scoring: how its answers are scored.
        kin: the task that it is like.
        direct: the original task, if this is a translated variant.
        switched: options of its extractor that the user has changed.
        chosen: its options, with their values.
        verbatim: whether texts of rows are used as they are, instead of in NFC and stripped.
    """

    folder: Path = field(kw_only=True)
    root: Path = field(kw_only=True)
    scoring: Scoring = field(kw_only=True)
    kin: "TaskSpec | None" = field(default=None, kw_only=True)
    direct: "TaskSpec | None" = field(default=None, kw_only=True)
    switched: dict[str, bool] = field(default_factory=dict, kw_only=True)
    chosen: dict[str, str] = field(default_factory=dict, kw_only=True)
    verbatim: bool = field(default=False, kw_only=True)

    @property
    def answer_columns(self) -> list[str]:
        """Columns of the gold answer; the first with a value is used."""
        column = self.answer.field if isinstance(self.answer, AnswerSpec) else self.answer
        return [*self.texts.values()] or ([column] if isinstance(column, str) else column)

    @property
    def prompted(self) -> bool:
        """Whether models get prompts made from templates."""
        return not self.prompt and self.request != "rolling"

    @property
    def grouped_fields(self) -> dict[str, GroupedField]:
        """The fields whose values are groups of another field's."""
        return {name: of for name, of in self.fields.items() if isinstance(of, GroupedField)}

    @property
    def field_columns(self) -> dict[str, str]:
        """The column of each other field; of several, the name of the first."""
        columns = {name: of for name, of in self.fields.items() if not isinstance(of, GroupedField)}
        return {name: column if isinstance(column, str) else column[0] for name, column in columns.items()}

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
        """Whether its prompts are those of the task that it is like."""
        return self.kin is not None and not (self.folder / "prompts").is_dir()

    @property
    def prompts_folder(self) -> Path:
        """The folder of its prompts."""
        return self.kin.prompts_folder if self.kin and self.shares_prompts else self.folder / "prompts"

    @property
    def samples_folder(self) -> Path:
        """The folder of its sample rows."""
        own = self.folder / self.data.samples
        shared = self.kin is not None and self.data.samples == self.kin.data.samples and not own.is_dir()
        return self.kin.samples_folder if self.kin and shared else own

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
        parts += [self.tags] if self.tags else []
        parts += ["examples", asdict(self.examples)] if self.examples != ExamplesSpec() else []
        parts += ["texts", self.data.verbatim, self.data.cut] if self.data.verbatim or self.data.cut else []
        parts += ["switched", self.switched] if self.switched else []
        parts += ["measured", self.texts, self.request, self.end, self.tokens] if self.texts else []
        parts += ["fit", self.fit] if self.fit else []
        parts += ["without_marks", self.without_marks] if self.without_marks else []
        parts += ["generation", asdict(self.generation)] if self.generation and not self.prompt else []
        if self.prompt:
            read = [asdict(part) if part else None for part in (self.read, self.generation, self.join)]
            parts += [self.prompt, self.answer_in_prompt, *read]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


@checked_call
def task_names(folder: str | os.PathLike[str] = TASKS) -> list[str]:
    """Returns the names of all tasks in a folder and its subfolders, sorted."""
    return sorted(task_files(user_path(folder)))


def task_files(folder: Path) -> dict[str, Path]:
    """Returns the name of each task in a folder and its subfolders, and its file."""
    return {path.parent.name: path for pattern in ("*/task.yaml", "*/*/task.yaml") for path in folder.glob(pattern)}


@checked_call
def load_task(name: str, folder: str | os.PathLike[str] = TASKS, options: Mapping[str, str] | None = None) -> TaskSpec:
    """Returns the declaration of a task.

    Args:
        name: its folder's name.
        folder: contains the task folders.
        options: values of options, of which those that the task has are used.

    Raises:
        UserError: if the task does not exist, or its file has an invalid or missing key.
    """
    folder = user_path(folder)
    path = folder / name / "task.yaml"
    if not (re.fullmatch(r"\w+", name) and path.is_file()):  # not in the folder itself, but maybe in a subfolder
        files = task_files(folder)
        if not files:
            raise UserError(f"{folder} contains no tasks", "give a folder that contains TASK/task.yaml, or omit it")
        if name not in files:
            raise UserError(f"unknown task {name!r}", nearest(name, sorted(files), "afrieval list"))
        path = files[name]
    file = read_map_file(path)
    kin = _kin(file, folder)
    whole = _completed(file, kin)
    chosen = chosen_options(name, whole.content.get("options"), options or {})
    check_names(chosen, PLACEHOLDERS, f"{path}: options")
    content = with_options(whole, chosen).checked(TaskFile)
    try:
        scored = scoring(content)
    except UserError as e:
        raise UserError(f"{path}: {e.message}", e.hint) from None
    declared = {f.name: getattr(content, f.name) for f in fields(TaskFile)} | {"answer_forms": scored.answer_forms}
    spec = TaskSpec(**declared, folder=path.parent, root=folder, scoring=scored, kin=kin, chosen=chosen)
    check_sources(path, spec.data, spec.translate, spec.join, spec.languages)
    check_consistent(spec, path)
    return spec


def _kin(file: YamlFile, folder: Path) -> TaskSpec | None:
    """Returns the task that a file is like, if it names one."""
    name = file.content.get("like")
    if name is None:
        return None
    names = [known for known in task_names(folder) if known != file.path.parent.name]
    if not names:
        raise UserError(f"{file.path}: {folder} has no other task that it can be like", "give all keys in the file")
    if name not in names:
        where = f"{file.path}, line {file.line(('like',))}: like"
        raise UserError(f"{where} is {shortened(repr(name))}, an unknown task", nearest(str(name), names))
    if "like" in read_map_file(task_files(folder)[name]).content:
        raise UserError(f"{file.path}: {name} is itself like another task", "name that task")
    return load_task(name, folder)


def _completed(file: YamlFile, kin: TaskSpec | None) -> YamlFile:
    """Returns a file with the keys that it takes over from another; not those about the files of another data set.

    Fields that are groups of another field's values are taken over one by one.
    """
    if kin is None:
        return file
    other, own = read_map_file(kin.folder / "task.yaml").content, file.content
    data, named = own.get("data", {}), own.get("fields", {})
    if isinstance(data, dict):
        left = (*(OF_THE_FILES if "hub" in data else ()), *(["converted"] if "files" in data else ()))
        shared = {k: v for k, v in other["data"].items() if k not in left}
        data = {**shared, **data}
    if isinstance(named, dict):
        named = with_groups_of(kin.grouped_fields, other["fields"], named) if named else other["fields"]
    return file._replace(content={**other, **own, "data": data, "fields": named})


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
