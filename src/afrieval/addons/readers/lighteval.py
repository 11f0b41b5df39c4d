"""Reads runs of lighteval as cells: `lighteval ... --output-dir DIR --save-details`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

from annotated_types import MinLen

from afrieval._util.errors import UserError
from afrieval._util.files import check_file, read_bytes
from afrieval._util.schema import OpenMap, validated, validated_json
from afrieval._util.stamps import digest
from afrieval._util.terminal import note
from afrieval.exchange.foreign_cells import Answered, RunReader, cell_of, id_number, is_mean, scored_form, short_names
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_files import RUN

PROGRAM = "lighteval"
DETAILS = re.compile(r"details_(.+)\|(\d+)_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.parquet")
HINT = "run lighteval again with --save-details, in version 0.13 or a similar one"
LARGEST = 2**30  # bytes of a file of details, uncompressed
PARTS = ("details", "results")  # folders of an output folder
FIELDS = ("id", "query", "choices", "gold_index", "instruction", "sampling_methods", "fewshot_samples")


class LightevalModel(OpenMap):
    """The model's settings."""

    generation_parameters: NotRequired[dict[str, Any] | None]


class General(OpenMap):
    """What is said of the run."""

    model_name: str
    model_config: NotRequired[LightevalModel | None]
    lighteval_sha: NotRequired[str | None]
    max_samples: NotRequired[int | None]


class LightevalConfig(OpenMap):
    """A task's settings."""

    metrics: NotRequired[list[dict[str, Any]] | None]


class LightevalResults(OpenMap):
    """The results file; the maps have an entry per task."""

    config_general: General
    results: dict[str, dict[str, Any]]
    config_tasks: dict[str, LightevalConfig]


class Doc(OpenMap):
    """A question as it was asked."""

    id: str
    query: str
    choices: list[str]
    gold_index: int | list[int]
    sampling_methods: list[str]
    instruction: NotRequired[str | None]
    fewshot_samples: NotRequired[list[dict[str, Any]] | None]


class Detail(OpenMap):
    """A row of the details: a question and its scores."""

    doc: Doc
    metric: Annotated[dict[str, Any], MinLen(1)]


class LightevalReader(RunReader):
    """Output folders of lighteval."""

    parts = PARTS

    def wrote(self, path: Path) -> bool:
        """Returns whether a folder is what lighteval calls its output folder."""
        return path.is_dir() and not (path / RUN).exists() and (bool(_details(path)) or bool(_results(path)))

    def read(self, path: Path) -> list[CellScores]:
        """Returns the newest scores of each task and model in a folder, and prints a note for each task left out."""
        newest = {(file.parent.parent, match[1], match[2]): (file, match) for file, match in _details(path)}
        if not newest:
            raise UserError(f"{path} has results of lighteval, but no details of samples", HINT)
        results = {file: _results_of(path, file, match[3]) for file, match in newest.values()}
        models = short_names({name: name for of in results.values() if (name := of["config_general"]["model_name"])})
        cells = []
        for file, match in newest.values():
            model = models[results[file]["config_general"]["model_name"]]
            cell = _cell(file, match[1], int(match[2]), results[file], model)
            if isinstance(cell, CellScores):
                cells.append(cell)
            else:
                note(f"left out: {match[1]} of {path}: {cell}")
        return cells


READER = LightevalReader()


def _details(folder: Path) -> list[tuple[Path, re.Match[str]]]:
    """Returns the files of details, of each model the oldest first."""
    paths = sorted((folder / "details").glob("*/**/details_*.parquet"))
    return [(path, match) for path in paths if (match := DETAILS.fullmatch(path.name))]


def _results(folder: Path) -> list[Path]:
    return sorted((folder / "results").glob("**/results_*.json"))


