"""Tasks that measure how likely texts are: their files, rows, requests and sample lines."""

import math
from pathlib import Path
from typing import Any

import pytest
from tests.tasks.texts import TASK, WHOLE, answer, config, row, write_task

from afrieval._util.errors import UserError
from afrieval.scoring.responses import details_of
from afrieval.tasks.cells.plan import declared_cells, plan_declared
from afrieval.tasks.cells.questions import UNENDED
from afrieval.tasks.cells.sample_lines import document_line, preview_stored
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.declaration.spec import load_task
from afrieval.tools.plan.counting import Unloaded

NAMES = ["Ada", "Musa", "Bola"]
ANSWERS = [
    answer(-1.0, -1.0, -4.0, greedy=(1, 0, 1), ends=1),
    answer(-2.0, -2.0, ends=1),
    answer(-3.0, -3.0, ends=1),
    answer(-5.0, ends=0),
]


def questions(folder: Path, **task: Any) -> TaskCell:
    (found,), _ = declared_cells(config(folder, **task))
    return found


def requests(asked: TaskCell) -> list[Any]:
    lm: Any = Unloaded()
    return [(r.request_type, r.args) for r in asked.requests(lm)]


def test_each_text_is_asked_for_with_its_options(tmp_path: Path) -> None:
    asked = questions(write_task(tmp_path, [row("Ada")]))
    texts = ["Ada is a baker.", "A baker is Ada.", "Ada is a cook.", "Ada is a smith."]
    options = {"tokens": True, "end": True}
    assert requests(asked) == [("loglikelihood", ("Who is Ada?", f" {text}", options)) for text in texts]
    cell = asked
    assert ([*cell.asks], [*cell.needs], cell.n_requests) == (["loglikelihood"], ["tokens"], 4)


def test_whole_texts_have_no_prompt(tmp_path: Path) -> None:
    asked = questions(write_task(tmp_path, [row("Ada")], WHOLE))
    options = {"tokens": True, "vocabulary": True, "first": 64}
    assert requests(asked) == [("loglikelihood_rolling", ("Ada is a baker.", options))]
    cell = asked
    assert ([*cell.asks], sorted(cell.needs)) == (["loglikelihood_rolling"], ["tokens", "vocabulary"])
    ((prompt, lines),) = cell.preview(0).prompts.items()
    assert prompt == "Ada is a baker." and "first 64 tokens" in lines[0]


def test_the_line_of_a_document_has_roles_and_measures_but_no_tokens(tmp_path: Path) -> None:
    asked = questions(write_task(tmp_path, [row("Ada")]))
    (document,) = asked.documents
    sample: dict[str, Any] = {
        "doc": {},
        "resps": [[each] for each in ANSWERS],
        "arguments": [arguments for _, arguments in requests(asked)],
        "metrics": [metric.name for metric in asked.metrics],
    }
    sample |= {"probability": 0.5}
    line = document_line(asked, document, sample, asked.scorer(UNENDED)(document, ANSWERS))
    assert line["roles"] == ("answer", "paraphrased", "perturbed", "perturbed")
    assert line["measures"] == {
        "probability": [math.exp(-2)],
        "truth_ratio": [pytest.approx(math.exp(2 - 4))],
        "loss": [1.0],  # without the end
        "exact_memorisation": [0.5],
    }
    assert details_of(ANSWERS[0]) and not {"details", "gold", "picked", "answer"} & set(line)
    assert line["n_choices"] is None
    ((prompt, lines),) = preview_stored("bakers", asked.metrics[0], iter([line])).prompts.items()
    assert prompt == "Who is Ada?" and lines[0].endswith("' Ada is a baker.'  answer, loss 2.0000")


@pytest.mark.parametrize(
    "change", [{"answer": " "}, {"answer": None}, {"wrong": []}, {"wrong": None}, {"wrong": ["Ada is a cook.", ""]}]
)
def test_a_row_without_a_text_is_left_out(tmp_path: Path, change: dict[str, Any]) -> None:
    asked = questions(write_task(tmp_path, [row("Ada"), row("Musa") | change]))
    assert [d.defect for d in asked.documents] == ["", "an empty or missing text"]
    assert [d.id for d in asked.scorable] == [0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wrong": [["Ada"]]}, "row 1: column 'wrong' must be a text or a list of texts"),
        ({"answer": {"a": 1}}, "column 'answer' must be a text"),
    ],
)
def test_a_text_of_another_type_is_an_error(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        questions(write_task(tmp_path, [row("Ada"), row("Musa") | change]))


def test_a_missing_column_is_an_error(tmp_path: Path) -> None:
    rows = [{name: cell for name, cell in row("Ada").items() if name != "paraphrase"}]
    with pytest.raises(UserError, match="has no column 'paraphrase'"):
        questions(write_task(tmp_path, rows))
    with pytest.raises(UserError, match="no row has texts in all of 'answer', 'paraphrase', 'wrong'"):
        questions(write_task(tmp_path, [row("Ada") | {"wrong": []}]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("texts: {answer: answer, paraphrased: paraphrase, perturbed: wrong}\n", "", "texts must be given"),
        ("kind: likelihoods", "kind: text\nextract: whole\nanswer: answer", "unknown key 'end'"),
        ("end: true", "request: rolling", "whole texts have no prompts"),
        ("end: true", "tokens: 5", "tokens needs request rolling"),
        ("end: true", "answer_forms: [generate]", "the only answer form of this kind is text"),
        ("metrics: [", "metrics: [acc, ", "the metric acc cannot score answers of type likelihoods"),
        ("metrics: [", "metrics: [{name: loss, of: gold}, ", "the metric loss_gold cannot score"),
        ("paraphrased: paraphrase, ", "", "the metric truth_ratio cannot score"),
        ("metrics: [", "metrics: [{name: min_k, k: 0}, ", "the metric min_k: k must be"),
        ("metrics: [", "metrics: [{name: min_k_plus_plus, k: 2}, ", "the metric min_k_plus_plus: k must be"),
        ("{part: [part10, part05], ", "{", "data.files support no placeholders except"),
    ],
)
def test_contradictions_in_a_task_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TASK
    with pytest.raises(UserError) as caught:
        load_task("bakers", write_task(tmp_path, [], TASK.replace(old, new)))
    assert message in caught.value.message


def test_options_stand_in_files_and_columns(tmp_path: Path) -> None:
    folder = write_task(tmp_path, [row("Ada")])
    spec = load_task("bakers", folder)
    assert (spec.data.files["test"], spec.chosen) == ("part10.json", {"part": "part10", "asked": "question"})
    chosen = questions(folder, options={"part": "part05", "asked": "other"})
    assert chosen.task.data.files["test"] == "part05.json" and chosen.text(chosen.documents[0]).startswith("And Ada")
    cell, usual = chosen, questions(folder)
    assert cell.identity["tasks"]["bakers"]["options"] == {"part": "part05", "asked": "other"}
    assert cell.facts["declared"]["bakers"]["options"] == {"part": "part05", "asked": "other"}
    assert usual.identity["tasks"]["bakers"]["options"] == {"part": "part10", "asked": "question"}


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"part": "part5"}, "the option part of bakers has no value 'part5'", "did you mean part05?"),
        ({"parts": "part05"}, "bakers: there is no option 'parts'", "did you mean part?"),
    ],
)
def test_unknown_options(tmp_path: Path, options: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        plan_declared(config(write_task(tmp_path, [row("Ada")]), options=options))
    assert (caught.value.message, caught.value.hint) == (message, hint)
