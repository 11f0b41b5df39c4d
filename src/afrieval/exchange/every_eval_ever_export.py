"""Writes runs as records of Every Eval Ever (schema 0.3.0 of evaleval/every_eval_ever)."""

import hashlib
import json
import math
import time
import uuid
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval._util.whole_files import write_whole, written_whole
from afrieval.analysis.verdicts import OWN
from afrieval.exchange.stored_runs import (
    StoredRun,
    file_name,
    generation_options,
    has_texts,
    hub_id,
    scored_lines,
    strict_json,
)
from afrieval.exchange.tidy import as_text
from afrieval.languages import LANGUAGES
from afrieval.models.registry import backend_of
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Row, stored_row
from afrieval.results.sample_columns import continuations
from afrieval.results.samples import OWN_KEYS, RIGHT, Sample, document_score, generated_text, log_likelihoods
from afrieval.results.summary import CELL, KEY, SCORE
from afrieval.scoring.base import Metric
from afrieval.scoring.labels import REFUSED
from afrieval.tasks.cells.sample_lines import prompt_of

Json = dict[str, Any]
SCHEMA = "0.3.0"
UNKNOWN = "unknown"
IDS = {"acc": "accuracy", "exact_match": "exact-match"}  # names of metrics that the database shares; others are ours
SPLITS = ("train", "validation", "test")
# columns of a row of scores that say how answers were asked for
GENERATION = (
    *("answer_form", "prompt", "prompt_language", "prompt_hash"),
    *("task_version", "variant", "fewshot_selection", "fewshot_seed"),
)


def write_records(runs: list[StoredRun], folder: Path) -> list[Path]:
    """Writes `data/TASK/DEVELOPER/MODEL/UUID.json`, with samples next to them, and returns the records."""
    retrieved, paths = str(int(time.time())), []
    for run in runs:
        developer, _, name = run.model.rpartition("/")
        parts = [file_name(part).replace("__", "_") if part else UNKNOWN for part in (developer, name)]
        for (task, *_), cells in grouped(run.cells, lambda cell: (cell.task, cell.shots, cell.answer_form)).items():
            relative = Path("data", file_name(task), *parts)
            (folder / relative).mkdir(parents=True, exist_ok=True)
            record = _record(run, cells, retrieved)
            digest = hashlib.sha256(f"{run.name} {record['evaluation_id']} {sorted(c.name for c in cells)}".encode())
            stem = str(uuid.UUID(bytes=digest.digest()[:16], version=4))  # the same whenever the same run is exported
            if all(map(has_texts, cells)):
                samples = relative / f"{stem}_samples.jsonl"
                record["detailed_evaluation_results"] = _write_samples(record, cells, folder, samples)
            else:
                note(f"left out: samples of {task} in {run.name}, since their texts are not stored")
            paths.append(folder / relative / f"{stem}.json")
            write_whole(paths[-1], strict_json(record, indent=2) + b"\n")
    return paths


def _write_samples(record: Json, cells: list[CellScores], folder: Path, path: Path) -> Json:
    """Writes a line per document of each cell, and returns what the record says of the file."""
    checksum, rows = hashlib.sha256(), 0
    shared = {
        "schema_version": SCHEMA,
        "evaluation_id": record["evaluation_id"],
        "model_id": record["model_info"]["id"],
    }
    with written_whole(folder / path) as file:
        for cell in cells:
            ids = {"evaluation_name": cell.name, "evaluation_result_id": f"{cell.name}/{cell.main}"}
            for line in scored_lines(cell):
                text = strict_json({**shared, **ids, **instance(line, cell)}) + b"\n"
                checksum.update(text)
                file.write(text)
                rows += 1
    return {
        "format": "jsonl",
        "file_path": path.as_posix(),
        "hash_algorithm": "sha256",
        "checksum": checksum.hexdigest(),
        "total_rows": rows,
    }


