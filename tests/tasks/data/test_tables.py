"""What a file can hold that is no table of texts: one line names the file and the place, or the row is marked."""

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Cli
from tests.tasks.data.test_splits import DECLARED, HEADER, MMLU, row, write_tsv

from afrieval._util.errors import UserError
from afrieval._util.tables import parallel_rows, read_rows
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task

LINE = "\t".join(row(0))


def read(name: str, content: str | bytes) -> list[dict[str, Any]]:
    return read_rows(Path(name), content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("17", "not a map"),
        ("null", "not a map"),
        ('["text"]', "not a map"),
        ('"text"', "not a map"),
        ('{"text": "a", "text": "b"}', "the key 'text' is given twice"),
        ('{"text": {"a": 1, "a": 1}}', "the key 'a' is given twice"),
        ('{"text": Infinity}', "Infinity is not a JSON number"),
        ('{"text": [-Infinity]}', "-Infinity is not a JSON number"),
        *(('{"text": ' + "[" * depth + "]" * depth + "}", "nested too deeply") for depth in (300, 1000, 100_000)),
        ('{"text": ' + "9" * 5000 + "}", "Exceeds the limit"),
        (r'{"text": "\ud83d"}', "surrogate"),
        (r'{"text": [{"a": "\udc00"}]}', "surrogate"),
        ('{"text": "a"', "is not JSON: Expecting ',' delimiter at column 13"),
        ('{"text": "a\tb"}', "is not JSON: Invalid control character at column 12"),
    ],
)
def test_json_that_is_no_row(line: str, why: str) -> None:
    sound = '{"text": "a"}'
    with pytest.raises(UserError, match="line 2") as caught:
        read("x.jsonl", f"{sound}\n{line}\n{sound}\n")
    assert caught.value.message.startswith("x.jsonl cannot be parsed: line 2") and why in caught.value.message
    with pytest.raises(UserError, match=r"x\.json cannot be parsed") as caught:
        read("x.json", f"[{sound},\n{line}]")
    assert "\n" not in caught.value.message and len(caught.value.message) < 200


def test_json_that_is() -> None:
    assert read("x.jsonl", '\ufeff{"text": "\\ud83d\\ude00"}\r\n\n{"text": null}\n') == [{"text": "😀"}, {"text": None}]
    assert read("x.jsonl", '{"text": "a\u2028b"}\n') == [{"text": "a\u2028b"}]
    assert read("x.json", json.dumps([{"text": [[["deep"]]]}])) == [{"text": [[["deep"]]]}]


def test_not_a_number_is_a_missing_value() -> None:
    """Python's json module writes pandas' missing values so, as in AfriQA's training rows."""
    assert read("x.json", '{"text": NaN}\n{"text": ["a", NaN]}\n') == [{"text": None}, {"text": ["a", None]}]


def test_a_json_file_may_have_an_object_per_line() -> None:
    lines = '{"text": "a", "n": [1]}\r\n\n{"text": "[b]"}'
    rows = [{"text": "a", "n": [1]}, {"text": "[b]"}]
    assert read("x.json", lines) == read("x.json", f"\ufeff \n{lines}\n") == read("x.jsonl", lines) == rows
    for damaged, why in ((f"{lines}\n[1]", "line 4 is not a map"), (f"{lines}, {lines}", "line 3 is not JSON")):
        with pytest.raises(UserError, match=r"x\.json cannot be parsed") as caught:
            read("x.json", damaged)
        assert why in caught.value.message


@settings(max_examples=60)
@given(st.data())
def test_damaged_parquet_is_refused_in_one_line(data: st.DataObject) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["a", "b", "é"] * 5, "n": [1, 2, None] * 5}), sink)
    content = bytearray(sink.getvalue().to_pybytes())
    del content[data.draw(st.integers(0, len(content))) :]
    content += data.draw(st.binary(max_size=20))
    try:
        read("x.parquet", bytes(content))
    except UserError as e:
        assert "x.parquet cannot be parsed" in e.message and "\n" not in e.message


@pytest.mark.parametrize("cell", [["a", 1], {"a": 1}, b"a", date(2026, 1, 1)])
@pytest.mark.parametrize("column", ["question", "subject", "answer"])
def test_a_cell_that_holds_no_text_is_named(cell: Any, column: str) -> None:
    sound = dict(zip(HEADER, row(0), strict=True))
    with pytest.raises(UserError, match=f"here, row 1: column '{column}' must be text, not {type(cell).__name__}"):
        documents(MMLU, [sound, sound | {column: cell}], "here", "test")


