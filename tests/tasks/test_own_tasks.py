"""A user's own tasks: next to those of the suite, with rows and metrics in their own folder."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT, Cli, only_samples
from tests.tasks.small_task import declaration, write_declaration, write_rows

from afrieval.results.run_files import read_run, sample_files

CODE = '''\
from afrieval.scoring.base import Metric, ratio


def words() -> Metric:
    """Returns the share of the right answer's words."""
    return Metric("words", measure, ratio, interval="bootstrap")


def measure(response, question):
    return [1.0, float(len(question.gold.split()))]
'''


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder with a task of its own rows and metric."""
    keys = {"kind": "text", "extract": "whole", "metrics": ["words", "exact_match"], "fields": {"text": "text"}}
    prompts = {1: {"template": "Say: {{ text }}"}}
    path = write_declaration(tmp_path / "mine", declaration("said", answer="told", prompts=prompts, **keys))
    (path.parent / "metrics.py").write_text(CODE, encoding="utf-8")
    rows = [{"text": "a", "told": "a b"}, {"text": "c", "told": "d"}]
    write_rows(path.parent / "data/en.jsonl", rows)
    return tmp_path / "mine"


def test_next_to_a_task_of_the_suite(cli: Cli, mine: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(ROOT / "tasks/sib200", tmp_path / "others/topics")
    text = (copy / "task.yaml").read_text(encoding="utf-8")
    (copy / "task.yaml").write_text(text.replace("name: sib200", "name: topics"), encoding="utf-8")
    (tmp_path / "data").mkdir()
    words = ("--data", tmp_path / "data", "--folder", tmp_path / "others", "--languages", "eng", "--prompts", 1)
    done = cli("preview", f"{mine}/said", *words)
    assert done.code == 0 and "Say: a\n" in done.out
    assert "does not contain" in cli("preview", "topics", mine / "said/task.yaml", *words).err
    samples = ("--data", "samples", *words[2:])
    done = cli("preview", f"afrixnli,topics,{mine}/said", *samples)
    assert "samples has no test rows of said" in done.err
    done = cli("preview", "afrixnli,topics", *samples)
    assert "afrixnli English, English prompt 1" in done.out and "topics English, English prompt 1" in done.out
    listed = cli("list", "--folder", mine, "--task.folder", tmp_path / "others").out
    assert "said" in listed and "topics" in listed and "afrixnli" not in listed


def test_the_name_of_a_task_of_the_suite(cli: Cli, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        shutil.copytree(ROOT / "tasks/afrixnli", tmp_path / folder / "afrixnli")
    words = ("preview", "afrixnli", "--data", "samples", "--prompts", 1, "--languages", "eng", "--folder")
    done = cli(*words, tmp_path / "one")
    assert f"afrixnli is the task of {tmp_path / 'one'}, which replaces the suite's" in done.err and done.code == 0
    assert "replaces" not in cli(*words, "tasks").err
    assert "both have the task afrixnli" in cli(*words, tmp_path / "one", "--folder", tmp_path / "two").err


def test_a_run_with_a_metric_of_its_own(cli: Cli, mine: Path, tmp_path: Path) -> None:
    run, code = tmp_path / "run", mine / "said/metrics.py"
    words = ("run", "demo", f"{mine}/said", "--out", run)
    assert cli(*words).code == 0
    assert [sample["measures"]["words"] for sample in only_samples(run)] == [[1.0, 2.0], [1.0, 1.0]]
    code.write_text(CODE.replace("1.0, float", "0.0, float"), encoding="utf-8")
    assert "tasks.said.code" in cli(*words).err
    refused = cli("score", run)
    assert f"runs {code}" in refused.err and refused.code == 2, "nobody has named the folder"
    assert "its version is still 1" in cli("score", run, "--task.folder", mine).err
    code.unlink()
    assert "66.7" in cli("show", run).out, "readers need no code"
    metrics: Any = read_run(run)["declared"]["said"]["metrics"]
    assert metrics[0]["own"]["score"] == "ratio"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1\n", "defines no metric"),
        ("x = 1\ny = 1 / 0\n", "line 2: ZeroDivisionError"),
        ("def words(:\n", "line 1: SyntaxError"),
        (CODE.replace("ratio, ", "lambda measures, weights: weights.sum(axis=1), "), "could not be read without its"),
        (CODE.replace("def words", "def bleu"), "defines bleu, a metric of the suite"),
        (CODE.replace("def words", "def word"), "there is no metric 'words'"),
    ],
)
def test_faults_of_a_metric(cli: Cli, mine: Path, code: str, message: str) -> None:
    (mine / "said/metrics.py").write_text(code, encoding="utf-8")
    assert message in cli("list", "said", "--folder", mine).err


MEAN = CODE.replace("measure, ratio, ", "measure, ")


def giving(value: str) -> str:
    """Returns a metric that is a mean, and gives a value."""
    return MEAN.replace("[1.0, float(len(question.gold.split()))]", value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[float('nan')]", "returns [nan], not a list of one number from 0 to 1"),
        ("[len(response.text)]", "from 0 to 1, its bounds"),
        ("[]", "returns [], not"),
        ("None if question.gold == 'd' else [1.0]", "the metric words returns None for row 1 of said"),
        (
            "[1 / (len(question.gold) - 1)]",
            "division by zero, in the metric words, for row 1 of said",
        ),
    ],
)
def test_what_a_metric_must_not_return_is_said_before_a_model_is_asked(
    cli: Cli, mine: Path, tmp_path: Path, value: str, message: str
) -> None:
    (mine / "said/metrics.py").write_text(giving(value), encoding="utf-8")
    assert cli("list", "said", "--folder", mine).code == 0
    failed = cli("run", "demo", f"{mine}/said", "--out", tmp_path / "run")
    assert failed.code == 2 and message in failed.err and "metrics.py" in failed.err + message, failed.err
    assert not (tmp_path / "run").exists()


def test_a_folder_with_scores_that_older_versions_stored_can_be_corrected(cli: Cli, mine: Path, tmp_path: Path) -> None:
    words = ("run", "demo", f"{mine}/said", "--out", tmp_path / "run")
    (mine / "said/metrics.py").write_text(giving("[0.5]"), encoding="utf-8")
    assert cli(*words).code == 0
    (path,) = sample_files(tmp_path / "run")
    path.write_text(path.read_text().replace("[0.5]", "[NaN]"), encoding="utf-8")
    refused = cli("show", tmp_path / "run")
    assert refused.code == 2 and "delete the file and run again" in refused.err
    path.unlink()
    (mine / "said/metrics.py").write_text(giving("[0.25]"), encoding="utf-8")
    done = cli(*words)
    assert done.code == 0 and "2 of which are stored" in done.err, done.err
    assert "25.0" in cli("show", tmp_path / "run").out


@pytest.mark.parametrize("value", ["[np.float32(0.5)]", "np.array([0.5])", "(0.5,)", "0.5"])
def test_numbers_of_all_libraries_are_numbers(cli: Cli, mine: Path, tmp_path: Path, value: str) -> None:
    (mine / "said/metrics.py").write_text("import numpy as np\n" + giving(value), encoding="utf-8")
    assert cli("run", "demo", f"{mine}/said", "--out", tmp_path / "run").code == 0
    assert "50.0" in cli("show", tmp_path / "run").out
