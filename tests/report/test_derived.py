"""The table of derived metrics of a suite, in all forms."""

import json
from dataclasses import replace

from afrieval.report.formats import write
from afrieval.report.suite_tables import derived_tables
from afrieval.results.cell_scores import CellScores
from afrieval.run.suites.derived_scores import DerivedScore
from afrieval.run.suites.reference import PublishedScore
from afrieval.scoring.statistics.intervals import Interval


def cell(prompt: int) -> CellScores:
    return CellScores(f"forget_eng_eng_{prompt}", "forget", "eng", "eng", prompt)


QUALITY = DerivedScore("forget_quality", "ks_test", "m", {"forget": cell(1)}, ["retain"], 1.1e-19, n=300)
UTILITY = DerivedScore("model_utility", "harmonic_mean", "m", {"forget": cell(1)}, [], 0.63, Interval(0.6, 0.65), 400)
ABSENT = DerivedScore("privleak", "privleak", "m", {"forget": cell(1)}, ["retain"], reason="it needs --reference x=RUN")


def test_tiny_numbers_stay_visible_and_absent_ones_have_a_reason() -> None:
    (table,) = derived_tables("tofu", [QUALITY, UTILITY, ABSENT])
    assert table.heads == ["metric", "score", "95% CI", "n", "needs"] and table.title == "tofu"
    assert table.cells() == [
        ["forget quality", "1.10e-19", "", "300", "retain"],
        ["model utility", "0.6300", "0.600-0.650", "400", ""],
        ["PrivLeak", "", "", "", "retain"],
    ]
    assert table.findings == ["Without a score: PrivLeak: it needs --reference x=RUN."]
    (whole,) = json.loads(write([table], "json"))
    assert [row["score"] for row in whole["rows"]] == [1.1e-19, 0.63, None]
    assert whole["rows"][2]["reason"] == "it needs --reference x=RUN"
    assert "1.1e-19" in write([table], "csv")
    for form in ("markdown", "latex"):
        assert "1.10e-19" in write([table], form)


def test_several_models_and_prompts_have_columns_and_published_scores_follow_theirs() -> None:
    other = DerivedScore("forget_quality", "ks_test", "n", {"forget": cell(2)}, ["retain"], 0.5, n=300, notes=["so"])
    published = PublishedScore("forget_quality", "m NPO", 0.4, "somebody: somehow")
    (table,) = derived_tables("tofu", [QUALITY, UTILITY, other], [published])
    assert table.heads[:3] == ["metric", "model", "prompt"]
    assert [row[:2] for row in table.cells()] == [
        ["forget quality", "m"],
        ["forget quality", "n"],
        ["forget quality", "m NPO"],
        ["model utility", "m"],
    ]
    assert table.dimmed == [2]
    said = ["forget quality: so.", "Shares and probabilities are between 0 and 1, not in percent."]
    assert table.notes == [*said, "Published scores are those of somebody: somehow."]


def test_names_are_in_words() -> None:
    names = ["mia_min_k_plus_plus", "mia_min_k", "forget_rouge", "my_score"]
    (table,) = derived_tables("tofu", [replace(UTILITY, name=name) for name in names])
    assert [row[0] for row in table.cells()] == ["MIA Min-K%++", "MIA Min-K%", "forget ROUGE", "my score"]
    assert [row["metric"] for row in table.records()] == names


def test_nothing_makes_no_table() -> None:
    assert derived_tables("tofu", []) == []
