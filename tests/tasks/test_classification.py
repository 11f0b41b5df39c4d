"""A text-classification task is one file, task.yaml: rows, prompts, metrics. It runs from the command line."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score
from tests.conftest import ROOT, Cli, put

from afrieval.results.run_files import read_run, sample_files
from afrieval.results.samples import read_samples

PAGE = (ROOT / "docs/adding-a-task.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## A text-classification task\n")[2].partition("\n## ")[0]


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The task and data of the page, and the options that name them."""
    blocks = re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)```", SECTION, re.M | re.S)
    assert [Path(name).name for name, _ in blocks] == ["task.yaml", "en.jsonl", "ha.jsonl"]
    for name, text in blocks:
        path = tmp_path / name
        put(path, text)
    named = {"--task.task_name": "mood", "--task.folder": tmp_path / "my_tasks", "--data.source": tmp_path / "my_data"}
    named |= {"--model.model_name": "demo", "--run_dir": tmp_path / "run"}
    return [str(word) for pair in named.items() for word in pair]


def test_the_commands_of_the_page(cli: Cli, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in re.findall(r"^    afrieval (.*)$", SECTION, re.M):
        cli(*shlex.split(line)).ok()
    assert len(sample_files(tmp_path / "runs/text")) == len(sample_files(tmp_path / "runs/generate")) == 4


@pytest.mark.parametrize("form", ["text", "generate"])
def test_it_runs(cli: Cli, words: list[str], tmp_path: Path, form: str) -> None:
    cli("run", *words, "--task.answer_form", form, "--eval.num_fewshot", 1).ok()
    names = {
        "text": ["acc", "f1_macro", "f1_weighted", "acc_norm", "acc_bytes", "acc_tokens", "acc_pmi", "acc_matched"],
        "generate": ["acc", "f1_macro", "f1_weighted", "unparsed"],
    }
    files = sample_files(tmp_path / "run")
    assert len(files) == 4, "two languages, two prompts"
    for path in files:
        for sample in read_samples(path):
            assert sample["metrics"] == names[form] == list(sample["measures"])
            gold = [0, 1, 2, 0][sample["doc_id"]]
            picked = -1 if sample["answer"] is None else sample["answer"]
            assert sample["measures"]["f1_macro"] == sample["f1_macro"] == [gold, picked]
            assert sample["measures"]["acc"] == [sample["acc"]] == [float(gold == picked)]
            assert sample["picked"] == sample["answer"] and (form == "generate" or picked >= 0)
    declared = read_run(tmp_path / "run")["declared"]["mood"]
    assert declared["metrics"][:2] == ["acc", {"name": "f1", "average": "macro"}]
    assert declared["groups"] == {"short": {"length": ["short"]}}


def test_its_scores_are_scikit_learns_in_the_harness_too(words: list[str], tmp_path: Path) -> None:
    """The harness makes the score of the same measures."""
    import lm_eval
    from tests.conftest import read_config

    from afrieval.exchange.lm_eval_export import task_manager
    from afrieval.models.demo import demo_folder

    config = read_config(words, command="preview", needs_model=False)
    results = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": str(demo_folder())},
        tasks=["mood_hau"],
        task_manager=task_manager(config),
        device="cpu",
        bootstrap_iters=0,
    )
    for name in ("mood_hau_eng_1", "mood_hau_eng_2"):
        gold, picked = np.array([s["f1_macro"] for s in results["samples"][name]], dtype=int).T
        expected = f1_score(gold, picked, average="macro", zero_division=0)
        assert results["results"][name]["f1_macro,none"] == pytest.approx(expected)


def test_the_prompts_are_shown(cli: Cli, words: list[str]) -> None:
    done = cli("preview", *words[:-4], "--task.languages", "hau")
    assert "Message: Na gode sosai!\nMood (glad, angry or neither):" in done.out
    assert '"Na gode sosai!" sounds happy, angry or neutral. It is\n' in done.out
    assert "  ' happy'  gold" in done.out


def test_faults_in_the_prompts_of_a_task_file_are_named(cli: Cli, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "my_tasks/mood/task.yaml"
    text = path.read_text()
    faults = {
        "{{ text }}": ("{{ txt }}", "task.yaml, prompt 1: unknown key 'txt'"),
        "labels: {glad: happy, ": ("labels: {", "prompt 2: labels are angry, neither"),
        "    template: |\n      Message": ("    templat: |\n      Message", "unknown key 'prompts.1.templat'"),
        "  1:\n": ("  one:\n", "prompts.one must be a whole number"),
    }
    for old, (new, message) in faults.items():
        path.write_text(text.replace(old, new, 1))
        done = cli("run", *words)
        assert done.code == 2 and message in done.err, done.err
    path.write_text(text)
    (tmp_path / "my_tasks/mood/prompts").mkdir()
    (tmp_path / "my_tasks/mood/prompts/eng.yaml").write_text(json.dumps({"origin": "human"}))
    done = cli("run", *words)
    assert done.code == 2 and "both have English prompts" in done.err
