"""Runs of lm_eval as scores of cells, to compare them with ours."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired

import numpy as np
from annotated_types import Ge, MinLen
from typing_extensions import TypedDict

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes
from afrieval._util.schema import LINE, OPEN, checked_line, validated_json
from afrieval._util.terminal import note
from afrieval.languages import ENGLISH, LANGUAGES, names
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import PromptId, Selection, selection
from afrieval.results.run_files import RUN
from afrieval.results.sample_columns import continuations, sent_hashes
from afrieval.results.schema import Declared
from afrieval.scoring.base import Metric, not_measured
from afrieval.tasks.declaration.spec import load_task, task_names

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

    def entry(self, what: str) -> Any:
        """Returns the task's entry of the results file under a key such as `configs`.

        Raises:
            UserError: if there is none.
        """
        said = self.results.get(what)
        if not isinstance(said, dict) or self.name not in said:
            raise UserError(f"the results next to {self.path} have no {what} of {self.name}", HINT)
        return said[self.name]


def is_lm_eval(folder: Path) -> bool:
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


EXPORTED = re.compile(
    r"(.+)_([a-z]{3})_(eng|native)_(\d+|paper\d+(?:_uncleaned)?)"
)  # as afrieval.harness.export names its cells
# yor or yor_Latn, but not part of a pair of languages, nor agieval_lsat_ar (analytical reasoning) and blimp_nl's om_te.
LANGUAGE = r"(?<=_)(?<!_lsat_)(?!om_te)({code})(?:_[A-Z][a-z]{{3}})?+(?=_|$)"
WRITTEN = re.compile(r"_(en|eng|native)(?=_)")


class TaskName(NamedTuple):
    """A parsed name.

    Attributes:
        language: ISO 639-3; empty if the name has no language of the suite.
        prompt: its id; 0 if the name has none.
        ours: whether it has the form of our exported tasks.
    """

    task: str
    language: str
    prompt_language: str
    prompt: PromptId
    ours: bool

    @property
    def is_namesake(self) -> bool:
        """Whether one of our tasks has its name, so that a harness task must be marked."""
        return self.task.removesuffix("_translate") in task_names()

    @property
    def problem(self) -> str:
        """Why scores under this name are left out; empty if they are not."""
        if not self.language:
            return "its name has no language of the suite"
        if self.language == ENGLISH and self.prompt_language == "native":
            return "for English, native prompts are the English ones"
        return ""


def named(name: str) -> TaskName:
    """Parses a task's name; the rest, without language and prompt, is the task."""
    if name in _complete():
        return TaskName(name, ENGLISH, "eng", 1, True)
    exported = EXPORTED.fullmatch(name)
    if exported and exported[2] in LANGUAGES and exported[1].removesuffix("_translate") in task_names():
        return TaskName(exported[1], exported[2], exported[3], _prompt(exported[4]), True)
    task, _, number = name.partition("_prompt_")
    prompt = int(number) if number.isdecimal() else 0
    task = task if prompt else name
    found = list(re.finditer(LANGUAGE.format(code="|".join(_codes())), task))
    if not found:
        return TaskName(name, "", "eng", 0, False)
    at = found[-1]
    task = task[: at.start() - 1] + task[at.end() :]
    written = WRITTEN.search(task)
    task = WRITTEN.sub("", task, count=1)
    return TaskName(task, _codes()[at[1]], "native" if written and written[1] == "native" else "eng", prompt, False)


def _prompt(text: str) -> PromptId:
    return int(text) if text.isdecimal() else text


@cache
def _complete() -> set[str]:
    """Returns the tasks with complete prompts, which are exported by their names."""
    return {name for name in task_names() if load_task(name).prompt}


