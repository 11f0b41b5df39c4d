"""MMLU in African languages: files as they are distributed, and what the data sets say of a question."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TASKS, load_task

MMMLU, GLOBAL = load_task("mmmlu"), load_task("global_mmlu")


def sample_rows(task: str, language: str) -> list[dict[str, Any]]:
    path = TASKS / task / "sample" / f"{language}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_mmmlu(folder: Path) -> Path:
    """Writes a file with its first column, the number of the row, which has no name."""
    rows = [{"": i, **row} for i, row in enumerate(sample_rows("mmmlu", "swa"))]
    path = folder / "openai/MMMLU/test/mmlu_SW-KE.csv"
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [name for name in rows[0] if name != "split"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_global(folder: Path, **changed: Any) -> None:
    for language, code in (("yor", "yo"), ("eng", "en")):
        for split in ("test", "dev"):
            rows = [{**row, **changed} for row in sample_rows("global_mmlu", language) if row["split"] == split]
            (folder / code).mkdir(parents=True, exist_ok=True)
            names = [name for name in rows[0] if name != "split"]
            table = pa.table({name: [row[name] for row in rows] for name in names})
            pq.write_table(table, folder / code / f"{split}-00000-of-00001.parquet")


def test_subjects_of_mmmlu_lose_the_names_of_files(tmp_path: Path) -> None:
    write_mmmlu(tmp_path)
    split = load_split(MMMLU, "swa", "test", str(tmp_path))
    assert split and {d.fields["subject"] for d in split.documents} == {
        "elementary_mathematics",
        "high_school_biology",
        "high_school_geography",
    }
    assert {d.fields["category"] for d in split.documents} == {"STEM", "social sciences"}
    assert load_split(MMMLU, "yor", "test", str(tmp_path)) is None


def test_an_unknown_subject_is_an_error(tmp_path: Path) -> None:
    path = write_mmmlu(tmp_path)
    text = path.read_text(encoding="utf-8").replace("elementary_mathematics_test.csv_sw-KE.csv", "algebra")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="subject 'algebra' is in no group of subcategory"):
        load_split(MMMLU, "swa", "test", str(tmp_path))


def test_mmmlu_has_no_examples(cli: Cli) -> None:
    done = cli("preview", "--task.task_name", "mmmlu", "--data.source", "samples", "--eval.num_fewshot", 5)
    assert done.code == 2 and "mmmlu has no few-shot examples" in done.err


@pytest.mark.parametrize("folder", ["CohereLabs/Global-MMLU", "CohereForAI/Global-MMLU"])
def test_global_mmlu_says_which_questions_need_a_culture(tmp_path: Path, folder: str) -> None:
    write_global(tmp_path / folder)
    split = load_split(GLOBAL, "yor", "test", str(tmp_path))
    assert split and [d.fields["sensitivity"] for d in split.documents[:4]] == [
        "culturally agnostic",
        "culturally agnostic",
        "not annotated",
        "culturally sensitive",
    ]


def test_an_unknown_label_is_an_error(tmp_path: Path) -> None:
    write_global(tmp_path / GLOBAL.data.hub, cultural_sensitivity_label="XX")
    with pytest.raises(UserError, match="'XX' is in no group of sensitivity"):
        load_split(GLOBAL, "yor", "test", str(tmp_path))


def test_global_mmlu_pairs_languages_by_the_number_of_the_question(tmp_path: Path) -> None:
    write_global(tmp_path / GLOBAL.data.hub)
    path = tmp_path / GLOBAL.data.hub / "yo/test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).take([3, 1, 0, 2, 4, 5, 6, 7, 8]), path)
    of_each = [load_split(GLOBAL, language, "test", str(tmp_path)) for language in ("eng", "yor")]
    english, yoruba = ([(d.key, d.gold) for d in split.documents] for split in of_each if split)
    assert english != yoruba and sorted(english) == sorted(yoruba) and all(key for key, _ in english)


def test_examples_of_global_mmlu_are_of_the_subject_and_in_the_language(cli: Cli) -> None:
    native = ["--task.languages", "yor", "--task.prompt_language", "native", "--eval.num_fewshot", 2, "--document", 2]
    shown = cli("preview", "--task.task_name", "global_mmlu", "--data.source", "samples", *native).out
    assert "few-shot rows [2, 3]" in shown and shown.count("Ìbéèrè: ") == 3 and "Question" not in shown


def test_scores_by_sensitivity(cli: Cli, tmp_path: Path) -> None:
    chosen = ["--task.task_name", "global_mmlu", "--task.languages", "yor,eng", "--task.prompts", "2"]
    done = cli("run", "--model.model_name", "demo", *chosen, "--data.source", "samples", "--run_dir", tmp_path / "run")
    assert done.code == 0, done.err
    shown = cli("compare", tmp_path / "run", "--by", "sensitivity").out
    assert all(name in shown for name in ("culturally sensitive", "culturally agnostic", "not annotated"))