def instance(line: Sample, cell: CellScores) -> Json:
    """Returns a sample without the ids of its record."""
    generated = generated_text(line) is not None
    question, output, picked = _input(line), list[str](), line.get("picked")
    if generated:
        output = [answers[0] for answers in line["resps"]]
    elif type(picked) is int:  # the choice that the model found most likely
        output = [str(continuations(line)[picked])]
    answer, choices = line.get("answer"), question.get("choices", [])
    answer = choices[answer] if type(answer) is int and answer < len(choices) else as_text(answer)
    method = f"{cell.task}, version {cell.comparable_on['task version']}" if generated else "highest likelihood"
    attribution = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": answer if generated or not output else output[0].strip(),
        "extraction_method": method,
        "is_terminal": True,
    }
    # the database finds the same question elsewhere by a hash of this
    same = json.dumps({name: question[name] for name in ("raw", "reference")}, sort_keys=True, separators=(",", ":"))
    # where a score has no highest value, no answer is right by it
    bounded = all(map(math.isfinite, cell.metric.bounds))
    measure = (line.get("measures") or {}).get(cell.main) or [0.0]
    score = document_score(line, cell.metric) if bounded else float(measure[0])
    right = bounded and cell.metric.higher_is_better and score >= RIGHT
    return {
        "sample_id": str(line["doc_id"]),
        "sample_hash": hashlib.sha256(same.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": question,
        "output": {"raw": output},
        "answer_attribution": [] if answer is None or not output else [attribution],
        "evaluation": {"score": score, "is_correct": right},
        "metadata": _metadata(line),
        **({"token_usage": usage} if (usage := _usage(line.get("details") or {})) else {}),
        **({"error": "refused"} if line.get(REFUSED) else {}),
    }


def _input(line: Sample) -> Json:
    """Returns the question without a prompt, the prompt as sent, and the right answers.

    Of texts whose likelihood is measured, those are right that have the role of the first.
    """
    document = line["doc"] if isinstance(line["doc"], dict) else {"text": line["doc"]}
    fields = {name: value for name, value in document.items() if name not in OWN_KEYS}
    choices, gold, roles = list(map(str, document.get("choices") or [])), line.get("gold"), line.get("roles")
    if roles:
        right = [text for text, role in zip(choices, roles, strict=False) if role == roles[0]]
    else:
        target = choices[gold] if choices and type(gold) is int else as_text(line.get("target"))
        right = [] if target is None else [target]
    whole = "\n".join(f"{name}: {as_text(value)}" for name, value in fields.items())
    return {
        "raw": str(next(iter(fields.values()))) if len(fields) == 1 else whole,
        **({"formatted": prompt_of(line)} if len(line["arguments"][0]) > 1 else {}),
        "reference": right,
        **({"choices": choices} if choices and not roles else {}),
    }


def _metadata(line: Sample) -> dict[str, str]:
    names = ("task", "language", "prompt_language", "prompt", "defect", "part", "guess")
    hashes = ("doc_hash", "prompt_hash", "target_hash")
    lists = {name: line.get(name) for name in ("fewshot_ids", "measures", "roles")}
    if likelihoods := log_likelihoods(line):
        lists |= {"log_likelihoods": likelihoods, "continuations": continuations(line)}
    plain = {name: str(line[name]) for name in (*names, *hashes) if line.get(name) not in (None, "")}
    return plain | {name: json.dumps(value, ensure_ascii=False) for name, value in lists.items() if value}


def _usage(details: Mapping[str, Any]) -> Json:
    """Returns the tokens of a request, if a server counted both sides."""
    sent, got = details.get("prompt_tokens"), details.get("completion_tokens")
    if type(sent) is not int or type(got) is not int:
        return {}
    others = {"cached_tokens": "input_tokens_cache_read", "reasoning_tokens": "reasoning_tokens"}
    more = {theirs: details[ours] for ours, theirs in others.items() if type(details.get(ours)) is int}
    return {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got, **more}


def _record(run: StoredRun, cells: list[CellScores], retrieved: str) -> Json:
    visit, first = run.visit, cells[0]
    versions: Mapping[str, Any] = visit.get("versions", {})
    date = str(int(datetime.fromisoformat(visit["date"]).timestamp()))
    scored = [cell.with_metric(name) for cell in cells for name in cell.metrics]
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{first.task}_{first.shots}shot_{first.answer_form}/{run.model}/{date}",
        "evaluation_timestamp": date,
        "retrieved_timestamp": retrieved,
        "source_metadata": {
            "source_name": "afrieval",
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "afrieval",
            "version": str(versions.get("afrieval") or UNKNOWN),
            "additional_details": _texts({**versions, "git_commit": visit.get("git_commit")}),
        },
        "model_info": _model(run),
        "evaluation_results": [_result(run, of, date) for of in scored if of.n and math.isfinite(of.score)],
    }


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    """Returns what is known of some values, as texts, which the schema wants."""
    return {str(name): str(value) for name, value in values.items() if value not in (None, "", [], {})}


