"""A folder as lighteval 0.13.0 writes it, around details and results that it wrote itself, of questions of ours."""

import json
import shutil
from pathlib import Path

LOGS = Path(__file__).parent / "logs"
TASK, DATE = "questions_yor_mcf:all|0", "2026-11-23T00-35-39.024317"


def details_of(folder: Path, model: str = "dummy", task: str = TASK, date: str = DATE) -> Path:
    return folder / f"details/{model.strip('/')}/{date}/details_{task}_{date}.parquet"


def results_of(folder: Path, model: str = "dummy", date: str = DATE) -> Path:
    return folder / f"results/{model.strip('/')}/results_{date}.json"


def write_lighteval(
    folder: Path, model: str = "dummy", scores: list[float] | None = None, task: str = TASK, date: str = DATE
) -> Path:
    """Writes a run to an output folder.

    Args:
        folder: the output folder.
        model: the model's name.
        scores: other scores than those that lighteval gave to the documents.
        task: another name for the task, with its shots.
        date: when it ended.
    """
    details, results = details_of(folder, model, task, date), results_of(folder, model, date)
    for path in (details, results):
        path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(LOGS / "lighteval.parquet", details)
    said = json.loads((LOGS / "lighteval.json").read_text(encoding="utf-8"))
    said["config_general"]["model_name"] = model
    for what in ("results", "config_tasks"):
        said[what][task] = said[what].pop(TASK)
    if scores is not None:
        _rescore(details, scores)
        said["results"][task]["acc"] = sum(scores) / len(scores)
    results.write_text(json.dumps(said), encoding="utf-8")
    return folder


def _rescore(path: Path, scores: list[float]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    at = table.schema.names.index("metric")
    column = pa.array([{"acc": score} for score in scores])
    pq.write_table(table.set_column(at, "metric", column), path)
