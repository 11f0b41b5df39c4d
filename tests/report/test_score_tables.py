"""Scores of a run, of harness tasks and of languages with defects: marks, notes and scales."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.cells import scored
from tests.report.screen import printed

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.entries import defective
from afrieval.analysis.means import Mean, means
from afrieval.analysis.published_files import PublishedRow
from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column, with_all_columns
from afrieval.report.comparison import comparison_tables
from afrieval.report.published_tables import published_tables
from afrieval.report.score_tables import UNREVIEWED, naming_options, not_better, run_table, score_table
from afrieval.report.suite_tables import harness_table
from afrieval.report.table import Table
from afrieval.report.values import number
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import harness_scores
from afrieval.results.schema import Declared
from afrieval.run.harness.harness_scores import HarnessScore, HarnessTaskScores, around, task_scores, with_groups
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval, wilson

WIDE = Interval(0.25, 0.75)
CHRF = Metric("chrf", measure=lambda response, question: None, bounds=(0.0, 100.0))


def score(language: str = "yor", value: float = 0.5, **changes: Any) -> LanguageScore:
    given: dict[str, Any] = {
        "task": "afrimmlu",
        "prompt": "suite",
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
    rows += [score("kin", others=others, prompts=[1, 2, 3, 5], prompt_language="native", unreviewed="machine")]
    table = score_table("afrimmlu: text", rows, ["Mind this."], {"yor"}, [mean(members=["kin", "yor"] * 8)])
    text = printed(table)
    assert max(map(len, text.splitlines())) <= 80 and "…" not in text
    assert "Mind this." in text and "native 1-3,5*" in text and "Kinyarwanda°" in text
    assert "A random guess scores 25.0%." in text and "not yet reviewed by two speakers" in " ".join(text.split())
    assert table.records()[1]["prompts"] == [1, 2, 3, 5] and table.records()[1]["prompt_language"] == "native"


def test_what_needs_no_mark_has_no_legend() -> None:
    text = printed(score_table("x", [score(chance=float("nan"))], [], set()))
    assert "guess" not in text and "*" not in text and "°" not in text and "unparsed" not in text


def test_a_line_says_what_is_had_without_reading_and_another_where_scores_are_not_higher() -> None:
    known = {"yor": {"majority": 0.5, "length": 0.596}, "ibo": {"majority": 0.5, "length": 0.764}}
    declared = {"baselines": {code: {name: {"acc": of[name]} for name in of} for code, of in known.items()}}
    cells = [scored([1.0] * 75 + [0.0] * 25, language=code, declared=declared) for code in ("yor", "ibo")]
    cells += [scored([1.0] * 80 + [0.0] * 20, language="ibo", prompt_language="native", declared=declared)]
    cells += [scored([0.0] * 100, language="hau", declared=declared)]
    table = score_table("x", by_language(cells), [], set())
    assert "Without reading: majority 50.0, length 59.6 (Yoruba) to 76.4 (Igbo)." in table.notes
    assert not_better(cells) == ["Not better than without reading: Igbo (English prompts); Igbo (native prompts)."]
    assert not any("reading" in line for line in score_table("x", by_language(cells[3:]), [], set()).notes)


def test_a_score_that_picks_out_what_a_model_knows_stands_next_to_the_raw_one() -> None:
    others = {"acc_norm": 0.7, "acc_bytes": 0.9}
    of_labels = {"acc_norm": 0.9, "acc_matched": 0.55}  # short labels for everything are a preference, too
    for row, shown, expected in (
        (score(others=others), (), ["acc_norm"]),
        (score(others=of_labels), (), []),
        (score(others=of_labels), ("acc_matched",), ["acc_matched"]),
        (score(others={**of_labels, "acc_matched": 0.7}), (), ["acc_matched"]),
        (score(others=dict.fromkeys(others, 0.55)), (), []),
        (score(others=others, n=19), (), []),
    ):
        rest = [score(others=dict.fromkeys(row.others, 0.5)) for _ in range(4)]
        columns = score_table("x", [row, *rest], [], set(), shown=shown).columns
        assert [
            column.name for column in columns if column.name in {**others, **of_labels} and not column.minor
        ] == expected


def test_unparsed_answers_are_explained() -> None:
    text = " ".join(printed(score_table("x", [score(others={"unparsed": 0.125})], [], set())).split())
    assert "unparsed: answers that could not be parsed" in text and " 12.5 " in text


def test_the_line_of_a_mean_has_its_interval_and_members() -> None:
    means = [mean(), mean(0.0, "native", members=["yor"], interval=None)]
    table = score_table("x", [score()], [], set(), means)
    over = "over 2 African languages, English prompts: Swahili and Yoruba."
    assert table.findings == [f"Mean 50.0 (95% CI 25.0-75.0) {over}"], "members are named that are not the table's"
    assert score_table("x", [score()], [], set(), [mean(interval=None)]).findings == [f"Mean 50.0 {over}"]


def test_a_score_that_is_no_share_is_shown_as_it_is() -> None:
    row = score(value=45.26, metric="chrf", interval=Interval(41.0, 49.52), others={"acc": 0.5, "loss": 2.5})
    loss = Metric("loss", measure=lambda response, question: None, bounds=(0.0, float("inf")))
    means = [mean(45.26, interval=Interval(30.0, 60.0))]
    table = score_table("x", [row], [], set(), means, {"chrf": CHRF, "loss": loss})
    assert table.heads == ["language", "prompts", "chrf", "95% CI", "n"]
    (whole,) = with_all_columns([table])
    assert whole.heads == [*table.heads, "acc", "loss", "defective"]
    assert whole.cells() == [["Yoruba", "English 1", "45.3", "41.0-49.5", "500", "50.0", "2.5000", "0"]]
    assert "45.3 (95% CI 30.0-60.0)" in table.findings[0] and table.records() == whole.records()


def test_a_run_is_one_table_whose_columns_are_each_on_one_scale() -> None:
    rows = [score("yor"), score("kin", task="belebele", prompt_language="native", unreviewed=True)]
    of_shares = run_table("run", rows, [(0.0, 1.0)] * 2)
    assert of_shares.cells()[1] == ["belebele", "Kinyarwanda", "native 1*", "acc", "50.0", "40.0-60.0", "500"]
    assert of_shares.legend == [UNREVIEWED]
    human = run_table("run", [rows[0], replace(rows[1], unreviewed="human")], [(0.0, 1.0)] * 2)
    assert human.legend == ["*: human-written prompts, not yet reviewed by two speakers."]
    other = score("yor", 45.2, task="flores", metric="chrf", interval=None)
    mixed = run_table("run", [rows[0], other], [(0.0, 1.0), (0.0, 100.0)])
    assert mixed.heads[4:8] == ["score", "95% CI", "own scale", "its 95% CI"] and not mixed.notes
    assert [row[4:8] for row in mixed.cells()] == [["50.0", "40.0-60.0", "", ""], ["", "", "45.2", ""]]
    assert [(row["metric"], row["score"], row["value"]) for row in mixed.records()] == [
        ("acc", 0.5, None), ("chrf", None, 45.2)
    ]  # fmt: skip
    alone = run_table("run", [other], [(0.0, 100.0)])
    assert alone.heads[4] == "own scale" and alone.cells()[0][4] == "45.2"


def test_options_are_named_in_the_titles_of_their_task() -> None:
    extract, options = {"lone": True, "bare": False}, {"part": "part10", "key": "question"}
    declared = {"one": Declared(extract=extract), "two": Declared(), "three": Declared(options=options)}
    tables = [Table("scores", f"{task}: scores", [Column("n")], [[1]], about={"task": task}) for task in declared]
    cells = [CellScores(task, "eng", 1, "eng", name=task, declared=of) for task, of in declared.items()]
    assert [table.title for table in naming_options(tables, cells)] == [
        "one: scores, lone, no bare", "two: scores", "three: scores, part10, question",
    ]  # fmt: skip


SHUFFLED: Any = {"defective": {"lin": "texts are shuffled"}, "parallel": [["eng", "lin", "swa", "yor"]]}


def cells() -> list[CellScores]:
    values = {"lin": [0.0, 0.0, 0.0], "swa": [1.0, 1.0, 0.0], "yor": [1.0, 0.0, 1.0]}
    return [
        scored(
            values[code], language=code, prompt_language=kind, declared=SHUFFLED, comparable_on={"prompt text": kind}
        )
        for code in values
        for kind in ("eng", "native")
    ]


def test_a_mean_leaves_them_out_and_says_so() -> None:
    for mean in means(cells(), ["Africa"]):
        assert mean.members == ["swa", "yor"] and mean.score == pytest.approx(2 / 3)
    (table,) = [t for t in comparison_tables(cells(), [], ["Africa"], None) if t.kind == "means"]
    assert "Left out: Lingala, known defect of its data: texts are shuffled." in table.notes


def test_languages_are_not_compared_with_them() -> None:
    found = contrasts([c for c in cells() if c.prompt_language == "eng"], "language", seed=1)
    compared = {(c.first, c.second) for c in found if c.rows}
    assert compared == {("swa", "yor")}
    assert all("known defect of Lingala (lin): texts are shuffled" in c.refused[0] for c in found if not c.rows)


def test_prompts_are_compared_within_them_and_marked() -> None:
    found = contrasts(cells(), "prompt_language", seed=1)
    table = comparison_tables(cells(), found, [], None)[0]
    assert [row[0] for row in table.cells()] == ["Lingala†", "Swahili", "Yoruba"]
    assert any(note.startswith("†: Lingala, known defect of its data: texts are shuffled;") for note in table.notes)


def test_the_table_of_a_run_marks_them() -> None:
    scores = by_language(cells())
    text = printed(run_table("run", scores, [(0.0, 1.0)] * len(scores)))
    assert "English 1†" in text and "†: known defect of afrixnli Lingala: texts are shuffled." in text
    assert "†" not in printed(run_table("run", scores[2:], [(0.0, 1.0)] * 4))


def test_published_scores_of_scrambled_lingala_are_not_averaged_with_ours() -> None:
    rows = [PublishedRow("afrixnli", "big", "1", 0, {"lin": 33.0, "swa": 70.0, "yor": 60.0}, None, 2)]
    own = [scored([1.0, 0.0], task="afrixnli", language=code) for code in ("lin", "swa", "yor")]
    assert list(defective("afrixnli", own, rows)) == ["lin"] and not defective("sib", own, rows)
    (standing,) = published_tables(own, rows)
    assert standing.notes[0] == "Means over the 2 languages that all of them have: Swahili and Yoruba."
    assert any("Left out: Lingala" in note for note in standing.notes)
    assert any("It includes Lingala" in note for note in published_tables([], rows)[-1].notes)


ONE = HarnessScore("task", "", "acc", "none", 0.5, 0.1, Interval(0.3, 0.7), 25, 0, True)


names = st.from_regex(r"[a-z]{1,12}([_-][a-z0-9]{1,12}){0,6}", fullmatch=True)
any_score = st.builds(
    HarnessScore,
    task=names,
    language=st.sampled_from(["", "xxx", *LANGUAGES]),
    metric=st.sampled_from(["acc", "exact_match", "word_perplexity", "bits_per_byte"]),
    filter=st.sampled_from(["none", "strict-match", "flexible-extract", "remove_whitespace"]),
    value=st.floats(0, 1e9),
    standard_error=st.none(),
    interval=st.none() | st.just(Interval(0.123, 0.877)) | st.just(Interval(12.3, 45.6)),
    n=st.integers(1, 99999),
    shots=st.none() | st.integers(0, 25),
    higher_is_better=st.sampled_from([None, True, False]),
    members=st.integers(0, 2),
)


@given(st.lists(any_score, min_size=1, max_size=4))
def test_nothing_is_cut(rows: list[HarnessScore]) -> None:
    text = printed(harness_table(rows, cleaned=False))
    assert all(len(line) <= 80 for line in text.splitlines()) and "…" not in text
    for row in rows:
        shots = "" if row.shots is None else f" +{row.shots}"
        assert re.search(rf" {re.escape(number(row.value))} .* {row.n}{shots}\b", text)
        for part in re.findall("[a-z0-9]+", row.task + " " + row.metric):
            assert part in text


def test_signs_are_explained() -> None:
    rows = [ONE, replace(ONE, metric="perplexity", higher_is_better=False, interval=None), replace(ONE, members=2)]
    text = re.sub(r"\s+", " ", printed(harness_table(rows, cleaned=False)))
    assert "perplexity ↓" in text and "↓ lower is better." in text and "none: the harness" in text
    assert "↓" not in printed(harness_table([ONE], cleaned=False)) and "group" not in printed(
        harness_table([ONE], cleaned=False)
    )


@pytest.mark.parametrize(
    ("values", "value", "error", "interval"),
    [
        ([1, 0, 1, 1], 0.75, 0.25, wilson(3, 4)),
        ([1.0, 0.0], 0.5, None, wilson(1, 2)),
        ([1, 0, 1, 1], 0.6, 0.1, around(0.6, 0.1)),  # no mean: an F1, say
        ([0.5, 0.25], 0.375, 0.125, around(0.375, 0.125)),
        ([[0, 1], [1, 1]], 0.5, None, None),
    ],
)
def test_intervals(values: list[object], value: float, error: float | None, interval: Interval | None) -> None:
    samples = [{"m": v, "filter": "none", "doc_id": i} for i, v in enumerate(values)]
    samples += [{"m": 1, "filter": "other", "doc_id": 0}]
    metric = {"metric": "m", "filter": "none", "value": value, "standard_error": error, "higher_is_better": True}
    record: Any = {"task": "t", "language": "", "shots": 0, "metrics": [metric]}
    (score,) = task_scores(harness_scores(record, samples)).scores
    assert score.interval == interval and score.n == len(values)


def test_groups_come_after_their_last_task_and_inner_ones_first() -> None:
    def task(name: str, value: float, n: int) -> HarnessTaskScores:
        metric = {"metric": "acc", "filter": "none", "value": value, "standard_error": None, "higher_is_better": True}
        row = {"acc,none": value, "acc_stderr,none": "N/A", "sample_len": n}
        record: Any = {"task": name, "language": "", "shots": 0, "metrics": [metric], "harness": {"results": row}}
        return task_scores(harness_scores(record, []))

    def group(*tasks: str) -> Any:
        mean = {"metric": "acc", "filter_list": None, "weight_by_size": True}
        return {"alias": "x", "version": "1", "children": [], "tasks": list(tasks), "aggregate": [mean]}

    groups = {"all": group("a", "b", "c"), "inner": group("c", "b"), "other": group("a", "lacking")}
    found = with_groups([task("a", 0.2, 10), task("b", 0.5, 10), task("c", 0.8, 30)], groups)
    assert [s.task for s in found] == ["a", "b", "c", "inner", "all"]
    assert found[3].value == pytest.approx((0.5 * 10 + 0.8 * 30) / 40) and found[3].n == 40
    assert found[4].members == 3 and found[4].interval is None


def test_a_macro_mean_stands_where_it_differs_and_has_its_own_error() -> None:
    def task(name: str, value: float, n: int, metric: str = "acc") -> HarnessTaskScores:
        error = (value * (1 - value) / n) ** 0.5
        score = HarnessScore(name, "", metric, "none", value, error, around(value, error), n, 0, True)
        row = {f"{metric},none": value, f"{metric}_stderr,none": error, "sample_len": n}
        record: Any = {"task": name, "shots": 0, "harness": {"results": row}}
        return HarnessTaskScores(record, [score])

    def macros(tasks: list[HarnessTaskScores], by_size: bool = True) -> list[HarnessScore]:
        mean = {"metric": "acc", "filter_list": None, "weight_by_size": by_size}
        names = [t.record["task"] for t in tasks]
        group: Any = {"alias": "x", "version": "1", "children": [], "tasks": names, "aggregate": [mean]}
        return [s for s in with_groups(tasks, {"all": group}) if s.macro]

    uneven = [task("a", 0.2, 10), task("b", 0.5, 1000)]
    (found,) = macros(uneven)
    drawn = np.random.default_rng(0).binomial([10, 1000], [0.2, 0.5], size=(200_000, 2)) / [10, 1000]
    assert found.value == pytest.approx(0.35)
    assert found.standard_error == pytest.approx(drawn.mean(axis=1).std(), rel=0.02)
    assert "acc, macro" in printed(harness_table([found], cleaned=False)) and "have the same weight" in re.sub(
        r"\s+", " ", printed(harness_table([found], cleaned=False))
    )
    assert not macros([task("a", 0.2, 10), task("b", 0.5, 10)]), "the same as the group's own"
    assert not macros(uneven, by_size=False)
    assert not macros([uneven[0], task("b", 0.5, 1000, metric="f1")]), "a mean over some of the tasks is none"


def test_a_score_that_does_not_rank_says_what_it_is() -> None:
    answered = replace(CHRF, name="answered", bounds=(0.0, 1.0), ranked=False)
    for of, says in ((answered, True), (replace(answered, ranked=True), False)):
        table = score_table("t", [score(metric="answered")], [], set(), metrics={"answered": of})
        assert ("only a judge or people can tell how good they are" in " ".join(printed(table).split())) is says
