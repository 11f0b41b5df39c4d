"""Defects of the metrics of published African tasks, looked for in ours; numbered as found."""

import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import TEMPLATED, spec_of
from tests.scoring.kinds import KINDS, write_task

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.exchange.lm_eval_export import definitions
from afrieval.scoring.base import ExtractionContext, Question, Response
from afrieval.scoring.extract import extractor
from afrieval.scoring.metrics import metric
from afrieval.scoring.tagging import spans_shown, tags_shown
from afrieval.tasks.declaration.spec import load_task, task_names

SPECS = {name: spec_of(name) for name in TEMPLATED}
AMHARIC, ARABIC = "ሙሳ ወደ ገበያ ሄደ።", "ذهب موسى إلى السوق"


def of_kind(kind: str) -> list[str]:
    return [name for name, spec in SPECS.items() if spec.kind == kind]


def value(name: Any, given: Any, gold: Any) -> float:
    found = metric(name)
    measure = found.measure(Response(given), Question(gold))
    assert measure is not None
    return float(found.score(np.array([measure]), np.ones((1, 1)))[0])


@pytest.mark.parametrize("task", of_kind("tags"))
def test_finding_05_a_missing_tag_is_wrong(task: str) -> None:
    main, names = SPECS[task].scoring.specs[0], SPECS[task].scoring.names
    gold = [[token, names[i]] for i, token in enumerate(["Musa", "went", "home", "today"])]
    assert value(main, gold[:1], gold) == 0.25 and value(main, gold, gold) == 1.0
    assert value(main, [*gold, ["too", names[0]]], gold) == 0.8 and value(main, None, gold) == 0.0


@pytest.mark.parametrize("quote", ["'", '"', "`", "’", "ʼ", "()", ",", "."])
def test_finding_06_quotes_and_apostrophes_in_words_shift_no_tag(quote: str) -> None:
    gold = [[f"ng{quote}", "NOUN"], [f"A{quote}a", "PROPN"], [quote, "PUNCT"], [f"{quote}x{quote}", "X"], ["a", "DET"]]
    asked = Question(gold, names=["NOUN", "PROPN", "PUNCT", "X", "DET"])
    assert extractor("tags")(tags_shown(gold), asked, ExtractionContext()) == gold


def test_finding_06_another_format_is_unparsed_and_not_a_tag() -> None:
    asked = Question([["a", "DET"]], names=["DET", "NOUN"])
    for text in ("[('a', 'DET')]", "DET,NOUN", "a", "", "a/DET"):
        assert extractor("tags")(text, asked, ExtractionContext()) is None


@pytest.mark.parametrize("task", of_kind("spans"))
@pytest.mark.parametrize(
    "name", ["The Hague", "A. B. Smith", "12 March, 2021", "a", "an", "the", "$5", "10:30", "O'Neil", '"X"', "Nonesuch"]
)
def test_finding_07_an_echoed_name_is_right(task: str, name: str) -> None:
    spec = SPECS[task]
    gold = [[kind, name] for kind in spec.scoring.names]
    answer = spec.scoring.extract(
        f" {spans_shown(gold)}\n\nText:", Question(gold, names=spec.scoring.names), ExtractionContext()
    )
    assert answer == gold and value(spec.scoring.specs[0], answer, gold) == 1.0
    assert value("span_f1", [["LOC", "Hague"]], [["LOC", "The Hague"]]) == 0.0


@pytest.mark.parametrize(
    "spec",
    [
        {"name": "exact_match", "same": 'true - "." - ...'},
        {"name": "exact_match", "ignore_punctuation": True},
        {"name": "token_f1", "ignore_punctuation": 'true - "."'},
    ],
)
def test_finding_11_an_option_that_is_not_understood_is_an_error(spec: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        metric(spec)


@pytest.mark.parametrize(("given", "gold"), [("«ሙሳ»።", "ሙሳ"), ("موسى؟", "موسى"), ("Ọ̀ṣun…", "ọ̀ṣun")])
def test_finding_12_punctuation_of_every_script_is_removed(given: str, gold: str) -> None:
    assert value("token_f1", given, [gold]) == 1.0


@pytest.mark.parametrize("task", of_kind("question"))
def test_finding_12_answers_are_compared_by_these(task: str) -> None:
    names = {m.name for m in SPECS[task].scoring.metrics}
    assert names >= {"token_f1", "exact_match"} or names >= {"any_match", "weighted_match"}


@pytest.mark.parametrize("name", ["rouge_1", "rouge_2", "rouge_l"])
@pytest.mark.parametrize("text", [AMHARIC, ARABIC, "Ó lọ sí ọjà ní Kánò."])
def test_finding_13_equal_texts_have_rouge_1(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    monkeypatch.setitem(sys.modules, "evaluate", None)  # an import of the library fails
    assert value(name, text, text) == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_finding_14_groups_have_the_score_of_their_tasks(tmp_path: Path, kind: str) -> None:
    write_task(tmp_path, kind)
    config = replace(RunConfig(), data=DataConfig("samples"), task=TaskConfig(kind, folder=str(tmp_path)))
    main = load_task(kind, tmp_path).scoring.metrics[0].name
    groups = [found for found in definitions(config).values() if "aggregate_metric_list" in found]
    assert groups and all(main in [each["metric"] for each in group["aggregate_metric_list"]] for group in groups)


def test_finding_14_every_task_s_main_metric_applies_to_every_answer_form() -> None:
    for name in task_names():
        scoring = spec_of(name).scoring
        if scoring.metrics[0].missing(""):
            continue  # it needs a classifier that is not on this machine
        mains = {scoring.metrics_of(form)[0].name for form in scoring.answer_forms}
        assert mains == {scoring.metrics[0].name}, name
