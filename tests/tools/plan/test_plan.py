"""What a plan says is what a run then counts."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REAL_DATA, Cli
from tests.harness_collection import Run
from tests.models.tiny import tiny_llama, tiny_t5

from afrieval.results.run_files import read_run, sample_files
from afrieval.results.samples import read_samples
from afrieval.tools.plan import counting, rates

TASKS = "--data.source samples --task.task_name afrixnli,afrimmlu,afrimgsm,flores_from_eng --task.languages yor"
SOME = (*TASKS.split(), "--task.prompts", 1, "--eval.limit", 2, "--eval.max_gen_toks", 9)
ONE = ("--data.source", "samples", "--task.task_name", "afrimmlu", "--task.languages", "yor", "--task.prompts", 1)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Models of other shapes than the demo's."""
    folder = tmp_path_factory.mktemp("models")
    return {"short": tiny_llama(folder / "short", max_length=400), "t5": tiny_t5(folder / "t5")}


def planned(cli: Cli, *words: object) -> dict[str, list[dict[str, Any]]]:
    """Returns the rows of the tables of a plan by kind."""
    done = cli("plan", *words, "--json", "-").ok()
    return {table["rows"][0]["table"]: table["rows"] for table in json.loads(done.out)}


def work(folder: Path) -> dict[str, dict[str, Any]]:
    visit: dict[str, Any] = dict(read_run(folder)["visits"][-1])
    return dict(visit["work"])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("demo", ("--model.engine", "plain", "--eval.batch_size", 3)),
        ("short", ("--eval.num_fewshot", 2, "--eval.batch_size", 1)),
        ("t5", ()),
        ("t5", ("--model.engine", "plain")),
    ],
)
def test_a_plan_is_what_a_run_counts(
    cli: Cli, models: dict[str, Path], tmp_path: Path, name: str, options: tuple[Any, ...]
) -> None:
    words = ("--model.model_name", models.get(name, name), *SOME, *options, "--run_dir", tmp_path / "run")
    tables = planned(cli, *words)
    assert not (tmp_path / "run").exists(), "nothing is written"
    assert cli("run", *words).code == 0
    amounts = work(tmp_path / "run").values()
    counted = {key: sum(amount.get(key, 0) for amount in amounts) for key in ("requests", "plain", "computed", "most")}
    written = sum(amount.get("written", 0) for amount in amounts)
    total = tables["estimate"][-1]
    assert total["task"] == "total" and total["cells"] == 4
    assert total["requests"] == counted["requests"] and total["prompt_tokens"] == counted["plain"]
    assert total["computed_tokens"] == counted["computed"] - written
    assert 0 < written <= total["answer_tokens"] == counted["most"]
    assert ("fit" in tables) == (name == "short")


def test_tokens_are_those_of_the_samples(cli: Cli, models: dict[str, Path], tmp_path: Path) -> None:
    """Counted again from what was sent: the tokenizer of these models makes a token of each byte."""
    words = ("--model.model_name", "demo", *SOME[:2], *ONE[2:-1], "1,2", "--run_dir", tmp_path / "run")
    (yoruba,) = planned(cli, *words)["estimate"]
    assert cli("run", *words).code == 0
    plain = computed = 0
    for path in sample_files(tmp_path / "run"):
        sent = [b"".join(map(str.encode, pair))[:-1] for line in read_samples(path) for pair in line["arguments"]]
        beginnings = {text[:n] for text in sent for n in range(len(text) + 1)}  # none is that of the first token
        plain += sum(len(text) + 1 for text in set(sent))
        computed += len(beginnings)
    assert (yoruba["prompt_tokens"], yoruba["computed_tokens"]) == (plain, computed)


