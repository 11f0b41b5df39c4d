"""Tasks that measure how likely texts are, TOFU and MUSE among them: files, rows, requests, scores and sample lines."""

import math
import os
from pathlib import Path
from statistics import fmean
from typing import Any
from zlib import compress

import pytest
from scipy.stats import ks_2samp
from tests.conftest import spec_of
from tests.tasks.small_task import planned_cell
from tests.tasks.texts import TASK, WHOLE, answer, config, row, write_task

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.models.base import UnknownTokenizer
from afrieval.scoring.responses import details_of
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.plan import declared_cells, plan_declared
from afrieval.tasks.cells.questions import UNENDED
from afrieval.tasks.cells.sample_lines import document_line, preview_stored
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.declaration.kinds import TextKeys
from afrieval.tasks.declaration.spec import load_task, task_names
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


REAL_DATA = os.environ.get("AFRIEVAL_DATA", "")
PUBLISHED = [name for name in task_names() if name.startswith(("tofu_", "muse_"))]
MEASURED = [name for name in PUBLISHED if spec_of(name).texts]
GENERATED = [name for name in PUBLISHED if not spec_of(name).texts and not name.endswith("gibberish")]
KNOWN = {  # by a model that is sure of each correct text and of no wrong one
    "probability": 1.0,
    "probability_paraphrased": 1.0,
    "probability_perturbed": 0.0,
    "probability_among": 1.0,
    "extraction_strength": 1.0,
    "exact_memorisation": 1.0,
    "loss": 0.0,
    "zlib": 0.0,
    "min_k": 0.0,
    "min_k_plus_plus": 0.0,
    "gradient_norm": 0.5,
}


@pytest.mark.parametrize("name", MEASURED)
def test_a_model_that_knows_the_correct_texts(name: str) -> None:
    questions = planned_cell(name)
    more: dict[str, Any] = {"means": [-1.0, -1.0], "variances": [0.0, 0.0], "gradient_norm": 0.5}
    sure, unsure = answer(0.0, 0.0, greedy=(1, 1), **more), answer(-1e4, -1e4, **more)
    sure.details["tokens"]["means"] = [0.0, 0.0]
    score_document = questions.scorer(UNENDED)
    scores = [
        score_document(document, [unsure if role == "perturbed" else sure for role in document.roles])
        for document in questions.scorable
    ]
    assert len(scores) == len(questions.documents) >= 12
    for metric in questions.metrics:
        for score in scores:
            (value,) = score.measures[metric.name]
            expected = KNOWN.get(metric.name, 0.0)  # the truth ratio itself is 0: wrong texts are not likely
            assert value == pytest.approx(expected, abs=1e-9), metric.name


@pytest.mark.parametrize("name", MEASURED)
def test_the_end_of_texts_is_asked_for_where_probabilities_are_measured(name: str) -> None:
    spec = spec_of(name)
    published = {"probability", "probability_among", "truth_ratio"} & {m.name for m in spec.scoring.metrics}
    assert spec.keys_of(TextKeys).end == bool(published) or name == "tofu_holdout"


@pytest.mark.parametrize(
    ("name", "tokens", "stop", "main"),
    [
        *((f"tofu_{part}_text", 200, (), "rouge_l_recall") for part in ("forget", "retain", "authors", "facts")),
        ("muse_verbmem_text", 128, (), "rouge_l"),
        ("muse_knowmem_forget", 32, ("\n\n", "\nQuestion", "Question:"), "rouge_l"),
        ("muse_knowmem_retain", 32, ("\n\n", "\nQuestion", "Question:"), "rouge_l"),
    ],
)
def test_how_texts_are_generated(name: str, tokens: int, stop: tuple[str, ...], main: str) -> None:
    questions = planned_cell(name)
    ends = generation(questions, UnknownTokenizer())
    assert ends and (ends.max_tokens, ends.stop) == (tokens, stop)
    assert questions.metrics[0].name == main and "stemmer" in questions.metrics[0].signature