@cache
def _codes() -> dict[str, str]:
    """Returns all names of languages to the suite's codes: the data sets' own, and the codes and names of standards."""
    theirs = {code: ours for name in task_names() for ours, code in load_task(name).languages.items()}
    theirs = {code: ours for code, ours in theirs.items() if "-" not in code}  # en-yor is a pair of languages
    known = {code.split("_")[0]: ours for code, ours in theirs.items()}
    return known | {name.replace(" ", "_"): code for name, code in names().items()} | {c: c for c in LANGUAGES}


ADDRESS = re.compile(r"0x[0-9a-f]+")  # of a function that the harness could not write out
Sample = dict[str, Any]


def must(task: ForeignTask, samples: list[Sample]) -> dict[str, object]:
    """Returns the settings that must match, by the names that our runs have for them.

    The template of exported tasks is stored as a function, the same for all prompts; their version represents it.
    """
    config, shots = task.entry("configs"), task.entry("n-shot")
    prompt = ADDRESS.sub("", "\0".join(str(config.get(key)) for key in ("doc_to_text", "description")))
    return {
        "task version": task.entry("versions"),
        "data": digest(s["doc_hash"] for s in samples),
        "few-shot seed": (task.results.get("config") or {}).get("fewshot_seed") if shots else None,
        "prompt text": digest([prompt]),
        "limit of answers": (config.get("generation_kwargs") or {}).get("max_gen_toks"),
    }


def may(task: ForeignTask) -> dict[str, object]:
    """Returns the settings that may differ, by the names that our runs have for them."""
    config, results = task.results.get("config") or {}, task.results
    return {
        "dtype": config.get("model_dtype"),
        "device": config.get("device"),
        "batch_size": int(batch) if (batch := str(config.get("batch_size"))).isdecimal() else batch,
        "versions": {"lm-eval": results.get("lm_eval_version"), "transformers": results.get("transformers_version")},
        "limit": config.get("limit"),
        "gen_kwargs": config.get("gen_kwargs") or None,
        "chat template": results.get("chat_template_sha"),
        "system text": results.get("system_instruction_sha"),
    }


def declared(name: TaskName) -> Declared:
    """Returns the declaration of our task, without labels, as the harness does not store picked choices."""
    spec = load_task(name.task.removesuffix("_translate"))
    translated = spec.name != name.task
    parallel = [] if translated else spec.parallel.get(spec.data.evaluate, [])
    return {"title": spec.title, "labels": [], "breakdowns": spec.breakdowns, "parallel": parallel}