def test_some_documents_stand_for_all(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--model.model_name", "demo", *SOME[:-4], "--eval.num_fewshot", 2)
    exact = planned(cli, *words)["estimate"][-1]
    monkeypatch.setattr(counting, "MOST", 50)
    monkeypatch.setattr(counting, "BLOCK", 3)
    monkeypatch.setattr(counting, "FEWEST_WRITTEN", 2)
    done = cli("plan", *words, "--json", "-")
    about = json.loads(done.out)[0]["rows"][-1]
    for name in ("requests", "prompt_tokens", "computed_tokens", "answer_tokens"):
        assert about[name] == pytest.approx(exact[name], rel=0.1), name
    assert about != exact and "stands for the others" in " ".join(json.loads(done.out)[0]["notes"])


@pytest.mark.data
def test_some_documents_stand_for_all_real_ones(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--model.model_name", "demo", "--data.source", REAL_DATA, "--eval.num_fewshot", 5, *ONE[2:])
    exact = planned(cli, *words, "--eval.limit", 150)["estimate"][-1]
    monkeypatch.setattr(counting, "MOST", 400)
    about = planned(cli, *words, "--eval.limit", 150)["estimate"][-1]
    for name in ("requests", "prompt_tokens", "computed_tokens"):
        assert about[name] == pytest.approx(exact[name], rel=0.05), name
    assert about != exact


def test_what_is_stored_is_not_counted(cli: Cli, tmp_path: Path) -> None:
    words = ("--model.model_name", "demo", *ONE[:-1], "1,2", "--run_dir", tmp_path / "run")
    whole = planned(cli, *words)["estimate"][-1]
    assert cli("run", *words[:-3], 1, *words[-2:]).code == 0
    left = cli("plan", *words)
    assert "left to run" in left.out and "1 of 2 cells are stored" in left.out
    assert planned(cli, *words)["estimate"][-1]["requests"] == whole["requests"] / 2
    assert cli("run", *words).code == 0
    assert "Nothing is left to run" in cli("plan", *words).out


def test_rates_of_an_earlier_visit_serve(
    cli: Cli, models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--model.model_name", "demo", *ONE, "--run_dir", tmp_path / "run")
    assert "--calibrate measures how long it takes." in cli("plan", *words).out
    assert cli("run", *words).code == 0
    monkeypatch.setattr(rates, "LEAST", 0.0)
    done = cli("plan", *words[:-3], "1,2", *words[-2:])
    assert "for likelihoods, measured in the visit of" in " ".join(done.out.split())
    taken = work(tmp_path / "run")["likelihoods"]
    more = planned(cli, *words[:-3], "1,2", *words[-2:])["estimate"][0]
    assert more["hours"] == pytest.approx(more["computed_tokens"] / taken["computed"] * taken["seconds"] / 3600)
    other = cli("plan", "--model.model_name", models["short"], *words[2:-2], "--run_dir", tmp_path / "other")
    assert "--calibrate measures" in other.out, "of another model"


def test_calibration_measures_each_kind(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "SECONDS", 0.3)
    monkeypatch.setattr(rates, "LEAST", 0.0)
    done = cli("plan", "--model.model_name", "demo", *SOME, "--calibrate", "--json", "-")
    (table, *_) = json.loads(done.out)
    said = " ".join(table["notes"])
    assert "tokens/s for likelihoods" in said and "tokens/s for answers" in said and "requests of this plan" in said
    assert all(row["hours"] > 0 for row in table["rows"])


def test_an_api_is_not_calibrated(cli: Cli) -> None:
    words = ("--model.model_name", "gpt-9", "--model.model_type", "openai", "--task.answer_form", "generate")
    done = cli("plan", *words, *ONE, "--calibrate")
    assert done.code == 2 and "cost money" in done.err
    plan = cli("plan", *words, *ONE)
    assert plan.code == 0 and "Tokens are estimated" in plan.out


def test_a_dry_run_is_a_plan(cli: Cli) -> None:
    words = ("--model.model_name", "demo", *ONE)
    dry, plan = cli("run", *words, "--dry-run").out, cli("plan", *words).out
    assert dry.partition("free on")[0] == plan.partition("free on")[0] != plan


def test_without_a_tokenizer_it_says_what_is_unknown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # it was read before tests began
    done = cli("plan", "--model.model_name", "nobody/gated", *ONE)
    said = " ".join(done.out.split())
    assert done.code == 0 and "Tokens are estimated, one for 3 bytes" in said and "it is not known which" in said
    missing = cli("plan", "--model.model_name", "./nothing/here", *ONE)
    assert missing.code == 2 and "Traceback" not in missing.err


def test_a_device_that_is_not_here_is_named(cli: Cli) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    done = cli("plan", "--model.model_name", "demo", *ONE, "--model.device", "cuda")
    assert done.code == 0 and "cuda is not on this machine" in " ".join(done.out.split())


def test_harness_tasks_are_counted(harness: Run, tmp_path: Path) -> None:
    words = ("--task.harness_tasks", "perplexity,mc_yor_1", "--eval.limit", 2, "--run_dir", tmp_path / "run")
    dry = harness(*words, "--dry-run")
    (total,) = [line.split()[1:] for line in dry.out.splitlines() if line.startswith("total")]
    harness(*words)
    (likelihoods,) = work(tmp_path / "run").values()
    counted = [f"{likelihoods[name]:,}" for name in ("requests", "plain", "computed")]
    assert total == ["2", "4", *counted]


def test_memorisation_is_counted(cli: Cli, tmp_path: Path) -> None:
    words = ("--model.model_name", "demo", "--data.source", "samples", "--run_dir", tmp_path / "run")
    memory = (*words, "--task.task_name", "memorisation", "--task.of", "afrixnli", "--task.languages", "yor")
    total = planned(cli, *memory)["estimate"][-1]
    assert cli("run", *memory).code == 0
    sums: dict[str, int] = defaultdict(int)
    for amount in work(tmp_path / "run").values():
        for name in ("requests", "plain", "computed"):
            sums[name] += amount[name]
    assert total["requests"] == sums["requests"] and total["prompt_tokens"] == sums["plain"]
    assert total["computed_tokens"] == sums["computed"]