def _model(run: StoredRun) -> Json:
    model: dict[str, Any] = dict(run.record["identity"]["model"])
    developer, engine = run.model.rpartition("/")[0], backend_of(str(model.get("model_type"))).library
    settings = ("model_type", "revision", "fingerprint", "chat_template", "add_bos_token")
    used = ("dtype", "device", "engine", "max_length", "model_commit")
    details = {name: model.get(name) for name in settings} | {name: run.visit.get(name) for name in used}
    version = run.visit.get("versions", {}).get(engine) if engine else None
    return {
        "name": run.model,
        "id": run.model,
        **({"developer": developer} if developer else {}),
        **({"inference_engine": _texts({"name": engine, "version": version})} if engine else {}),
        "additional_details": {
            "deployment_type": "self_deployed" if engine else UNKNOWN,
            "model_availability": UNKNOWN,
            **_texts(details),
        },
    }


def _result(run: StoredRun, cell: CellScores, date: str) -> Json:
    row = stored_row([*KEY, *SCORE, *CELL], cell)
    uncertainty: Json = {"num_samples": cell.n}
    if row["standard_error"] is not None:
        uncertainty["standard_error"] = {"value": row["standard_error"], "method": "analytic"}
    low, high = row["low"], row["high"]
    if low is not None and high is not None:  # the schema has no field for looks
        together = f", for {cell.looks} looks at a growing sample together (Bonferroni)" if cell.looks > 1 else ""
        how = {"lower": low, "upper": high, "confidence_level": 0.95, "method": f"{cell.metric.interval}{together}"}
        uncertainty["confidence_interval"] = how
    details = {"chance": row["chance"], "rows_without_a_score": cell.rows - cell.n, "looks": cell.looks}
    return {
        "evaluation_result_id": f"{cell.name}/{cell.main}",
        "evaluation_name": cell.name,
        "evaluation_timestamp": date,
        "source_data": _data(run, cell, row),
        "metric_config": _metric(cell.metric, cell),
        "score_details": {"score": cell.score, "uncertainty": uncertainty, "details": _texts(details)},
        "generation_config": _generation(cell, row),
    }


def _data(run: StoredRun, cell: CellScores, row: Row) -> Json:
    """Returns the data set; its split, where that has a usual name, and else what the task file calls it.

    The suite's own rows are of no data set on the hub.
    """
    split = next(iter(run.record["identity"]["tasks"][cell.task]["data"][cell.language]), None)
    details = {
        "language": cell.language,
        "language_name": LANGUAGES[cell.language].name if cell.language in LANGUAGES else None,
        "data_hash": row["data_hash"],
        "revision": (run.visit.get("data_commits") or {}).get(cell.data_set),
        "split": split,
        "rows": row["rows"],
        "selection": cell.selection.words,
        "sample_rows": OWN if cell.own_rows else None,
        "rows_with_a_defect": row["n_defect"],
        "known_defect": cell.defect,
    }
    repository = "" if cell.own_rows else hub_id(cell)
    return {
        "dataset_name": cell.task,
        "source_type": "hf_dataset" if repository else "other",
        **({"hf_repo": repository} if repository else {}),
        **({"hf_split": split} if repository and split in SPLITS else {}),
        "additional_details": _texts(details),
    }


def _metric(metric: Metric, cell: CellScores) -> Json:
    # infinite bounds as the schema has them, which strict JSON could not hold
    lowest, highest = (
        bound if math.isfinite(bound) else "Infinity" if bound > 0 else "-Infinity" for bound in metric.bounds
    )
    return {
        "evaluation_description": f"{cell.declared.get('title', cell.task)}: {metric.name}",
        "metric_id": IDS.get(metric.name, f"afrieval.{metric.name}"),
        "metric_name": metric.name,
        **({"metric_unit": "proportion"} if metric.bounds == (0, 1) else {}),
        "lower_is_better": not metric.higher_is_better,
        "score_type": "continuous",
        "min_score": lowest,
        "max_score": highest,
        **({"additional_details": {"signature": metric.signature}} if metric.signature else {}),
    }


def _generation(cell: CellScores, row: Row) -> Json:
    """Returns how answers were asked for, as far as the schema has fields; the rest are details."""
    options = generation_options(next(scored_lines(cell))) or {}
    arguments = {
        "temperature": options.pop("temperature", cell.recorded_settings.get("temperature")),
        "top_p": options.pop("top_p", None),
        "max_tokens": options.pop("max_gen_toks", None),
    }
    details = {
        "num_fewshot": row["shots"],
        **{name: row[name] for name in GENERATION},
        "unreviewed_prompt": bool(cell.unreviewed),
        **options,
    }
    stated = {name: value for name, value in arguments.items() if value is not None}
    return {**({"generation_args": stated} if stated else {}), "additional_details": _texts(details)}
