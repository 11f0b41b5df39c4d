"""Files that come with the suite are found by the names that the documentation gives them, wherever a command runs."""

from pathlib import Path

import pytest

from afrieval._util.resources import here_or_shipped, shipped
from tests.conftest import ROOT, Cli

DEMO = Path("configs/models/demo.yaml")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_folders_are_those_of_the_checkout() -> None:
    assert (shipped("tasks"), shipped("configs")) == (ROOT / "tasks", ROOT / "configs")


def test_a_file_that_is_not_here_is_the_shipped_one() -> None:
    assert here_or_shipped(DEMO) == ROOT / DEMO


def test_a_file_that_is_here_is_taken(elsewhere: Path) -> None:
    (elsewhere / DEMO.parent).mkdir(parents=True)
    DEMO.touch()
    assert here_or_shipped(DEMO) == DEMO


@pytest.mark.parametrize(
    "name", ["", "mine.yaml", "configs/models/mine.yaml", "configs/../README.md", "docs/models.md", "/configs/models"]
)
def test_other_paths_stay_as_they_are(name: str) -> None:
    assert here_or_shipped(Path(name)) == Path(name)


def test_a_mistyped_name_is_answered_with_a_shipped_file(
    cli: Cli, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(elsewhere)
    refused = cli("preview", "--task-config-yaml", "configs/tasks/demmo.yaml")
    assert refused.code == 2
    assert refused.err.startswith("error: there is no file configs/tasks/demmo.yaml\nhint: did you mean demo.yaml or ")
