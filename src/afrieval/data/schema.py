"""The sections of a task file that say where its rows are."""

from dataclasses import dataclass

from afrieval.files.schema import CLOSED, Positive


@dataclass(frozen=True)
class DataSpec:
    """Where a benchmark's rows are.

    Attributes:
        hub: dataset repository on the hub.
        revision: branch, tag or commit of it.
        files: split to file pattern below the repository, or `config:NAME` where the repository's card says which files
            are of a configuration; `{code}` is the data set's language code.
        evaluate: the split that is scored.
        fewshot: the split that few-shot examples come from; none if the benchmark has no pool.
        headed: whether the texts of that split begin with a heading, such as `Question:`, which is cut off.
        samples: folder of the sample rows, seen from the task's own.
        rows: split to the number of rows it has in every language, where that is known; one number is that of the
            evaluated split.
    """

    __pydantic_config__ = CLOSED

    hub: str
    revision: str
    files: dict[str, str]
    evaluate: str
    fewshot: str | None = None
    headed: bool = False
    samples: str = "sample"
    rows: Positive | dict[str, Positive] | None = None

    def rows_of(self, split: str) -> int | None:
        """Returns how many rows a split has; None if that is not known."""
        if isinstance(self.rows, dict):
            return self.rows.get(split)
        return self.rows if split == self.evaluate else None


@dataclass(frozen=True)
class TranslateSpec:
    """Where the evaluated split is that was translated to English by machine; for all languages but English.

    Attributes:
        hub: dataset repository on the hub.
        revision: branch, tag or commit of it.
        file: file pattern below the repository; `{code}` is the data set's language code.
    """

    __pydantic_config__ = CLOSED

    hub: str
    revision: str
    file: str


@dataclass(frozen=True)
class JoinSpec:
    """Another data set that rows are completed from.

    Attributes:
        hub: dataset repository on the hub.
        revision: branch, tag or commit of it.
        file: as in `data.files`.
        split: the split of it.
        key: column of the task's rows that tells which row of the other is meant.
        other_key: column of the other that has the same text, but for blanks and capitals.
        rows: how many rows the other has.
        dialog: whether the task's column holds a dialog written out, whose first turn is the text.
    """

    __pydantic_config__ = CLOSED

    hub: str
    revision: str
    file: str
    split: str
    key: str
    other_key: str
    rows: Positive | None = None
    dialog: bool = False
