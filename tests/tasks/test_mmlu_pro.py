"""MMLU-Pro: the authors' prompt byte for byte, written anew from their program; their scores of recorded answers."""

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.tasks.published import published_scores
from afrieval.tasks.sources.plan import all_questions
from afrieval.tasks.sources.templated import TemplatedQuestions
from afrieval.tasks.spec import load_task

Row = dict[str, Any]
REAL_DATA = Path(os.environ.get("AFRIEVAL_DATA", "")) / "TIGER-Lab" / "MMLU-Pro"
SAMPLE = Path(__file__).parents[2] / "tasks/mmlu_pro/sample/eng.jsonl"
LETTER = re.compile(r"answer is \(?[A-J]|[aA]nswer:\s*[A-J]|\b[A-J]\b")
ABOUT = (
    "The following are multiple choice questions (with answers) about {}. Think step by step and then finish "
    'your answer with "the answer is (X)" where X is the correct letter choice.'
)


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _by_authors(test: Row, validation: list[Row], shots: int) -> str:
    """Returns a question's prompt as evaluate_from_local.py makes it: three line ends of its file, and one more."""
    alike = [row for row in validation if row["category"] == test["category"]][:shots]
    prompt = ABOUT.format(test["category"]) + "\n" * 4
    for row in [*alike, test]:
        prompt += f"Question:\n{row['question']}\nOptions:\n"
        prompt += "".join(f"{chr(ord('A') + at)}. {option}\n" for at, option in enumerate(row["options"]))
        begin = "Answer: Let's think step by step."
        worked = row["cot_content"].replace("A: Let's think step by step.", begin)
        prompt += begin if row is test else f"{worked}\n\n"
    return prompt


def _questions(source: str, shots: int, **task: Any) -> TemplatedQuestions:
    config = RunConfig(
        ModelConfig("demo"),
        TaskConfig(task_name="mmlu_pro", **task),
        EvalConfig(num_fewshot=shots),
        DataConfig(source),
    )
    (found,), _ = all_questions(config)
    return found


@pytest.mark.parametrize("shots", [0, 1, 5])
def test_the_prompt_is_the_authors(shots: int) -> None:
    rows = _rows(SAMPLE)
    of_split = {split: [row for row in rows if row["split"] == split] for split in ("test", "validation")}
    questions = _questions("samples", shots)
    assert len(questions.documents) == len(of_split["test"])
    for document, row in zip(questions.documents, of_split["test"], strict=True):
        assert questions.prompt_text(document, None) == _by_authors(row, of_split["validation"], shots)


def test_text_of_the_data_is_shown_as_it_is(tmp_path: Path) -> None:
    """Blanks around texts reach the model, as in the authors' program; so do texts that are not in NFC."""
    rows = _rows(SAMPLE)
    for row in rows:
        row |= {"question": f"  {row['question']}e\u0301 ", "options": [f" {option}" for option in row["options"]]}
        row["cot_content"] += " \n" if row["cot_content"] else ""
    folder = tmp_path / "TIGER-Lab" / "MMLU-Pro"
    folder.mkdir(parents=True)
    of_split = {split: [row for row in rows if row["split"] == split] for split in ("test", "validation")}
    for split, some in of_split.items():
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    questions = _questions(str(tmp_path), 5)
    for document, row in zip(questions.documents, of_split["test"], strict=True):
        assert questions.prompt_text(document, None) == _by_authors(row, of_split["validation"], 5)


def test_examples_are_of_the_category_in_the_order_of_the_file() -> None:
    questions = _questions("samples", 3)
    for document in questions.documents:
        examples = questions.examples(document)
        assert {example.fields["category"] for example in examples} == {document.fields["category"]}
        assert [example.id for example in examples] == sorted(example.id for example in examples)[:3]


def test_limits_are_the_authors() -> None:
    spec = load_task("mmlu_pro")
    assert spec.generation and (spec.generation.max_tokens, spec.generation.stop) == (2048, ["Question:"])


def test_options_are_part_of_the_identity_and_count_guesses() -> None:
    plain, switched = _questions("samples", 0), _questions("samples", 0, extract={"lone": True, "guess": False})
    assert [m.name for m in plain.metrics] == ["acc", "unparsed"]
    assert [m.name for m in switched.metrics] == ["acc", "unparsed", "guessed"]
    found = [q.cell().identity["tasks"]["mmlu_pro"] for q in (plain, switched)]
    assert found[1] == {**found[0], "extract": {"lone": True}}
    assert switched.cell().facts["declared"]["mmlu_pro"]["extract"] == {"lone": True}


def test_published_scores_of_categories_are_between_those_of_the_data() -> None:
    of_llama = published_scores("mmlu_pro")["Llama-3.1-8B-Instruct"]
    categories = of_llama.groups["category"]
    assert len(categories) == 14 and of_llama.extract == {"lone": True, "guess": True}
    assert min(categories.values()) < (of_llama.micro or 0) < max(categories.values())


@pytest.mark.data
def test_the_prompt_of_real_rows_is_the_authors() -> None:
    rows, questions = _rows(REAL_DATA / "test.jsonl"), _questions(os.environ["AFRIEVAL_DATA"], 0)
    assert len(questions.documents) == len(rows) == 1400
    for document, row in zip(questions.documents, rows, strict=True):
        assert f"{questions.header(document)}\n\n{questions.text(document)}" == _by_authors(row, [], 0)


@pytest.mark.data
def test_recorded_answers_have_the_authors_accuracy() -> None:
    """Their program draws by the number of options where it recorded no letter; the recorded ones contain its G."""
    from afrieval.tasks.questions import scorer

    rows = _rows(REAL_DATA / "test.jsonl")
    questions = _questions(os.environ["AFRIEVAL_DATA"], 0, extract={"lone": True, "guess": True})
    score = scorer(questions.task, questions.prompt, questions.announced, "generate")
    ours: dict[str, list[float]] = defaultdict(list)
    theirs: dict[str, list[float]] = defaultdict(list)
    for document, row in zip(questions.documents, rows, strict=True):
        found = score(document, [row["generated_text"]])
        ours[row["category"]] += found.measures["acc"]
        drawn = Random(12345).randint(0, len(row["options"]) - 1)
        no_letter = LETTER.search(row["generated_text"]) is None
        recorded = row["answer_index"] == drawn if no_letter else row["pred"] == row["answer"]
        assert no_letter == (found.guessed == "drawn")
        theirs[row["category"]].append(float(recorded))
    assert ours == theirs and len(ours) == 14
    assert sum(map(sum, ours.values())) / 1400 == pytest.approx(594 / 1400)
