"""MMLU-ProX in its published layout: rows with fewer choices, both editions, and answers in each language."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.declaration.spec import load_task

SAMPLE = Path(__file__).parents[2] / "tasks/mmlu_prox/sample/eng.jsonl"
# How the data set's worked solutions begin and end.
SOLUTIONS = {
    "afr": "A: Kom ons dink stap vir stap. {} Die antwoord is ({}).",
    "eng": "A: Let's think step by step. {} The answer is ({}).",
    "swa": "A: Hebu tufikiria hatua kwa hatua. {} Jibu ni ({}).",
    "wol": "A: Nan xalaat ci dooley dooley. {} Tontu bi mooy ({}).",
    "yor": "A: Ẹ jẹ́ ká ronú lọ́nà tíṣíṣe. {} Ìdáhùn náà ni ({}).",
    "zul": "A: Asicabange isinyathelo ngesinyathelo. {} Impendulo ithi ({}).",
}


def _write(source: Path, edition: str, language: str) -> list[str]:
    """Writes a language's files as they are on the hub, and returns right answers to its test set."""
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["cot_content"] = SOLUTIONS[language].format("7 + 7 = 14.", row["answer"])
    folder = source / "li-lab" / edition / load_task("mmlu_prox").languages[language]
    folder.mkdir(parents=True)
    for split, times in (("test", 1), ("validation", 7)):  # as many as published, of which there are ten
        table = pa.Table.from_pylist([row for row in rows if row["split"] == split] * times)
        pq.write_table(table, folder / f"{split}-00000-of-00001.parquet")
    return [row["cot_content"].removeprefix("A: ") for row in rows if row["split"] == "test"]


@pytest.mark.parametrize("edition", ["MMLU-ProX", "MMLU-ProX-Lite"])
def test_right_answers_score_100_in_each_language_and_prompt(edition: str, tmp_path: Path) -> None:
    answers = {language: _write(tmp_path, edition, language) for language in SOLUTIONS}
    task = TaskConfig(task_name="mmlu_prox", prompts=[1, 2, 3], prompt_language="both", options={"edition": edition})
    config = RunConfig(ModelConfig("demo"), task, EvalConfig(num_fewshot=5), DataConfig(str(tmp_path)))
    cells, _ = declared_cells(config)
    assert len(cells) == 6 * 3 + 4 * 3
    for cell in cells:
        score = cell.scorer(Generation(2048, ("Question:",), runs_on=False))
        for document, answer in zip(cell.documents, answers[cell.language], strict=True):
            assert score(document, [answer]).measures["acc"] == [1.0]
            prompt = cell.prompt_text(document, None)
            assert prompt.count("7 + 7 = 14.") == 5 and "A: " not in prompt.replace("\nA: ", "")
    assert [len(document.choices) for document in cells[0].documents] == [10, 8, 10, 10, 7, 4, 3, 10]
