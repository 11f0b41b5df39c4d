"""Metrics that are functions of sums have the same scores in the harness as in our own runs."""

import csv
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import lm_eval
import pytest
from lm_eval.models.huggingface import HFLM
from tests.conftest import Cli
from tests.scoring.kinds import KINDS, TEXTS, write_task

from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.exchange.lm_eval_export import definitions, task_manager
from afrieval.models.backends.hf import HF
from afrieval.models.demo import demo_folder
from afrieval.tasks.declaration.spec import load_task

pytestmark = pytest.mark.usefixtures("flores200")
SAID = {
    "spans": ["PER: Musa\nLOC: Lagos", "none", "Well.\nper: Ada", "nothing"],
    "tags": ["Musa PROPN\nlives VERB", "The PROPN\nrain VERB\nsnow X", "Ada went", "all ADP"],
}
TEXTUAL = [*(yor for _, yor in TEXTS), TEXTS[0][0], " ", "ọjà", "Oja ni"]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_a_run(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    write_task(tmp_path / "tasks", kind)
    said = SAID.get(kind, TEXTUAL)

    def write(lm: object, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Answers as the prompts' hashes will have it."""
        hashes = [hashlib.sha256(f"{request.args[0]}{kind}".encode()).digest()[0] for request in requests]
        return [f" {said[number % len(said)]}" for number in hashes]

    monkeypatch.setattr(HF, "generate_until", write)
    monkeypatch.setattr(HFLM, "generate_until", write)
    where = ("--task.folder", tmp_path / "tasks", "--data.source", "samples", "--run_dir", tmp_path / "run")
    done = cli("run", "--model.model_name", "demo", "--task.task_name", kind, "--eval.num_fewshot", 1, *where)
    assert done.code == 0, done.err
    with (tmp_path / "run/summary.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    config = replace(RunConfig(), data=DataConfig("samples"), task=TaskConfig(folder=str(tmp_path / "tasks")))
    results = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": str(demo_folder()), "dtype": "auto"},
        device="cpu",
        bootstrap_iters=0,
        num_fewshot=1,
        tasks=[f"{kind}_yor_eng_1"],
        task_manager=task_manager(replace(config, task=replace(config.task, task_name=kind))),
    )
    found = {k.removesuffix(",none"): v for k, v in results["results"][f"{kind}_yor_eng_1"].items() if v != "N/A"}
    expected = {row["metric"]: float(row["score"])} | {name: float(row[name]) for name in found if name in row}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert set(expected) == {m.name for m in load_task(kind, tmp_path / "tasks").scoring.metrics}


def test_groups_have_the_metrics_of_all_their_members() -> None:
    config = RunConfig(data=DataConfig("samples"), task=TaskConfig("flores_from_eng", languages=["ewe", "swa"]))
    found = definitions(config)
    metrics = {
        code: [each["metric"] for each in found[f"flores_from_eng_{code}"]["aggregate_metric_list"]]
        for code in ("ewe", "swa", "african")
    }
    assert metrics["swa"] == [*metrics["ewe"], "output_language"] and metrics["african"] == metrics["ewe"]
