"""The dataclass of `tasks/<task>/task.yaml`, the declaration of a benchmark."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal

from afrieval._util.schema import AT_LEAST_ONE, CLOSED, UNIQUE, Positive, Text
from afrieval.scoring.rubric import Rubric
from afrieval.tasks.data.schema import DataSpec, JoinSpec, TranslateSpec
from afrieval.tasks.declaration.schema import (
    AnswerSpec,
    DerivedSpec,
    EvalsSpec,
    ExamplesSpec,
    GenerationSpec,
    GroupedField,
    PaperSpec,
    PromptSpec,
)

AnswerForm = Literal["text", "letter", "generate"]
Columns = Annotated[list[Text], AT_LEAST_ONE, UNIQUE]
Options = dict[str, str | int | float | bool | list[str]]  # `name`, and options of what is named


@dataclass(frozen=True)
class TaskFile:
    """The content of `task.yaml`; a kind of task may have further keys.

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
        blank: field whose text has a blank, `_`, that the choices fill; the likelihood of the text after it is scored.
        fewer_choices: whether a row may have fewer choices than there are columns: the last ones are null.
        labels: names of the classes in the order of the data set's numbers, or of the labels of which several may
            apply; empty if rows have choices.
        tags: names of the tags of tokens in the order of the data set's numbers, such as O, B-PER; or of the types of
            spans, where the data list them.
        answer: column with the gold answer (a letter, number, label name or text); of several
            columns, the first with a value, or a column per label; or a map with the answer's type. If it is one of
            the columns of `choices`, that choice is right in every row. Or a field that groups another's values.
        answer_forms: supported answer forms; the first is the default. Defaults to the kind's.
        request: `loglikelihood` or `generate`, to support only one of them; or `rolling`, for the likelihood of
            whole texts, or of choices that are whole texts, without a prompt.
        extract: extracts the answer from a generated text.
        metrics: the first is the main one.
        texts: role to column, for texts whose likelihood is measured; a cell may have a list of them.
        options: name to the values that may replace `{name}` in `data`, metrics and names of columns; the first is the
            default. Instead of a list, a value that any other may replace.
        contrast: the metric that compares prompt languages, if not the main one.
        derived: name to a score computed from others.
        groups: name to documents that are reported together, selected by field and values.
        choice_labels: column with the labels of each row's choices, by which the answer names one; or one per choice.
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
        generation: limits of generated answers; by default derived from the data.
        join: rows of another data set that contain the answers.
        evals: selects a publisher's evaluation data sets that include the task; `{evals}` in `data` stands
            for the chosen one.
        translate: the same questions in English, for the variant `translate`.
        without_marks: fields from whose texts all diacritics are removed.
        fit: the field that is shortened if a prompt does not fit the model's context.
        direction: for translation, the language of the other side: `from` or `to` it.
        answer_language: the language of the answers, if not the evaluated one; or a map from the
            evaluated language.
        paper: the prompts of the task's paper, for the prompt set `paper`.
        judge: how a judge, or people, may score stored answers.
    """

    __pydantic_config__ = CLOSED

    name: str
    version: Positive
    title: Text
    description: Text
    citation: Text
    licence: Text
    kind: str
    data: DataSpec
    languages: Annotated[dict[str, str], AT_LEAST_ONE]
    fields: dict[str, Text | Columns | GroupedField]
    parallel: dict[str, list[Annotated[list[str], AT_LEAST_ONE, UNIQUE]]] = field(default_factory=dict)
    answer: Text | Columns | AnswerSpec = ""
    answer_forms: Annotated[list[AnswerForm], AT_LEAST_ONE, UNIQUE] = field(default_factory=list)
    request: Literal["loglikelihood", "generate", "rolling"] | None = None
    extract: str | Options | None = None
    metrics: Annotated[list[str | Options], AT_LEAST_ONE] | None = None
    texts: dict[Text, Text] = field(default_factory=dict)
    options: dict[str, Text | Annotated[list[Text], AT_LEAST_ONE, UNIQUE]] = field(default_factory=dict)
    contrast: str | None = None
    derived: dict[str, DerivedSpec] = field(default_factory=dict)
    groups: dict[Text, Annotated[dict[str, Columns], AT_LEAST_ONE]] = field(default_factory=dict)
    choices: Text | Columns | None = None
    blank: str | None = None
    fewer_choices: bool = False
    choice_labels: Text | list[Text] | None = None
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
    generation: GenerationSpec | None = None
    join: JoinSpec | None = None
    evals: EvalsSpec | None = None
    translate: TranslateSpec | None = None
    direction: dict[Literal["from", "to"], str] = field(default_factory=dict)
    answer_language: str | dict[str, str] | None = None
    paper: PaperSpec | None = None
    judge: Rubric | None = None
    fit: str | None = None
    without_marks: Annotated[list[str], UNIQUE] = field(default_factory=list)
    like: str | None = None

    @property
    def grouped_fields(self) -> dict[str, GroupedField]:
        """The fields whose values are groups of another field's."""
        return {name: of for name, of in self.fields.items() if isinstance(of, GroupedField)}

    @property
    def answer_columns(self) -> list[str]:
        """Columns of the gold answer; the first with a value is used."""
        column = self.answer.field if isinstance(self.answer, AnswerSpec) else self.answer
        return [*self.texts.values()] or ([column] if isinstance(column, str) else column)

    @cached_property  # asked for each row
    def field_columns(self) -> dict[str, str]:
        """The column of each other field; of several, the name of the first."""
        columns = {name: of for name, of in self.fields.items() if not isinstance(of, GroupedField)}
        return {name: column if isinstance(column, str) else column[0] for name, column in columns.items()}