def test_numbers_are_texts_and_a_missing_one_is_empty() -> None:
    sound = dict(zip(HEADER, row(0), strict=True))
    rows = [sound | {"question": cell} for cell in (3, Decimal("1.50"), 2.5, None, float("nan"))]
    found = documents(MMLU, rows, "here", "test")
    assert [d.fields["question"] for d in found] == ["3", "1.50", "2.5", "", ""]
    assert [d.defect for d in found] == ["", "", "", "empty question", "empty question"]
    for choices in (["a", ["b"]], "['a', ['b']]", "[" * 3000, "{[]: 1}", "['a', b'b']"):
        with pytest.raises(UserError, match="here, row 0: choices"):
            documents(MMLU, [sound | {"choices": choices}], "here", "test")


def test_a_row_that_cannot_be_parsed_keeps_its_number_and_has_no_gold(tmp_path: Path) -> None:
    path = write_tsv(tmp_path, "yor", "test", [])
    lines = ["\t".join(HEADER), '"open' + LINE, "half a row", LINE, 'closed"' + LINE, LINE + "\tmore"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    split = load_split(MMLU, "yor", "test", str(tmp_path))
    assert split is not None
    assert [d.id for d in split.documents] == [0, 1, 2, 3, 4] and split.unparsed == {1, 4}
    assert [d.gold for d in split.documents] == [1, None, 1, 1, None]
    assert split.documents[1].defect == "test.tsv, line 3: 1 column, the header has 4"
    assert split.note == (
        "afrimmlu yor test: 2 of 5 rows cannot be parsed (row 1: test.tsv, line 3: 1 column, the header has 4; "
        "row 4: test.tsv, line 6: 5 columns, the header has 4)"
    )


def test_a_run_says_in_one_line_which_rows_it_leaves_out(run_demo: Cli, tmp_path: Path, small_tasks: Path) -> None:
    for split in ("test", "dev"):
        path = write_tsv(tmp_path, "yor", split, [row(i) for i in range(3)])
        path.write_text(path.read_text() + "half a row\n", encoding="utf-8")
    words = (
        "--data.source", tmp_path, "--task.folder", small_tasks, "--task.languages", "yor", "--task.prompts", "1,2",
    )  # fmt: skip
    done = run_demo(*words, "--eval.num_fewshot", 2).ok()
    for split in ("test", "dev"):
        assert done.err.count(f"afrimmlu yor {split}: 1 of 4 rows cannot be parsed (row 3: {split}.tsv, line 5") == 1
    sample = json.loads((tmp_path / "run/samples_afrimmlu_yor_eng_1.jsonl").read_text().splitlines()[3])
    assert sample["defect"] == "test.tsv, line 5: 1 column, the header has 4" and sample["resps"] == []
    assert " 3 " in done.out and "only 2 usable" not in done.err
    refused = run_demo(*words, "--eval.num_fewshot", 4, "--run_dir", tmp_path / "four")
    assert refused.code == 2 and "only" in refused.err


@pytest.mark.parametrize(("split", "rows"), [("test", 500), ("validation", 83), ("dev", 25)])
def test_each_split_has_the_rows_that_are_declared(tmp_path: Path, split: str, rows: int) -> None:
    name = Path(str(DECLARED.data.files[split])).stem
    for n in (rows - 1, rows + 1):
        write_tsv(tmp_path, "yor", name, [row(i) for i in range(n)])
        with pytest.raises(UserError, match=rf"afrimmlu yor {split} \({name}.tsv\) has {n} rows instead of {rows}"):
            load_split(DECLARED, "yor", split, str(tmp_path))
    write_tsv(tmp_path, "yor", name, [row(i) for i in range(rows)])
    found = load_split(DECLARED, "yor", split, str(tmp_path))
    assert found and len(found.documents) == rows and found.excerpt is None


def test_a_run_on_a_small_part_of_the_rows_says_so(run_demo: Cli, tmp_path: Path) -> None:
    for language in ("yor", "hau"):
        write_tsv(tmp_path, language, "test", [row(i) for i in range(3)])
    done = run_demo("--data.source", tmp_path, "--task.languages", "yor,hau", "--task.prompts", 1).ok()
    assert "afrimmlu: the data folder has only part of the rows: yor test 3 of 500, hau test 3 of 500\n" in done.err


def test_one_number_of_rows_is_that_of_the_evaluated_split() -> None:
    data = replace(DECLARED.data, rows=7)
    assert (data.rows_of("test"), data.rows_of("dev")) == (7, None)
    each = replace(data, rows={"test": {"yor": 9, "hau": 4}})
    assert (each.rows_of("test", "yor"), each.rows_of("test", "ibo"), each.sizes("test")) == (9, None, [4, 9])
    assert replace(data, rows={"dev": 5}).rows_of("dev") == 5 and replace(data, rows={"dev": 5}).rows_of("test") is None


@pytest.mark.alldata
@pytest.mark.parametrize("task", ["afrimmlu", "afrixnli", "afrimgsm", "afrimgsm_cot", "belebele"])
def test_real_files_have_the_rows_that_are_declared(task: str) -> None:
    import os

    spec = load_task(task)
    for language in spec.languages:
        for split in spec.data.files:
            found = load_split(spec, language, split, os.environ["AFRIEVAL_DATA"])
            assert found is None or not found.note


ONE, OTHER = Path("devtest/eng.devtest"), Path("devtest/yor.devtest")


def rows(source: str | bytes, target: str | bytes) -> list[dict[str, str]]:
    one, other = (text.encode() if isinstance(text, str) else text for text in (source, target))
    return parallel_rows({"source": (ONE, one), "target": (OTHER, other)})


def test_line_n_of_each_text_is_row_n() -> None:
    found = [{"source": "Hello.", "target": "Ẹ n lẹ."}, {"source": "", "target": "Ó dàbọ̀."}]
    assert rows("Hello.\n\n", "Ẹ n lẹ.\nÓ dàbọ̀.\n") == found
    assert rows("\ufeffHello.\r\n\r\n", "Ẹ n lẹ.\nÓ dàbọ̀.") == found
    assert rows("", "") == []


@pytest.mark.parametrize(("source", "lines"), [("a\n", 1), ("a\nb\nc\nd\n", 4), ("", 0)])
def test_texts_of_different_lengths_are_both_named(source: str, lines: int) -> None:
    with pytest.raises(UserError, match=f"{ONE} has {lines} lines, but {OTHER} has 2") as caught:
        rows(source, "x\ny\n")
    assert caught.value.hint


def test_a_text_that_is_no_text_is_named() -> None:
    with pytest.raises(UserError, match=f"{OTHER} cannot be parsed: line 2 is not UTF-8 text"):
        rows("a\nb\n", b"a\n\xff\n")


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])), min_size=1))
def test_texts_are_kept(lines: list[str]) -> None:
    """Other separators of lines, such as U+2028 and U+0085, belong to the text; NUL shows another coding."""
    text = "".join(f"{line}\n" for line in lines)
    assert [row["source"] for row in rows(text, text)] == [lines[0].removeprefix("\ufeff"), *lines[1:]]


