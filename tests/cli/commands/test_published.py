"""Published scores in the tables of run and compare."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from tests.conftest import Cli

import afrieval
from afrieval._util.errors import UserError
from afrieval.models.demo import demo_folder

PHI = "Phi-3-mini-4k-instruct"  # the name of a folder says which model it holds, as its name on the hub does


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a run of MMLU's sample rows with the demo model under another name."""
    from afrieval.cli.main import main

    model, folder = tmp_path_factory.mktemp("models") / PHI, tmp_path_factory.mktemp("runs") / "run"
    shutil.copytree(demo_folder(), model)
    words = {"model.model_name": model, "task.task_name": "mmlu", "task.prompts": 1, "data.source": "samples"}
    assert main(["run", f"--run_dir={folder}", *(f"--{name}={value}" for name, value in words.items())]) == 0
    return folder


def test_a_run_of_a_model_with_published_scores_ends_with_them(stored: Path, cli: Cli) -> None:
    model = next((stored.parents[1] / "models0").iterdir())
    words = ("--task.task_name=mmlu", "--task.prompts=1", "--data.source=samples", f"--run_dir={stored}")
    done = cli("run", "--model.model_name", model, *words)
    assert done.code == 0, done.err
    (line,) = [line for line in done.out.splitlines() if line.startswith("STEM")]
    assert line.split()[4:] == ["59.8", f"{100 / 3 - 59.8:+.1f}", "yes"]
    said = " ".join(done.out.split())
    assert "publ.: published scores of Phi-3-3.8B-4K: 5-shot" in said
    assert "Different here: 0-shot, 12 of 14,042 questions." in said


def test_compare_shows_those_that_are_asked_for(stored: Path, cli: Cli, tmp_path: Path) -> None:
    compare = ("compare", stored, "--by", "category")
    done = cli(
        *compare, "--published", "Llama-3-8B-deepeval", "--json", tmp_path / "t.json", "--csv", tmp_path / "t.csv"
    )
    assert done.code == 0 and "completely wrong" in " ".join(done.out.split()), done.err
    (table,) = json.loads((tmp_path / "t.json").read_text())
    stem = next(row for row in table["rows"] if row["category"] == "STEM")
    assert stem["published Llama-3-8B-deepeval"] == 0.43 and stem["score"] == pytest.approx(1 / 3)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        assert [row["published Llama-3-8B-deepeval"] for row in csv.DictReader(file)][2:] == ["0.43", "0.6", "0.61", ""]


def test_python_shows_the_same(stored: Path) -> None:
    (table,) = afrieval.compare(stored).by("category", ["Llama-2-7B"])
    assert [row["published Llama-2-7B"] for row in table.records()] == [0.46, None, 0.37, 0.433, 0.518, 0.524]
    with pytest.raises(UserError, match="'Llama-2'"):
        afrieval.compare(stored).by("category", ["Llama-2"])


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--by", "category", "--published", "Phi"), "no task here has published scores of 'Phi'", "Phi-3-3.8B-4K"),
        (("--published", "Llama-3-8B"), "--published needs --by", "--by subject"),
        (("--by", "category", "--metric", "acc_norm", "--published", "Llama-3-8B"), "the main metric", "--metric"),
    ],
)
def test_what_cannot_be_shown(stored: Path, cli: Cli, words: tuple[str, ...], message: str, hint: str) -> None:
    done = cli("compare", stored, *words)
    assert done.code == 2 and message in done.err and hint in done.err and "Traceback" not in done.err
