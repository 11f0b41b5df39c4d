"""The tables at the end of a run: what they mark, what they explain, and on which scale scores are."""

from typing import Any

from tests.report.screen import printed

from afrieval.analysis.means import Mean
from afrieval.analysis.scores import LanguageScore
from afrieval.report.score_tables import run_table, score_table
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval

WIDE = Interval(0.25, 0.75)
CHRF = Metric("chrf", measure=lambda response, question: None, bounds=(0.0, 100.0))


def score(language: str = "yor", value: float = 0.5, **changes: Any) -> LanguageScore:
    given: dict[str, Any] = {
        "task": "afrimmlu",
        "prompt_language": "eng",
        "prompts": [1],
        "metric": "acc",
        "interval": Interval(0.4, 0.6),
        "others": {},
        "n": 500,
        "n_defect": 0,
        "chance": 0.25,
    }
    return LanguageScore(language=language, score=value, **given | changes)


def mean(value: float = 0.5, kind: str = "eng", interval: Interval | None = WIDE, **changes: Any) -> Mean:
    given = {"task": "afrimmlu", "members": ["swa", "yor"], **changes}
    return Mean(
        dimensions={"prompt_language": kind, "prompt_set": "suite"}, grouping="Africa", name="Africa", score=value,
        interval=interval, alone=[], differing=0, **given,
    )  # fmt: skip


def test_they_fit_80_columns_and_mark_what_needs_a_mark() -> None:
    others = dict.fromkeys(("acc_norm", "acc_bytes", "acc_tokens"), 1.0)
    rows = [score("kin", others=others, prompts=[1], interval=Interval(0.9, 1.0))]
    rows += [score("kin", others=others, prompts=[1, 2, 3, 5], prompt_language="native")]
    table = score_table("afrimmlu: text", rows, ["Mind this."], {"kin"}, {"yor"}, [mean(members=["kin", "yor"] * 8)])
    text = printed(table)
    assert max(map(len, text.splitlines())) <= 80 and "…" not in text
    assert "Mind this." in text and "native 1-3,5*" in text and "Kinyarwanda°" in text
    assert "A random guess scores 25.0%." in text and "not yet reviewed by two speakers" in " ".join(text.split())
    assert table.records()[1]["prompts"] == [1, 2, 3, 5] and table.records()[1]["prompt_language"] == "native"


def test_what_needs_no_mark_has_no_legend() -> None:
    text = printed(score_table("x", [score(chance=float("nan"))], [], {"yor"}, set()))
    assert "guess" not in text and "*" not in text and "°" not in text and "unparsed" not in text


def test_a_line_says_what_is_had_without_reading_and_another_where_scores_are_not_higher() -> None:
    known = {"yor": {"majority": 0.5, "length": 0.696}, "ibo": {"majority": 0.5, "length": 0.764}}
    rows = [score("yor", 0.75, interval=Interval(0.7, 0.79), baselines=known["yor"]), score("hau", 0.1)]
    for written, low in (("eng", 0.72), ("native", 0.764)):
        rows += [score("ibo", 0.8, interval=Interval(low, 0.9), prompt_language=written, baselines=known["ibo"])]
    table = score_table("x", rows, [], set(), set())
    assert "Without reading: majority 50.0, length 69.6 (yor) to 76.4 (ibo)." in table.notes
    assert table.findings == ["Not better than without reading: Igbo (English prompts); Igbo (native prompts)."]
    assert not any("reading" in line for line in score_table("x", rows[1:2], [], set(), set()).notes)


def test_unparsed_answers_are_explained() -> None:
    text = " ".join(printed(score_table("x", [score(others={"unparsed": 0.125})], [], set(), set())).split())
    assert "unparsed: answers that could not be parsed" in text and " 12.5 " in text


def test_the_line_of_a_mean_has_its_interval_and_members() -> None:
    means = [mean(), mean(0.0, "native", members=["yor"], interval=None)]
    table = score_table("x", [score()], [], set(), set(), means)
    assert table.findings == ["Mean over 2 African languages, English prompts: 50.0, 95% CI 25.0-75.0 (swa yor)"]


def test_a_mean_without_an_interval_is_shown() -> None:
    found = [mean(interval=None)]
    assert score_table("x", [score()], [], set(), set(), found).findings == [
        "Mean over 2 African languages, English prompts: 50.0 (swa yor)"
    ]


def test_a_score_that_is_no_share_is_shown_as_it_is() -> None:
    row = score(value=45.26, metric="chrf", interval=Interval(41.0, 49.52), others={"acc": 0.5, "loss": 2.5})
    loss = Metric("loss", measure=lambda response, question: None, bounds=(0.0, float("inf")))
    means = [mean(45.26, interval=Interval(30.0, 60.0))]
    table = score_table("x", [row], [], set(), set(), means, {"chrf": CHRF, "loss": loss})
    assert table.heads == ["language", "prompts", "chrf", "95% CI", "acc", "loss", "n", "bad"]
    assert table.cells() == [["Yoruba", "English 1", "45.3", "41.0-49.5", "50.0", "2.5000", "500", "0"]]
    assert "45.3, 95% CI 30.0-60.0" in table.findings[0]


def test_a_run_is_one_table_whose_columns_are_each_on_one_scale() -> None:
    rows = [score("yor"), score("kin", task="belebele", prompt_language="native")]
    of_shares = run_table("run", rows, {"belebele": {"kin"}}, [(0.0, 1.0)] * 2)
    assert of_shares.cells()[1] == ["belebele", "Kinyarwanda", "native 1*", "acc", "50.0", "40.0-60.0", "500", "0"]
    assert "not yet reviewed by two speakers" in of_shares.notes[0]
    other = score("yor", 45.2, task="flores", metric="chrf", interval=None)
    mixed = run_table("run", [rows[0], other], {}, [(0.0, 1.0), (0.0, 100.0)])
    assert mixed.heads[4:8] == ["score", "95% CI", "own scale", "its 95% CI"] and not mixed.notes
    assert [row[4:8] for row in mixed.cells()] == [["50.0", "40.0-60.0", "", ""], ["", "", "45.2", ""]]
    assert [(row["metric"], row["score"], row["value"]) for row in mixed.records()] == [
        ("acc", 0.5, None), ("chrf", None, 45.2)
    ]  # fmt: skip
    alone = run_table("run", [other], {}, [(0.0, 100.0)])
    assert alone.heads[4] == "own scale" and alone.cells()[0][4] == "45.2"
