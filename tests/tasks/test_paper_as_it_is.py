"""Uncleaned prompts of the paper are asked and scored exactly as the harness' own tasks are, without examples."""

import json
from functools import cache
from typing import Any

import pytest
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks._yaml_loader import load_yaml
from tests.conftest import PAPERS, REAL_DATA, spec_of

from afrieval._util.tables import read_rows
from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.cells.harness_tasks import NO_DOCUMENT
from afrieval.tasks.cells.plan import task_cells
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.files import SAMPLES, data_files
from afrieval.tasks.data.lock import read_lock
from afrieval.tasks.data.splits import UNLOCKED, has_split, in_language, wanted_files, with_columns
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.paper import harness_file

Row = dict[str, Any]
ROWS = 6  # of real data


def theirs(spec: TaskSpec, language: str, number: int, rows: list[Row]) -> ConfigurableTask:
    """The harness' own task, with these rows as its test split."""
    path = harness_file(spec, language, number)
    assert path is not None
    config = load_yaml(path)
    for key in ("tag", "validation_split", "training_split", "fewshot_split", "fewshot_config"):
        config.pop(key, None)
    config["test_split"] = "test"
    config["metric_list"] = [{k: v for k, v in m.items() if k != "hf_evaluate"} for m in config["metric_list"]]

    class Rows(list[Row]):
        features = rows[0]

    class Given(ConfigurableTask):
        def download(self, dataset_kwargs: Row | None = None, **kwargs: Any) -> None:
            self.dataset = {"test": Rows(rows)}

    task = Given(config=config)
    task.set_config(key="num_fewshot", value=0)
    return task


def harness_row(spec: TaskSpec, row: Row) -> Row:
    """A row as `datasets` loads it from the hub: numbers are numbers, and AfriMGSM's test set has no worked answers."""
    if spec.kind == "number":
        number = str(row.get("answer_number") or row["answer"]).replace(",", "")
        return {**row, "answer": None, "answer_number": int(float(number))}
    if spec.labels:
        label = next(row[column] for column in spec.answer_columns if column in row)
        if spec.paper and spec.paper.answers == "name":
            return {**row, "label": label}
        return {**row, "label": spec.labels.index(label) if label in spec.labels else int(label)}
    types = {"correct_answer_num": str, "label": int}
    return {**row, **{column: of(row[column]) for column, of in types.items() if column in row}}


@cache
def cells(task: str, language: str, source: str) -> list[TaskCell]:
    chosen = TaskConfig(task_name=task, languages=[language], prompt_set="paper", uncleaned=True)
    config = RunConfig(task=chosen, data=DataConfig(source))
    (spec,) = chosen_tasks(config)
    return task_cells(spec, chosen, CellSettings.of_run(config.model, config.eval, config.data.source), read_lock())[0]


def rows_of(spec: TaskSpec, language: str, source: str) -> list[Row]:
    if source == SAMPLES:
        path = spec.samples_folder / f"{language}.jsonl"
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return [row for row in lines if row["split"] == spec.data.evaluate]
    files = data_files(wanted_files(spec, language, spec.data.evaluate)[0], source, UNLOCKED)
    return [row for file in files for row in read_rows(file.path, file.path.read_bytes())][:ROWS]


def asked(task: Any) -> list[tuple[int, Any]]:
    """The requests of the documents; ours also asks after neutral prompts, which belong to no document."""
    task.build_all_requests()
    return [(request.doc_id, request.args) for request in task.instances if request.doc_id != NO_DOCUMENT]


def compare(task: str, language: str, source: str) -> None:
    spec = spec_of(task)
    named = with_columns(in_language(spec, language), rows_of(spec, language, source))
    rows = [harness_row(spec, row) for row in named]
    for cell in cells(task, language, source):
        harness = theirs(spec, language, cell.prompt.number, rows)
        documents = [d for d in cell.documents[: len(rows)] if d.gold is not None]
        ours = cell._task(documents)
        scored = {documents[place].id: d for place, d in enumerate(ours.eval_docs)}
        of_ours, of_theirs = asked(ours), asked(harness)
        for row, document in scored.items():
            requests = [args for place, args in of_ours if documents[place].id == row]
            expected = [args for place, args in of_theirs if place == row]
            where = f"{cell.name}, row {row}"
            if cell.generates:
                assert [args[0] for args in requests] == [args[0] for args in expected], where
                assert str(document.document.gold) == harness.doc_to_target(rows[row]), where
                continue
            assert sorted(requests) == sorted(expected), where
            target: Any = harness.doc_to_target(rows[row])
            gold = target if isinstance(target, str) else harness.doc_to_choice(rows[row])[target]
            assert requests[document.document.gold][1] == harness.config.target_delimiter + gold, where


@pytest.mark.parametrize(
    ("task", "language"),
    [(t, c) for t in PAPERS for c in ("eng", "amh") if (spec_of(t).samples_folder / f"{c}.jsonl").is_file()],
)
def test_uncleaned_prompts_are_those_of_the_harness(task: str, language: str) -> None:
    paper = spec_of(task).paper
    assert paper and len(cells(task, language, SAMPLES)) == len(paper.prompts) in (1, 5)
    compare(task, language, SAMPLES)


def at_hand(task: str, language: str) -> bool:
    """Whether the folder has rows; without a folder, what pytest is to skip by name."""
    spec = spec_of(task)
    return language in spec.languages and (not REAL_DATA or has_split(spec, language, spec.data.evaluate, REAL_DATA))


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "language"), [(t, c) for t in PAPERS for c in [c for c in ("yor", "ewe") if at_hand(t, c)][:1]]
)
def test_they_are_on_real_data(task: str, language: str) -> None:
    """Texts of rows are not normalised either: a fifth of them would change."""
    compare(task, language, str(REAL_DATA))
