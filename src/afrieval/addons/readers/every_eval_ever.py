"""Reads records of Every Eval Ever as published rows: a .json file, or a folder of them."""

import re
from collections.abc import Hashable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NotRequired

from annotated_types import MinLen

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, walked
from afrieval._util.schema import OpenMap, parsed_json, validated_json
from afrieval.analysis.published_files import UNKNOWN, PublishedRow, PublishedTable
from afrieval.exchange.foreign_cells import TableReader, TaskName, named
from afrieval.results.cell_key import PAPER, SUITE, CellKey, prompt_number, prompt_set
from afrieval.results.derived import USUAL
from afrieval.scoring.metrics import METRICS
from afrieval.tasks.declaration.known_facts import published_metric
from afrieval.tasks.declaration.spec import load_task, task_names

HINT = "download or export the record again; evaleval/every_eval_ever has the schema"
TELLING = ("evaluation_results", "evaluation_id")  # keys that no other JSON file has that afrieval reads
MOST = 10  # names in a note
DEEPEST = 6  # records/data/TASK/DEVELOPER/MODEL/UUID.json


class MetricConfig(OpenMap):
    """What a score is; all but the direction is optional."""

    metric_id: NotRequired[str | None]
    metric_name: NotRequired[str | None]
    metric_unit: NotRequired[str | None]
    evaluation_description: NotRequired[str | None]
    min_score: NotRequired[float | str | None]
    max_score: NotRequired[float | str | None]


class Uncertainty(OpenMap):
    """How sure a score is."""

    num_samples: NotRequired[int | None]


class ScoreDetails(OpenMap):
    """A score."""

    score: float
    uncertainty: NotRequired[Uncertainty | None]


class GenerationConfig(OpenMap):
    """How answers were asked for."""

    additional_details: NotRequired[dict[str, Any] | None]


class Result(OpenMap):
    """A score of a benchmark."""

    evaluation_name: str
    source_data: dict[str, Any]
    metric_config: MetricConfig
    score_details: ScoreDetails
    generation_config: NotRequired[GenerationConfig | None]


class ModelInfo(OpenMap):
    """The model."""

    id: Annotated[str, MinLen(1)]


class Record(OpenMap):
    """The keys of a record that are read."""

    schema_version: str
    evaluation_id: str
    model_info: ModelInfo
    evaluation_results: list[Result]


class RecordReader(TableReader):
    """Records of Every Eval Ever: a .json file, or a folder of them."""

    def wrote(self, path: Path) -> bool:
        """Returns whether a .json file is a record, or a folder has one."""
        return any(map(_is_record, _files(path)))

    def read(self, path: Path) -> PublishedTable:
        """Returns the scores of a record or of a folder of them.

        Left out are benchmarks, languages and metrics that the suite does not have, and metrics other than the one
        that is usual for a task.
        """
        rows: dict[Hashable, PublishedRow] = {}
        sources: dict[Hashable, Path] = {}
        left: dict[str, dict[str, int]] = {}
        for file in filter(_is_record, _files(path)):
            _add_scores(file, rows, sources, left)
        left_out = []
        for why, names in left.items():
            total, more = sum(names.values()), f", and {len(names) - MOST} more" if len(names) > MOST else ""
            left_out.append(f"{total} result{'s' * (total > 1)} {why}: {', '.join([*names][:MOST])}{more}")
        return PublishedTable(list(rows.values()), left_out)


READER = RecordReader()


def _files(path: Path) -> list[Path]:
    """Returns the .json files at a path, without those in hidden folders, as deep as the database has them."""
    if path.is_dir():
        below = walked(path, lambda inner: len(inner.relative_to(path).parts) >= DEEPEST, {})
        return sorted(
            here / name for here, _, names in below for name in names if name.endswith(".json") and name[0] != "."
        )
    return [path] if path.suffix == ".json" and path.is_file() else []


def _is_record(file: Path) -> bool:
    try:
        content = parsed_json(read_bytes(file, HINT), str(file), HINT)
    except UserError:
        return False
    return isinstance(content, dict) and any(key in content for key in TELLING)


def _add_scores(
    file: Path, rows: dict[Hashable, PublishedRow], sources: dict[Hashable, Path], left: dict[str, dict[str, int]]
) -> None:
    """Adds the scores of a record to rows, and their file to `sources`; `left` counts what is left out, by reason."""
    record = validated_json(Record, read_bytes(file, HINT), str(file), HINT)
    model = record["model_info"]["id"]
    for result in record["evaluation_results"]:
        stated, score = result["evaluation_name"], result["score_details"]["score"]
        key, config = key_of(stated, result["source_data"]), dict(result["metric_config"])
        metric, value = named_metric(config), percent(score, config)
        why, name = _refused(stated, key, config, metric, value)
        if (result["source_data"].get("additional_details") or {}).get("sample_rows"):
            why, name = "whose rows are the suite's own samples", stated
        if key is None or metric is None or value is None or why:
            names = left.setdefault(why, {})
            names[name] = names.get(name, 0) + 1
            continue
        if not 0 <= value <= 100:
            raise UserError(f"{file}: the score of {stated} is {score}, outside its scale", HINT)
        generation, uncertainty = result.get("generation_config"), result["score_details"].get("uncertainty")
        details = generation.get("additional_details") if generation else None
        digits = str((details or {}).get("num_fewshot", ""))  # the schema has no field for it, but its converters do
        shots = int(digits) if re.fullmatch("[0-9]{1,4}", digits) else None
        of_row = (key.without("language", "prompt_set"), key.prompt, model, shots, metric)
        empty = PublishedRow(key.task, model, str(key.prompt), shots, {}, None, 0, key.prompt_language, metric)
        row, before = rows.setdefault(of_row, empty), sources.setdefault((*of_row, key.language), file)
        if key.language in row.scores:
            what = f"{model}, {key.task}, {key.language}, prompt {key.prompt}"
            raise UserError(f"{file} and {before} both have a score of {what}", "give one of the two")
        row.scores[key.language] = value
        if uncertainty and (n := uncertainty.get("num_samples")) is not None:
            row.n[key.language] = n


