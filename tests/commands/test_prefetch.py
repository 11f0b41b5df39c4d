"""Data is fetched once from a hub that answers from a folder; after that nothing asks the network."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from tests.conftest import Cli
from tests.tasks.test_data import row, write_tsv

from afrieval.errors import UserError
from afrieval.tasks.hub import fetch


class FakeHub:
    """Stands in for the hub's client: a remote folder and a cache folder."""

    def __init__(self, root: Path):
        self.remote, self.cache = root / "remote", root / "cache"
        self.calls: list[str] = []
        self.commit = "c0ffee"
        self.error: Exception | None = None

    def download(self, repository: str, file: str, revision: str, local_files_only: bool) -> Path:
        snapshot = self.commit if revision == "main" else revision
        cached, there = self.cache / repository / "snapshots" / snapshot / file, self.remote / repository / file
        if cached.exists():
            return cached
        if local_files_only:
            raise LocalEntryNotFoundError("not in the cache")
        self.calls.append(file)
        if self.error is not None:
            raise self.error
        if not there.exists():
            raise RemoteEntryNotFoundError("404", response=response(404))
        cached.parent.mkdir(parents=True, exist_ok=True)
        cached.write_bytes(there.read_bytes())
        return cached


def response(status: int) -> Any:
    return httpx.Response(status, request=httpx.Request("GET", "http://hub.test/x"))


def fake_hub(root: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    """Puts a hub in the place of the client that has AfriMMLU in Yoruba."""
    fake = FakeHub(root)
    for split in ("test", "val", "dev"):
        write_tsv(fake.remote, "yor", split, [row(i) for i in range(5)])
    monkeypatch.setattr("afrieval.tasks.hub.download", fake.download)
    return fake


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    yield fake_hub(tmp_path, monkeypatch)


def test_after_prefetch_a_run_makes_no_call(cli: Cli, run_demo: Cli, hub: FakeHub) -> None:
    words = ("--task.task_name", "afrimmlu", "--data.source", "hub", "--task.languages", "yor")
    done = cli("prefetch", *words)
    assert done.code == 0 and done.out == "afrimmlu: 3 files\n", done.err
    assert len(hub.calls) == 3
    hub.error = AssertionError("the network was asked")
    done = run_demo(*words, "--task.prompts", 1, "--eval.num_fewshot", 2)
    assert done.code == 0 and len(hub.calls) == 3, done.err


def test_what_the_hub_lacks_is_said(cli: Cli, hub: FakeHub) -> None:
    done = cli("prefetch", "--task.task_name", "afrimmlu", "--data.source", "hub", "--task.languages", "yor,hau")
    assert "3 files; the hub has no hau test, hau validation, hau dev" in done.out


def test_prefetch_of_a_folder_makes_no_sense(cli: Cli) -> None:
    done = cli("prefetch", "--task.task_name", "afrimmlu", "--data.source", "samples")
    assert done.code == 2 and "--data.source hub" in done.err


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (GatedRepoError("gated", response=response(403)), "no access to o/n", "hf auth login"),
        (RepositoryNotFoundError("404", response=response(404)), "the hub has no dataset o/n", "data.hub"),
        (RevisionNotFoundError("404", response=response(404)), "no revision 'main'", "data.revision"),
        (LocalEntryNotFoundError("no network"), "cannot be reached", "prefetch"),
        (httpx.ConnectError("no route"), "cannot be reached", "--data.source FOLDER"),
        (TimeoutError("slow"), "cannot be reached", "prefetch"),
    ],
)
def test_what_can_go_wrong(hub: FakeHub, error: Exception, message: str, hint: str) -> None:
    hub.error = error
    with pytest.raises(UserError, match=message) as caught:
        fetch("o/n", "data/yor/test.tsv", "main")
    assert hint in caught.value.hint


def test_a_bug_stays_a_bug(hub: FakeHub) -> None:
    hub.error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        fetch("o/n", "f", "main")
