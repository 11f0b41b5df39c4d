"""Runs of lighteval, read as cells and compared. Details and results are what lighteval 0.13.0 wrote."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.addons.readers.lighteval_runs import DATE, TASK, details_of, results_of, write_lighteval
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval.addons.readers import lighteval
from afrieval.addons.readers.lighteval import READER
from afrieval.analysis.contrasts import contrasts
from afrieval.exchange.discovery import read_inputs
from afrieval.exchange.foreign_cells import Answered
from afrieval.exchange.readers import cells_of_run, reader_of_run


def test_a_run(tmp_path: Path) -> None:
    folder = write_lighteval(tmp_path / "out")
    assert READER.wrote(folder) and reader_of_run(folder) and not READER.wrote(tmp_path)
    (cell,) = cells_of_run(folder)
    assert (cell.task, cell.language, cell.model) == ("questions_mcf:all", "yor", "dummy (lighteval)")
    assert (cell.shots, cell.answer_form, cell.main, cell.chance) == (0, "text", "acc", 0.5)
    assert cell.score == 0.5 and cell.n == 4
    assert cell.ids.tolist() == [0, 1, 2, 3] and cell.golds.tolist() == [1, 0, 1, 1]


def test_details_that_are_not_in_a_folder_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "details").mkdir()
    (tmp_path / f"details/details_{TASK}|0_{DATE}.parquet").write_bytes(b"")
    assert not READER.wrote(tmp_path)


def test_two_models_are_compared_by_document(tmp_path: Path, cli: Cli) -> None:
    write_lighteval(tmp_path, "one", [0, 1, 1, 1])
    write_lighteval(tmp_path, "two", [0, 0, 1, 1])
    cells = read_inputs([tmp_path]).foreign
    (contrast,) = contrasts(cells, "model", seed=1)
    assert not contrast.refused and contrast.rows[0].difference == -0.25 and contrast.rows[0].lost == 1
    done = cli("compare", tmp_path)
    assert done.code == 0 and "one (lighteval)" in done.out and "two (lighteval)" in done.out


def test_one_model_in_two_folders_is_named_by_them(tmp_path: Path) -> None:
    folders = [write_lighteval(tmp_path / name, scores=[0, 1, 1, 1]) for name in ("first", "second")]
    assert [c.model for c in read_inputs(folders).foreign] == ["dummy (lighteval) first", "dummy (lighteval) second"]


def test_models_in_folders_of_one_name_keep_the_whole_path(tmp_path: Path) -> None:
    for model in ("/models/a/last", "/models/b/last"):
        write_lighteval(tmp_path, model)
    assert [c.model for c in READER.read(tmp_path)] == [f"/models/{x}/last (lighteval)" for x in "ab"]


def test_the_newest_details_count(tmp_path: Path) -> None:
    write_lighteval(tmp_path, scores=[0, 0, 0, 0], date="2027-01-01T00-00-00")
    write_lighteval(tmp_path)
    assert [c.score for c in READER.read(tmp_path)] == [0]


@pytest.mark.parametrize(
    ("task", "name"), [("afrimmlu_yor|5", "afrimmlu (lighteval)"), ("belebele_yor_Latn_cf|0", "belebele_cf")]
)
def test_names_of_tasks(tmp_path: Path, task: str, name: str) -> None:
    (cell,) = READER.read(write_lighteval(tmp_path, task=task))
    assert (cell.task, cell.language, cell.shots) == (name, "yor", int(task[-1]))


def test_prompts_must_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lighteval(tmp_path, "one")
    write_lighteval(tmp_path, "two")
    answered, asked = lighteval._answered, iter(range(8))

    def another_question(*of: Any) -> Answered:
        return answered(*of)._replace(prompt=str(next(asked)))

    monkeypatch.setattr(lighteval, "_answered", another_question)
    (contrast,) = contrasts(READER.read(tmp_path), "model", seed=1)
    assert not contrast.rows and "prompt text differs" in contrast.refused[0]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("no language", "its name has no language of the suite"),
        ("another mean", "it has no metric whose score is the mean"),
        ("lower is better", "it has no metric whose score is the mean"),
    ],
)
def test_what_is_left_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, said: str) -> None:
    write_lighteval(tmp_path, task="questions|0" if what == "no language" else TASK)
    results = json.loads(results_of(tmp_path).read_text())
    if what == "another mean":
        results["results"][TASK]["acc"] = 0.7
    if what == "lower is better":
        results["config_tasks"][TASK]["metrics"][0]["higher_is_better"] = False
    results_of(tmp_path).write_text(json.dumps(results))
    assert READER.read(tmp_path) == []
    assert said in capsys.readouterr().err


def test_damaged_folders_are_errors_that_name_the_file(tmp_path: Path) -> None:
    no_details = write_lighteval(tmp_path / "no_details")
    shutil.rmtree(no_details / "details")
    with pytest.raises(UserError, match="no details of samples"):
        cells_of_run(no_details)
    no_results = write_lighteval(tmp_path / "no_results")
    shutil.rmtree(no_results / "results")
    with pytest.raises(UserError, match=f"results file of .*{DATE}.parquet is missing"):
        cells_of_run(no_results)
    cut = write_lighteval(tmp_path / "cut")
    details_of(cut).write_bytes(details_of(cut).read_bytes()[:-500])
    with pytest.raises(UserError, match=f"{DATE}.parquet cannot be read"):
        cells_of_run(cut)
    other = write_lighteval(tmp_path / "other")
    results_of(other).write_text("{}")
    with pytest.raises(UserError, match=f"{DATE}.json: the key 'config_general' is missing"):
        cells_of_run(other)


def test_details_of_another_form_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = write_lighteval(tmp_path)
    pq.write_table(pa.table({"doc": [{"id": "0"}], "metric": [{"acc": 1}]}), details_of(folder))
    with pytest.raises(UserError, match=r"row 0: the key 'doc.query' is missing"):
        cells_of_run(folder)
    pq.write_table(pa.table({"full_prompt": ["?"]}), details_of(folder))
    with pytest.raises(UserError, match=r"row 0: the key 'doc' is missing"):
        cells_of_run(folder)
    write_lighteval(tmp_path)
    monkeypatch.setattr(lighteval, "LARGEST", 100)
    with pytest.raises(UserError, match="larger than 100 bytes"):
        cells_of_run(folder)


@pytest.mark.parametrize("broken", ["generation_parameters", "metrics"])
def test_results_of_another_form_are_errors(tmp_path: Path, broken: str) -> None:
    write_lighteval(tmp_path)
    results = json.loads(results_of(tmp_path).read_text())
    holder = results["config_general"]["model_config"] if broken != "metrics" else results["config_tasks"][TASK]
    holder[broken] = "all"
    results_of(tmp_path).write_text(json.dumps(results))
    with pytest.raises(UserError, match=f'{broken} must be .*, not "all"'):
        cells_of_run(tmp_path)
