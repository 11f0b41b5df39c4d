"""A hub that drops connections: `prefetch` goes on where it was, and no part of a file is taken for the whole."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.conftest import ROOT
from tests.faults.disks import disk
from tests.faults.hub import Hub, serving
from tests.faults.summary import Record, reported
from tests.faults.zygote import check_error
from tests.tasks.data.test_splits import row, write_tsv

pytestmark = pytest.mark.faults
REPOSITORY, ROWS, SPLITS = "masakhane/afrimmlu", 4000, ("test", "val", "dev")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    for number, split in enumerate(SPLITS):  # equal files would be fetched once
        write_tsv(tmp_path / "remote", "yor", split, [row(i + number * ROWS) for i in range(ROWS)])
    with serving(tmp_path / "remote") as found:
        yield found


class Fetching:
    """Runs `prefetch` in a folder, with a cache of its own."""

    def __init__(self, hub: Hub, folder: Path, cache: Path, tasks: Path):
        self.folder, self._hub = folder, hub
        words = "prefetch --task.task_name afrimmlu --task.languages yor --data.source hub --lock --task.folder"
        self._command = [sys.executable, "-m", "afrieval.cli.main", *words.split(), str(tasks)]
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
            **{"PYTHONPATH": str(ROOT / "src"), "HF_ENDPOINT": hub.url, "HF_HOME": str(cache)},
            **{"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_PROGRESS_BARS": "1"},
        }
        for path in (folder, cache):
            path.mkdir(exist_ok=True)

    def start(self, **environment: str) -> "subprocess.Popen[str]":
        """Starts it."""
        given = {**self._environment, **environment}
        return subprocess.Popen(
            self._command, cwd=self.folder, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def run(self, **environment: str) -> tuple[int, str]:
        """Returns its exit code and what it prints."""
        process = self.start(**environment)
        said, _ = process.communicate(timeout=120)
        return process.returncode, said

    def check(self) -> None:
        """Asserts that it succeeds, and that all files are whole."""
        status, said = self.run()
        assert status == 0, said
        locked = yaml.safe_load((self.folder / "data.lock").read_text())[REPOSITORY]["files"]
        assert len(locked) == len(SPLITS)
        for name, digest in locked.items():
            assert digest == hashlib.sha256((self._hub.root / REPOSITORY / name).read_bytes()).hexdigest()


@pytest.fixture
def fetching(hub: Hub, tmp_path: Path, small_tasks: Path) -> Fetching:
    return Fetching(hub, tmp_path / "work", tmp_path / "cache", small_tasks)


def record(record_property: Record, what: str, faults: int, result: str) -> None:
    reported(record_property, "Downloads", what, faults, result)


def test_dropped_connections(hub: Hub, fetching: Fetching, record_property: Record) -> None:
    hub.drops = 2
    fetching.check()
    faults = hub.got.total() - len(SPLITS)
    assert faults == hub.drops * len(SPLITS)
    record(record_property, "the connection is dropped in the middle of a file", faults, "fetched again by itself")


def test_a_server_that_never_sends_the_rest(hub: Hub, fetching: Fetching, record_property: Record) -> None:
    hub.drops, hub.says_less = 1000, True
    check_error(*fetching.run())
    check_error(*fetching.run(HF_HUB_OFFLINE="1"))
    hub.drops = 0
    fetching.check()
    record(record_property, "a part of a file is sent as the whole", 1, "error, exit code 2; then goes on")


def test_killed_in_the_middle_of_a_file(hub: Hub, fetching: Fetching, record_property: Record) -> None:
    hub.stalls.set()
    for _ in range(3):
        hub.sent.clear()
        process = fetching.start()
        assert hub.sent.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    hub.stalls.clear()
    check_error(*fetching.run(HF_HUB_OFFLINE="1"))
    fetching.check()
    record(record_property, "killed in the middle of a file", 3, "goes on")


def test_a_full_disk(hub: Hub, tmp_path: Path, small_tasks: Path, record_property: Record) -> None:
    with disk(tmp_path / "cache", "size=256k") as cache, disk(tmp_path / "work", "size=4k") as work:
        fetching = Fetching(hub, work.path, cache.path, small_tasks)
        (work.path / "filler").write_bytes(bytes(4096))
        check_error(*fetching.run(), "No space left")
        cache.change("size=64m")
        check_error(*fetching.run(), "data.lock cannot be written: No space left")
        work.change("size=64m")
        fetching.check()
        assert sorted(path.name for path in work.path.iterdir()) == ["data.lock", "filler"]
    record(record_property, "disk full: cache, data.lock", 2, "error, exit code 2; then goes on")


def test_a_cache_that_cannot_be_written(hub: Hub, tmp_path: Path, small_tasks: Path, record_property: Record) -> None:
    with disk(tmp_path / "cache", "size=64m") as cache:
        fetching = Fetching(hub, tmp_path / "work", cache.path, small_tasks)
        cache.change("ro")
        check_error(*fetching.run(), "Read-only file system")
        cache.change("rw")
        fetching.check()
    record(record_property, "cache read-only", 1, "error, exit code 2; then goes on")
