"""A small collection of harness tasks, and a function that runs the demo model on them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Cli, Outcome
from tests.harness_yaml import write_data, write_tasks

if TYPE_CHECKING:
    from lm_eval.tasks import TaskManager

Run = Callable[..., Outcome]


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, task files that name it as on the hub, and task files that name it as a folder."""
    folder = tmp_path_factory.mktemp("harness")
    write_data(folder / "data")
    write_tasks(folder / "tasks")
    write_tasks(folder / "local", str(folder / "data/org/rows"))
    return folder


@pytest.fixture(scope="session")
def index(collection: Path) -> "TaskManager":
    """The harness' index of the task files that name data as on the hub."""
    from lm_eval.tasks import TaskManager

    return TaskManager(include_path=str(collection / "tasks"), include_defaults=False)


@pytest.fixture
def harness(cli: Cli, collection: Path, index: "TaskManager", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Returns a function that runs the demo model on harness tasks of the collection."""
    monkeypatch.setattr("afrieval.run.harness.index.task_manager", lambda: index)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(collection / "cache"))

    def run(*words: object, command: str = "run") -> Outcome:
        given = [str(w) for w in words]
        defaults = {"--model.model_name": "demo", "--data.source": collection / "data", "--run_dir": tmp_path / "run"}
        for flag, value in defaults.items():
            if flag not in given:
                given += [flag, str(value)]
        return cli(command, *given)

    return run
