"""Translation runs: what a model writes is cut at its line, stored, and scored as by sacrebleu."""

import csv
from pathlib import Path
from typing import Any

import pytest
from sacrebleu import corpus_bleu, corpus_chrf
from tests.conftest import Cli

from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples

GIVEN = [" Soko hufunguliwa asubuhi.", "", " Dada yangu alinunua mkate.\nEnglish: The", " How much does it cost?"]


def test_scores_of_a_run_are_sacrebleus_on_the_stored_answers(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is replaced by one that writes these four answers in turn."""

    def write(lm: object, requests: list[object], disable_tqdm: bool = False) -> list[str]:
        return [GIVEN[i % len(GIVEN)] for i in range(len(requests))]

    monkeypatch.setattr("afrieval.models.backends.hf.HF.generate_until", write)
    done = run_demo("--task.task_name", "flores_from_eng", "--task.languages", "swa", "--task.prompts", "1")
    assert done.code == 0, done.err
    (path,) = sample_files(tmp_path / "run")
    samples = read_samples(path)
    assert all(s["arguments"][0][1]["until"] == ["\n"] for s in samples)
    assert all(s["arguments"][0][0].endswith("\nSwahili:") for s in samples)
    given, right = [s["filtered_resps"][0] for s in samples], [s["target"] for s in samples]
    (row,) = csv.DictReader((tmp_path / "run/summary.csv").open(encoding="utf-8"))
    assert row["metric"] == "chrf++" and float(row["empty"]) == 0.25
    assert 0 < float(row["score"]) == pytest.approx(corpus_chrf(given, [right], word_order=2).score)
    assert float(row["bleu"]) == pytest.approx(corpus_bleu(given, [right], force=True).score)
    assert "nw:2" in (tmp_path / "run/run.yaml").read_text(encoding="utf-8")


def test_copies_are_counted(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is replaced by one that repeats the source."""

    def write(lm: object, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [" " + request.args[0].split("\n")[-2].partition(": ")[2].upper() for request in requests]

    monkeypatch.setattr("afrieval.models.backends.hf.HF.generate_until", write)
    assert run_demo("--task.task_name", "flores_to_eng", "--task.languages", "hau,amh", "--task.prompts", "1").code == 0
    for row in csv.DictReader((tmp_path / "run/summary.csv").open(encoding="utf-8")):
        assert (float(row["copied"]), float(row["empty"])) == (1.0, 0.0) and float(row["output_language"]) < 0.2
