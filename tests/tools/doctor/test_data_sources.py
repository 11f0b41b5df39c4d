"""Data of tasks in the hub's cache, on the hub and in folders; data.lock against the files."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import GatedRepoError
from tests.fake_hub import FakeHub, fake_hub, response
from tests.tasks.data.test_splits import row, write_tsv

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, EvalConfig, RunConfig, TaskConfig
from afrieval.tasks.data.lock import DataLock, read_lock
from afrieval.tasks.data.splits import has_split
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tools.doctor.check import data_finding, lock_findings
from afrieval.tools.doctor.machine import CheckResult

REPOSITORY = "masakhane/afrimmlu"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    monkeypatch.setattr(HfApi, "auth_check", lambda *_, **__: None)
    return fake_hub(tmp_path, monkeypatch)


def found(source: object, languages: list[str] | None = None, shots: int = 0, **task: Any) -> CheckResult:
    task = {"task_name": "afrimmlu", "languages": languages, **task}
    config = RunConfig(task=TaskConfig(**task), eval=EvalConfig(num_fewshot=shots), data=DataConfig(source=str(source)))
    (spec,) = chosen_tasks(config)
    return data_finding(spec, config.task, config.data.source, DataLock(), examples=bool(shots))


def test_the_cache_of_the_hub(hub: FakeHub) -> None:
    afresh = found("hub", ["yor"])
    assert (
        afresh.status == "ok"
        and afresh.finding == "0 of 1 languages are in the hub's cache; the others can be downloaded"
    )
    assert not hub.calls, "nothing is downloaded"
    config = RunConfig(task=TaskConfig(task_name="afrimmlu", languages=["yor"]))
    (spec,) = chosen_tasks(config)
    assert has_split(spec, "yor", "test", "hub")
    assert found("hub", ["yor"]) == ("data of afrimmlu", "ok", "1 language in the hub's cache", "")
    assert "0 of 1" in found("hub", ["yor"], shots=2).finding, "examples are of another split"


def test_no_access_to_a_data_set(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    def gated(*_: object, **__: object) -> None:
        raise GatedRepoError("403", response=response(403))

    monkeypatch.setattr(HfApi, "auth_check", gated)
    refused = found("hub", ["yor"])
    assert refused.status == "problem" and refused.finding == f"no access to {REPOSITORY}" and "terms" in refused.cure
    assert found("hub", suite="some").status == "problem"
    config = RunConfig(task=TaskConfig(task_name="afrimmlu", languages=["yor"]), data=DataConfig(source="hub"))
    (spec,) = chosen_tasks(config)
    silent = data_finding(spec, config.task, config.data.source, DataLock(), hub=False)
    assert silent.status == "problem" and "is not, or not completely, in the hub's cache" in silent.finding


def test_a_folder(tmp_path: Path) -> None:
    for split in ("test", "dev"):
        write_tsv(tmp_path, "yor", split, [row(0)])
    write_tsv(tmp_path, "hau", "test", [row(0)])
    assert found(tmp_path, ["yor", "hau"]).status == "ok"
    lacks = found(tmp_path, ["yor", "swa"])
    assert lacks.status == "problem" and lacks.finding == f"{tmp_path} has no test rows for swa" and lacks.cure
    assert found(tmp_path, ["hau"], shots=5).finding == f"{tmp_path} has no dev rows for hau"
    every = found(tmp_path)
    assert every.status == "note" and every.finding.endswith("ibo, kin and 10 more; left out")
    other = found(tmp_path, task_name="afrixnli")
    assert other.status == "problem" and "does not contain masakhane/afrixnli" in other.finding
    assert found(tmp_path, task_name="afrixnli", suite="some").status == "note", "a suite leaves the task out"
    assert found("samples").status == "ok"
    with pytest.raises(UserError, match="no language"):
        found(tmp_path, ["xyz"])


def test_no_rows_at_all(tmp_path: Path) -> None:
    (tmp_path / REPOSITORY).mkdir(parents=True)
    assert found(tmp_path).status == "problem"
    assert found(tmp_path, suite="some").status == "note"


def test_a_lock(tmp_path: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert lock_findings(read_lock(), ["hub"])[0].cure.startswith("write one with `afrieval prefetch --lock`")
    write_tsv(tmp_path, "yor", "test", [row(0)])
    path = tmp_path / REPOSITORY / "data/yor/test.tsv"
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    lock = DataLock(files={REPOSITORY: {"data/yor/test.tsv": sha256, "data/hau/test.tsv": "0"}})
    assert lock_findings(lock, ["samples"]) == []
    in_folder, in_cache = lock_findings(lock, [str(tmp_path), "hub"])
    assert in_folder.finding == f"1 files in {tmp_path} are those that it lists; 1 are not there"
    assert (in_folder.status, in_cache.status) == ("note", "note") and not hub.calls
    path.write_text("changed")
    (changed,) = lock_findings(lock, [str(tmp_path)])
    assert changed.status == "problem" and "data/yor/test.tsv: SHA-256 is" in changed.finding and changed.cure