def digest(texts: Iterable[str]) -> str:
    """Returns a hash of texts, in order."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


OWN_KEYS = {"id", "choices", "gold", "worked"}  # keys of all documents of exported tasks


def lm_eval_cells(folder: Path) -> list[CellScores]:
    """Returns the tasks in a folder of lm_eval as cells, and prints a note for each task left out.

    Models are marked `(lm_eval)`, and so are tasks of the harness with the name of one of ours,
    since their prompts, and possibly their documents, differ. Tasks without a language of the suite
    in their name, or without scores per document, are left out.

    Raises:
        UserError: if the folder has no samples, or damaged ones.
    """
    tasks = foreign_tasks(folder)
    labels = _labels(tasks)
    found = []
    for task in tasks:
        cell = _cell(task, labels[task.path.parent])
        if isinstance(cell, CellScores):
            found.append(cell)
        else:
            note(f"left out: {task.name} of {folder}: {cell}")
    return found


def _labels(tasks: list[ForeignTask]) -> dict[Path, str]:
    """Returns a model name for each folder: the last part of a path, unless two are the same."""
    names = {task.path.parent: str(task.results.get("model_name") or task.path.parent.name) for task in tasks}
    short = {at: Path(name).name if name.startswith(("/", ".", "~")) else name for at, name in names.items()}
    again = {name for name in short.values() if list(short.values()).count(name) > 1}
    return {at: f"{names[at] if name in again else name} (lm_eval)" for at, name in short.items()}


def _cell(task: ForeignTask, model: str) -> CellScores | str:
    """Returns the scores of a task, or the reason why there are none."""
    name = named(task.name)
    if name.problem:
        return name.problem
    samples = read_foreign(task.path)
    metric = _metric(task, samples)
    if metric is None:
        return "it has no metric with a number from 0 to 1 for each document"
    return _scored_cell(task, name, model, metric, samples)


def _scored_cell(task: ForeignTask, name: TaskName, model: str, metric: Metric, samples: list[Sample]) -> CellScores:
    """Returns the scores; exported tasks lack the rows without an answer, but keep row numbers."""
    exported = name.ours and all(isinstance(s["doc"], dict) and s["doc"].keys() >= OWN_KEYS for s in samples)
    samples = sorted(samples, key=lambda s: s["doc"]["id"] if exported else s["doc_id"])
    output_type = task.entry("configs").get("output_type")
    none = np.full(len(samples), -1, dtype=np.int64)
    sent = [sent_hashes(s) for s in samples]
    return CellScores(
        name=task.name,
        task=name.task if exported or not name.is_namesake else f"{name.task} (lm_eval)",
        language=name.language,
        prompt_language=name.prompt_language,
        prompt=name.prompt,
        model=model,
        shots=task.entry("n-shot"),
        answer_form=_scored_form(samples) if output_type == "multiple_choice" else "generate",
        metrics={metric.name: metric},
        measures={metric.name: np.array([[s[metric.name]] for s in samples], dtype=np.float64)},
        ids=np.array([s["doc"]["id"] if exported else s["doc_id"] for s in samples], dtype=np.int64),
        golds=np.array([_gold(s, exported, output_type) for s in samples], dtype=np.int64),
        picked=none,
        n_choices=none,
        rows=len(samples),
        selection=_selection(task, len(samples)),
        request_hashes={what: np.array([hashes[what] for hashes in sent]) for what in sent[0]},
        comparable_on=must(task, samples),
        recorded_settings=may(task),
        path=task.path,
        declared=_declared(task, name) if exported else {},
    )


def _declared(task: ForeignTask, name: TaskName) -> Declared:
    """Returns what the task file says of an exported task, and our export of whether its rows are the suite's own."""
    own = task.name in ((task.results.get("config") or {}).get("sample_rows") or [])
    return {**declared(name), "sample_rows": {name.language: True}} if own else declared(name)


def _selection(task: ForeignTask, n: int) -> Selection:
    """Returns which rows were run: the first ones, or those that are named; those without an answer count as run."""
    config, counts = task.results.get("config") or {}, task.entry("n-samples")
    of = counts.get("original") if isinstance(counts, dict) else None
    if not (config.get("limit") or config.get("samples")):
        return Selection("all", n)
    if not isinstance(of, int):
        return Selection("sample" if config.get("samples") else "first", n)
    return selection(n, of, sampled=bool(config.get("samples")))


def _metric(task: ForeignTask, samples: list[Sample]) -> Metric | None:
    """Returns the first metric that scores single documents, higher being better; None if there is none.

    Some, such as f1, store a pair per document, from which the score of all is computed.
    """
    better = (task.results.get("higher_is_better") or {}).get(task.name) or {}
    for key in task.entry("results"):
        name, comma, _ = key.partition(",")
        if comma and better.get(name) is not False and all(_is_score(s.get(name)) for s in samples):
            return Metric(str(name), not_measured)
    return None


def _is_score(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _scored_form(samples: list[Sample]) -> str:
    """Returns `letter` if all continuations are single letters, else `text`."""
    scored = {str(part).strip(" ().:\n") for sample in samples for part in continuations(sample)}
    return "letter" if all(len(part) == 1 and part.isalpha() for part in scored) else "text"


def _gold(sample: Sample, exported: bool, output_type: Any) -> int:
    if exported:  # the answer of a number task is not a choice
        return int(sample["doc"]["gold"]) if sample["doc"]["choices"] else -1
    target = str(sample["target"])
    return int(target) if output_type == "multiple_choice" and target.isdecimal() else -1