@pytest.mark.parametrize("shots", [None, 0, 2])
def test_all_rows_are_examples_in_the_order_of_the_file(shots: int | None) -> None:
    questions = planned_cell("muse_knowmem_forget", shots=shots)
    assert [e.id for e in questions.examples(questions.documents[3])] == [0, 1, 2, 3]
    cell = questions
    assert cell.key.shots == cell.identity["tasks"]["muse_knowmem_forget"]["shots"] == 4
    assert cell.identity["fewshot"]["num_fewshot"] == (shots or 0)
    task = questions._task(questions.scorable, generation(questions, UnknownTokenizer()))
    task.build_all_requests()
    prompt = task.instances[0].args[0]
    assert prompt.count("Question: ") == 5 and prompt.endswith("Mbalizi move?\nAnswer:")


@pytest.mark.parametrize("name", ["tofu_forget", "tofu_forget_text", "tofu_retain", "tofu_retain_text"])
def test_the_question_may_be_paraphrased(name: str) -> None:
    usual, other = (planned_cell(name, options={"question_key": key}) for key in ("question", "paraphrased_question"))
    assert usual.text(usual.documents[0]) != other.text(other.documents[0])
    assert usual.documents[0].choices == other.documents[0].choices
    assert usual.identity != other.identity


def test_splits_stand_in_the_names_of_files() -> None:
    spec = load_task("tofu_forget", options={"forget_split": "forget05", "data_split": "Books"})
    assert spec.data.files["forget"] == ["forget05_perturbed.json", "pii_fork/forget05.json"]
    assert spec_of("tofu_holdout").data.files["holdout"] == "holdout10.json"
    books = load_task("muse_forget", options={"data_split": "Books"})
    assert books.data.hub == "muse-bench/MUSE-Books" and spec_of("muse_forget").data.hub == "muse-bench/MUSE-News"
    assert "privleak/forget-00000-of-00001.parquet" in books.data.files["forget"]


def test_a_suite_knows_the_options_of_tasks_that_are_not_run() -> None:
    groups = {"all": ["tofu_forget", "tofu_authors"]}
    config = TaskConfig(task_name="tofu_authors", suite="x", groups=groups, options={"forget_split": "forget01"})
    assert plan_declared(RunConfig(ModelConfig("demo"), config, data=DataConfig("samples"))).cells
    with pytest.raises(UserError, match="there is no option 'forget_splt'"):
        wrong = TaskConfig(task_name="tofu_authors", suite="x", groups=groups, options={"forget_splt": "forget01"})
        plan_declared(RunConfig(ModelConfig("demo"), wrong, data=DataConfig("samples")))


def test_without_its_classifier_gibberish_is_an_error_or_left_out_of_a_suite() -> None:
    with pytest.raises(UserError, match="tofu_forget_gibberish cannot be scored: the classifier madhurjindal"):
        planned_cell("tofu_forget_gibberish")
    with pytest.raises(UserError, match="there is no folder /nowhere with a classifier"):
        planned_cell("tofu_forget_gibberish", options={"classifier": "/nowhere"})
    of = TaskConfig(task_name=["tofu_authors", "tofu_forget_gibberish"], suite="x", prompts=[1])
    planned = plan_declared(RunConfig(ModelConfig("demo"), of, data=DataConfig("samples")))
    assert [cell.key.task for cell in planned.cells] == ["tofu_authors"]
    assert "tofu_forget_gibberish: the classifier" in planned.left_out[0]


@pytest.mark.parametrize(("forget", "holdout"), [("tofu_forget", "tofu_holdout"), ("muse_forget", "muse_holdout")])
def test_the_length_of_sample_texts_does_not_give_away_what_was_held_out(forget: str, holdout: str) -> None:
    lengths = [
        [len(compress(d.choices[0].encode())) for d in planned_cell(name).documents] for name in (forget, holdout)
    ]
    assert ks_2samp(*lengths).pvalue > 0.2 and abs(fmean(lengths[0]) / fmean(lengths[1]) - 1) < 0.05


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "rows", "texts"), [("authors", 100, 4), ("facts", 117, 4), ("forget", 40, 7), ("authors_text", 100, 0)]
)
def test_real_rows(name: str, rows: int, texts: int) -> None:
    options = {"forget_split": "forget01"} if name == "forget" else {}
    questions = planned_cell(f"tofu_{name}", REAL_DATA, options=options)
    assert len(questions.documents) == rows and not [d.defect for d in questions.documents if d.defect]
    assert {len(d.choices) for d in questions.documents} == {texts}
