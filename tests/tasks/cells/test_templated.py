"""What a planned cell takes from the data set's own few-shot rows."""

from pathlib import Path

import pytest

from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.templated import TemplateCell

HEADINGS = ("Ìbéèrè: ", "Ìdáhùn lẹ́sẹẹsẹ: ")  # the published rows begin with them, in the language


def planned(folder: Path, closings: list[str]) -> TemplateCell:
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
