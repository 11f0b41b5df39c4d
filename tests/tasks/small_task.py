"""Declarations and rows of small tasks, which tests write into folders of their own; and cells of given documents."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from tests.conftest import put

from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.splits import Split
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import PromptFiles

SAID = {"version": 1, "title": "A task", "description": "For tests.", "citation": "none", "licence": "CC0"}
DATA = {"revision": "main", "files": {"test": "{code}.jsonl"}, "evaluate": "test"}


def declaration(name: str, **keys: Any) -> dict[str, Any]:
    """Returns the content of a task file, in English alone unless it says otherwise; `data` is added to the usual."""
    data = {"hub": f"ours/{name}", **DATA, **keys.pop("data", {})}
    return {"name": name, **SAID, "languages": {"eng": "en"}, "data": data, **keys}


def write_declaration(tasks: Path, content: dict[str, Any]) -> Path:
    """Writes a task file into a folder of tasks, and returns it."""
    path = tasks / str(content["name"]) / "task.yaml"
    put(path, yaml.safe_dump(content, sort_keys=False))
    return path


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Writes rows as their file's suffix says: as Parquet, or with an object of JSON in each line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist([*rows]), path)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def cell_of(
    spec: TaskSpec,
    documents: list[Document],
    form: str,
    language: str = "eng",
    number: int = 1,
    pool: Split | None = None,
    **settings: Any,
) -> TaskCell:
    """Returns the cell of a task's English prompt with these documents."""
    files, split, chosen = PromptFiles(spec), Split(documents, "", {}), CellSettings(**settings)
    return TaskCell(spec, language, files.load("eng")[number], "eng", form, split, pool, chosen, files)


def planned_cell(task: str, source: str = "samples", shots: int | None = None, **chosen: Any) -> TaskCell:
    """Returns the first cell that a run of a task's first prompt has."""
    settings = TaskConfig(task_name=task, prompts=[1], **chosen)
    config = RunConfig(ModelConfig("demo"), settings, EvalConfig(num_fewshot=shots), DataConfig(source))
    return declared_cells(config)[0][0]
