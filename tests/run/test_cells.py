"""run/ knows cells by their values alone: one that no source made is run and stored like any other."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cells import FakeCell
from tests.conftest import Cli

from afrieval._util import yaml_files
from afrieval.config.settings import DEMO, DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.results.run_files import read_run, sample_path
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import read_samples
from afrieval.run.evaluate import evaluate
from afrieval.run.session import Session
from afrieval.tasks.cells.cell import Cell, CellResult, Plan
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.sample_lines import DocumentRow

CONFIG = RunConfig(
    model=ModelConfig(model_name=DEMO),
    task=TaskConfig(task_name="afrimgsm", languages=["yor", "hau"], prompt_language="both", prompts=[1, 2]),
    eval=EvalConfig(limit=2, num_fewshot=1),
    data=DataConfig("samples"),
)
LINE = {"task": "own", "language": "", "prompt": "", "prompt_language": "", "filter": "none", "doc_id": 0}


def nothing_is_asked(model: Any) -> CellResult:
    record = {"task": "own", "language": "", "n": 1, "shots": 0, "metrics": [], "harness": {"results": {}}}
    samples = [{**LINE, "metrics": ["acc"], "acc": 1.0, "resps": [["x"]]}]
    return CellResult(samples, record)


def test_a_cell_of_no_source_is_run_and_stored(tmp_path: Path) -> None:
    identity = {"harness_tasks": {"own": {"version": "1"}}}
    cell = FakeCell(fixed=identity, call=nothing_is_asked)
    session = Session(CONFIG, Plan([cell]), RunFolder(tmp_path))
    stored_cells: list[Cell] = []
    evaluate(session, on_cell=stored_cells.append)
    assert stored_cells == [cell]
    assert read_samples(sample_path(tmp_path, "own"))[0]["acc"] == 1.0
    stored = read_run(tmp_path)
    assert stored["cells"] == ["own"] and stored["identity"]["harness_tasks"] == {"own": {"version": "1"}}


def test_prompt_files_are_parsed_once(run_demo: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    read = yaml_files.read_map_file

    def counting(path: Path) -> Any:
        parsed.append(path.stem)
        return read(path)

    monkeypatch.setattr("afrieval.tasks.prompts.prompts.read_map_file", counting)
    words = ("--task.task_name", "afrimgsm", "--task.languages", "yor,hau", "--task.prompt_language", "both")
    assert run_demo(*words, "--task.prompts", "1,2", "--eval.limit", 1).code == 0
    assert sorted(parsed) == ["eng", "hau", "yor"]


def test_rows_of_the_harness_are_documents_and_stay_what_is_hashed() -> None:
    """A data set would make the same maps of them, which older sample files have hashes of."""
    from datasets import Dataset

    for questions in declared_cells(CONFIG)[0]:
        rows = [DocumentRow(document) for document in questions.scorable]
        assert [row.document for row in rows] == questions.scorable
        assert list(map(json.dumps, rows)) == list(map(json.dumps, Dataset.from_list(rows)))


def test_a_cell_without_a_document_to_score_asks_nothing() -> None:
    questions = declared_cells(CONFIG)[0][0]
    unscored = [replace(document, gold=None, defect="no gold answer") for document in questions.documents]
    cell = replace(questions, data=questions.data._replace(documents=unscored))
    samples = cell.run(model=None).samples  # type: ignore[arg-type]
    assert cell.n == len(samples) == 2 and cell.n_requests == 0
    assert all(not sample["metrics"] and sample["defect"] for sample in samples)
    assert cell.preview_stored(iter(samples)).heading.endswith("no document of this cell can be scored")
