"""Tidy tables: what is in them, in both forms, and that hostile texts stay texts."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.conftest import ROOT, Cli, csv_rows
from tests.exchange.conftest import export

from afrieval.exchange.tidy import DOCUMENT, METRICS, SAMPLES, SCORES, SETTINGS, VISIT
from afrieval.results.comparable_runs import read_runs
from afrieval.results.document_columns import DescribedColumn
from afrieval.results.summary import CELL, METRIC, SCORE

NAMES = ("scores", "metrics", "samples", "settings")


@pytest.fixture(scope="module")
def exported(choices: Path, texts: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Any]]:
    """Both runs as CSV and Parquet."""
    folder = tmp_path_factory.mktemp("tidy")
    for form in ("csv", "parquet"):
        export(form, folder / form, choices, texts)
        assert sorted(p.name for p in (folder / form).iterdir()) == sorted(f"{name}.{form}" for name in NAMES)
    return {
        name: (csv_rows(folder / f"csv/{name}.csv"), pq.read_table(folder / f"parquet/{name}.parquet").to_pylist())
        for name in NAMES
    }


def test_scores_read_back_equal(exported: dict[str, Any], choices: Path, texts: Path) -> None:
    flat, typed = exported["scores"]
    cells = read_runs([choices, texts])
    assert [row["score"] for row in typed] == [float(row["score"]) for row in flat] == [cell.score for cell in cells]
    assert [(row["low"], row["high"]) for row in typed] == [cell.interval or (None, None) for cell in cells]
    assert [row["n"] for row in typed] == [cell.n for cell in cells] and {row["shots"] for row in typed} == {0, 1}
    assert {row["run"] for row in typed} == {"first", "second"} and {row["model"] for row in typed} == {"demo"}
    assert {row["unparsed"] for row in typed if row["answer_form"] == "text"} == {None}
    assert all(row["prompt_hash"] and row["data_hash"] and row["date"] for row in typed)


def test_every_metric_has_a_row(exported: dict[str, Any], choices: Path, texts: Path) -> None:
    _, typed = exported["metrics"]
    cells = read_runs([choices, texts])
    assert len(typed) == sum(len(cell.metrics) for cell in cells)
    assert [row["score"] for row in typed if row["main"]] == [cell.score for cell in cells]
    chrf = next(row for row in typed if row["metric"] == "chrf++")
    assert (chrf["lowest"], chrf["highest"], chrf["higher_is_better"]) == (0, 100, True)


def test_samples_have_texts_answers_and_measures(exported: dict[str, Any], choices: Path) -> None:
    flat, typed = exported["samples"]
    line = json.loads((choices / "samples_afrixnli_yor_native_1.jsonl").read_text().split("\n")[0])
    place = {"run": "first", "task": "afrixnli", "language": "yor", "prompt_language": "native", "prompt": "1"}
    row, again = (
        next(r for r in rows if r["doc_id"] in (0, "0") and place.items() <= r.items()) for rows in (typed, flat)
    )
    assert row["prompt_text"] == line["arguments"][0][0] and row["picked"] == line["picked"]
    assert row["likelihoods"] == [answer[0][0] for answer in line["resps"]] == json.loads(again["likelihoods"])
    assert row["measure acc"] == line["acc"] == float(again["measure acc"])
    spans = next(r for r in typed if r["task"] == "masakhaner")
    assert len(spans["measure span_f1"]) == 4 and spans["measure acc"] is None
    assert row["measure exact_match"] is None and again["measure exact_match"] == ""
    assert "\n" in row["prompt_text"] and "\n" not in again["prompt_text"]
    generated = next(r for r in typed if r["task"] == "afrimgsm")
    assert generated["output"] is not None and generated["likelihoods"] is None and generated["unparsed"] is not None
    assert len(generated["fewshot_ids"]) == 1


def test_settings_are_all_of_run_yaml(exported: dict[str, Any]) -> None:
    _, typed = exported["settings"]
    found = {(row["run"], row["setting"]): json.loads(row["value"]) for row in typed}
    assert (
        found["second", "identity.fewshot.num_fewshot"] == 1 and found["first", "identity.model.model_name"] == "demo"
    )
    assert found["first", "visits.0.config.eval.sample"] == 4


def test_all_columns_are_documented() -> None:
    page = (ROOT / "docs/exchange.md").read_text(encoding="utf-8")
    every = {name for columns in (SCORES, METRICS, SAMPLES, SETTINGS) for name in columns}
    assert not [name for name in every if f"`{name}`" not in page]
    described: list[DescribedColumn[Any]] = [METRIC, *SCORE, *CELL, *VISIT, *DOCUMENT]
    assert not [c.name for c in described if f"| `{c.name}` | {c.words} |" not in page]


def test_hostile_texts_are_no_formulas_and_no_lines(cli: Cli, choices: Path, tmp_path: Path) -> None:
    copied = tmp_path / "=run"
    shutil.copytree(choices, copied)
    path = copied / "samples_afrixnli_yor_eng_1.jsonl"
    first, *rest = path.read_text(encoding="utf-8").split("\n")
    line = json.loads(first)
    line["arguments"] = [['=HYPERLINK("x")\n\u202e', " a"], *line["arguments"][1:]]
    path.write_text("\n".join([json.dumps(line), *rest]), encoding="utf-8")
    for form in ("csv", "parquet"):
        assert cli("export", "--to", form, tmp_path / form, "--run", copied).code == 0
    (row,) = [row for row in csv_rows(tmp_path / "csv/samples.csv") if "HYPERLINK" in row["prompt_text"]]
    assert row["run"] == "'=run" and row["prompt_text"] == '\'=HYPERLINK("x")\\n\\u202e'
    typed = pq.read_table(tmp_path / "parquet/samples.parquet").to_pylist()
    (text,) = [row["prompt_text"] for row in typed if "HYPERLINK" in (row["prompt_text"] or "")]
    assert text == '=HYPERLINK("x")\n\u202e' and typed[0]["run"] == "=run"