def _cell(path: Path, name: str, shots: int, results: LightevalResults, model: str) -> CellScores | str:
    entry, general = f"{name}|{shots}", results["config_general"]
    for what, of_tasks in (("config_tasks", results["config_tasks"]), ("results", results["results"])):
        if entry not in of_tasks:
            raise UserError(f"the results file of {path} has no {what} of {name}", HINT)
    config: Mapping[str, Any] = results["config_tasks"][entry]
    details, lower = list(_read(path)), _lower_is_better(config.get("metrics") or [])
    means = (
        metric
        for metric, stated in results["results"][entry].items()
        if metric not in lower and is_mean(stated, [detail["metric"].get(metric) for detail in details])
    )
    if (metric := next(means, None)) is None:
        return "it has no metric whose score is the mean of a number from 0 to 1 for each document"
    generated = "LOGPROBS" not in details[0]["doc"]["sampling_methods"]
    form = "generate" if generated else scored_form(choice for of in details for choice in of["doc"]["choices"])
    examples = [str(shot.get("query")) for of in details for shot in of["doc"].get("fewshot_samples") or []]
    settings: Mapping[str, Any] = general.get("model_config") or {}
    generation = settings.get("generation_parameters") or {}
    return cell_of(
        program=PROGRAM,
        task=name,
        model=model,
        shots=shots,
        answer_form=form,
        metric=metric,
        documents=[_answered(detail, metric, generated) for detail in details],
        comparable_on={
            "task version": config.get("version"),
            "few-shot rows": digest("\0".join(sorted(examples))) if shots else [],
            "limit of answers": config.get("generation_size") if generated else None,
        },
        recorded_settings={
            "dtype": settings.get("dtype"),
            "batch_size": settings.get("batch_size"),
            "versions": {"lighteval": general.get("lighteval_sha")},
            "limit": general.get("max_samples"),
            "gen_kwargs": {name: value for name, value in generation.items() if value is not None} or None,
            "system text": settings.get("system_prompt"),
        },
        path=path,
        limited="sample" if general.get("max_samples") else "all",  # it shuffles them
    )


def _results_of(folder: Path, details: Path, date: str) -> LightevalResults:
    """Returns the results of the same model and date; lighteval can be asked to write them elsewhere."""
    same = folder / "results" / details.parent.parent.relative_to(folder / "details") / f"results_{date}.json"
    paths = [same] if same.exists() else [path for path in _results(folder) if path.name == same.name]
    if not paths:
        raise UserError(f"the results file of {details} is missing", "copy the whole folder of lighteval")
    return validated_json(LightevalResults, read_bytes(paths[0], HINT), str(paths[0]), HINT)


def _read(path: Path) -> Iterator[Detail]:
    """Yields the rows of a file of details, without the model's answers."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    check_file(path, HINT)
    try:
        with ParquetFile(path) as file:
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            if sum(group.total_byte_size for group in groups) > LARGEST:
                raise UserError(f"{path} is larger than {LARGEST} bytes, the limit for such a file", HINT)
            rows = file.read(columns=[*(f"doc.{name}" for name in FIELDS), "metric"]).to_pylist()
    except (ArrowException, OSError, ValueError) as e:
        raise UserError(f"{path} cannot be read: {e}", HINT) from None
    if not rows:
        raise UserError(f"{path} is empty", HINT)
    for number, row in enumerate(rows):
        yield validated(Detail, row, f"{path}, row {number}", HINT)


def _lower_is_better(metrics: list[dict[str, Any]]) -> set[str]:
    """Returns the names of metrics of which less is better; a group of metrics has a map of its names."""
    names = set()
    for metric in metrics:
        better = metric.get("higher_is_better")
        of_names = better if isinstance(better, dict) else {str(metric.get("metric_name")): better}
        names |= {name for name, is_better in of_names.items() if is_better is False}
    return names


def _answered(detail: Detail, metric: str, generated: bool) -> Answered:
    doc = detail["doc"]
    gold = doc["gold_index"]
    return Answered(
        id=id_number(doc["id"]),
        score=float(detail["metric"][metric]),
        gold=gold if isinstance(gold, int) and not generated else -1,
        n_choices=0 if generated else len(doc["choices"]),
        data=repr((doc["choices"], gold)),
        prompt=repr((doc.get("instruction"), doc["query"])),
    )
