"""Reads runs of lm_eval as cells, to compare them with ours."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

import numpy as np
from annotated_types import Ge, MinLen

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes
from afrieval._util.schema import OpenLine, OpenMap, checked_line, validated_json
from afrieval._util.stamps import digest
from afrieval._util.terminal import note
from afrieval.exchange.foreign_cells import RunReader, TaskName, named, scored_form, short_names
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import Selection, selection
from afrieval.results.run_files import RUN
from afrieval.results.sample_columns import continuations, sent_hashes
from afrieval.results.schema import Declared
from afrieval.scoring.base import Metric, not_measured
from afrieval.scoring.labels import NOT_PARSED
from afrieval.scoring.metrics import METRICS
from afrieval.tasks.declaration.spec import load_task

DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
SAMPLES = re.compile(rf"samples_(.+)_({DATE})\.jsonl")
DATED = re.compile(rf".+_{DATE}\.jsonl?")  # also samples: without results, they are damaged
INVALID = ("[invalid]", ["[invalid]"])  # what its filters return if they find no answer
HINT = "run lm_eval again with --output_path and --log_samples, in the installed version or a similar one"
Sample = dict[str, Any]
Pair = Annotated[list[Any], MinLen(2)]


class Results(OpenMap):
    """The results file; each key has an entry per task."""

    results: dict[str, dict[str, Any]]
    configs: NotRequired[dict[str, dict[str, Any]]]
    versions: NotRequired[dict[str, Any]]
    higher_is_better: NotRequired[dict[str, dict[str, Any]] | None]
    config: NotRequired[dict[str, Any] | None]
    model_name: NotRequired[str | None]


class ForeignSample(OpenLine):
    """A line of a sample file; scores are under the names of their metrics."""

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
        """Returns the task's entry of the results file under a key such as `configs`."""
        entries = self.results.get(what)
        if not isinstance(entries, dict) or self.name not in entries:
            raise UserError(f"the results next to {self.path} have no {what} of {self.name}", HINT)
        return entries[self.name]


def foreign_tasks(folder: Path) -> list[ForeignTask]:
    """Returns the newest samples of each task in a folder, sorted by model folder and name."""
    newest: dict[tuple[Path, str], tuple[str, Path]] = {}
    for path, match in _dated(folder, SAMPLES):
        key = (path.parent, match[1])
        newest[key] = max(newest.get(key, (match[2], path)), (match[2], path))
    if not newest:
        raise UserError(f"{folder} has no samples", HINT)
    read: dict[tuple[Path, str], dict[str, Any]] = {}
    tasks = []
    for (parent, name), (date, path) in sorted(newest.items()):
        if (parent, date) not in read:
            if not (files := sorted(parent.glob(f"*_{date}.json"))):
                problem = f"there is no results file of the same date next to {path}"
                raise UserError(problem, "copy the whole folder of lm_eval")
            read[parent, date] = dict(validated_json(Results, read_bytes(files[0], HINT), str(files[0]), HINT))
        tasks.append(ForeignTask(name, path, read[parent, date]))
    return tasks


def _dated(folder: Path, form: re.Pattern[str]) -> list[tuple[Path, re.Match[str]]]:
    """Returns the files whose name has a form, in a folder and its direct subfolders."""
    paths = sorted([*folder.glob("*.json*"), *folder.glob("*/*.json*")])
    return [(path, match) for path in paths if (match := form.fullmatch(path.name))]


def read_foreign(task: ForeignTask) -> dict[str, list[Sample]]:
    """Returns the samples under each filter; old files do not name it, and have the samples of one after another's.

    Raises:
        UserError: naming a line that is damaged, or that repeats a document.
    """
    filters = list(dict.fromkeys(key.partition(",")[2] for key in task.entry("results") if "," in key)) or ["none"]
    by_filter: dict[str, dict[int, Sample]] = {}
    for number, line in enumerate(read_bytes(task.path, HINT).split(b"\n"), 1):
        if line.strip():
            sample = checked_line(ForeignSample, line, f"{task.path}, line {number}", HINT)
            row = sample["doc_id"]
            unnamed = next((name for name in filters if row not in by_filter.get(name, ())), filters[0])
            if by_filter.setdefault(str(sample.get("filter", unnamed)), {}).setdefault(row, sample) is not sample:
                raise UserError(f"{task.path}, line {number}: document {row} is repeated", HINT)
    if not by_filter:
        raise UserError(f"{task.path} is empty", HINT)
    if len({len(samples) for samples in by_filter.values()}) > 1:
        raise UserError(f"{task.path}: its filters {', '.join(by_filter)} have different documents", HINT)
    return {name: list(samples.values()) for name, samples in by_filter.items()}


ADDRESS = re.compile(r"0x[0-9a-f]+")  # of a function that the harness could not write out