TABLE, ROWS = "question,answer\nMe ne?,Kanò\n", [{"question": "Me ne?", "answer": "Kanò"}]
IN_JSON = json.dumps(ROWS, ensure_ascii=False)


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(("name", "text"), [("x.csv", TABLE), ("x.json", IN_JSON), ("x.jsonl", IN_JSON[1:-1])])
def test_codings_that_show(name: str, text: str, coding: str) -> None:
    assert read(name, text.encode(coding)) == ROWS


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_another_delimiter_than_the_suffix_says(name: str, delimiter: str) -> None:
    assert read(name, "a,b\n1.5,2\n".replace(",", delimiter)) == [{"a": "1.5", "b": "2"}]
    assert read("x.csv", "text\na; b\n") == [{"text": "a; b"}]
    assert read("x.csv", "q; r\na\n") == [{"q; r": "a"}], "the rows have one column"


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("key", ["data", "rows"])
def test_rows_under_a_key(name: str, indent: int | None, key: str) -> None:
    assert read(name, json.dumps({"version": "1", key: ROWS}, indent=indent)) == ROWS
    assert read(name, json.dumps({"version": "1", "notes": ROWS})) == [{"version": "1", "notes": ROWS}]
    assert read(name, json.dumps({"data": ["a"]})) == [{"data": ["a"]}]


@pytest.mark.parametrize(
    ("name", "content", "what", "cure"),
    [
        ("x.xlsx", b"PK\x03\x04", "workbook of Excel", "CSV UTF-8"), ("x.csv", b"PK\x03\x04", "workbook", "CSV"),
        ("x.xls", b"\xd0\xcf\x11\xe0", "workbook of an old Excel", "CSV"), ("x.csv.gz", b"\x1f\x8b", "gzip", "gunzip"),
        ("x.csv", TABLE.encode("cp1252"), "line 2 is not UTF-8 text, maybe Windows-1252", "UTF-8"),
        ("x.csv", b"PAR1", "a Parquet file", ".parquet"),
    ],
)  # fmt: skip
def test_what_has_to_be_converted_first(name: str, content: bytes, what: str, cure: str) -> None:
    with pytest.raises(UserError, match=what) as caught:
        read(name, content)
    assert cure in caught.value.hint


def test_columns_that_are_nested_too_deeply() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.string()
    for _ in range(120):
        kind = pa.struct([("a", kind)])
    file = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": pa.array([None], kind)}), file)
    with pytest.raises(UserError, match=r"x.parquet cannot be parsed: "):
        read("x.parquet", file.getvalue().to_pybytes())
