"""Reads logs of inspect_ai as cells: .eval and .json files, and folders of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from typing import Any, NotRequired, cast

from afrieval._util.archive import Archive
from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes
from afrieval._util.grouping import grouped
from afrieval._util.schema import OpenLine, OpenMap, checked_line, validated_json
from afrieval._util.terminal import note
from afrieval.exchange.foreign_cells import Answered, RunReader, cell_of, id_number, is_mean
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import Kind
from afrieval.results.run_files import RUN

PROGRAM = "inspect_ai"
HINT = "copy the log again; logs of inspect_ai 0.3 can be read"
START = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":\s*"')  # of a JSON log, and of no other JSON file
SAMPLE = re.compile(r"samples/.+\.json")
LARGEST_SAMPLE, LARGEST_LOG = 2**26, 2**30  # bytes
VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partially correct, incorrect, no answer
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}  # inspect_ai takes other texts as numbers
MEANS = ("accuracy", "mean")  # metrics that may be the mean of the documents' values


class InspectTask(OpenMap):
    """What was evaluated, and how."""

    task: str
    model: str
    created: str
    task_version: NotRequired[int | str]
    task_args: NotRequired[dict[str, Any]]
    model_generate_config: NotRequired[dict[str, Any]]
    config: NotRequired[dict[str, Any]]
    packages: NotRequired[dict[str, Any]]
    dataset: NotRequired[dict[str, Any] | None]


class Stated(OpenMap):
    """The value of a metric, or of a scorer for a sample."""

    value: Any


class InspectScorer(OpenMap):
    """The metrics of a scorer."""

    name: str
    metrics: dict[str, Stated]


class InspectResults(OpenMap):
    """The scores of all scorers."""

    scores: list[InspectScorer]


class Header(OpenMap):
    """A log without its samples."""

    status: str
    eval: InspectTask
    results: NotRequired[InspectResults | None]


class Sample(OpenLine):
    """A sample; there is one per epoch."""

    id: int | str
    epoch: int
    input: str | list[dict[str, Any]]
    target: str | list[str]
    messages: list[dict[str, Any]]
    choices: NotRequired[list[str] | None]
    scores: NotRequired[dict[str, Stated] | None]


class Log(Header):
    """A log in a JSON file."""

    samples: NotRequired[list[Sample] | None]


class InspectReader(RunReader):
    """Logs of inspect_ai: files, or folders of them."""

    of_files = True

    def wrote(self, path: Path) -> bool:
        """Returns whether a file is a log, or a folder has one."""
        return bool(_logs(path))

    def read(self, path: Path) -> list[CellScores]:
        """Returns the scores of a log, or the newest of each task and model in a folder; prints notes on the others."""
        headers, usable = {log: _header(log) for log in _logs(path)}, dict[Path, Header]()
        for log, header in headers.items():
            if header["status"] == "success":
                usable[log] = header
            else:
                note(f"left out: {log}: its status is {header['status']}")
        newest = []
        tasks = grouped(usable, lambda log: (usable[log]["eval"]["task"], usable[log]["eval"]["model"]))
        for of_task in tasks.values():
            *older, last = sorted(of_task, key=lambda log: _moment(log, usable[log])) if of_task[1:] else of_task
            newest.append(last)
            for log in older:
                note(f"left out: {log}: {last.name} is newer")
        cells = {log: _cell(log, usable[log]) for log in newest}
        for log, cell in cells.items():
            if isinstance(cell, str):
                note(f"left out: {log}: {cell}")
        return [cell for cell in cells.values() if isinstance(cell, CellScores)]

    def paths_in(self, folder: Path, subfolders: Sequence[str]) -> list[Path]:
        """Returns the logs directly in a folder."""
        return _logs(folder)


READER = InspectReader()


def _moment(log: Path, header: Header) -> datetime:
    """Returns when a log was begun; a time without an offset is taken as UTC."""
    created = header["eval"]["created"]
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        problem = f"{log} was created {created!r}, which is no time to compare with that of another log of its task"
        raise UserError(problem, "correct it, or name the log that counts") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _logs(path: Path) -> list[Path]:
    """Returns a log, or the logs directly in a folder; none in a run folder of the suite."""
    if not path.is_dir():
        return [path] if _is_log(path) else []
    return [] if (path / RUN).exists() else sorted(file for file in path.glob("*") if _is_log(file))


def _is_log(path: Path) -> bool:
    if path.suffix == ".eval":
        return path.is_file()
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return bool(START.match(file.read(100)))
    except OSError:  # reading it will say so
        return False


def _header(path: Path) -> Header:
    if path.suffix == ".json":
        return validated_json(Header, read_bytes(path, HINT, LARGEST_LOG), str(path), HINT)
    archive = Archive(path, HINT, LARGEST_SAMPLE)
    if "header.json" not in archive.members:  # which inspect_ai writes last
        start = archive.read("_journal/start.json")
        return validated_json(Header, b'{"status": "started", ' + start.lstrip()[1:], str(path), HINT)
    return validated_json(Header, archive.read("header.json"), str(path), HINT)


def _samples(path: Path) -> Iterator[Sample]:
    """Yields the samples, reduced to what is needed: events take most of the room."""
    if path.suffix == ".json":
        log = validated_json(Log, read_bytes(path, HINT, LARGEST_LOG), str(path), HINT)
        yield from map(_needed, log.get("samples") or [])
        return
    archive = Archive(path, HINT, LARGEST_SAMPLE)
    for name in filter(SAMPLE.fullmatch, archive.members):
        yield _needed(checked_line(Sample, archive.read(name), f"{path}, {name}", HINT))


def _needed(sample: Mapping[str, Any]) -> Sample:
    return cast(Sample, {name: sample.get(name) for name in Sample.__annotations__})


def _cell(path: Path, header: Header) -> CellScores | str:
    of_documents = grouped(_samples(path), lambda sample: sample["id"])
    if not of_documents:
        return "it has no samples"
    chosen = _metric(header, of_documents.values())
    if chosen is None:
        return "it has no metric that is the mean of a number from 0 to 1 for each sample"
    name, scores = chosen
    task = header["eval"]
    config = task.get("config") or {}
    limited: Kind = "all"
    if config.get("limit"):
        limited = "sample" if (task.get("dataset") or {}).get("shuffled") else "first"
    documents = zip(of_documents.values(), scores, strict=True)
    args = task.get("task_args") or {}
    shots = next((args[name] for name in ("fewshot", "num_fewshot") if name in args), 0)
    return cell_of(
        program=PROGRAM,
        task=task["task"].rpartition("/")[2],
        model=task["model"],
        shots=shots if isinstance(shots, int) and not isinstance(shots, bool) else 0,
        answer_form="generate",
        metric=name,
        documents=[_answered(epochs[0], score) for epochs, score in documents if score is not None],
        comparable_on={"task version": task.get("task_version")},
        recorded_settings={
            "versions": task.get("packages") or {},
            "limit": config.get("limit"),
            "epochs": config.get("epochs"),
            "gen_kwargs": task.get("model_generate_config") or None,
        },
        path=path,
        limited=limited,
    )


def _metric(header: Header, documents: Iterable[list[Sample]]) -> tuple[str, list[float | None]] | None:
    """Returns the first metric that is a mean over documents, and their scores; None for one that was not scored."""
    for scorer in (header.get("results") or {"scores": []})["scores"]:
        scores: list[float | None] = []
        for epochs in documents:
            by_scorer = [(sample["scores"] or {}).get(scorer["name"]) for sample in epochs]
            values = [_number(score["value"]) for score in by_scorer if score]
            numbers = [value for value in values if not isnan(value)]  # of the epochs that were scored
            scores.append(fmean(numbers) if numbers else None)
        for name in MEANS:
            stated = scorer["metrics"].get(name, {"value": None})["value"]
            scored = [score for score in scores if score is not None]
            # Versions that counted samples without a score have no mean.
            if is_mean(fmean(scored) if stated != stated and scored else stated, scored):
                return f"{scorer['name']} {name}", scores
    return None


def _number(value: Any) -> float:
    """Returns a score as a number, as inspect_ai does; NaN, as it writes what was not scored, if it is none."""
    if isinstance(value, str):
        value = VALUES.get(value, WORDS.get(value.lower(), value))
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return nan


def _answered(sample: Sample, score: float) -> Answered:
    target, choices = sample["target"], sample["choices"] or []
    gold = ord(target) - ord("A") if isinstance(target, str) and len(target) == 1 else -1
    question = sample["input"] if isinstance(sample["input"], str) else _texts(sample["input"])
    messages = sample["messages"]
    # What was sent are those before the model's first one, which is marked; in old logs, before the last of its role.
    generated = [i for i, message in enumerate(messages) if message.get("source") == "generate"]
    answers = [i for i, message in enumerate(messages) if message.get("role") == "assistant"]
    sent = messages[: (generated[:1] or answers[-1:] or [len(messages)])[0]]
    return Answered(
        id=id_number(sample["id"]),
        score=score,
        gold=gold if 0 <= gold < len(choices) else -1,
        n_choices=len(choices),
        data=repr((question, choices, target)),
        prompt=repr(_texts(sent)),
    )


def _texts(messages: list[dict[str, Any]]) -> list[tuple[object, object]]:
    """Returns messages without their ids, which are others in each run."""
    return [(message.get("role"), message.get("content")) for message in messages]
