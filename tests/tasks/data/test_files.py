"""Which files hold a split: told by the repository's card."""

from collections.abc import Callable
from pathlib import Path

import pytest

from afrieval._util.errors import UserError
from afrieval.tasks.data.files import TABLES, SplitFiles, data_files, expected, patterns
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.data.schema import Files

REPOSITORY = "meta-llama/Llama-3.2-1B-evals"
CARD = """---
license: llama3.2
configs:
- config_name: one
  data_files:
  - split: 2024_09_23T17_28
    path: ["x/b-*.parquet.gzip", "x/a.parquet.gzip"]
  - split: latest
    path:
    - x/b-*.parquet.gzip
    - x/a.parquet.gzip
- config_name: two
  data_files:
  - split: latest
    path: x/two.jsonl
- config_name: bare
  data_files: data/*.csv
- config_name: several
  data_files: [b.csv, a.csv]
- config_name: empty
- config_name: 3
  data_files: [{split: test, path: "3/**/*.json"}]
---
# A card

---
configs: []
---
"""
PLACES = ("x/b-00001.parquet.gzip", "x/b-00000.parquet.gzip", "x/a.parquet.gzip", "x/two.jsonl", "data/1.csv", "other")


def wanted(config: str = "one", split: str = "latest") -> SplitFiles:
    return SplitFiles(REPOSITORY, "main", f"config:{config}", split)


def write(root: Path, card: str | None, *places: str) -> Path:
    """Returns a mirror that has one repository, whose files hold their own names."""
    folder = root / REPOSITORY
    folder.mkdir(parents=True, exist_ok=True)
    for place in places:
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(place)
    if card is not None:
        (folder / "README.md").write_text(card, encoding="utf-8", newline="")
    return root


def named(folder: Path, config: str = "one", split: str = "latest") -> list[str]:
    return patterns(wanted(config, split), config, folder / REPOSITORY / "README.md")


def found(source: Path, config: str = "one", split: str = "latest") -> list[str]:
    files = data_files(wanted(config, split), str(source), DataLock())
    assert all(file.repository == REPOSITORY and file.path.read_text() == file.name for file in files)
    return [file.name for file in files]


@pytest.mark.parametrize("form", [str, lambda c: c.replace("\n", "\r\n"), lambda c: "\ufeff" + c, lambda c: "\n" + c])
def test_a_card_names_files_in_every_way(tmp_path: Path, form: Callable[[str], str]) -> None:
    write(tmp_path, form(CARD))
    both = ["x/b-*.parquet.gzip", "x/a.parquet.gzip"]
    assert named(tmp_path) == named(tmp_path, split="2024_09_23T17_28") == both
    assert named(tmp_path, "two") == ["x/two.jsonl"]
    assert named(tmp_path, "bare", "train") == ["data/*.csv"]
    assert named(tmp_path, "several", "train") == ["b.csv", "a.csv"]
    assert named(tmp_path, "3", "test") == ["3/**/*.json"]


def test_files_are_in_the_card_s_order_and_shards_in_theirs(tmp_path: Path) -> None:
    write(tmp_path, CARD, *PLACES)
    assert found(tmp_path) == ["x/b-00000.parquet.gzip", "x/b-00001.parquet.gzip", "x/a.parquet.gzip"]
    assert found(tmp_path, "two") == ["x/two.jsonl"]
    assert found(tmp_path, "several", "train") == []
    write(tmp_path, CARD.replace("x/a.parquet.gzip", "x/*.parquet.gzip"))  # a file that is named twice is one
    assert found(tmp_path) == ["x/b-00000.parquet.gzip", "x/b-00001.parquet.gzip", "x/a.parquet.gzip"]


@pytest.mark.parametrize(
    ("config", "split", "message", "hint"),
    [
        ("four", "latest", "has no configuration 'four'", "it has one, two, bare, several, empty, 3"),
        ("one", "test", "has no split 'test' of 'one'", "it has 2024_09_23T17_28, latest"),
        ("bare", "latest", "has no split 'latest' of 'bare'", "it has train"),
        ("empty", "train", "has no split 'train' of 'empty'", "it has none"),
        ("default", "train", "has no configuration 'default'", "it has one, "),
    ],
)
def test_what_a_card_does_not_name(tmp_path: Path, config: str, split: str, message: str, hint: str) -> None:
    write(tmp_path, CARD)
    with pytest.raises(UserError, match=f"{REPOSITORY} {message}") as caught:
        named(tmp_path, config, split)
    assert hint in caught.value.hint


