"""What a planned cell takes from the data set's own few-shot rows."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT, Cli

from afrieval.analysis.contrasts import contrasts
from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.results.comparable_runs import read_runs
from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.task_cell import TaskCell

HEADINGS = ("Ìbéèrè: ", "Ìdáhùn lẹ́sẹẹsẹ: ")  # the published rows begin with them, in the language


def planned(folder: Path, closings: list[str]) -> TaskCell:
    """Returns the cell of a folder laid out as published: a file of questions, and one of worked solutions."""
    files = folder / "masakhane/afrimgsm/data/yor"
    files.mkdir(parents=True)
    rows = [(f"{HEADINGS[0]}{n} + 1?", f"{HEADINGS[1]}{n} + 1 = {n + 1}. {c}{n + 1}.") for n, c in enumerate(closings)]
    (files / "dev.tsv").write_text(table([(*row, n + 1) for n, row in enumerate(rows)]), encoding="utf-8")
    (files / "test.tsv").write_text(table([("3 + 4?", "", 7)]), encoding="utf-8")
    task = TaskConfig(task_name=["afrimgsm_cot"], languages=["yor"], prompts=[1])
    (questions,) = declared_cells(RunConfig(task=task, data=DataConfig(source=str(folder))))[0]
    return questions


def table(rows: list[tuple[str, str, int]]) -> str:
    return "question\tanswer\tanswer_number\n" + "".join(f"{q}\t{a}\t{n}\n" for q, a, n in rows)


@pytest.mark.parametrize(("closing", "lead_ins"), [("Èsì rẹ̀ jẹ́ ", ["Èsì rẹ̀ jẹ́ {answer}"]), ("", [])])
def test_answers_are_looked_for_after_the_closing_sentence(tmp_path: Path, closing: str, lead_ins: list[str]) -> None:
    """English prompts too: models answer in the language of the question, as its translators would."""
    found = planned(tmp_path, [closing] * 8).announced
    assert found[:2] == ["The answer is", "Ìdáhùn náà ni"]
    assert [words for words in found if words.startswith("Èsì")] == lead_ins


def test_closing_sentences_that_differ_announce_nothing(tmp_path: Path) -> None:
    assert not {words for words in planned(tmp_path, ["Ó jẹ́ ", "Èsì ni ", "Nítorí náà, "]).announced if "Èsì" in words}


@pytest.mark.parametrize(
    ("task", "language", "side", "chat", "system", "borrowed"),
    [
        ("flores_from_eng", "wol", "native", True, "You are given a sentence to translate.", True),
        ("flores_from_eng", "wol", "native", False, "You are given a sentence to translate.", False),
        ("flores_from_eng", "hau", "native", True, "An ba ka jumlar da za ka fassara.", False),
        ("flores_from_eng", "wol", "eng", True, "You are given a sentence to translate.", False),
        ("mmlu_prox", "swa", "native", True, "", False),
        ("afrimgsm_cot", "yor", "eng", True, 'and end with "Ìdáhùn náà ni" and the number.', False),
        ("afrimgsm_cot", "eng", "eng", True, 'and end with "The answer is" and the number.', False),
    ],
)
def test_both_prompt_languages_have_a_system_text_or_neither(
    task: str, language: str, side: Any, chat: bool, system: str, borrowed: bool
) -> None:
    """A native prompt without one has the English one, which run.yaml says."""
    chosen = TaskConfig(task_name=[task], languages=[language], prompts=[1], prompt_language=side)
    config = RunConfig(task=chosen, data=DataConfig(source="samples"), model=ModelConfig(chat_template=chat))
    (cell,) = declared_cells(config)[0]
    assert isinstance(cell, TaskCell) and system in cell.system and bool(system) == bool(cell.system)
    assert cell.facts["declared"][task].get("english_system", {}) == ({language: True} if borrowed else {})


SOME = ("--task.task_name", "belebele", "--task.prompts", 1, "--task.languages", "eng,yor,zul")
Rows = list[dict[str, Any]]


def written(folder: Path, **languages: Rows) -> Path:
    """A local copy of Belebele."""
    data = folder / "data/facebook/belebele/data"
    data.mkdir(parents=True)
    for language, rows in languages.items():
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (data / f"{language}_Latn.jsonl").write_text(text, encoding="utf-8")
    return folder / "data"


def rows(language: str) -> Rows:
    text = (ROOT / f"tasks/belebele/sample/{language}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def without(row: dict[str, Any], *columns: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in columns}


def test_questions_in_another_order_are_paired_by_the_stored_key(run_demo: Cli, tmp_path: Path) -> None:
    data = written(tmp_path, eng=rows("eng"), yor=rows("yor")[::-1], zul=rows("zul"))
    done = run_demo(*SOME, "--data.source", data)
    assert done.code == 0 and "no unique key" not in done.err, done.err
    (sample, *_) = read_samples(sample_path(tmp_path / "run", "belebele_yor_eng_1"))
    assert sample["doc_id"] == 0 and sample["key"] == '["sample passage 12", "1"]'
    found = contrasts(read_runs([tmp_path / "run"]), "language", 1)
    assert [(c.first, c.second, row.n, row.dropped) for c in found for row in c.rows] == [
        ("eng", "yor", 12, 0), ("eng", "zul", 12, 0), ("yor", "zul", 12, 0),
    ]  # fmt: skip


def test_rows_without_a_key_of_their_own_are_named_and_scored(run_demo: Cli, tmp_path: Path) -> None:
    twice = rows("yor")
    twice[5] |= {"link": twice[2]["link"]}
    bare = [without(row, "link", "question_number") for row in rows("zul")]
    done = run_demo(*SOME, "--data.source", written(tmp_path, eng=rows("eng"), yor=twice, zul=bare)).ok()
    told = [line for line in done.err.splitlines() if "no unique key" in line]
    assert told == [
        "belebele, yor: 2 of 12 rows have no unique key and are not paired across languages (row 2, 5)",
        "belebele, zul: 12 of 12 rows have no unique key and use the row number (row 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 ...)",
    ]
    cells = read_runs([tmp_path / "run"])
    assert [len(cell.ids) for cell in cells] == [12, 12, 12]
    (found,) = contrasts([u for u in cells if u.language != "zul"], "language", 1)
    assert [(row.n, row.dropped) for row in found.rows] == [(10, 4)]
    assert all(row.n == 12 for c in contrasts(cells, "language", 1) for row in c.rows), "one has no keys: all by row"


def test_a_key_changes_no_score_and_no_example(run_demo: Cli, tmp_path: Path) -> None:
    whole = written(tmp_path / "keys", eng=rows("eng"))
    bare = written(tmp_path / "bare", eng=[without(row, "link", "question_number") for row in rows("eng")])
    stored = []
    for name, data in (("one", whole), ("other", bare)):
        words = ("--task.languages", "eng", "--data.source", data, "--eval.num_fewshot", 2)
        assert run_demo(*SOME[:4], *words, "--run_dir", tmp_path / name).code == 0
        stored.append([without(s, "key") for s in read_samples(sample_path(tmp_path / name, "belebele_eng_eng_1"))])
    assert stored[0] == stored[1]
