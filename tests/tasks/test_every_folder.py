"""Every task is read from the folder that its hint describes: rows are made up from the declaration alone."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli, spec_of
from tests.tasks.meta_rows import PARTNERS, fitting, on_evals, sample_rows, write_mirror, write_repository
from tests.tasks.meta_rows import TASKS as OF_META
from tests.tasks.small_task import write_rows

from afrieval._util.errors import UserError
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.schema import fill
from afrieval.tasks.data.splits import Split, check_source, in_language, load_split, placeholders, where_from
from afrieval.tasks.declaration.kinds import ANSWERS
from afrieval.tasks.declaration.schema import WITH_COLUMNS, AnswerSpec, column_names
from afrieval.tasks.declaration.spec import TaskSpec, task_names, translated

TEXT, GOLD = "oro", "ọ̀rọ̀"  # without marks, and with those that some tasks restore
GOLDS = {"number": "5", "labels": 1, "levels": 1, "texts": [GOLD], "entries": [GOLD]}
Row = dict[str, Any]


def made_up(spec: TaskSpec, language: str) -> Row:
    """Returns a row with all columns that a declaration names, under each of their names."""
    spec = in_language(spec, language)
    row: Row = {}
    named = (name for key in WITH_COLUMNS for name in column_names(getattr(spec, key)))
    for column in (*spec.data.once, *named):
        _put(row, column, TEXT)
    for name, of in spec.grouped_fields.items():
        value = next(iter(of.group_of))
        if of.of not in spec.grouped_fields:
            _put(row, spec.field_columns[of.of], value)
            assert spec.grouped_fields[name].group_of[value]
    options = [f"option {letter}" for letter in "abcd"]
    if isinstance(spec.choices, str):
        _put(row, spec.choices, options)
    for column, option in zip(spec.choices if isinstance(spec.choices, list) else [], options, strict=False):
        _put(row, column, option)
    if isinstance(spec.choice_labels, str):
        _put(row, spec.choice_labels, [*"ABCD"])
    if spec.blank:
        _put(row, spec.field_columns[spec.blank], f"_ {TEXT}")
    _put_gold(row, spec)
    where = spec.data.where
    for column, begin in (where[0] if isinstance(where, list) else where).items():
        row[column] = fill(begin if isinstance(begin, str) else begin[0], placeholders(spec, language))
    return row


def _put_gold(row: Row, spec: TaskSpec) -> None:
    answer = spec.scoring.answer
    kind = next(name for name, of in ANSWERS.items() if of is answer)
    gold: Any = spec.labels[0] if kind == "label" else "A" if spec.choice_labels else GOLDS.get(kind, GOLD)
    if kind == "index" and not spec.choice_labels:
        gold = spec.first_answer
    gold = f"{spec.tags[0]}: {GOLD}" if spec.tags else gold
    if answer.further_columns:
        row["tokens"], gold = ["Juma", "yuko"], [spec.tags[1], spec.tags[0]]
    if isinstance(spec.answer, AnswerSpec) and spec.answer.weight:
        gold = [{spec.answer.texts[0]: [GOLD], spec.answer.weight: 1}]
    for column in spec.answer_columns if not spec.texts else ():
        _put(row, column, gold)
    if answer.columns:
        row |= {"key": 7, "instruction_id_list": ["keywords:existence"], "kwargs": [{"keywords": [GOLD]}]}


def _put(row: Row, column: str, value: Any) -> None:
    *maps, last = column.split(".")
    for step in maps:
        row = row.setdefault(step, {})
    row[last] = value


def written(path: Path, row: Row, spec: TaskSpec) -> None:
    """Writes two rows in the format of the path's suffix; a text has a row per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in (".parquet", ".json", ".jsonl"):
        write_rows(path, [row, row])
    elif path.suffix in (".tsv", ".csv"):
        table = io.StringIO()
        columns = spec.data.columns or [*row]
        several = [column for column in columns if columns.count(column) > 1]  # lists, a cell for each entry
        cells = [
            row[column][columns[:at].count(column)] if column in several else row.get(column, TEXT)
            for at, column in enumerate(columns)
        ]
        header = [] if spec.data.columns else [columns]
        csv.writer(table, delimiter="\t" if path.suffix == ".tsv" else ",").writerows([*header, cells, cells])
        path.write_text(table.getvalue(), encoding="utf-8")
    elif path.suffix in (".txt", ".conll"):
        path.write_text(f"Juma {spec.tags[1]}\nyuko {spec.tags[0]}\n\n" * 2, encoding="utf-8")
    else:
        path.write_text(f"{GOLD}\n" * 2, encoding="utf-8")


def described(hint: str, folder: Path) -> list[list[str]]:
    """Returns the alternatives that a hint names: files below the folder."""
    found = re.search(rf"put (.+?) into {re.escape(str(folder))}", hint)
    assert found, hint
    return [alternative.split(" and ") for alternative in found[1].split(" or ")]


def read(spec: TaskSpec, language: str, folder: Path) -> Split:
    """Returns the evaluated split, or raises what a run says of a folder that lacks it."""
    check_source(spec, str(folder))
    found = load_split(spec, language, spec.data.evaluate, str(folder))
    if found is None:
        raise UserError("no rows", where_from(spec, language, spec.data.evaluate, str(folder)))
    return found