def must(task: ForeignTask, samples: list[Sample]) -> dict[str, object]:
    """Returns the settings that must match, by the names that our runs have for them.

    The template of exported tasks is stored as a function, the same for all prompts; their version represents it.
    """
    config, shots = task.entry("configs"), task.entry("n-shot")
    prompt = ADDRESS.sub("", "\0".join(str(config.get(key)) for key in ("doc_to_text", "description")))
    return {
        "task version": task.entry("versions"),
        "data": digest("\0".join(s["doc_hash"] for s in samples)),
        "few-shot seed": (task.results.get("config") or {}).get("fewshot_seed") if shots else None,
        "prompt text": digest(prompt),
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


OWN_KEYS = {"id", "choices", "gold", "worked"}  # keys of all documents of exported tasks


def _scored_cell(task: ForeignTask, name: TaskName, model: str, metric: Metric, samples: list[Sample]) -> CellScores:
    """Returns the scores; exported tasks lack the rows without an answer, but keep row numbers."""
    exported = name.ours and all(
        isinstance(s["doc"], dict) and s["doc"].keys() >= OWN_KEYS and type(s["doc"]["id"]) is int for s in samples
    )
    samples = sorted(samples, key=lambda s: s["doc"]["id"] if exported else s["doc_id"])
    output_type = task.entry("configs").get("output_type")
    spec = load_task(name.task.removesuffix("_translate")) if exported else None
    declared = Declared()
    if spec:  # without labels: the harness does not store picked choices
        parallel = spec.parallel.get(spec.data.evaluate, []) if spec.name == name.task else []
        declared = {"title": spec.title, "labels": [], "breakdowns": spec.breakdowns, "parallel": parallel}
        if task.name in ((task.results.get("config") or {}).get("sample_rows") or []):  # as our export says
            declared["sample_rows"] = {name.language: True}
    none = np.full(len(samples), -1, dtype=np.int64)
    form = "generate"
    if output_type == "multiple_choice":
        form = scored_form(part for s in samples for part in continuations(s))
    sent = [sent_hashes(s) for s in samples]
    invalid = np.array([[float(any(of in INVALID for of in s.get("filtered_resps") or []))] for s in samples])
    unparsed = {NOT_PARSED: invalid} if invalid.any() else {}
    return CellScores(
        name=task.name,
        task=name.task if exported or not name.is_namesake else f"{name.task} (lm_eval)",
        language=name.language,
        prompt_language=name.prompt_language,
        prompt=name.prompt,
        model=model,
        shots=task.entry("n-shot"),
        answer_form=form,
        metrics={metric.name: metric, **{name: METRICS[name]() for name in unparsed}},
        measures={metric.name: np.array([[s[metric.name]] for s in samples], dtype=np.float64), **unparsed},
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
        declared=declared,
    )


def _selection(task: ForeignTask, n: int) -> Selection:
    """Returns which rows were run: the first ones, or those that are named; those without an answer count as run."""
    config, counts = task.results.get("config") or {}, task.entry("n-samples")
    test_set = counts.get("original") if isinstance(counts, dict) else None
    if not (config.get("limit") or config.get("samples")):
        return Selection("all", n)
    if not isinstance(test_set, int):
        return Selection("sample" if config.get("samples") else "first", n)
    return selection(n, test_set, sampled=bool(config.get("samples")))


def _metric(task: ForeignTask, chosen: str, samples: list[Sample]) -> Metric | None:
    """Returns the first metric of a filter that scores single documents, higher being better; None if there is none.

    Some, such as f1, store a pair per document, from which the score of all is computed.
    """
    better = (task.results.get("higher_is_better") or {}).get(task.name) or {}
    for key in task.entry("results"):
        name, comma, filter_name = key.partition(",")
        if (
            comma
            and filter_name == chosen
            and better.get(name) is not False
            and all(isinstance(value := s.get(name), int | float) and 0 <= value <= 1 for s in samples)
        ):
            return Metric(str(name), not_measured)
    return None


def _gold(sample: Sample, exported: bool, output_type: Any) -> int:
    if exported:  # the answer of a number task is not a choice
        gold = str(sample["doc"]["gold"])
        return int(gold) if sample["doc"]["choices"] and gold.isdecimal() else -1
    target = str(sample["target"])
    return int(target) if output_type == "multiple_choice" and target.isdecimal() else -1


class LmEvalReader(RunReader):
    """Output folders of lm_eval; the newest samples of each task."""

    def wrote(self, path: Path) -> bool:
        """Returns whether a folder was written by lm_eval, rather than by `afrieval run`."""
        return path.is_dir() and not (path / RUN).exists() and bool(_dated(path, DATED))

    def read(self, path: Path) -> list[CellScores]:
        """Returns the tasks in a folder as cells, and prints a note for each task left out.

        Tasks without a language of the suite in their name, or without scores per document, are left out.
        """
        tasks = foreign_tasks(path)
        models = short_names(
            {task.path.parent: str(task.results.get("model_name") or task.path.parent.name) for task in tasks}
        )
        cells = []
        for task in tasks:
            name = named(task.name)
            if problem := name.problem:
                note(f"left out: {task.name} of {path}: {problem}")
                continue
            filters = read_foreign(task)
            chosen = "none" if "none" in filters else next(iter(filters))
            samples = filters.pop(chosen)
            if filters:
                note(f"{task.name} of {path}: the filter {chosen} is read, not {', '.join(filters)}")
            if metric := _metric(task, chosen, samples):
                cells.append(_scored_cell(task, name, f"{models[task.path.parent]} (lm_eval)", metric, samples))
            else:
                why = "it has no metric with a number from 0 to 1 for each document"
                note(f"left out: {task.name} of {path}: {why}")
        return cells

    def paths_in(self, folder: Path, subfolders: Sequence[str]) -> list[Path]:
        """Returns a folder, unless its subfolders have results themselves."""
        return [] if any(self.wrote(folder / name) for name in subfolders) else super().paths_in(folder, subfolders)


READER = LmEvalReader()
