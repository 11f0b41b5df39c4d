"""Reads the sample rows of the Llama tasks, and writes them as the hub has them, parquet files with a card."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from afrieval.addons.llama.evaluations import WITH_EVALS, of_evals
from afrieval.tasks.data.schema import JoinSpec
from afrieval.tasks.declaration.spec import TaskSpec, load_task

Row = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "tasks" / "llama"
PARTNERS = {"meta_math_hard": "test", "meta_math": "test", "meta_ifeval": "train"}  # their split
TASKS = (
    *("meta_mmlu_pro_pretrain", "meta_mmlu_pro_instruct", "meta_gpqa_cot", "meta_gpqa"),
    *("meta_mmlu_instruct", "meta_mmlu", "meta_bbh", *PARTNERS),
)


def read(task: str, split: str = "latest") -> list[Row]:
    lines = (FOLDER / task / "sample" / "eng.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["split"] == split]


SHARD = "{config}/part-{number:05}-of-00002.parquet.gzip"


def on_evals(task: str) -> TaskSpec:
    """Returns the task on the first of the data sets that have it."""
    spec = load_task(task)
    assert spec.evals
    wanted = (spec.evals.family, spec.evals.instruct)
    return of_evals(spec, next(e for e in WITH_EVALS if (e.family, e.instruct) == wanted), samples=False)


def fitting(spec: TaskSpec, rows: int, others: int) -> TaskSpec:
    """Returns the task as if its data sets had so many rows."""
    join = replace(spec.join, rows=others) if spec.join else None
    return replace(spec, data=replace(spec.data, rows=rows), join=join)


def sample_rows(task: str) -> tuple[list[Row], list[Row]]:
    """Returns the sample rows of a task, and those of the data set that it is completed from, as the hub has them."""
    both = read(task), read(task, PARTNERS[task]) if task in PARTNERS else []
    return tuple([{k: v for k, v in row.items() if k != "split"} for row in rows] for rows in both)  # type: ignore[return-value]


def write_mirror(root: Path, spec: TaskSpec, rows: list[Row], others: list[Row]) -> None:
    config = str(spec.data.files["latest"]).removeprefix("config:")
    write_repository(root / spec.data.hub, config, "latest", rows)
    if isinstance(spec.join, JoinSpec):
        write_repository(root / spec.join.hub, spec.join.file.removeprefix("config:"), spec.join.split, others)


def write_repository(folder: Path, config: str, split: str, rows: list[Row]) -> None:
    """Writes rows as two shards, and a card that names them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / config).mkdir(parents=True, exist_ok=True)
    table, half = pa.Table.from_pylist(rows), (len(rows) + 1) // 2
    for number, part in enumerate((table[:half], table[half:])):
        pq.write_table(part, folder / SHARD.format(config=config, number=number), compression="gzip")
    entry = f"- config_name: {config}\n  data_files:\n  - split: {split}\n    path:\n    - {config}/part-*\n"
    (folder / "README.md").write_text(f"---\nlicense: other\nconfigs:\n{entry}---\n# Data\n")
