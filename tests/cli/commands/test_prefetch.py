"""Data is fetched once from a hub that answers from a folder; after that nothing asks the network."""

from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from tests.conftest import Cli
from tests.fake_hub import FakeHub, fake_hub, response

from afrieval._util.errors import UserError
from afrieval.tasks.data.hub import fetch, snapshot


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    yield fake_hub(tmp_path, monkeypatch)


def test_after_prefetch_a_run_makes_no_call(cli: Cli, run_demo: Cli, hub: FakeHub, small_tasks: Path) -> None:
    asked = ("--task.task_name", "afrimmlu", "--data.source", "hub", "--task.languages", "yor")
    words = (*asked, "--task.folder", small_tasks)
    done = cli("prefetch", *words)
    assert done.code == 0 and done.out == "afrimmlu: 3 files\n", done.err
    assert len(hub.calls) == 3
    hub.error = AssertionError("the network was asked")
    done = run_demo(*words, "--task.prompts", 1, "--eval.num_fewshot", 2)
    assert done.code == 0 and len(hub.calls) == 3, done.err


def test_what_the_hub_lacks_is_said(cli: Cli, hub: FakeHub) -> None:
    done = cli("prefetch", "--task.task_name", "afrimmlu", "--data.source", "hub", "--task.languages", "yor,hau")
    assert "3 files; the hub has no hau test, hau validation, hau dev" in done.out


def test_a_mirror_has_what_the_tasks_read_and_needs_no_network(
    cli: Cli, hub: FakeHub, small_tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a repository, and those of a conversion, which the hub keeps in another branch."""
    monkeypatch.chdir(tmp_path)
    converted = hub.remote / "masakhane/masakhaner2@refs/convert/parquet/swa"
    for split in ("test", "validation"):
        (converted / split).mkdir(parents=True)
        rows = [{"tokens": ["Juma", "yuko", split], "ner_tags": [1, 0, 5]}] * 2
        pq.write_table(pa.Table.from_pylist(rows), converted / split / "0000.parquet")
    tasks = ("--task.folder", small_tasks, "--task.task_name", "afrimmlu,masakhaner", "--task.languages", "yor,swa")
    done = cli("prefetch", *tasks, "--data.source", "hub", "--to", tmp_path / "mirror", "--lock")
    assert done.code == 0 and f"--data.source {tmp_path}/mirror" in done.out, done.err
    files = {path.relative_to(tmp_path / "mirror").as_posix() for path in (tmp_path / "mirror").rglob("*.*")}
    assert files == {f"masakhane/afrimmlu/data/yor/{split}.tsv" for split in ("test", "val", "dev")} | {
        f"masakhane/masakhaner2/swa/{split}/0000.parquet" for split in ("test", "validation")
    }
    hub.error = AssertionError("the network was asked")
    for task, language in (("afrimmlu", "yor"), ("masakhaner", "swa")):
        of_task = ("--task.folder", small_tasks, "--task.task_name", task, "--task.languages", language)
        shown = cli("preview", *of_task, "--data.source", tmp_path / "mirror", "--eval.num_fewshot", 1)
        assert shown.code == 0 and "few-shot rows" in shown.out, shown.err
    (tmp_path / "mirror/masakhane/afrimmlu/data/yor/dev.tsv").write_text("mine")
    refused = cli("prefetch", *tasks, "--data.source", "hub", "--to", tmp_path / "mirror")
    assert refused.code == 2 and "dev.tsv is there, and differs from the hub's" in refused.err
    assert cli("prefetch", *tasks, "--data.source", "hub", "--to", "/proc/x").code == 2


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
        (OSError(30, "Read-only file system", "/cache/x"), "/cache/x cannot be written: Read-only", "HF_HOME"),
        (OSError(28, "No space left on device"), "the hub's cache cannot be written: No space", "free some space"),
    ],
)
def test_what_can_go_wrong(hub: FakeHub, error: Exception, message: str, hint: str) -> None:
    hub.error = error
    with pytest.raises(UserError, match=message) as caught:
        fetch("o/n", "data/yor/test.tsv", "main")
    assert hint in caught.value.hint
    with pytest.raises(UserError, match=message) as caught:
        snapshot("o/n", ["data/*"], "main")
    assert hint in caught.value.hint


def test_a_bug_stays_a_bug(hub: FakeHub) -> None:
    hub.error = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        fetch("o/n", "f", "main")
    with pytest.raises(ZeroDivisionError):
        snapshot("o/n", ["*"], "main")
