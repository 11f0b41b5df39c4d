"""Published scores of suites: the files, and which are shown next to a run."""

import pytest

from afrieval._util.errors import UserError
from afrieval.config.files import shipped_suites
from afrieval.results.cell_scores import CellScores
from afrieval.results.schema import Declared
from afrieval.run.suites.derived_scores import DerivedScore
from afrieval.run.suites.reference import methods, published_for, published_suites

FULL = "open-unlearning/tofu_Llama-3.2-1B-Instruct_full"


def of_model(model: str, **options: str) -> list[DerivedScore]:
    cell = CellScores("tofu_forget", "eng", 1, "eng", name="tofu_forget_eng_eng_1", declared=Declared(options=options))
    return [DerivedScore("forget_quality", "ks_test", model, {"tofu_forget": cell}, ["retain"])]


def test_the_files_name_metrics_of_their_suites() -> None:
    suites = shipped_suites()
    for known in published_suites():
        for name in known.suites:
            assert set(known.metrics) <= set(suites[name].derived)
        numbers = [n for of in known.tables.values() for by in of.values() for n in by.values()]
        assert {len(each) for each in numbers} == {len(known.metrics)}
        for of in known.checkpoints.values():
            assert of.method in known.tables[of.model]
    assert "NPO" in methods()


def test_a_published_model_is_shown_with_its_split_alone() -> None:
    found = published_for("tofu", of_model(FULL, forget_split="forget10"))
    assert [(of.metric, of.score) for of in found] == [
        ("forget_quality", 1.66e-21),
        ("model_utility", 0.6),
        ("forget_truth_ratio", 0.48),
    ]
    assert {of.model for of in found} == {"Llama-3.2-1B-Instruct Finetuned forget10"}
    assert published_for("tofu", of_model("another", forget_split="forget10")) == []
    assert published_for("my suite", of_model(FULL)) == []


def test_methods_are_shown_where_they_are_asked_for() -> None:
    found = published_for("tofu-all", of_model("another", forget_split="forget05"), ["NPO"])
    assert {of.model for of in found} == {f"{m} NPO forget05" for m in ("Llama-2-7b-chat", "Llama-3.2-1B-Instruct")}
    assert len(published_for("tofu", of_model("another"), ["NPO"])) == 18  # the split is not known: all of them
    news = published_for("muse", of_model("another", data_split="News"), ["RMU"])
    assert {of.metric: of.score for of in news}["privleak"] == 56.36


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UserError, match="no published scores of 'NPOO'") as caught:
        published_for("tofu", of_model("another"), ["NPOO"])
    assert caught.value.hint == "did you mean NPO?"
    with pytest.raises(UserError, match="my suite has no published scores of 'NPO'"):
        published_for("my suite", of_model("another"), ["NPO"])
