"""CSV files with the probabilities of choices: against a computation of our own, and when they are not written."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.tasks.declaration.test_answers import AREA, write

from afrieval.models.demo import demo_folder
from afrieval.results.samples import read_samples

ROWS = [
    {"topic": "maths", "question": 'What is "6 × 7", in digits?', "choices": ["42", "43", "44", "45"], "answer": "A"},
    {"topic": "history", "question": "Where is Aksum?\nName a country.", "choices": ["Mali", "Ethiopia", "Chad"],
     "answer": "B"},
    {"topic": "history", "question": "Who ruled Mali, after 1312?", "choices": ["Musa", "Amina", "Shaka", "Makeda"],
     "answer": "A"},
    {"topic": "history", "question": "Who wrote this?", "choices": ["", "x"], "answer": "A"},
]  # fmt: skip
TEMPLATE = "About {{ subject }}.\n{{ question }}\n{{ choices | lettered('. ') }}\nAnswer:"
FIELDS = {"question": "question", "subject": "topic", "area": AREA}


@pytest.fixture
def run(tmp_path: Path, run_demo: Cli) -> Any:
    """Runs the quiz with the demo model; returns the outcome and the folder of its files."""
    changes: dict[str, Any] = {"fields": FIELDS, "breakdowns": ["area"], "macro": "subject", "probabilities": "subject"}
    write(tmp_path, **changes, prompts={1: {"template": TEMPLATE}}, answer_forms=["letter", "generate"])
    rows = (json.dumps({"split": "test", **row}) for row in ROWS)
    (tmp_path / "quiz/sample/eng.jsonl").write_text("\n".join(rows) + "\n")

    def ran(*words: object) -> Any:
        done = run_demo("--task.folder", tmp_path, "--task.task_name", "quiz", *words).ok()
        return done, tmp_path / "run/probabilities/quiz_eng_eng_1"

    return ran


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_there_is_a_file_per_subject_and_the_probabilities_are_those_of_the_authors_computation(
    run: Any, tmp_path: Path
) -> None:
    """A softmax over the logits of the letters, and of all tokens; the demo's " A" is two tokens."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    _, folder = run()
    assert sorted(path.name for path in folder.iterdir()) == ["history.csv", "maths.csv"]
    (header, row), (_, *others) = table(folder / "maths.csv"), table(folder / "history.csv")
    of = [f"demo_choice{letter}_{kind}" for kind in ("probs", "vocabulary_probs") for letter in "ABCD"]
    assert header == ["0", "1", "2", "3", "4", "5", "demo_correct", *of]
    assert row[:6] == [ROWS[0]["question"], "42", "43", "44", "45", "A"] and row[6] in ("True", "False")
    assert others[0][:6] == [ROWS[1]["question"], "Mali", "Ethiopia", "Chad", "", "B"] and others[0][10] == ""
    assert others[2][:6] == [ROWS[3]["question"], "", "", "", "", ""] and set(others[2][6:]) == {""}

    tokenizer = AutoTokenizer.from_pretrained(demo_folder())
    model = AutoModelForCausalLM.from_pretrained(demo_folder()).eval()
    prompt = read_samples(tmp_path / "run/samples_quiz_eng_eng_1.jsonl")[0]["arguments"][0][0]
    assert prompt.endswith("\nAnswer:")
    ids = tokenizer(prompt + " ", return_tensors="pt").input_ids
    with torch.no_grad():
        before, last = model(ids).logits[0, -2:].double()
    letters = [tokenizer(letter).input_ids[-1] for letter in "ABCD"]
    blank = torch.softmax(before, 0)[ids[0, -1]]
    assert [float(cell) for cell in row[7:11]] == pytest.approx(torch.softmax(last[letters], 0).tolist(), rel=1e-4)
    assert [float(cell) for cell in row[11:]] == pytest.approx(
        (blank * torch.softmax(last, 0)[letters]).tolist(), rel=1e-4
    )
    assert row[6] == str(int(last[letters].argmax()) == 0)


def test_files_are_written_again_when_a_run_goes_on_and_a_folder_in_the_way_stops_nothing(run: Any) -> None:
    _, folder = run("--eval.limit", 1)
    assert [path.name for path in folder.iterdir()] == ["maths.csv"]
    (folder / "maths.csv").write_text("damaged")
    (folder / ".maths.csv.12345").write_text("by a process that was killed")
    run()
    assert len(table(folder / "maths.csv")) == 2 and len(table(folder / "history.csv")) == 4
    assert not list(folder.glob(".*"))
    (folder / "maths.csv").unlink()
    (folder / "maths.csv").mkdir()
    done, _ = run()
    assert "files of probabilities cannot be written" in done.err and "Run folder" in done.out


def test_without_documents_a_line_says_why_there_are_none(run: Any) -> None:
    done, folder = run("--eval.log_samples", "false")
    assert "no files of probabilities, since --eval.log_samples false stores no documents" in done.err
    assert not folder.exists() and "maths" in done.out


def test_generated_answers_have_none(run: Any) -> None:
    done, folder = run("--task.answer_form", "generate")
    assert not folder.exists() and "probabilities" not in done.err
