"""The sections of a task file about its data, and the forms in which it names the files of a split."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from afrieval._util.schema import AT_LEAST_ONE, CLOSED, UNIQUE, Positive, Text

CONFIG = "config:"  # then a configuration that the repository's card lists
USUAL = "{code}/{split}"  # CONFIG/SPLIT in the hub's conversion to Parquet, of most data sets
SHARD = "{part}/{number:04}.parquet"  # a file of the conversion

# A table, or for each column a plain text with a row per line.
Source = str | Annotated[dict[str, str], AT_LEAST_ONE]
# A source, or several, of which the first that exists is used; none if only the hub's conversion has the split.
Files = Source | list[Source]


def alternatives(files: Files) -> list[Source]:
    """Returns the sources of a split, in the order in which they are tried."""
    return files if isinstance(files, list) else [files]


def of_other(part: str, hub: str) -> tuple[str, str]:
    """Returns the data set, which may be a copy, and CONFIG/SPLIT of a split in the hub's conversion.

    Args:
        part: CONFIG/SPLIT, or ORG/NAME@CONFIG/SPLIT.
        hub: the data set if it names none.
    """
    named, _, split = part.rpartition("@")
    return named or hub, split


def conversion(files: Files, split: str, declared: Mapping[str, str | None]) -> str | None:
    """Returns where the hub's conversion to Parquet has a split: CONFIG/SPLIT, with placeholders; None if nowhere.

    Args:
        files: the split's sources; a configuration of the card has the same name in the conversion.
        split: its name.
        declared: split to CONFIG/SPLIT, where these differ from most data sets'.
    """
    if split in declared:
        return declared[split]
    configs = [one.removeprefix(CONFIG) for one in patterns_of(files) if one.startswith(CONFIG)]
    return f"{configs[0]}/{split}" if configs else USUAL.replace("{split}", split)


def patterns_of(files: Files) -> list[str]:
    """Returns all patterns in it."""
    named = alternatives(files)
    return [pattern for one in named for pattern in (one.values() if isinstance(one, dict) else [one])]


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """Returns a key's value with the placeholders of all its texts replaced, such as `{code}`."""
    if isinstance(value, str):
        return fill(value, values)
    if isinstance(value, dict):
        return {name: filled(part, values) for name, part in value.items()}
    return [filled(part, values) for part in value] if isinstance(value, list) else value


def fill(text: str, values: Mapping[str, str]) -> str:
    """Returns a text with placeholders replaced."""
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


Where = dict[Text, Text | Annotated[list[Text], AT_LEAST_ONE]]


@dataclass(frozen=True)
class DataSpec:
    """Where a benchmark's rows are.

    Attributes:
        hub: dataset repository on the hub.
        revision: branch, tag or commit of it.
        files: split to its files in the repository; `{code}` is the data set's language code, `{language}` the
            suite's. A pattern; a map of column to pattern, for plain texts with a row per line; or a list of these,
            of which the first that exists is used. `config:NAME` are the files that the repository's card lists for a
            configuration. After these, the hub's conversion to Parquet is tried.
        converted: split to its CONFIG/SPLIT in that conversion, if not `{code}` or the configuration, and the split's
            name; ORG/NAME@CONFIG/SPLIT if a copy has it, and None if the hub does not.
        columns: the columns of csv and tsv files, if they have no header. A name that is given several times is a list
            of these cells.
        parts: placeholder to the texts for it, such as the names of subjects: a path with the placeholder stands for a
            file for each of them, in this order, whose rows have the text in a column of the placeholder's name.
        cut: column to a mark; of its texts, the part before the mark is used.
        folders: folders of a local data source that may have the files, if the one named as on the hub does not; `.` is
            the source itself.
        verbatim: whether texts are used as they are, instead of in NFC and stripped.
        where: column to the beginning of its text, or several of which any will do, in the rows to use; of a list of
            such maps, the first that describes any row. Placeholders as in `files`. For files that have the rows of
            several languages, or rows twice.
        once: columns that together name a question; of the rows of a question, the first is used.
        evaluate: the split that is scored.
        fewshot: the split of few-shot examples; None if there is none.
        headed: whether the texts of that split begin with a heading, such as `Question:`, which is removed; or the
            words with which worked solutions begin, and the template of the prompt ends.
        samples: folder of the sample rows, relative to the task's.
        defects: file of the data's known defects, relative to the task's folder; it need not exist.
        rows: split to its number of rows in every language, or in each, if known; a single number is for the
            evaluated split.
    """

    __pydantic_config__ = CLOSED

    hub: str
    revision: str
    files: Annotated[dict[Text, Files], AT_LEAST_ONE]
    evaluate: str
    fewshot: str | None = None
    headed: bool | Text = False
    samples: str = "sample"
    defects: str = "known_defects.yaml"
    rows: Positive | dict[str, Positive | dict[str, Positive]] | None = None
    columns: list[Text] = field(default_factory=list)
    parts: dict[str, Annotated[list[str], AT_LEAST_ONE, UNIQUE]] = field(default_factory=dict)
    cut: dict[Text, Annotated[str, AT_LEAST_ONE]] = field(default_factory=dict)
    folders: Annotated[list[str], UNIQUE] = field(default_factory=list)
    verbatim: bool = False
    where: Where | Annotated[list[Where], AT_LEAST_ONE] = field(default_factory=dict)
    once: list[Text] = field(default_factory=list)
    converted: dict[str, str | None] = field(default_factory=dict)

    def rows_of(self, split: str, language: str = "") -> int | None:
        """Returns how many rows a split has in a language, or in all; None if it is not known, or differs."""
        counts = self._rows(split)
        return counts.get(language) if isinstance(counts, dict) else counts

    def sizes(self, split: str) -> list[int]:
        """Returns the known numbers of rows that a split has, in any language, sorted."""
        counts = self._rows(split)
        return sorted(set(counts.values())) if isinstance(counts, dict) else [counts] if counts else []

    def _rows(self, split: str) -> int | dict[str, int] | None:
        if isinstance(self.rows, dict):
            return self.rows.get(split)
        return self.rows if split == self.evaluate else None


@dataclass(frozen=True)
class TranslateSpec:
    """Where the evaluated split is, machine-translated to English, for all languages but English.

    Attributes:
        hub: dataset repository on the hub.
        revision: branch, tag or commit of it.
        file: file pattern in the repository; `{code}` is the data set's language code.
    """

    __pydantic_config__ = CLOSED

    hub: str
    revision: str
    file: str


@dataclass(frozen=True)
class JoinSpec(TranslateSpec):
    """Another data set that rows are completed from; its file is as in `data.files`.

    Attributes:
        split: the split of it.
        key: column of the task's rows by which the other rows are found.
        other_key: column of the other with the same text, ignoring whitespace and case.
        rows: how many rows the other has.
        dialog: whether the task's column has a serialised dialog, whose first turn is the text.
    """

    split: Text
    key: Text
    other_key: Text
    rows: Positive | None = None
    dialog: bool = False
