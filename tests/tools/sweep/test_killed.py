"""Workers that are killed at every single write: the sweep ends as if nothing had happened."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tools.sweep.files import planned, states, write_sweep
from tests.tools.sweep.test_work import RUN, alone, content

from afrieval.models.load import load_model
from afrieval.tools.sweep import worker
from afrieval.tools.sweep.jobs import Job
from afrieval.tools.sweep.worker import work

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]


def killed_at(write: int, folder: Path, jobs: list[Job], names: tuple[str, ...]) -> bool:
    """Runs jobs in a fork of this process, which is killed at a write or removal; returns whether it was."""
    if child := os.fork():
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = iter(range(write))

    def dying(plain: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **options: Any) -> Any:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(*given, **options)

        return changed

    for name in names:
        setattr(Path, name, dying(getattr(Path, name)))
    try:
        for job in jobs:
            work(folder, job.name)
    finally:
        os._exit(0)


@pytest.mark.parametrize("names", [("replace",), ("unlink", "rmdir")], ids=["writes", "removals"])
def test_killed_at_every_change_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    kept: list[Any] = []

    def once(*given: Any) -> Any:
        kept.extend([] if kept else [load_model(*given)])
        return kept[0]

    monkeypatch.setattr(worker, "load_model", once)
    expected = content(alone(tmp_path / "alone"))
    write, killed = 0, True
    once(*loading())
    while killed:
        place = tmp_path / f"{names[0]}{write}"
        place.mkdir()
        folder, jobs, _ = planned(write_sweep(place / "sweep.yaml", shares=2))
        killed = killed_at(write, folder, jobs, names)
        for job in jobs:
            work(folder, job.name)
        assert {state["status"] for state in states(folder, jobs).values()} == {"done"}, write
        found = content(folder / "runs" / RUN)
        assert found == expected, write
        assert not [*folder.glob("jobs/*/runs")], write
        write += 1
    assert write > 20


def loading() -> tuple[Any, ...]:
    """Returns arguments that load the demo model, before the process forks."""
    from afrieval.config.files import run_config
    from afrieval.models.processes import ALONE

    config = run_config([("model.model_name", "demo")], needs_model=True, needs_task=False)
    return config.model, config.eval, ALONE