def from_hint(spec: TaskSpec, language: str, folder: Path, number: int, write: Any) -> tuple[Split, int]:
    """Returns what is read once the files of alternative `number` of each hint are there, and how many there are."""
    most = 0
    for _ in range(3):  # a task may be completed from another data set
        try:
            return read(spec, language, folder), most
        except UserError as e:
            places = described(e.hint, folder)
            most = max(most, len(places))
            write(places[min(number, len(places) - 1)])
    return read(spec, language, folder), most


DECLARED = [name for name in task_names() if name not in OF_META]
TRANSLATED = [name for name in DECLARED if spec_of(name).translate]


@pytest.mark.parametrize("name", [*DECLARED, *(f"{name}_translate" for name in TRANSLATED)])
def test_a_task_is_read_from_the_folder_that_its_hint_describes(name: str, tmp_path: Path) -> None:
    spec = spec_of(name) if name in DECLARED else translated(spec_of(name.removesuffix("_translate")))
    language = next(iter(spec.languages))  # hints about a whole data set name the first
    row, number, most = made_up(spec, language), 0, 1
    while number < most:
        folder = tmp_path / str(number)
        folder.mkdir()

        def write(files: list[str], folder: Path = folder) -> None:
            for file in files:
                path, _, more = file.partition(" with the other ")
                of_parts = next(iter(spec.data.parts.values())) if more else [""]
                for part in of_parts:
                    written(folder / path.replace(of_parts[0], part), row, spec)

        found, of_hint = from_hint(spec, language, folder, number, write)
        most, number = max(most, of_hint), number + 1
        assert found.documents and not any(document.defect for document in found.documents), (name, number)
        assert spec.texts or all(document.gold is not None for document in found.documents)
    assert number == most


def load(spec: TaskSpec, source: object) -> Split:
    split = load_split(spec, "eng", "latest", str(source))
    assert split
    return split


@pytest.mark.parametrize("task", OF_META)
@pytest.mark.parametrize("number", [0, 1])
def test_a_task_with_complete_prompts_too(task: str, number: int, tmp_path: Path) -> None:
    """Both forms, a card's shards and the hub's conversion, give the documents of the samples."""
    rows, others = sample_rows(task)
    spec = fitting(on_evals(task), len(rows), len(others))

    def write(files: list[str]) -> None:
        (place,) = files
        of = rows if place.startswith(spec.data.hub) else others
        if place.endswith("0000.parquet"):
            write_rows(tmp_path / place, of)
            return
        card = re.fullmatch(r"(.+)/README.md with the files that it lists for (\S+), split (\S+),", place)
        assert card
        write_repository(tmp_path / card[1], card[2], card[3], of)

    found, alternatives = from_hint(spec, "eng", tmp_path, number, write)
    assert alternatives == 2 and found.documents == load(on_evals(task), SAMPLES).documents
    cut = -2 if spec.answer_in_prompt else None
    assert [d.prompt for d in found.documents] == [row["input_final_prompts"][0][:cut] for row in rows]


def test_a_file_that_the_card_names_and_the_folder_lacks(cli: Cli, tmp_path: Path) -> None:
    spec = on_evals("meta_gpqa")
    write_mirror(tmp_path, spec, *sample_rows("meta_gpqa"))
    for path in tmp_path.rglob("part-*"):
        path.unlink()
    evals = ("--task.evals_dataset", spec.data.hub)
    done = cli("preview", "--task.task_name", "meta_gpqa", *evals, "--data.source", tmp_path)
    assert done.code == 2 and f"{tmp_path} lacks the latest rows of meta_gpqa" in done.err and "README.md" in done.err


@pytest.mark.parametrize("task", PARTNERS)
def test_the_other_data_set_is_whole_and_there(task: str, tmp_path: Path) -> None:
    rows, others = sample_rows(task)
    spec = on_evals(task)
    write_mirror(tmp_path, spec, rows, others)
    assert spec.join and spec.join.rows
    with pytest.raises(UserError, match=rf"{spec.join.hub} .* has {len(others)} rows instead of {len(others) + 1}"):
        load(fitting(spec, len(rows), len(others) + 1), tmp_path)
    for path in (tmp_path / spec.join.hub).rglob("part-*"):
        path.unlink()
    with pytest.raises(UserError, match=f"has no {spec.join.split} rows of {spec.join.hub}"):
        load(fitting(spec, len(rows), len(others)), tmp_path)
    (tmp_path / spec.join.hub).rename(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=f"does not contain {spec.join.hub}"):
        check_source(spec, str(tmp_path))


def test_the_hash_changes_with_either_data_set(tmp_path: Path) -> None:
    rows, others = sample_rows("meta_math")
    hashes = []
    for number, (some, more) in enumerate(((rows, others), (rows[1:], others), (rows, others[1:]), (rows, others))):
        spec = fitting(on_evals("meta_math"), len(some), len(more))
        write_mirror(tmp_path / str(number), spec, some, more)
        hashes.append(load(spec, tmp_path / str(number)).sha256)
    assert len(set(hashes)) == 3 and hashes[0] == hashes[3]
