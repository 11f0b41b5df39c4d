"""Writes runs as `lm_eval --output_path DIR --log_samples` does: a folder per model, with results and samples."""

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval._util.whole_files import write_whole, written_whole
from afrieval.exchange.stored_runs import (
    StoredRun,
    file_name,
    generation_options,
    has_texts,
    hub_id,
    scored_lines,
    strict_json,
)
from afrieval.results.cell_scores import CellScores
from afrieval.results.samples import Sample
from afrieval.results.summary import harness_results

FIELDS = ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
HASHES = ("doc_hash", "prompt_hash", "target_hash")
SETTINGS = {  # the harness' name of a setting to the suite's, of a session's `eval`
    "limit": "limit",
    "random_seed": "random_seed",
    "numpy_seed": "numpy_random_seed",
    "torch_seed": "torch_random_seed",
    "fewshot_seed": "fewshot_random_seed",
}


def write_harness_results(runs: list[StoredRun], folder: Path) -> list[Path]:
    """Writes a folder per model, or per run where a model has several, and returns these folders.

    Samples without a score are left out, as the harness has none. Samples of a run that stored no texts are left out as
    well, and a note says so.
    """
    folders = []
    for model, of_model in grouped(runs, lambda run: run.model).items():
        for run in of_model:
            name = model if len(of_model) == 1 else f"{model}_{run.name}"
            folders.append(folder / file_name(name))
            folders[-1].mkdir(parents=True)
            _write(run, folders[-1])
    return folders


def _write(run: StoredRun, folder: Path) -> None:
    written = datetime.fromisoformat(run.visit["date"])
    # without a time zone, as the harness has it
    in_utc = written.replace(tzinfo=None) - (written.utcoffset() or timedelta())
    date = in_utc.isoformat(timespec="microseconds").replace(":", "-")
    hashes, configs = {}, {}
    for cell in run.cells:
        configs[cell.name] = _config(cell)
        if not has_texts(cell):
            note(f"left out: samples of {cell.name} in {run.name}, since their texts are not stored")
            continue
        with written_whole(folder / f"samples_{file_name(cell.name)}_{date}.jsonl") as file:
            digest = hashlib.sha256()
            for line in scored_lines(cell):
                digest.update("".join(line.get(name, "") for name in HASHES).encode())
                file.write(strict_json(_sample(line)) + b"\n")
        hashes[cell.name] = digest.hexdigest()
    write_whole(folder / f"results_{date}.json", strict_json(_results(run, configs, hashes), indent=2) + b"\n")


def _results(run: StoredRun, configs: dict[str, Any], hashes: dict[str, str]) -> dict[str, Any]:
    visit = run.visit
    versions = visit.get("versions", {})
    versions_used = {
        "lm_eval_version": versions.get("lm-eval"),
        "transformers_version": versions.get("transformers"),
        "git_hash": visit.get("git_commit"),
        "max_length": visit.get("max_length"),
    }
    return {
        **harness_results(run.cells, {cell.task: int(str(cell.comparable_on["task version"])) for cell in run.cells}),
        "configs": configs,
        "config": _settings(run),
        "date": datetime.fromisoformat(visit["date"]).timestamp(),
        "task_hashes": hashes,
        "model_source": run.record["identity"]["model"].get("model_type"),
        "model_name": run.model,
        "model_name_sanitized": file_name(run.model),
        **{name: value for name, value in versions_used.items() if value is not None},
    }


def _settings(run: StoredRun) -> dict[str, Any]:
    visit = run.visit
    model: dict[str, Any] = dict(run.record["identity"]["model"])
    evaluation = visit.get("config", {}).get("eval", {})
    settings = {
        "model": model.get("model_type"),
        "model_args": {"pretrained": run.model},
        "model_dtype": visit.get("dtype"),
        "model_revision": model.get("revision"),
        "model_sha": visit.get("model_commit"),
        "batch_size": visit.get("batch_size"),
        "device": visit.get("device"),
        **{theirs: evaluation.get(ours) for theirs, ours in SETTINGS.items()},
        "samples": {cell.name: cell.ids.tolist() for cell in run.cells if cell.selection.kind == "sample"} or None,
        "sample_rows": [cell.name for cell in run.cells if cell.own_rows] or None,
    }
    return {name: value for name, value in settings.items() if value is not None}


def _config(cell: CellScores) -> dict[str, Any]:
    """Returns what the harness calls the config of a task; the prompt is in the samples."""
    first = next(scored_lines(cell))
    generation = generation_options(first)
    texts = isinstance(first["resps"][0][0], str)
    config: dict[str, Any] = {
        "task": cell.name,
        "output_type": "generate_until" if texts else "multiple_choice" if cell.n_choices.any() else "loglikelihood",
        "num_fewshot": cell.shots,
        "metric_list": [{"metric": name, "higher_is_better": m.higher_is_better} for name, m in cell.metrics.items()],
        "metadata": {"version": cell.comparable_on["task version"], "prompt_hash": cell.comparable_on["prompt text"]},
    }
    config |= {"dataset_path": hub_id(cell)} if hub_id(cell) else {}
    return config | ({"generation_kwargs": generation} if generation else {})


def _sample(line: Sample) -> dict[str, Any]:
    """Returns a line as the harness writes it: arguments by name, and likelihoods as texts."""
    arguments = {
        f"gen_args_{number}": {f"arg_{place}": value for place, value in enumerate(given)}
        for number, given in enumerate(line["arguments"])
    }
    return {
        **{name: line[name] for name in FIELDS if name in line},
        "target": str(line.get("target")),
        "arguments": arguments,
        "resps": [[_as_texts(answer) for answer in answers] for answers in line["resps"]],
        "filtered_resps": [_as_texts(answer) for answer in line.get("filtered_resps", [])],
        **{name: line[name] for name in (*HASHES, *line["metrics"]) if name in line},
    }


def _as_texts(answer: Any) -> Any:
    """Returns an answer as the harness stores it: a text, or likelihood and whether it is greedy."""
    return [str(part) for part in answer[:2]] if isinstance(answer, list) else str(answer)
