"""Rows are found in samples, in a folder and on the hub, and read by their header as they stand."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import REAL_DATA

from afrieval._util.errors import UserError
from afrieval._util.tables import read_rows
from afrieval.config.arguments import read_config
from afrieval.run.plan import plan
from afrieval.tasks.data.splits import check_source, load_split
from afrieval.tasks.declaration.spec import load_task

DECLARED = load_task("afrimmlu")
MMLU = replace(DECLARED, data=replace(DECLARED.data, rows=None))  # for data of a few rows
HEADER = ["question", "choices", "answer", "subject"]


def write_tsv(folder: Path, language: str, split: str, rows: list[list[str]], header: list[str] = HEADER) -> Path:
    path = folder / "masakhane/afrimmlu/data" / language / f"{split}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t").writerows([header, *rows])
    return path


def row(number: int) -> list[str]:
    return [f"question {number}?", "['a', 'b', 'c', 'd']", "B", "global_facts"]


def test_samples_have_their_splits() -> None:
    test, dev = (load_split(MMLU, "yor", split, "samples") for split in ("test", "dev"))
    assert test and dev and len(test.documents) == 8 and len(dev.documents) == 4
    assert load_split(MMLU, "kin", "test", "samples") is None


def test_columns_are_read_by_header(tmp_path: Path) -> None:
    write_tsv(tmp_path, "yor", "test", [row(0)])
    write_tsv(tmp_path, "swa", "test", [row(0)[::-1]], HEADER[::-1])
    yor, swa = (load_split(MMLU, c, "test", str(tmp_path)) for c in ("yor", "swa"))
    assert yor and swa and yor.documents == swa.documents and yor.sha256 != swa.sha256


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1, max_size=5))
def test_texts_survive_a_tsv_file(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    """Line separators, quotes, and words such as NA and null, which table readers like to eat."""
    texts = [*texts, "NA", "null", 'say "no"', "a\u2028b", "None"]
    path = tmp_path_factory.mktemp("tsv") / "x.tsv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t").writerows([["text"], *([t] for t in texts)])
    assert [r["text"] for r in read_rows(path, path.read_bytes())] == texts


def test_json_lines_with_line_separators_inside(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"text": "a\u2028b"}, ensure_ascii=False) + "\n\n", encoding="utf-8")
    assert read_rows(path, path.read_bytes()) == [{"text": "a\u2028b"}]
    path.write_text('{"text": 1}\n{"text": \n')
    with pytest.raises(UserError, match="line 2"):
        read_rows(path, path.read_bytes())


def test_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_pylist([{"text": "ọjọ́", "n": 3}]), path)
    assert read_rows(path, path.read_bytes()) == [{"text": "ọjọ́", "n": 3}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("test.tsv", "question\tchoices\n".encode("utf-16")),
        ("test.tsv", b"question\xe9\tchoices\n"),
        ("test.tsv", "question\tchoices\n".encode("utf-16-le")),
        ("test.tsv", b"question\tchoices\tquestion\n1\t2\t3\n"),
        ("test.tsv", b"question\tchoices\n1\t2\t3\n"),
        ("test.tsv", b""),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    path = write_tsv(tmp_path, "yor", "test", [row(0)])
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"yor/test\.tsv cannot be parsed"):
        load_split(MMLU, "yor", "test", str(tmp_path))


def test_json_that_is_no_list_ofread_rows(tmp_path: Path) -> None:
    for name, content in (
        ("x.json", b'{"a":\n1}'),
        ("x.json", b"{"),
        ("x.json", b"1"),
        ("x.parquet", b"no"),
        ("x.gz", b""),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match="cannot be parsed"):
            read_rows(tmp_path / name, content)


def test_a_folder_that_is_none_or_lacks_the_data_set(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must be hub, samples or a folder"):
        check_source(MMLU, str(tmp_path / "nothing"))
    with pytest.raises(UserError, match="does not contain masakhane/afrimmlu"):
        check_source(MMLU, str(tmp_path))


def planned(folder: Path, *words: str) -> tuple[list[str], list[str]]:
    base = ["--task.task_name", "afrimmlu", "--task.prompts", "1", "--data.source", str(folder)]
    result = plan(read_config([*base, *words], command="run", needs_model=False))
    return [cell.coordinates.language for cell in result.cells], result.left_out


def test_a_language_that_a_folder_lacks(tmp_path: Path) -> None:
    write_tsv(tmp_path, "yor", "test", [row(i) for i in range(500)])
    languages, left_out = planned(tmp_path)
    assert languages == ["yor"] and len(left_out) == 1 and "amh, eng, ewe" in left_out[0]
    with pytest.raises(UserError, match="no test rows of afrimmlu for hau") as caught:
        planned(tmp_path, "--task.languages", "yor,hau")
    places = [f"masakhane/afrimmlu/{name}" for name in ("data/hau/test.tsv", "hau/test/0000.parquet")]
    assert f"put {' or '.join(places)} into {tmp_path}" in caught.value.hint


def test_a_missing_column_names_file_and_columns(tmp_path: Path) -> None:
    write_tsv(tmp_path, "yor", "test", [["q", "A"]] * 500, ["questions", "answer"])
    with pytest.raises(UserError, match=r"yor test \(test.tsv\) has no column") as caught:
        planned(tmp_path)
    assert "questions, answer" in caught.value.hint


@pytest.mark.data
def test_real_files_have_the_rows_they_should() -> None:
    for language in ("yor", "swa", "amh", "eng"):
        split = load_split(MMLU, language, "test", str(REAL_DATA))
        assert split and len(split.documents) == 500
    xho = load_split(MMLU, "xho", "validation", str(REAL_DATA))
    assert xho and [d.id for d in xho.documents if d.gold is None] == [32]