def _refused(
    name: str, key: CellKey | None, config: Mapping[str, Any], metric: str | None, value: float | None
) -> tuple[str, str]:
    """Returns why a result is left out, and what it is called; empty if it is not."""
    if key is None:
        return "whose benchmark the suite does not have", name
    if not key.language:
        return "whose language the suite does not have", name
    if metric is None:
        stated = (config.get(key) for key in ("metric_name", "metric_id", "evaluation_description"))
        return "whose metric the suite does not have", f"{name} ({next(filter(None, stated), 'not stated')})"
    if metric != published_metric(key.task):
        return "under other metrics than the usual one of their task", metric
    return ("whose scale is not stated or not clear", name) if value is None else ("", "")


SYNONYMS = {"accuracy": "acc", "exact-match": "exact_match", "exact match": "exact_match", "em": "exact_match"}
SCALES = {"proportion": 100.0, "percent": 1.0}  # unit to what makes percent of a score
MAXIMA = {1.0: 100.0, 100.0: 1.0}  # the same by highest score


def key_of(name: str, data: Mapping[str, Any]) -> CellKey | None:
    """Returns what an evaluation is of; None if the suite does not have the benchmark.

    Its language is blank if the suite does not have it; its prompt is as in a `PublishedRow`.

    Args:
        name: of the evaluation, as the suite or the harness names its tasks; or of a part of a data set.
        data: what the record says of the data set.
    """
    short = name.partition("/")[0]  # the rest is a filter of the harness
    whole = f"{data.get('dataset_name') or ''}_{short}"
    for parsed in (named(short), named(_plain(short)), named(_plain(whole))):
        if parsed.language and (task := _task(parsed.task)):
            return CellKey(task, parsed.language, _prompt(parsed), parsed.prompt_language)
    if task := _task(_plain(short)):
        languages = list(load_task(task.removesuffix("_translate")).languages)
        return CellKey(task, languages[0] if len(languages) == 1 else "", UNKNOWN, "eng")
    longest_first = sorted(
        task_names(), key=len, reverse=True
    )  # the rest of a name may be another language than the suite's
    begins = next((task for task in longest_first if _plain(short).startswith(f"{task}_")), "")
    task = _task(_plain(str(data.get("dataset_name") or ""))) or begins
    return CellKey(task, "", UNKNOWN, "eng") if task else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _task(name: str) -> str:
    """Returns the suite's task of a name; empty if it has none."""
    base = name.removesuffix("_translate")
    by_name = {**{task.replace("_", ""): task for task in task_names()}, **{task: task for task in task_names()}}
    task = by_name.get(base) or by_name.get(base.removesuffix("_direct")) or by_name.get(base.replace("_", ""))
    return f"{task}{name[len(base) :]}" if task else ""


def _prompt(parsed: TaskName) -> str:
    """Returns the prompt of a published row: the suite's prompts are not the papers' prompts."""
    if not parsed.prompt:
        return UNKNOWN
    if parsed.prompt_language == "native":
        return f"native {parsed.prompt}"
    if not parsed.ours or prompt_set(parsed.prompt) == PAPER:
        return str(prompt_number(parsed.prompt))
    return f"suite {parsed.prompt}" if prompt_set(parsed.prompt) == SUITE else str(parsed.prompt)


def named_metric(config: Mapping[str, Any]) -> str | None:
    """Returns the suite's name of a metric; None if it does not have it.

    Args:
        config: what the record says of it; the converter of lm_eval's results has the name in the description.
    """
    stated = [config.get(key) for key in ("metric_name", "metric_id", "evaluation_description", "metric_kind")]
    texts = [text.partition(" on ")[0] for text in stated if isinstance(text, str)]  # "Accuracy on IFEval"
    names = [SYNONYMS.get(text.lower(), text) for text in texts]
    return next((name for name in names if name in _metrics()), None)


@cache
def _metrics() -> set[str]:
    names = {*METRICS, *USUAL}
    for spec in map(load_task, task_names()):
        names |= {*(metric.name for metric in spec.scoring.metrics), *spec.derived}
    return names


def percent(score: float, config: Mapping[str, Any]) -> float | None:
    """Returns a score in percent; None if the record does not say what its scale is, or unit and maximum disagree."""
    unit, highest = str(config.get("metric_unit")).lower(), config.get("max_score")
    stated = SCALES.get(unit), MAXIMA.get(highest) if isinstance(highest, int | float) else None
    factors = {factor for factor in stated if factor}
    return score * factors.pop() if len(factors) == 1 else None
