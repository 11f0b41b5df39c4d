"""Prompt files, the sections of a task file except those about its data, and its options."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

from afrieval._util.errors import UserError, nearest
from afrieval._util.registry import Registry
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, UNIQUE, Positive, Text
from afrieval._util.yaml_files import YamlFile
from afrieval.tasks.data.schema import filled

# The keys that name columns of the data.
WITH_COLUMNS = ("fields", "choices", "choice_labels", "answer", "worked", "key", "texts")


@dataclass(frozen=True)
class PromptSpec:
    """A numbered prompt.

    Attributes:
        template: a Jinja template.
        labels: label name to the word that is shown and scored.
        source: where its text is from.
        lettered: whether the letters of the choices are scored, not their words.
        header: a template that is shown once, before the examples: with fields of the question. With a chat template,
            it is the system text, or follows the file's.
        blanks: why runs of blanks in it belong there; without a reason the suite's own tests reject them.
    """

    __pydantic_config__ = CLOSED

    template: Text
    labels: dict[str, Text] = field(default_factory=dict)
    source: str | None = None
    lettered: bool = False
    header: str = ""
    blanks: str = ""


@dataclass(frozen=True)
class PromptFile:
    """The content of `prompts/<language>.yaml`; see the documentation's "Add a language or a prompt".

    Its `labels` are for all prompts without labels of their own.
    """

    __pydantic_config__ = CLOSED
    origin: Literal["human", "machine", "paper"]
    prompts: Annotated[dict[Positive, PromptSpec], AT_LEAST_ONE]
    written_by: str | None = None
    reviewed_by: str | None = None
    reviewed_on: str | None = None
    system: str | None = None
    lead_in: str | list[str] | None = None
    labels: dict[str, Text] = field(default_factory=dict)
    values: dict[str, dict[str, Text]] | None = None

    @property
    def lead_ins(self) -> list[str]:
        """The words that may announce an answer."""
        return [self.lead_in] if isinstance(self.lead_in, str) else self.lead_in or []


@dataclass(frozen=True)
class Correction:
    """A correction of a prompt of the paper; it must change something.

    Attributes:
        what: what is corrected, in one line.
        replace: text to its replacement, in the template after whitespace is cleaned.
        labels: label name to the right word.
    """

    __pydantic_config__ = CLOSED

    what: Text
    replace: dict[Annotated[str, AT_LEAST_ONE], str] = field(default_factory=dict)
    labels: dict[str, Text] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperPromptSpec:
    """A prompt of the paper.

    Attributes:
        corrections: in the order in which they are applied.
        refused: why the prompt is not supported, if it is not.
    """

    __pydantic_config__ = CLOSED

    corrections: list[Correction] = field(default_factory=list)
    refused: str | None = None


@dataclass(frozen=True)
class PaperSpec:
    """The prompts of the paper, in the task files of lm-evaluation-harness.

    Attributes:
        name: the paper's benchmark.
        files: the file of a prompt below `lm_eval/tasks`; `{number}` and `{language}` stand for the prompt's number
            and the language's code. With a single prompt, it needs no number.
        prompts: number to corrections.
        codes: the suite's code to the one in the names of files and in published tables, where they differ.
        row: further columns of the harness' rows that prompts depend on, with their values in the test set.
        answers: whether the column of the answer has the numbers or the names of labels.
        table: the task's name in published tables; by default its own.
        metric: the metric of published scores, if it is not the task's main one.
    """

    __pydantic_config__ = CLOSED

    name: Text
    files: Text
    prompts: Annotated[dict[Positive, PaperPromptSpec], AT_LEAST_ONE]
    codes: dict[str, str] = field(default_factory=dict)
    row: dict[str, str | int | None] = field(default_factory=dict)
    answers: Literal["number", "name"] = "number"
    table: Text | None = None
    metric: str | None = None


@dataclass(frozen=True)
class GroupedField:
    """A field whose values are groups of another field's values, such as the categories of subjects.

    Attributes:
        of: the other field, declared before this one.
        groups: name to the values of the other field that the group contains.
    """

    __pydantic_config__ = CLOSED

    of: str
    groups: Annotated[dict[Text, Annotated[list[Text], AT_LEAST_ONE]], AT_LEAST_ONE]

    @cached_property
    def group_of(self) -> dict[str, str]:
        """The group of each value."""
        return {value: name for name, values in self.groups.items() for value in values}


@dataclass(frozen=True)
class AnswerSpec:
    """The right answers.

    Attributes:
        field: their column; of several, the first with a value.
        type: a name in `ANSWERS`; by default the type of the task's kind.
        texts: for type `weighted`, whose cells are lists of maps: the keys of a map that have an answer, or a list of
            ways to write it.
        weight: the key of a map that has the answer's weight.
    """

    __pydantic_config__ = CLOSED

    field: Text | Annotated[list[Text], AT_LEAST_ONE]
    type: str | None = None
    texts: tuple[Text, ...] = ()
    weight: Text | None = None


@dataclass(frozen=True)
class ExamplesSpec:
    """How few-shot examples are selected.

    Attributes:
        order: `file` takes the first usable rows of the file, `seed` ranks rows by eval.fewshot_random_seed.
        same: fields that an example must share with the question.
        all: whether all usable rows are examples, whatever eval.num_fewshot.
        drop: whether examples are left out, from the last on, while prompt and answer exceed the model's context.
    """

    __pydantic_config__ = CLOSED

    order: Literal["file", "seed"] = "seed"
    same: Annotated[list[str], UNIQUE] = field(default_factory=list)
    all: bool = False
    drop: bool = False


@dataclass(frozen=True)
class DerivedSpec:
    """A score computed from others.

    Attributes:
        how: name of a derived metric.
        of: metrics of the task, or derived metrics declared earlier.
        reference: folder of a stored run whose metrics are further inputs.
    """

    __pydantic_config__ = CLOSED

    how: str
    of: str | Annotated[list[str], AT_LEAST_ONE]
    reference: Text | None = None

    @property
    def names(self) -> list[str]:
        """The metrics in `of`."""
        return [self.of] if isinstance(self.of, str) else self.of


@dataclass(frozen=True)
class GenerationSpec:
    """Limits of generated answers.

    Attributes:
        max_tokens: maximum number of tokens.
        stop: texts that end an answer.
    """

    __pydantic_config__ = CLOSED

    max_tokens: Positive
    stop: Annotated[list[Annotated[str, AT_LEAST_ONE]], UNIQUE] = field(default_factory=list)


# Publishers of evaluation data sets of their models, with prompts, answers and verdicts: modules by the organisation on
# the hub. `GROUPS` are groups of their tasks.
NEEDS = ("GROUPS", "selected", "published", "other_model")
PUBLISHERS: Registry[Any] = Registry("publisher of evaluations", "afrieval.publishers", {}, NEEDS)


@dataclass(frozen=True)
class EvalsSpec:
    """Selects the evaluation data sets of a publisher that include a task, by their models.

    Attributes:
        family: a family of models, such as 3.1.
        instruct: whether they are for instruct models; else for pretrained ones.
    """

    __pydantic_config__ = CLOSED

    family: Text
    instruct: bool


def column_names(value: Any) -> Iterator[str]:
    """Yields the names of columns in the value of one of the keys WITH_COLUMNS."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, AnswerSpec):
        yield from column_names(value.field)
    elif value and not isinstance(value, GroupedField):
        for part in value.values() if isinstance(value, dict) else value:
            yield from column_names(part)


