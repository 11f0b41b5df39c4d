"""Rows are found in samples, in a folder and on the hub, and read by their header as they stand."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import put, read_config
from tests.tasks.small_task import declaration, write_declaration, write_rows

from afrieval._util.errors import UserError
from afrieval.run.session import plan
from afrieval.tasks.data.splits import Split, check_source, in_language, load_split, with_columns
from afrieval.tasks.declaration.spec import TaskSpec, load_task

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


@pytest.mark.parametrize("content", [b"question\xe9\tchoices\n", b"q\tchoices\tq\n1\t2\t3\n", b"q\tr\n1\t2\t3\n", b""])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    write_tsv(tmp_path, "yor", "test", []).write_bytes(content)
    with pytest.raises(UserError, match=r"yor/test\.tsv cannot be parsed"):
        load_split(MMLU, "yor", "test", str(tmp_path))


def test_a_folder_that_is_none_or_lacks_the_data_set(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must be hub, samples or a folder"):
        check_source(MMLU, str(tmp_path / "nothing"))
    with pytest.raises(UserError, match="does not contain masakhane/afrimmlu"):
        check_source(MMLU, str(tmp_path))


def planned(folder: Path, *words: str) -> tuple[list[str], list[str]]:
    base = ["--task.task_name", "afrimmlu", "--task.prompts", "1", "--data.source", str(folder)]
    result = plan(read_config([*base, *words], command="run", needs_model=False))
    return [cell.key.language for cell in result.cells], result.left_out


def test_a_language_that_a_folder_lacks(tmp_path: Path) -> None:
    write_tsv(tmp_path, "yor", "test", [row(i) for i in range(500)])
    languages, left_out = planned(tmp_path)
    assert languages == ["yor"] and len(left_out) == 1 and "amh, eng, ewe" in left_out[0]
    with pytest.raises(UserError, match="no test rows of afrimmlu for hau") as caught:
        planned(tmp_path, "--task.languages", "yor,hau")
    places = [f"masakhane/afrimmlu/{name}" for name in ("data/hau/test.tsv", "hau/test/0000.parquet")]
    assert f"put {' or '.join(places)} into {tmp_path}" in caught.value.hint


Row = dict[str, Any]
TASK = declaration(
    "kin",
    kind="text",
    languages={"eng": "en", "yor": "yo"},
    extract="whole",
    fields={"text": "text"},
    answer="gold",
    prompts={1: {"template": "{{ text }}\nAnswer:"}},
)
PARENT: Row = {"translation": {"en": "mother", "yo": "ìyá", "yor": "Ìyá"}, "gold": "x", "yo_text": "bàbá", "c": "C"}


def declared(folder: Path, **changes: Any) -> TaskSpec:
    """Returns a task with other keys; `data` is merged."""
    content = {**TASK, **changes, "data": {**TASK["data"], **changes.get("data", {})}}
    return load_task("kin", write_declaration(folder / "tasks", content).parents[1])


def write(folder: Path, name: str, content: str) -> None:
    path = folder / "data/ours/kin" / name
    put(path, content)


def loaded(folder: Path, spec: TaskSpec, *rows: Row, language: str = "yor") -> Split:
    write_rows(folder / "data/ours/kin" / f"{spec.languages[language]}.jsonl", rows)
    split = load_split(spec, language, "test", str(folder / "data"))
    assert split
    return split


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("translation.en", "mother"),
        ("translation.{code}", "ìyá"),
        ("translation.{language}", "Ìyá"),
        ("{code}_text", "bàbá"),
        (["a", "b", "c"], "C"),
        (["a", "translation.fr", "translation.en", "c"], "mother"),
        (["{language}_text", "{code}_text"], "bàbá"),
    ],
)
def test_a_field_is_found(tmp_path: Path, column: str | list[str], text: str) -> None:
    spec = declared(tmp_path, fields={"text": column})
    assert [d.fields["text"] for d in loaded(tmp_path, spec, PARENT).documents] == [text]


def test_a_column_with_a_dot_in_its_name_comes_first(tmp_path: Path) -> None:
    spec = declared(tmp_path, fields={"text": "translation.en"})
    found = loaded(tmp_path, spec, PARENT | {"translation.en": "mum"}, PARENT)
    assert [d.fields["text"] for d in found.documents] == ["mum", "mother"]


def test_nested_answers_and_choices(tmp_path: Path) -> None:
    spec = declared(tmp_path, answer="answers.text")
    assert loaded(tmp_path, spec, {"text": "a", "answers": {"text": "A"}}).documents[0].gold == "A"
    keys: Row = {"kind": "multiple_choice", "extract": "choice"}
    spec = declared(tmp_path, **keys, choices="choices.text", answer="key.{code}", key=["of.id"])
    row = {"text": "a", "choices": {"label": ["A", "B"], "text": ["one", "two"]}, "key": {"yo": "B"}, "of": {"id": 7}}
    (found,) = loaded(tmp_path, spec, row).documents
    assert (found.choices, found.gold, found.key) == (("one", "two"), 1, '["7"]')
    spec = declared(tmp_path, **keys, choices=["options.a", "options.b"], answer={"field": ["right", "key"]})
    (found,) = loaded(tmp_path, spec, {"text": "a", "options": {"a": "x", "b": "y"}, "key": "A"}).documents
    assert (found.choices, found.gold) == (("x", "y"), 0)


def test_an_empty_list_of_answers_is_no_value(tmp_path: Path) -> None:
    spec = declared(tmp_path, answer={"field": ["first", "second"], "type": "texts"}, metrics=["exact_match"])
    assert loaded(tmp_path, spec, {"text": "a", "first": [], "second": ["A", "Á"]}).documents[0].gold == ["A", "Á"]
    assert loaded(tmp_path, spec, {"text": "a", "first": "A", "second": []}).documents[0].gold == ["A"]


def test_a_list_of_tokens_is_a_text_with_blanks(tmp_path: Path) -> None:
    found = loaded(tmp_path, declared(tmp_path), {"text": ["J.", "D.", ",", "ng'ombe"], "gold": "x"})
    assert found.documents[0].fields["text"] == "J. D. , ng'ombe"
    assert loaded(tmp_path, declared(tmp_path), {"text": [], "gold": "x"}).documents[0].defect == "empty text"
    for cell in ([1], [["a"]], [None], {"a": "b"}):
        with pytest.raises(UserError, match=r"row 0: column 'text' must be text, not"):
            loaded(tmp_path, declared(tmp_path), {"text": cell, "gold": "x"})


def test_a_map_that_is_null_is_empty_and_a_missing_one_is_named(tmp_path: Path) -> None:
    spec = declared(tmp_path, fields={"text": "translation.en"})
    found = loaded(
        tmp_path, spec, PARENT, {"translation": None, "gold": "x"}, {"translation": {"en": None}, "gold": "x"}
    )
    assert [d.defect for d in found.documents] == ["", "empty text", "empty text"]
    for row in ({"gold": "x"}, {"translation": {"fr": "x"}, "gold": "x"}, {"translation": "x", "gold": "x"}):
        with pytest.raises(UserError, match=r"has no column 'translation\.en'"):
            loaded(tmp_path, spec, PARENT, row)
    with pytest.raises(UserError, match="has no column 'a'"):
        loaded(tmp_path, declared(tmp_path, fields={"text": ["a", "b"]}), PARENT)


def test_rows_of_tasks_with_plain_columns_are_as_they_were() -> None:
    spec = load_task("afrimmlu")
    assert in_language(spec, "yor") == replace(spec, evaluated="yor") and with_columns(spec, [PARENT]) == [PARENT]


@pytest.mark.parametrize("key", ["fields", "choices", "answer", "worked", "key"])
def test_a_placeholder_that_no_column_has_is_an_error(tmp_path: Path, key: str) -> None:
    values: Row = {"fields": {"text": ["a", "{lang}"]}, "key": ["{lang}"], "answer": {"field": "{lang}"}}
    with pytest.raises(UserError, match="names of columns support no placeholders except"):
        declared(tmp_path, **{key: values.get(key, "{lang}")})


@pytest.mark.parametrize("wrap", [lambda p: p, lambda p: [p], lambda p: {"text": p}, lambda p: ["x", {"text": p}]])
def test_patterns_are_checked_in_every_form(tmp_path: Path, wrap: Any) -> None:
    for pattern in ("../x", "/etc/passwd", "x/../y"):
        with pytest.raises(UserError, match=r"data\.files\.test is .*, which leaves its folder"):
            declared(tmp_path, data={"files": {"test": wrap(pattern)}})
    with pytest.raises(UserError, match="'parquet:x/test', but the hub's conversion is found without it"):
        declared(tmp_path, data={"files": {"test": wrap("parquet:x/test")}})
    with pytest.raises(UserError, match="no placeholders except"):
        declared(tmp_path, data={"files": {"test": wrap("{lang}.txt")}})


def test_a_file_without_a_header(tmp_path: Path) -> None:
    keys: Row = {"kind": "number", "extract": "number", "fields": {"text": "question"}, "answer": "answer_number"}
    data = {"files": {"test": "{code}.tsv"}, "columns": ["question", "answer_number"]}
    spec = declared(tmp_path, **keys, data=data)
    write(tmp_path, "yo.tsv", "\ufeffMélòó ni 2 + 2?\t4\n\"Ó pè\": 'bẹ́ẹ̀'\t5\nkò sí\n")
    found = load_split(spec, "yor", "test", str(tmp_path / "data"))
    assert found and [d.gold for d in found.documents] == [4, 5, None]
    assert [d.fields["text"] for d in found.documents][:2] == ["Mélòó ni 2 + 2?", "\"Ó pè\": 'bẹ́ẹ̀'"]
    assert found.documents[2].defect == "yo.tsv, line 3: 1 column, the header has 2"


def test_a_damaged_sentence_keeps_its_number(tmp_path: Path) -> None:
    spec = declared(
        tmp_path,
        fields={"text": "tokens"},
        answer={"field": "tags", "type": "texts"},
        data={"files": {"test": "{code}.txt"}},
    )
    write(tmp_path, "yo.txt", "-DOCSTART- O\n\nAdé B-PER\nlọ O\n\nÓ O\ndàbọ̀\n\nKò O\n")
    found = load_split(spec, "yor", "test", str(tmp_path / "data"))
    assert found and [d.fields["text"] for d in found.documents] == ["Adé lọ", "Ó", "Kò"]
    assert [d.gold for d in found.documents] == [["B-PER", "O"], None, ["O"]] and found.unparsed == {1}
    assert found.documents[1].defect == "yo.txt, line 7: 1 column instead of a token and a tag"
    write(tmp_path, "yo.txt", "Adé\nlọ\n")
    with pytest.raises(UserError, match="no sentence can be parsed; line 1: 1 column"):
        load_split(spec, "yor", "test", str(tmp_path / "data"))
    write(tmp_path, "yo.txt", "\n")
    with pytest.raises(UserError, match="has no rows"):
        load_split(spec, "yor", "test", str(tmp_path / "data"))
