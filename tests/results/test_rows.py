"""Some lines of a sample file are read without the others."""

import json
from pathlib import Path

import pytest

from afrieval._util.errors import UserError
from afrieval.results.run_folder import read_rows

LINE = {"task": "t", "language": "yor", "prompt": 1, "prompt_language": "eng", "metrics": ["acc"], "resps": [["a"]]}


def written(tmp_path: Path, ids: list[int], between: str = "") -> Path:
    path = tmp_path / "samples_t_yor_eng_1.jsonl"
    path.write_text("".join(json.dumps({"doc_id": row, **LINE}) + "\n" + between for row in ids))
    return path


def test_rows_are_found_by_number(tmp_path: Path) -> None:
    path = written(tmp_path, [0, 1, 2, 3])
    assert {row: line["doc_id"] for row, line in read_rows(path, [3, 1]).items()} == {1: 1, 3: 3}


def test_empty_lines_do_not_count(tmp_path: Path) -> None:
    assert list(read_rows(written(tmp_path, [0, 1], between="\n"), [1])) == [1]


def test_other_lines_are_not_parsed(tmp_path: Path) -> None:
    path = written(tmp_path, [0, 1])
    path.write_text("broken\n" + path.read_text().split("\n", 1)[1])
    assert list(read_rows(path, [1])) == [1]


@pytest.mark.parametrize(("ids", "row", "message"), [([0, 2], 1, "is of document 2"), ([0], 1, "it has no document 1")])
def test_a_file_that_has_changed_is_refused(tmp_path: Path, ids: list[int], row: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_rows(written(tmp_path, ids), [row])


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, [0, 1])
    path.write_text(path.read_text()[:-20])
    with pytest.raises(UserError, match="line 2 is not valid JSON"):
        read_rows(path, [1])
