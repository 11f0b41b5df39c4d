"""TOFU and MUSE: their columns, options, metrics and prompts; what a model that knows all correct texts scores."""

import os
from statistics import fmean
from typing import Any
from zlib import compress

import pytest
from scipy.stats import ks_2samp
from tests.conftest import spec_of
from tests.tasks.texts import answer

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.models.base import UnknownTokenizer
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.plan import declared_cells, plan_declared
from afrieval.tasks.cells.questions import UNENDED
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.declaration.kinds import TextKeys
from afrieval.tasks.declaration.spec import load_task, task_names

REAL_DATA = os.environ.get("AFRIEVAL_DATA", "")
NAMES = [name for name in task_names() if name.startswith(("tofu_", "muse_"))]
MEASURED = [name for name in NAMES if spec_of(name).texts]
GENERATED = [name for name in NAMES if not spec_of(name).texts and not name.endswith("gibberish")]
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


def asked(name: str, source: str = "samples", shots: int | None = None, **task: Any) -> TaskCell:
    of = TaskConfig(task_name=name, prompts=[1], **task)
    (found, *_), _ = declared_cells(
        RunConfig(ModelConfig("demo"), of, EvalConfig(num_fewshot=shots), DataConfig(source))
    )
    return found


@pytest.mark.parametrize("name", MEASURED)
def test_a_model_that_knows_the_correct_texts(name: str) -> None:
    questions = asked(name)
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
    questions = asked(name)
    ends = generation(questions, UnknownTokenizer())
    assert ends and (ends.max_tokens, ends.stop) == (tokens, stop)
    assert questions.metrics[0].name == main and "stemmer" in questions.metrics[0].signature


@pytest.mark.parametrize("shots", [None, 0, 2])
def test_all_rows_are_examples_in_the_order_of_the_file(shots: int | None) -> None:
    questions = asked("muse_knowmem_forget", shots=shots)
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
    usual, other = (asked(name, options={"question_key": key}) for key in ("question", "paraphrased_question"))
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
        asked("tofu_forget_gibberish")
    with pytest.raises(UserError, match="there is no folder /nowhere with a classifier"):
        asked("tofu_forget_gibberish", options={"classifier": "/nowhere"})
    of = TaskConfig(task_name=["tofu_authors", "tofu_forget_gibberish"], suite="x", prompts=[1])
    planned = plan_declared(RunConfig(ModelConfig("demo"), of, data=DataConfig("samples")))
    assert [cell.key.task for cell in planned.cells] == ["tofu_authors"]
    assert "tofu_forget_gibberish: the classifier" in planned.left_out[0]


@pytest.mark.parametrize(("forget", "holdout"), [("tofu_forget", "tofu_holdout"), ("muse_forget", "muse_holdout")])
def test_the_length_of_sample_texts_does_not_give_away_what_was_held_out(forget: str, holdout: str) -> None:
    lengths = [[len(compress(d.choices[0].encode())) for d in asked(name).documents] for name in (forget, holdout)]
    assert ks_2samp(*lengths).pvalue > 0.2 and abs(fmean(lengths[0]) / fmean(lengths[1]) - 1) < 0.05


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "rows", "texts"), [("authors", 100, 4), ("facts", 117, 4), ("forget", 40, 7), ("authors_text", 100, 0)]
)
def test_real_rows(name: str, rows: int, texts: int) -> None:
    options = {"forget_split": "forget01"} if name == "forget" else {}
    questions = asked(f"tofu_{name}", REAL_DATA, options=options)
    assert len(questions.documents) == rows and not [d.defect for d in questions.documents if d.defect]
    assert {len(d.choices) for d in questions.documents} == {texts}