FILLED = ("data", "metrics", *WITH_COLUMNS)  # the keys whose texts may contain `{name}`


def chosen_options(task: str, declared: object, selected: Mapping[str, str]) -> dict[str, str]:
    """Returns the value of each option that a task declares: the one given, or its first.

    Args:
        task: the task's name.
        declared: name to values, as in its file; a single one may be replaced by any other.
        selected: name to value; other tasks may have further options.

    Raises:
        UserError: for a value that the option does not have.
    """
    options = declared if isinstance(declared, dict) else {}
    listed = {name: [of] if isinstance(of, str) else of for name, of in options.items() if isinstance(of, str | list)}
    # The schema reports all others.
    valid = {name: of for name, of in listed.items() if of and all(isinstance(v, str) and v.strip() for v in of)}
    for name, values in valid.items():
        if name in selected and selected[name] not in values and isinstance(options[name], list):
            raise UserError(
                f"the option {name} of {task} has no value {selected[name]!r}", nearest(selected[name], values)
            )
    return {name: selected.get(name, values[0]) for name, values in valid.items()}


def check_options(selected: Mapping[str, str], declared: Mapping[str, Iterable[str]]) -> None:
    """Rejects an option that no task has."""
    names = list(dict.fromkeys(name for options in declared.values() for name in options))
    for name in selected:
        if name not in names:
            hint = nearest(name, names) if names else "leave task.options out"
            raise UserError(f"{' and '.join(list(declared)[:3])}: there is no option {name!r}", hint)


def with_options(file: YamlFile, chosen: Mapping[str, str]) -> YamlFile:
    """Returns a task file with the values of options in the place of their names."""
    if not chosen:
        return file
    values = {f"{{{name}}}": value for name, value in chosen.items()}
    content = {key: filled(value, values) if key in FILLED else value for key, value in file.content.items()}
    return file._replace(content=content)
