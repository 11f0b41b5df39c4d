"""MMLU-Pro: the authors' prompt byte for byte, written anew from their program; their scores of recorded answers."""

import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.tasks.small_task import write_rows

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.results.run_folder import RunFolder
from afrieval.run.evaluate import evaluate
from afrieval.run.session import open_run
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.declaration.known_facts import published_scores
from afrieval.tasks.declaration.selection import switched
from afrieval.tasks.declaration.spec import load_task

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


def _questions(source: str, shots: int, **task: Any) -> TaskCell:
    config = RunConfig(
        ModelConfig("demo"), TaskConfig(task_name="mmlu_pro", **task), EvalConfig(num_fewshot=shots), DataConfig(source)
    )
    (found,), _ = declared_cells(config)
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
    of_split = {split: [row for row in rows if row["split"] == split] for split in ("test", "validation")}
    for split, some in of_split.items():
        write_rows(tmp_path / f"TIGER-Lab/MMLU-Pro/{split}.jsonl", some)
    questions = _questions(str(tmp_path), 5)
    for document, row in zip(questions.documents, of_split["test"], strict=True):
        assert questions.prompt_text(document, None) == _by_authors(row, of_split["validation"], 5)


def test_limits_are_the_authors() -> None:
    spec = load_task("mmlu_pro")
    assert spec.generation and (spec.generation.max_tokens, spec.generation.stop) == (2048, ["Question:"])


def test_options_are_part_of_the_identity_and_count_guesses() -> None:
    plain, switched = _questions("samples", 0), _questions("samples", 0, extract={"lone": True, "guess": False})
    assert [m.name for m in plain.metrics] == ["acc", "unparsed"]
    assert [m.name for m in switched.metrics] == ["acc", "unparsed", "guessed"]
    found = [q.identity["tasks"]["mmlu_pro"] for q in (plain, switched)]
    assert [of["extract"]["lone"] for of in found] == [False, True]
    assert found[0]["declaration"] != found[1]["declaration"]  # older versions stored no options
    assert switched.facts["declared"]["mmlu_pro"]["extract"] == {"lone": True}


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
    from afrieval.tasks.cells.questions import scorer

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


@pytest.mark.parametrize(
    ("task", "options", "hint"),
    [
        ("mmlu_pro", {"lon": True}, "did you mean lone?"),
        ("mmlu_pro", {"after": True}, "choose from bare, lone, guess"),
        ("afrimgsm", {"lone": True}, "leave task.extract out; it has no options to switch"),
    ],
)
def test_an_option_that_the_extractor_does_not_have(task: str, options: dict[str, bool], hint: str) -> None:
    with pytest.raises(UserError, match="has no option") as caught:
        switched(load_task(task), options)
    assert caught.value.hint == hint


@pytest.mark.data
def test_the_documented_run_of_recorded_answers(tmp_path: Path) -> None:
    given = {"file": str(REAL_DATA / "test.jsonl"), "column": "generated_text"}
    config = RunConfig(
        ModelConfig("Llama-3.1-8B-Instruct", "recorded", backend_args=given),
        TaskConfig(task_name="mmlu_pro", extract={"lone": True, "guess": True}),
        EvalConfig(),
        DataConfig(os.environ["AFRIEVAL_DATA"]),
        str(tmp_path),
    )
    with open_run(config) as session:
        evaluate(session)
    samples, rows = RunFolder(tmp_path).samples("mmlu_pro_eng_eng_1"), _rows(REAL_DATA / "test.jsonl")
    assert [sample["acc"] for sample in samples] == [float(row["pred"] == row["answer"]) for row in rows]
    assert [sample["resps"][0][0] for sample in samples] == [row["generated_text"] for row in rows]
    assert Counter(sample.get("guess") for sample in samples) == {None: 1299, "lone": 36, "drawn": 65}
    assert sum(sample["guessed"] for sample in samples) == 101
