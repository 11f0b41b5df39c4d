"""Choices that fill a blank, or are whole sentences: as lm_eval asks for Winogrande's and MultiBLiMP's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import yaml
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks.winogrande import preprocess_winogrande as theirs
from tests.conftest import Cli
from tests.tasks.contract import WithExamples
from tests.tasks.small_task import cell_of, declaration, write_declaration

from afrieval._util.errors import UserError
from afrieval.exchange.tidy import DOCUMENT
from afrieval.models.demo import demo_folder
from afrieval.results.document_columns import stored_row
from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples
from afrieval.tasks.cells.harness_tasks import InMemoryTask
from afrieval.tasks.cells.sample_lines import with_choices
from afrieval.tasks.data.documents import documents
from afrieval.tasks.declaration.spec import TASKS, TaskSpec, load_task
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
    rows = documents(spec, ROWS, "rows", "test")
    cell = cell_of(spec, rows, form, shots=shots)
    made = WithExamples(cell, rows, lambda document: [row for row in rows if row.id != document.id]).of_documents
    return [[request.args for request in made if request.doc_id == row.id] for row in rows]


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


def test_sentences_follow_the_token_that_begins_a_text(run_demo: Cli, tmp_path: Path) -> None:
    run_demo("--task.task_name", "multiblimp").ok()
    theirs = yaml.safe_load((Path(lm_eval.__file__).parent / "tasks/multiblimp/_template_yaml").read_text())
    assert (theirs["doc_to_text"], theirs["target_delimiter"], theirs["doc_to_target"]) == ("", "", 0)
    rows = [json.loads(line) for line in (TASKS / "multiblimp/sample/eng.jsonl").read_text().splitlines()]
    lm, golds = HFLM(pretrained=str(demo_folder()), device="cpu"), set()
    for row, sample in zip(rows, read_samples(sample_path(tmp_path / "run", "multiblimp_eng_eng_1")), strict=True):
        pair = [("", row["sen"]), ("", row["wrong_sen"])]
        asked = [tuple(arguments) for arguments in sample["arguments"]]
        assert sorted(asked) == sorted(pair) and asked[sample["gold"]] == pair[0]
        expected = [of for of, _ in lm.loglikelihood([Instance("loglikelihood", {}, args, 0) for args in asked], True)]
        assert [answers[0][0] for answers in sample["resps"]] == pytest.approx(expected, abs=1e-3)
        assert sample["acc"] == (expected[sample["gold"]] == max(expected))
        golds.add(sample["gold"])
    assert golds == {0, 1}


def test_neither_a_chat_template_nor_a_system_text_goes_before_a_whole_sentence() -> None:
    spec = load_task("multiblimp")
    rows = documents(spec, [{"sen": "He runs.", "wrong_sen": "He run.", "feature_vals": "SG"}], "rows", "train")
    made = InMemoryTask(cell_of(spec, rows, "text"), rows)
    for chat in (False, True):
        template = lambda turns, **_: f"<chat> {turns}"  # noqa: E731
        made.build_all_requests(apply_chat_template=chat, chat_template=template, system_instruction="Be kind.")
        assert {request.args for request in made.instances} == {("", "He runs."), ("", "He run.")}


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"answer_forms": ["text", "letter"]}, "answer form of whole texts"),
        ({"prompts": {1: {"template": "{{ kind }}"}}}, "no prompts"),
    ],
)
def test_whole_sentences_have_neither_letters_nor_prompts(tmp_path: Path, keys: dict[str, Any], fault: str) -> None:
    pairs = {"kind": "multiple_choice", "request": "rolling", "choices": ["good", "bad"], "answer": "good"}
    write_declaration(tmp_path, declaration("pairs", **{"fields": {"kind": "kind"}, **pairs, **keys}))
    with pytest.raises(UserError, match=fault):
        load_task("pairs", tmp_path)
