"""Spread over prompts, means over languages and breakdowns as tables."""

from typing import Any

import numpy as np
from tests.analysis.cells import scored

from afrieval.analysis.entries import Spread
from afrieval.analysis.means import Mean
from afrieval.analysis.subgroups import Confusion
from afrieval.report.comparison import comparison_tables, confusion_table, mean_table, spread_table
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval

PLACE = {"prompt_language": "eng", "model": "m", "shots": 0, "answer_form": "text"}
CHRF = Metric("chrf", measure=lambda response, question: None, bounds=(0.0, 100.0))


def mean(members: list[str], **changes: Any) -> Mean:
    given: dict[str, Any] = {"grouping": "Africa", "name": "Africa", "score": 0.5, "interval": Interval(0.4, 0.6)}
    given |= {"dimensions": PLACE, "alone": [], "differing": 0}
    return Mean(task="belebele", members=members, **given | changes)


def test_what_languages_do_not_share_is_said() -> None:
    notes = " ".join(mean_table("belebele", [mean(["afr", "yor"], alone=["afr"], differing=5)]).notes)
    assert "Not known to share questions with the other languages: afr." in notes
    assert "5 questions have different right answers in some languages" in notes
    families = [mean(["yor"]), mean(["afr"], grouping="family", name="Indo-European", alone=["afr"])]
    assert "Not known" not in " ".join(mean_table("belebele", families).notes)


def test_means_over_other_languages_are_not_to_be_compared() -> None:
    kinds = [mean(["yor", "zul"]), mean(["yor"], dimensions=PLACE | {"prompt_language": "native"}, interval=None)]
    table = mean_table("belebele", kinds)
    assert "Do not compare means over different languages." in table.notes
    assert table.cells() == [
        ["Africa", "English", "50.0", "40.0-60.0", "2", "yor zul"],
        ["Africa", "native", "50.0", "none", "1", "yor"],
    ]
    assert "Do not compare" not in " ".join(mean_table("belebele", kinds[:1]).notes)


def test_all_of_many_members_are_named_below() -> None:
    codes = ["amh", "hau", "swa", "yor", "zul"]
    table = mean_table("belebele", [mean(codes)])
    assert table.cells()[0][-1] == "amh hau swa ..." and "Africa: amh hau swa yor zul." in table.notes


def test_scores_that_are_no_shares() -> None:
    spread = Spread("t", PLACE | {"language": "yor"}, [1, 2], 2, 45.26, 43.0, 1, 40.74)
    assert spread_table("t", [spread], CHRF).cells() == [["Yoruba", "45.3", "2", "43.0", "40.7", "1", "4.5"]]
    found = mean_table("t", [mean(["yor", "zul"], score=45.26, interval=Interval(30.0, 60.0))], CHRF)
    assert found.cells()[0][1:3] == ["45.3", "30.0-60.0"] and found.title == "t, chrf: means over languages"


def test_a_task_has_its_tables_together() -> None:
    units = [scored([1.0, 0.0], task=task, prompt=n) for task in ("a", "b") for n in (1, 2)]
    assert [t.title for t in comparison_tables(units, [], ["Africa"], None)] == [
        "a: prompts", "a: means over languages", "b: prompts", "b: means over languages",
    ]  # fmt: skip


def test_each_task_is_on_its_own_scale() -> None:
    units = [scored([40.0, 50.0], task="mafand", of=CHRF, prompt=n) for n in (1, 2)] + [scored([1.0], task="b")]
    chrf, share = (t for t in comparison_tables(units, [], ["Africa"], None) if t.kind == "means")
    assert chrf.cells()[0][1] == "45.0" and share.cells()[0][1] == "100.0"


def test_a_metric_that_was_asked_for_is_named() -> None:
    cells = [scored([1.0, 0.0], language=code) for code in ("yor", "zul")]
    (table,) = comparison_tables(cells, [], ["Africa"], None, "acc_norm")
    assert table.title.endswith("means over languages, acc_norm") and table.records()[0]["metric"] == "acc_norm"


def test_of_many_labels_the_most_frequent_mistakes_are_shown() -> None:
    counts = np.diag([9] * 13 + [0])[:13]
    counts[3, 4], counts[5, 13] = 2, 7
    names = [f"intent {i}" for i in range(13)]
    table = confusion_table(Confusion("intents", PLACE | {"language": "yor"}, names, counts))
    assert table.cells() == [["intent 5", "none", "7"], ["intent 3", "intent 4", "2"]]
    few = confusion_table(Confusion("mood", PLACE | {"language": "yor"}, names[:2], np.array([[3, 1, 0], [0, 2, 1]])))
    assert few.cells() == [["intent 0", "3", "1", "0"], ["intent 1", "0", "2", "1"]]
