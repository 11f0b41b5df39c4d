"""The folder that `lm_eval --output_path DIR --log_samples` writes: its tasks, samples and results."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

from annotated_types import Ge, MinLen
from typing_extensions import TypedDict

from afrieval.errors import UserError
from afrieval.files.content import read_bytes
from afrieval.files.schema import LINE, OPEN, checked_line, validated_json
from afrieval.results.files import RUN

DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
SAMPLES = re.compile(rf"samples_(.+)_({DATE})\.jsonl")
DATED = re.compile(rf".+_{DATE}\.jsonl?")  # also samples: without results, they are damaged
HINT = "run lm_eval again with --output_path and --log_samples, in the installed version or a similar one"
Pair = Annotated[list[Any], MinLen(2)]


class Results(TypedDict):
    """The results file; each key has an entry per task."""

    __pydantic_config__ = OPEN  # type: ignore[misc]
    results: dict[str, dict[str, Any]]
    configs: NotRequired[dict[str, dict[str, Any]]]
    versions: NotRequired[dict[str, Any]]
    higher_is_better: NotRequired[dict[str, dict[str, Any]] | None]
    config: NotRequired[dict[str, Any] | None]
    model_name: NotRequired[str | None]


class ForeignSample(TypedDict):
    """A line of a sample file; scores are under the names of their metrics."""

    __pydantic_config__ = LINE  # type: ignore[misc]
    doc_id: Annotated[int, Ge(0)]
    doc: Any
    target: Any
    arguments: dict[str, dict[str, Any] | Pair] | list[Pair]
    doc_hash: str
    prompt_hash: str
    filter: NotRequired[str]


@dataclass(frozen=True)
class ForeignTask:
    """The newest samples of a task in a folder.

    Attributes:
        path: its sample file.
        results: the content of the results file of the same run.
    """

    name: str
    path: Path
    results: dict[str, Any]

    def told(self, what: str) -> Any:
        """Returns the task's entry of the results file under a key such as `configs`.

        Raises:
            UserError: if there is none.
        """
        said = self.results.get(what)
        if not isinstance(said, dict) or self.name not in said:
            raise UserError(f"the results next to {self.path} have no {what} of {self.name}", HINT)
        return said[self.name]


def is_foreign(folder: Path) -> bool:
    """Returns whether a folder was written by lm_eval, rather than by `afrieval run`."""
    return folder.is_dir() and not (folder / RUN).exists() and bool(_dated(folder, DATED))


def foreign_tasks(folder: Path) -> list[ForeignTask]:
    """Returns the newest samples of each task in a folder, sorted by model folder and name.

    Raises:
        UserError: if there are no samples, or their results are missing or damaged.
    """
    newest: dict[tuple[Path, str], tuple[str, Path]] = {}
    for path, match in _dated(folder, SAMPLES):
        key = (path.parent, match[1])
        newest[key] = max(newest.get(key, (match[2], path)), (match[2], path))
    if not newest:
        raise UserError(f"{folder} has no samples", HINT)
    read: dict[tuple[Path, str], dict[str, Any]] = {}
    found = []
    for (parent, name), (date, path) in sorted(newest.items()):
        if (parent, date) not in read:
            read[parent, date] = _results(path, date)
        found.append(ForeignTask(name, path, read[parent, date]))
    return found


def _dated(folder: Path, form: re.Pattern[str]) -> list[tuple[Path, re.Match[str]]]:
    """Returns the files whose name has a form, in a folder and its direct subfolders."""
    paths = sorted([*folder.glob("*.json*"), *folder.glob("*/*.json*")])
    return [(path, match) for path in paths if (match := form.fullmatch(path.name))]


def _results(samples: Path, date: str) -> dict[str, Any]:
    paths = sorted(samples.parent.glob(f"*_{date}.json"))
    if not paths:
        raise UserError(
            f"there is no results file of the same date next to {samples}", "copy the whole folder of lm_eval"
        )
    return dict(validated_json(Results, read_bytes(paths[0], HINT), str(paths[0]), HINT))


def read_foreign(path: Path) -> list[dict[str, Any]]:
    """Returns the samples of a file under one filter: `none` if it exists, else the first.

    Raises:
        UserError: naming a line that is damaged, or that repeats a document.
    """
    lines: dict[str, dict[int, dict[str, Any]]] = {}
    for number, line in enumerate(read_bytes(path, HINT).split(b"\n"), 1):
        if line.strip():
            sample = checked_line(ForeignSample, line, f"{path}, line {number}", HINT)
            of_filter = lines.setdefault(str(sample.get("filter", "none")), {})
            if of_filter.setdefault(sample["doc_id"], sample) is not sample:
                raise UserError(f"{path}, line {number}: document {sample['doc_id']} is repeated", HINT)
    if not lines:
        raise UserError(f"{path} is empty", HINT)
    return list(lines.get("none", next(iter(lines.values()))).values())
