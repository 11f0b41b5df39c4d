"""`afrieval sweep`: from a file to run folders, as several single runs would have written them."""

from pathlib import Path

import pytest
from tests.conftest import Cli, Refusal
from tests.models.tiny import tiny_llama
from tests.tools.jobs.files import all_here, write_sweep


@pytest.fixture
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the jobs of the executor local in this process."""
    monkeypatch.setattr("afrieval.tools.jobs.start.run_jobs", all_here)


@pytest.mark.usefixtures("_here")
def test_a_sweep_from_its_plan_to_its_end(cli: Cli, tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing")
    path = write_sweep(tmp_path / "sweep.yaml", models=[{"model_name": "demo", "shares": 2}, {"model_name": missing}])
    planned = cli("sweep", path, "--dry-run")
    assert planned.code == 0 and not (tmp_path / "out").exists()
    assert [line.split()[0] for line in planned.out.splitlines() if "afrixnli" in line] == [
        "demo-1of2", "demo-2of2", "nothing",
    ]  # fmt: skip
    waiting = cli("sweep", path, "--status")
    assert "out does not exist: the sweep has not been started here" in waiting.err
    assert waiting.code == 0 and waiting.out.count("waiting") == 3
    done = cli("sweep", path)
    assert done.code == 1 and "2 done, 1 failed of 3 jobs" in done.out and str(tmp_path / "out/runs") in done.out
    assert "1 job failed; --status says why, and --retry-failed runs it again" in done.err
    status = cli("sweep", path, "--status")
    assert status.code == 1 and status.out.count("done") >= 2 and "failed" in status.out
    again = cli("sweep", path)
    assert again.code == 1 and "to run:" not in again.err
    tiny_llama(tmp_path / "nothing")
    retried = cli("sweep", path, "--retry-failed")
    assert retried.code == 0 and "3 done of 3 jobs" in retried.out
    shown = cli("show", *(folder.parent for folder in (tmp_path / "out/runs").glob("*/*/*/run.yaml")))
    assert shown.code == 0 and "Yoruba" in shown.out
    path = write_sweep(path, models=[{"model_name": "demo", "shares": 2}])
    former = cli("sweep", path, "--status")
    assert former.code == 0 and "not in the sweep" in " ".join(former.out.split())


def test_what_cannot_be_started(cli: Cli, refusal: Refusal, tmp_path: Path) -> None:
    path = write_sweep(tmp_path / "sweep.yaml")
    assert "--status starts nothing" in refusal("sweep", path, "--status", "--retry-failed")
    assert "executor must be local, slurm or ray" in refusal("sweep", path, "--executor", "pbs")
    missing = cli("sweep", tmp_path / "swep.yaml")
    assert missing.code == 2 and "there is no file" in missing.err and "did you mean sweep.yaml?" in missing.err
    path.write_text("[]")
    assert cli("sweep", path).code == 2


def test_two_at_once(cli: Cli, tmp_path: Path) -> None:
    from afrieval.tools.jobs.jobs import held

    (tmp_path / "out").mkdir()
    with held(tmp_path / "out") as free:
        done = cli("sweep", write_sweep(tmp_path / "sweep.yaml"))
    assert free and done.code == 2 and "is in use by another process" in done.err