def test_a_conversion_is_read_from_a_folder_after_all_files(tmp_path: Path) -> None:
    write(tmp_path, None, "yor/test/0000.parquet", "yor/test/0001.parquet", "yor/test/0003.parquet")
    write(tmp_path.parent / "both", None, "b.tsv", "yor/test/0000.parquet")
    split = SplitFiles(REPOSITORY, "main", ["a.tsv", "b.tsv"], "test", converted="yor/test")
    found = data_files(split, str(tmp_path), DataLock())
    assert [file.name for file in found] == ["yor/test/0000.parquet", "yor/test/0001.parquet"]
    assert {file.repository for file in found} == {f"{REPOSITORY}@refs/convert/parquet"}  # as on the hub, for locks
    assert [file.name for file in data_files(split, str(tmp_path.parent / "both"), DataLock())] == ["b.tsv"]
    copy = split._replace(repository="o/script", converted=f"{REPOSITORY}@yor/test")
    assert data_files(copy, str(tmp_path), DataLock()) == found
    card = split._replace(files="config:yor", converted="yor/test")
    assert data_files(card, str(tmp_path), DataLock()) == found


def test_a_conversion_has_the_files_of_all_parts(tmp_path: Path) -> None:
    write(tmp_path, None, *(f"{part}/yor/000{number}.parquet" for part in ("harm", "benign") for number in (0, 1)))
    split = SplitFiles(REPOSITORY, "main", [], "test", parts={"part": ["harm", "benign"]}, converted="{part}/yor")
    found = data_files(split, str(tmp_path), DataLock())
    assert [(file.part["part"], file.path.name) for file in found] == [
        ("harm", "0000.parquet"), ("benign", "0000.parquet"), ("harm", "0001.parquet"), ("benign", "0001.parquet")
    ]  # fmt: skip
    assert expected(split) == f"{REPOSITORY}/harm/yor/0000.parquet with the other 1 such files"
    next(iter(tmp_path.rglob("benign/yor/0000.parquet"))).unlink()
    with pytest.raises(UserError, match=r"lacks benign/yor/0000\.parquet"):
        data_files(split, str(tmp_path), DataLock())


@pytest.mark.parametrize(
    "card", [None, "", "# Words alone\n", "---\nlicense: mit\n---\n", "---\n- a\n---\n", "---\nconfigs: 3\n---\n"]
)
def test_without_configurations_all_tables_are_one_split(tmp_path: Path, card: str | None) -> None:
    tables = ["a.csv", "data/b.parquet", "data/c.jsonl", "d.parquet"]
    write(tmp_path, card, *tables, "data/deep/e.csv", "f.txt")
    assert sorted(found(tmp_path, "default", "train")) == sorted(tables)
    assert len(named(tmp_path, "default", "train")) == 2 * len(TABLES)
    for config, split in (("default", "test"), ("one", "train")):
        with pytest.raises(UserError, match=f"has no configuration {config!r}") as caught:
            found(tmp_path, config, split)
        assert caught.value.hint == ("there is no README.md; download it" if card is None else "it has none")


def test_a_card_that_is_no_yaml(tmp_path: Path) -> None:
    write(tmp_path, "---\nconfigs: [\n---\n")
    with pytest.raises(UserError, match=r"README\.md cannot be parsed"):
        named(tmp_path)


@pytest.mark.parametrize(
    ("files", "there"),
    [
        ("b.txt", ["b.txt"]),
        (["a.txt", "b.txt", "c.txt"], ["b.txt"]),
        (["a.txt", "config:two"], ["x/two.jsonl"]),
        ({"source": "b.txt", "target": "c.txt"}, ["b.txt", "c.txt"]),
        ([{"source": "b.txt", "target": "a.txt"}, "c.txt"], ["c.txt"]),
        ({"source": "b.txt", "target": "a.txt"}, []),
    ],
)
def test_the_first_source_that_exists_is_used(tmp_path: Path, files: Files, there: list[str]) -> None:
    write(tmp_path, CARD, "b.txt", "c.txt", "x/two.jsonl")
    of_split = SplitFiles(REPOSITORY, "main", files, "latest")
    found = data_files(of_split, str(tmp_path), DataLock())
    assert [file.name for file in found] == there
    assert [file.column for file in found] == (["source", "target"] if len(there) == 2 else [""] * len(there))
