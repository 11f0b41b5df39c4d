"""Files that a card names are fetched from the hub once, and what it cannot give is said."""

from pathlib import Path

import pytest
from huggingface_hub.errors import GatedRepoError, RevisionNotFoundError
from tests.conftest import put
from tests.fake_hub import FakeHub, fake_hub, response
from tests.tasks.data.test_files import CARD, PLACES, REPOSITORY, wanted, write

from afrieval._util.errors import UserError
from afrieval.tasks.data.files import HUB, SplitFiles, data_files
from afrieval.tasks.data.hub import CONVERTED, fetch, listing
from afrieval.tasks.data.lock import DataLock

COMMIT = 40 * "c"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    hub = fake_hub(tmp_path, monkeypatch)
    write(hub.remote, CARD, *PLACES)
    return hub


def of_hub(config: str = "one", split: str = "latest", lock: DataLock | None = None) -> list[str]:
    return [file.path.read_text() for file in data_files(wanted(config, split), HUB, lock or DataLock())]


def test_the_hub_is_asked_once_and_for_no_other_file(hub: FakeHub) -> None:
    files = ["x/b-00000.parquet.gzip", "x/b-00001.parquet.gzip", "x/a.parquet.gzip"]
    assert of_hub() == files and sorted(hub.calls) == sorted(["README.md", "listing", *files])
    hub.error, hub.calls = AssertionError("the network was asked"), []
    assert of_hub() == files and hub.calls == []


def test_a_repository_without_a_card_is_asked_once_too(hub: FakeHub) -> None:
    (hub.remote / REPOSITORY / "README.md").unlink()
    assert of_hub("default", "train") == ["data/1.csv"]
    hub.error, hub.calls = AssertionError("the network was asked"), []
    assert of_hub("default", "train") == ["data/1.csv"] and hub.calls == []


def test_another_configuration_is_fetched_when_it_is_asked_for(hub: FakeHub) -> None:
    of_hub()
    hub.calls.clear()
    assert of_hub("two") == ["x/two.jsonl"] and hub.calls == ["listing", "x/two.jsonl"]


def test_a_locked_commit_is_the_one_that_is_read(hub: FakeHub) -> None:
    of_hub()
    lock, hub.commit = DataLock({REPOSITORY: hub.commit}), "newer"
    write(hub.remote, CARD.replace("x/a", "x/two"), "x/two.parquet.gzip")
    hub.calls.clear()
    assert of_hub(lock=lock)[-1] == "x/a.parquet.gzip" and hub.calls == []
    assert of_hub()[-1] == "x/two.parquet.gzip"


def test_a_file_that_the_card_names_and_the_hub_lacks(hub: FakeHub) -> None:
    assert of_hub("several", "train") == []


def converted(hub: FakeHub, files: list[str]) -> SplitFiles:
    """Writes files into the branch of the conversion, and returns a split of which the repository has no file."""
    for name in files:
        path = hub.remote / f"{REPOSITORY}@refs/convert/parquet" / name
        put(path, name)
    return SplitFiles(REPOSITORY, "main", "data/yor/test.txt", "test", converted="yor/test")


def test_finding_17_a_loading_script_s_data_are_in_the_hub_s_conversion(hub: FakeHub) -> None:
    split = converted(hub, ["yor/test/0001.parquet", "yor/test/0000.parquet", "yor/train/0000.parquet", "card.md"])
    found = data_files(split, HUB, DataLock())
    assert [file.name for file in found] == ["yor/test/0000.parquet", "yor/test/0001.parquet"]
    assert {file.repository for file in found} == {f"{REPOSITORY}@refs/convert/parquet"}
    assert [file.path.read_text() for file in found] == [file.name for file in found]
    hub.error, hub.calls = AssertionError("the network was asked"), []
    assert data_files(split, HUB, DataLock()) == found and hub.calls == []
    locked = DataLock({f"{REPOSITORY}@{CONVERTED}": "refs-convert-parquet"})  # as the hub that stands in names it
    assert data_files(split, HUB, locked) == found, "the branch has commits of its own"


def test_a_data_set_that_the_hub_has_not_converted_has_no_such_files(hub: FakeHub) -> None:
    hub.error = RevisionNotFoundError("404", response=response(404))
    assert fetch(REPOSITORY, "yor/test/0000.parquet", "refs/convert/parquet") is None
    with pytest.raises(UserError, match="no revision 'main'"):
        fetch(REPOSITORY, "yor/test.tsv", "main")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the hub's client itself, which may ask no network here, with a card and one of three files."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    root = tmp_path / f"datasets--{REPOSITORY.replace('/', '--')}"
    write(root / "snapshots", CARD, "x/two.jsonl")
    (root / "refs").mkdir()
    (root / "refs/main").write_text(COMMIT)
    (root / "snapshots" / REPOSITORY).rename(root / f"snapshots/{COMMIT}")
    return root


def test_the_client_finds_what_it_has_without_a_network(cache: Path) -> None:
    assert of_hub("two") == ["x/two.jsonl"]
    assert of_hub("two", lock=DataLock({REPOSITORY: COMMIT})) == ["x/two.jsonl"]


def test_the_client_does_not_pass_over_what_it_lacks(cache: Path) -> None:
    """Asked for files that it cannot fetch, it would else answer with a folder that does not have them."""
    with pytest.raises(UserError, match=f"{REPOSITORY} is not in the hub's cache, and the hub cannot be reached"):
        of_hub("one")
    (cache / f"snapshots/{COMMIT}/README.md").unlink()
    with pytest.raises(UserError, match="cannot be reached"):
        of_hub("two")
    (cache / f".no_exist/{COMMIT}").mkdir(parents=True)
    (cache / f".no_exist/{COMMIT}/README.md").touch()
    with pytest.raises(UserError, match="has no configuration 'two'"):
        of_hub("two")


def test_the_names_of_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(_: object, repository: str, *, revision: str, repo_type: str) -> list[str]:
        if revision == CONVERTED:
            raise RevisionNotFoundError("404", response=response(404))
        if repository == "our/gated":
            raise GatedRepoError("403", response=response(403))
        return ["a.csv"]

    with pytest.raises(UserError, match="the hub cannot be reached"):
        listing("our/data", "main")
    monkeypatch.setattr("huggingface_hub.HfApi.list_repo_files", listed)
    assert listing("our/data", "main") == ["a.csv"] and listing("our/data", CONVERTED) == []
    with pytest.raises(UserError, match="no access to our/gated"):
        listing("our/gated", "main")
