"""data.lock: prefetch writes what it found, and a run takes that and nothing else."""

import hashlib
from pathlib import Path

import pytest
import yaml
from tests.conftest import Cli
from tests.fake_hub import FakeHub, fake_hub
from tests.tasks.test_splits import row, write_tsv

from afrieval.data.lock import DataLock, read_lock, write_lock
from afrieval.errors import UserError

HUB = "masakhane/afrimmlu"
WORDS = ("--task.task_name", "afrimmlu", "--task.languages", "yor", "--data.source", "hub")


@pytest.fixture
def hub(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    monkeypatch.chdir(tmp_path)
    return fake_hub(tmp_path, monkeypatch)


def test_what_prefetch_locks_a_run_checks_and_stores(hub: FakeHub, cli: Cli, tmp_path: Path, small_tasks: Path) -> None:
    words = (*WORDS, "--task.folder", small_tasks)
    assert cli("prefetch", *words, "--lock").code == 0
    locked = yaml.safe_load((tmp_path / "data.lock").read_text())[HUB]
    test = (hub.remote / HUB / "data/yor/test.tsv").read_bytes()
    assert locked["commit"] == hub.commit and len(locked["files"]) == 3
    assert locked["files"]["data/yor/test.tsv"] == hashlib.sha256(test).hexdigest()
    run = ("run", *words, "--task.prompts", 1, "--model.model_name", "demo", "--run_dir", tmp_path / "run")
    calls = len(hub.calls)
    assert cli(*run).code == 0
    (visit,) = yaml.safe_load((tmp_path / "run/run.yaml").read_text())["visits"]
    assert visit["data_commits"] == {HUB: hub.commit}

    hub.commit = "newer"
    assert cli(*run, "--eval.limit", 1).code == 0 and len(hub.calls) == calls, "the locked commit is in the cache"
    cached = hub.cache / HUB / "snapshots" / locked["commit"] / "data/yor/test.tsv"
    cached.write_bytes(test + test.splitlines()[-1] + b"\n")
    refused = cli(*run)
    assert refused.code == 2 and f"{HUB}, data/yor/test.tsv: SHA-256 is" in refused.err
    assert "prefetch --lock" in refused.err


def test_a_folder_with_other_data_is_refused_too(hub: FakeHub, cli: Cli, tmp_path: Path) -> None:
    cli("prefetch", *WORDS, "--lock")
    write_tsv(tmp_path / "mirror", "yor", "test", [row(i) for i in range(4)])
    words = ("--data.source", tmp_path / "mirror", "--model.model_name", "demo", "--run_dir", tmp_path / "run")
    refused = cli("run", *WORDS, *words)
    assert refused.code == 2 and "data/yor/test.tsv" in refused.err
    assert cli("preview", *WORDS, "--data.source", "samples").code == 0, "sample rows are ours"


def test_locks_add_up_and_a_new_commit_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "data.lock"
    write_lock(DataLock({"a/b": "1"}, {"a/b": {"x": "11"}}), path)
    write_lock(DataLock({"c/d": "1"}, {"c/d": {"y": "22"}}), path)
    write_lock(DataLock({"a/b": "1"}, {"a/b": {"z": "33"}}), path)
    assert read_lock(path) == DataLock({"a/b": "1", "c/d": "1"}, {"a/b": {"x": "11", "z": "33"}, "c/d": {"y": "22"}})
    write_lock(DataLock({"a/b": "2"}, {"a/b": {"z": "44"}}), path)
    assert read_lock(path).files["a/b"] == {"z": "44"}


@pytest.mark.parametrize("text", ["a/b: 1\n", "a/b: {commit: x}\n", "a/b: {files: {}, revision: x}\n", "[1]\n"])
def test_a_file_that_is_no_lock(tmp_path: Path, text: str) -> None:
    (tmp_path / "data.lock").write_text(text)
    with pytest.raises(UserError, match=r"data\.lock"):
        read_lock(tmp_path / "data.lock")


def test_without_a_file_nothing_is_locked(tmp_path: Path) -> None:
    lock = read_lock(tmp_path / "data.lock")
    lock.check("a/b", "x", "11")
    assert lock == DataLock()
