"""Choices that fill a blank: the text after it is scored, after each of them, as lm_eval does it for Winogrande."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lm_eval.tasks.winogrande import preprocess_winogrande as theirs
from tests.conftest import Cli
from tests.tasks.small_task import declaration, write_declaration

from afrieval._util.errors import UserError
from afrieval.exchange.tidy import DOCUMENT
from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples
from afrieval.results.score_row import stored_row
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.cells.harness_tasks import InMemoryTask, task_config
from afrieval.tasks.cells.sample_lines import with_choices
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import Split
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.prompts.prompts import PromptFiles

SENTENCES = [
    ("The jar broke the cup because the _ was hard.", "1"),
    ("Ann thanked Eve, since _'s gift was nice.", "2"),
    ("Ben pushed Tim, but _ fell.", "1"),
]
ROWS: list[dict[str, Any]] = [
    {"sentence": sentence, "option1": "first", "option2": "other one", "answer": answer}
    for sentence, answer in SENTENCES
]
TEMPLATE = "{{ text }}\n{{ choices | lettered(': ') }}\nAnswer:"
Task = Callable[..., TaskSpec]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    def load(template: str = TEMPLATE, **keys: Any) -> TaskSpec:
        columns: dict[str, Any] = {
            "fields": {"text": "sentence"},
            "choices": ["option1", "option2"],
            "answer": "answer",
        }
        columns |= {"first_answer": 1, "blank": "text", "answer_forms": ["text", "letter"]}
        kind = {"kind": "multiple_choice", "prompts": {1: {"template": template}}}
        write_declaration(tmp_path, declaration("cloze", **columns | kind | keys))
        return load_task("cloze", tmp_path)

    return load


def requests(spec: TaskSpec, form: str, shots: int = 0) -> list[list[tuple[str, str]]]:
    """Returns the prompt and continuation of each choice of each row, after the other rows as examples."""
    rows, files = documents(spec, ROWS, "rows", "test"), PromptFiles(spec)
    settings = CellSettings(shots=shots)
    cell = TaskCell(spec, "eng", files.load("eng")[1], "eng", form, Split(rows, "", {}), None, settings, files)
    made = InMemoryTask(task_config(cell), rows, lambda d, n: [e for e in rows if e.id != d.id][:n], fills=cell.fills)
    made.build_all_requests()
    return [[request.args for request in made.instances if request.doc_id == row.id] for row in rows]


def test_the_rest_is_scored_after_each_choice_as_in_the_harness(task: Task) -> None:
    expected = [[(each, f" {theirs.doc_to_target(row)}") for each in theirs.doc_to_choice(row)] for row in ROWS]
    assert requests(task(), "text") == expected
    prefixed = requests(task("Read this.\n\n" + TEMPLATE), "text")
    assert prefixed == [[(f"Read this.\n\n{before}", rest) for before, rest in row] for row in expected]


def test_examples_are_whole_sentences_with_the_right_choice(task: Task) -> None:
    for row, asked in zip(ROWS, requests(task(), "text", shots=2), strict=True):
        others = [other for other in ROWS if other is not row]
        shown = [f"{theirs.doc_to_choice(o)[theirs.doc_to_text(o)]} {theirs.doc_to_target(o)}\n\n" for o in others]
        assert [prompt for prompt, _ in asked] == ["".join(shown) + each for each in theirs.doc_to_choice(row)]


def test_letters_are_scored_after_the_whole_prompt(task: Task) -> None:
    first, *_ = requests(task(), "letter")
    whole = f"{SENTENCES[0][0]}\nA: first\nB: other one\nAnswer:"
    assert first == [(whole, " A"), (whole, " B")]


def test_what_is_shown_of_a_prompt_has_all_choices(cli: Cli, demo_run: Callable[..., Path]) -> None:
    words = ("--task.task_name", "idm_winogrande", "--task.languages", "afr", "--task.prompts", "1")
    run, filled = demo_run(*words), "want die [klip | glas]\n---"
    out = cli("samples", run, "--n", 2).out
    assert out.count(filled) == 2 and "'klip | was hard.'  gold" in out
    assert filled in cli("preview", *words, "--data", "samples").out
    line = read_samples(sample_path(run, "idm_winogrande_afr_eng_1"))[1]
    assert stored_row(DOCUMENT, line)["prompt_text"].endswith("want die [klip | glas]")


@pytest.mark.parametrize(
    ("prompts", "shown"),
    [
        (["The jar", "The jar"], "The jar"),
        (["The jar", "The jars"], "The [jar | jars]"),
        (['{"a clip"}]', '{"a ship"}]'], '{"a [clip | ship]"}]'),
        (["Ọ̀kan", "Ọ̀nà<end>"], "[Ọ̀kan | Ọ̀nà<end>]"),
    ],
)
def test_prompts_as_one(prompts: list[str], shown: str) -> None:
    assert with_choices(prompts) == shown


@pytest.mark.parametrize("sentence", ["No blank.", "At the end _", "One _ and _ more."])
def test_a_row_without_a_single_blank_before_some_text_is_not_scored(task: Task, sentence: str) -> None:
    first, *others = documents(task(), [{**ROWS[0], "sentence": sentence}, *ROWS[1:]], "rows", "test")
    assert first.gold is None and "blank" in first.defect and not any(d.defect for d in others)


@pytest.mark.parametrize(
    ("keys", "fault"),
    [({"blank": "title"}, "blank must be a field"), ({"template": "{{ choices | lettered(': ') }}"}, "has the blank")],
)
def test_wrong_declarations(task: Task, keys: dict[str, Any], fault: str) -> None:
    with pytest.raises(UserError, match=fault):
        PromptFiles(task(**keys)).load("eng")
