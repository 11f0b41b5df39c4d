"""Test sets translated to English: English prompts that claim no other language, examples in English."""

from pathlib import Path

import pytest
from tests.conftest import Cli, only_samples, read_config

from afrieval.languages import ENGLISH
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts, render

TASKS = ("afrimmlu", "afrixnli", "afrimgsm", "afrimgsm_cot")


def cells(task: str, *words: object) -> list[TaskCell]:
    given = ["--data.source", "samples", "--task.task_name", task, *words]
    config = read_config([str(w) for w in given], command="run", needs_model=False)
    return declared_cells(config)[0]


@pytest.mark.parametrize("task", TASKS)
def test_prompts_are_those_of_english_texts(task: str) -> None:
    """Prompts 3 to 5 of some tasks name the language: it is English, whatever it was translated from."""
    translated = cells(task, "--task.languages", "yor", "--task.variant", "translate")
    english = cells(task, "--task.languages", "eng")
    numbers = [number for number, prompt in load_prompts(load_task(task), ENGLISH).items() if not prompt.lettered]
    assert [c.prompt.number for c in translated] == [c.prompt.number for c in english] == numbers
    for ours, theirs in zip(translated, english, strict=True):
        asked = [render(ours.prompt, d, ours.task.text_language or ours.language) for d in ours.documents]
        assert asked == [render(theirs.prompt, d, "eng") for d in theirs.documents]
        assert not any("Yoruba" in text for text in asked)
        assert ours.name.startswith(f"{task}_translate_yor_eng_")


@pytest.mark.parametrize("task", TASKS)
def test_every_language_but_english_was_translated(task: str) -> None:
    direct = cells(task)[0].task
    translated = cells(task, "--task.variant", "translate")[0].task
    assert set(direct.languages) - set(translated.languages) == {"eng"}
    assert translated.data.hub == f"{direct.data.hub}-translate-test"


def test_examples_are_the_english_ones_of_the_task(run_demo: Cli, tmp_path: Path) -> None:
    shots = ("--eval.num_fewshot", 2, "--eval.limit", 1, "--task.prompts", 1)
    shown = {}
    for language, variant in (("hau", "translate"), ("eng", "direct")):
        words = ("--task.languages", language, "--task.variant", variant, "--run_dir", tmp_path / variant)
        run_demo(*shots, *words).ok()
        shown[variant] = only_samples(tmp_path / variant)[0]
    translated, english = shown["translate"], shown["direct"]
    assert translated["arguments"] == english["arguments"] and translated["fewshot_ids"] == english["fewshot_ids"]
    assert (translated["task"], translated["language"]) == ("afrimmlu_translate", "hau")


def test_a_folder_laid_out_as_on_the_hub(run_demo: Cli, tmp_path: Path) -> None:
    data = tmp_path / "masakhane/afrixnli-translate-test/data/hau"
    data.mkdir(parents=True)
    rows = "premise\thypothesis\tlabel\nIt rains.\tIt is wet.\t0\nIt rains.\tIt is dry.\t2\n"
    (data / "test.tsv").write_text(rows, encoding="utf-8")
    words = ("--task.task_name", "afrixnli", "--task.variant", "translate", "--data.source", tmp_path)
    done = run_demo(*words).ok()
    assert "afrixnli_translate" in done.out and "Hausa" in done.out
    assert "no test rows for amh ewe" in done.err.replace(",", "")


def test_a_translation_of_a_test_set_that_is_known_to_be_defective_is_named(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "masakhane/afrixnli-translate-test/data"
    for language in ("lin", "yor"):
        (folder / language).mkdir(parents=True)
        rows = "premise\thypothesis\tlabel\nIt rains.\tIt is wet.\t0\nIt rains.\tIt is dry.\t2\n"
        (folder / language / "test.tsv").write_text(rows, encoding="utf-8")
    words = ("--task.task_name", "afrixnli", "--task.variant", "translate", "--task.prompts", 1)
    done = cli("preview", *words, "--data.source", tmp_path).ok()
    (named,) = [line for line in done.err.splitlines() if "known defect" in line]
    assert named.startswith("afrixnli_translate, lin: the original has a known defect, which its translation may share")
