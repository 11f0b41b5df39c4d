"""Records of Every Eval Ever as published scores."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli, put

from afrieval._util.errors import UserError
from afrieval.addons.readers.every_eval_ever import READER, key_of, named_metric, percent
from afrieval.analysis.published_files import PublishedRow
from afrieval.results.cell_key import CellKey

SHARE = {"metric_name": "acc", "min_score": 0, "max_score": 1.0}


def result(name: str, score: float = 0.5, metric: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": "afrixnli", "source_type": "other"},
        "metric_config": {"lower_is_better": False, **(SHARE if metric is None else metric)},
        "score_details": {"score": score, "uncertainty": {"num_samples": 600}},
        **more,
    }


def record(*results: dict[str, Any], model: str = "org/big", **more: Any) -> dict[str, Any]:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"x/{model}/1",
        "retrieved_timestamp": "1",
        "model_info": {"name": model, "id": model, "additional_details": {}},
        "evaluation_results": list(results),
        **more,
    }


def written(path: Path, content: Any) -> Path:
    put(path, content if isinstance(content, str) else json.dumps(content))
    return path


def test_results_of_a_model_are_a_row_per_prompt(tmp_path: Path) -> None:
    shots = {"generation_config": {"additional_details": {"num_fewshot": "5"}}}
    results = [result(f"afrixnli_direct_{code}_prompt_{n}", n / 10, **shots) for n in (1, 2) for code in ("yor", "hau")]
    path = written(tmp_path / "data/afrixnli/org/big/a.json", record(*results))
    of_first = PublishedRow("afrixnli", "org/big", "1", 5, {"yor": 10.0, "hau": 10.0}, None, 0, "eng", "acc")
    found = READER.read(path).rows
    assert found == READER.read(tmp_path).rows
    assert [row.prompt for row in found] == ["1", "2"] and found[0].n == {"yor": 600, "hau": 600}
    assert found[0].scores == of_first.scores and found[0].metric == "acc" and found[0].shots == 5


@pytest.mark.parametrize(
    ("name", "data", "key"),
    [
        ("afrixnli_yor_native_2", "x", CellKey("afrixnli", "yor", "native 2", "native")),
        ("afrixnli_yor_eng_2", "x", CellKey("afrixnli", "yor", "suite 2", "eng")),
        ("afrixnli_yor_eng_paper3", "x", CellKey("afrixnli", "yor", "3", "eng")),
        ("afrixnli_translate_yor_eng_2", "x", CellKey("afrixnli_translate", "yor", "suite 2", "eng")),
        ("afrimmlu_direct_hau_prompt_4/none", "x", CellKey("afrimmlu", "hau", "4", "eng")),
        ("afrimmlu_native_direct_hau_prompt_4", "x", CellKey("afrimmlu", "hau", "native 4", "native")),
        ("Yoruba", "Belebele", CellKey("belebele", "yor", "unknown", "eng")),
        ("belebele_deu_Latn", "x", CellKey("belebele", "", "unknown", "eng")),
        ("Physics", "MMLU", CellKey("mmlu", "", "unknown", "eng")),
        ("mmlu", "x", CellKey("mmlu", "eng", "unknown", "eng")),
        ("gaia", "gaia", None),
    ],
)
def test_what_an_evaluation_is_of(name: str, data: str, key: CellKey | None) -> None:
    assert key_of(name, {"dataset_name": data}) == key


def test_metrics_and_scales() -> None:
    assert named_metric({"metric_name": "Accuracy"}) == "acc" == named_metric({"evaluation_description": "acc"})
    assert named_metric({"evaluation_description": "Accuracy on AfriMMLU"}) == "acc"
    assert named_metric({"metric_id": "lmarena.elo", "metric_name": "Elo"}) is None
    assert percent(0.5, {"max_score": 1}) == 50 == percent(50, {"max_score": 100.0})
    assert (
        percent(0.5, {"metric_unit": "proportion"}) == 50 == percent(50, {"metric_unit": "percent", "max_score": 100})
    )
    assert percent(0.5, {}) is None is percent(0.5, {"max_score": "Infinity"})
    assert percent(0.5, {"metric_unit": "percent", "max_score": 1}) is None


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    results = [
        result("gaia", source_data={"dataset_name": "gaia", "source_type": "other"}),
        result("belebele_deu_Latn"),
        result("afrixnli_yor_eng_1", metric={"metric_name": "elo"}),
        result("afrixnli_yor_eng_1", metric={**SHARE, "metric_name": "acc_norm"}),
        result("afrixnli_hau_eng_1", metric={"metric_name": "acc"}),
        result("afrixnli_swa_eng_1"),
    ]
    (row,), left_out = READER.read(written(tmp_path / "a.json", record(*results)))
    said = "\n".join(left_out)
    assert row.scores == {"swa": 50} and len(left_out) == 5 and "1 result whose" in said
    for words in (
        "benchmark the suite does not have: gaia",
        "language the suite does not have: belebele_deu_Latn",
        "metric the suite does not have: afrixnli_yor_eng_1 (elo)",
        "under other metrics than the usual one of their task: acc_norm",
        "scale is not stated or not clear: afrixnli_hau_eng_1",
    ):
        assert words in said


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"evaluation_results": [], "evaluation_id": "x"}, "schema_version"),
        (record(result("afrixnli_yor_eng_1", score="high")), "score"),  # type: ignore[arg-type]
        (record(result("afrixnli_yor_eng_1", 1.5)), "outside its scale"),
        (record(result("afrixnli_yor_eng_1"), result("afrixnli_yor_eng_1")), "both have a score of org/big"),
        ({**record(), "evaluation_results": 3}, "evaluation_results"),
        (record(model=""), "id"),
    ],
)
def test_damaged_records_are_refused(cli: Cli, tmp_path: Path, content: Any, problem: str) -> None:
    path = written(tmp_path / "a.json", content)
    with pytest.raises(UserError, match=problem):
        READER.read(path)
    done = cli("compare", path)
    assert done.code == 2 and problem in done.err and str(path) in done.err and "Traceback" not in done.err


def test_only_records_are_records(tmp_path: Path) -> None:
    assert not READER.wrote(tmp_path) and not READER.wrote(tmp_path / "missing.json")
    for content in ("{", "[]", '{"forget_quality": 1}', "[" * 100_000):
        assert not READER.wrote(written(tmp_path / "a.json", content))
    written(tmp_path / ".cache/c.json", record())
    assert not READER.wrote(tmp_path)
    assert READER.wrote(written(tmp_path / "b/c.json", record())) and READER.wrote(tmp_path)


def test_compare_shows_them_next_to_a_run(cli: Cli, run_demo: Cli, tmp_path: Path) -> None:
    words = ("--task.task_name", "afrixnli", "--task.languages", "yor", "--task.prompts", 1, "--eval.limit", 3)
    assert run_demo(*words).code == 0
    results = [result("afrixnli_yor_prompt_1", 0.61), result("afrixnli_yor_native_1", 0.99)]
    path = written(tmp_path / "a.json", record(*results))
    done = cli("compare", tmp_path / "run", path).ok()
    (line,) = [line for line in done.out.splitlines() if line.startswith("org/big")]
    assert line.split() == ["org/big", "published", "1", "61.0", "61.0"], "native prompts are not averaged with English"
    assert "Published scores are of 600 documents per language" in " ".join(done.out.split())
    alone = cli("compare", path)
    assert alone.code == 0 and "native 1" in alone.out
