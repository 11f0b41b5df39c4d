"""data.lock: prefetch writes what it found, and a run takes that and nothing else."""

import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from tests.conftest import Cli
from tests.fake_hub import FakeHub, fake_hub
from tests.tasks.test_splits import row, write_tsv

from afrieval._util.errors import UserError
from afrieval.tasks.data.lock import DataLock, read_lock, write_lock

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


def test_a_conversion_is_fetched_and_locked_by_its_own_commit(
    hub: FakeHub, cli: Cli, tmp_path: Path, small_tasks: Path
) -> None:
    """A loading script's rows are in another branch than its repository's other files."""
    place = "masakhane/masakhaner2@refs/convert/parquet"
    tags = [[1, 0, 5], [1, 2, 0]]
    for split, name in (("test", "Juma"), ("validation", "Asha")):
        path = hub.remote / place / "swa" / split / "0000.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table({"tokens": [[name, "yuko", "Kano"]] * 2, "ner_tags": tags}), path)
    words: list[object] = ["--task.folder", small_tasks, "--task.task_name", "masakhaner"]
    words += ["--task.languages", "swa", "--data.source", "hub"]
    done = cli("prefetch", *words, "--lock")
    assert done.code == 0 and "masakhaner: 2 files\n" in done.out, done.err
    (locked,) = yaml.safe_load((tmp_path / "data.lock").read_text()).items()
    commit = "refs-convert-parquet"  # as the hub that stands in for the real one names it
    assert locked[0] == place and locked[1]["commit"] == commit
    assert list(locked[1]["files"]) == ["swa/test/0000.parquet", "swa/validation/0000.parquet"]
    hub.error = AssertionError("the network was asked")
    shown = cli("preview", *words, "--task.prompts", 1, "--eval.num_fewshot", 1)
    assert shown.code == 0 and "PER: Juma\\nLOC: Kano" in shown.out, shown.err
    cached = hub.cache / "masakhane/masakhaner2/snapshots" / commit / "swa/test/0000.parquet"
    pq.write_table(pa.table({"tokens": [["Juma", "yuko", "Kano"]] * 2, "ner_tags": tags[::-1]}), cached)
    refused = cli("preview", *words, "--task.prompts", 1)
    assert refused.code == 2 and f"{place}, swa/test/0000.parquet: SHA-256 is" in refused.err


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
