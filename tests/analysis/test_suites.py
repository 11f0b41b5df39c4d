"""Averages of suites: weights, members, scales, and an interval that knows languages in several tasks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.analysis.cells import named, scored
from tests.conftest import REAL_DATA

from afrieval.analysis.means import means, over_languages
from afrieval.analysis.published import all_as_published
from afrieval.analysis.published_files import read_published
from afrieval.analysis.scores import by_language
from afrieval.analysis.suites import APART, suite_averages
from afrieval.analysis.uncertainty import TaskWeight, half_width
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric
from afrieval.scoring.metrics import metric

POINTS = Metric("points", measure=lambda response, question: None, bounds=(0.0, 100.0))
LOSS = Metric("loss", measure=lambda response, question: None, bounds=(0.0, float("inf")), higher_is_better=False)
GROUPS = {"mood": ["tweets", "films"], "translation": ["news"]}
LANGUAGES = ("hau", "swa", "yor")


def cells(**changes: Any) -> list[CellScores]:
    """Three tasks: one language has no films, and translation is in points."""
    rng = np.random.default_rng(1)
    parallel = {"declared": {"parallel": [[*LANGUAGES]]}}
    known: dict[str, Any] = {"suite": "all", "suite_groups": GROUPS, **parallel, **changes}
    tweets = [scored(rng.integers(0, 2, 40).tolist(), "tweets", language=code, **known) for code in LANGUAGES]
    films = [scored(rng.integers(0, 2, 20).tolist(), "films", language=code, **known) for code in LANGUAGES[1:]]
    news = [scored(rng.uniform(20, 60, 30).tolist(), "news", of=POINTS, language=c, **known) for c in LANGUAGES]
    apart = [scored([1.0] * 40, "tweets", language=code, **known) for code in APART]
    return [*news, *tweets, *films, *apart]


def means_of(units: list[CellScores], task: str) -> dict[str, float]:
    factor = 100 if task != "news" else 1
    of_task = [c for c in units if c.task == task and c.language in LANGUAGES]
    return {c.language: factor * float(np.mean(c.measures[c.main])) for c in of_task}


def test_groups_tasks_and_languages_count_the_same_and_scores_are_in_percent() -> None:
    units = cells()
    (found,) = suite_averages(units)
    tweets, films, news = (means_of(units, task) for task in ("tweets", "films", "news"))
    of_tweets = np.mean([tweets[code] for code in LANGUAGES])
    by_hand = ((of_tweets + np.mean(list(films.values()))) / 2 + np.mean(list(news.values()))) / 2
    assert found.score == pytest.approx(by_hand)
    assert [(p.group, p.task, p.weight) for p in found.parts] == [
        ("mood", "tweets", 0.25), ("mood", "films", 0.25), ("translation", "news", 0.5),
    ]  # fmt: skip
    assert found.parts[0].apart == {"eng": 100.0, "fra": 100.0} and found.parts[1].languages == ["swa", "yor"]
    assert found.suite == "all" and not found.missing and not found.outside


def test_the_interval_by_hand() -> None:
    """Documents are the tasks' own; Swahili and Yoruba are in three tasks, Hausa in two."""
    units = cells()
    (found,) = suite_averages(units)
    weights, added, shared, own = {"tweets": 0.25, "films": 0.25, "news": 0.5}, dict.fromkeys(LANGUAGES, 0.0), 0.0, 0.0
    of_languages = dict.fromkeys(LANGUAGES, 0.0)
    for task, weight in weights.items():
        means = means_of(units, task)
        k, middle = len(means), np.mean(list(means.values()))
        for code, mean in means.items():
            added[code] += weight * (k / (k - 1)) ** 0.5 * (mean - middle) / k
            of_languages[code] += weight / k
        factor = 100 if task != "news" else 1
        values = factor * np.array([c.measures[c.main][:, 0] for c in units if c.task == task and c.language in means])
        covariance = np.cov(values) / values.shape[1]
        mutual = max(0.0, (covariance.sum() - np.trace(covariance)) / (k * (k - 1)))
        shared += weight**2 * mutual
        own += weight**2 * (np.trace(covariance) / k - mutual) / k
    effective = 1 / sum(share**2 for share in of_languages.values())
    t_languages, t_questions = stats.t.ppf(0.975, effective - 1) ** 2, stats.t.ppf(0.975, 40 + 20 + 30 - 1) ** 2
    between = max(t_languages * sum(each**2 for each in added.values()), t_questions * own)
    half = (between + t_questions * shared) ** 0.5
    assert found.interval == pytest.approx((max(0, found.score - half), min(100, found.score + half)))


def test_one_task_has_the_interval_of_its_mean_over_languages() -> None:
    rng = np.random.default_rng(2)
    languages = [named(dict(enumerate(rng.integers(0, 2, 30).astype(float)))) for _ in range(5)]
    low, high = over_languages(languages, (-1.0, 2.0)) or (0, 0)
    assert half_width([TaskWeight(1.0, "", dict(enumerate(languages)))]) == pytest.approx((high - low) / 2)


def test_a_language_that_is_high_in_all_tasks_makes_the_interval_wider_than_languages_of_their_own() -> None:
    level = dict(zip("abcdefgh", np.linspace(0.1, 0.9, 8), strict=True))
    values = {c: [1.0] * round(100 * p) + [0.0] * round(100 * (1 - p)) for c, p in level.items()}
    languages = {c: named({(c, q): v for q, v in enumerate(of)}) for c, of in values.items()}
    same = [TaskWeight(0.5, task, languages) for task in "xy"]
    apart = [
        TaskWeight(0.5, task, {task + c: of for c, of in share.languages.items()})
        for task, share in zip("xy", same, strict=True)
    ]
    assert half_width(same) > 1.3 * half_width(apart)


def test_tasks_on_the_same_documents_do_not_make_the_average_surer() -> None:
    rng = np.random.default_rng(3)
    hard = rng.random(200)
    languages = {c: named(dict(enumerate((rng.random(200) < hard).astype(float)))) for c in "abcdef"}
    alone, twice = (half_width([TaskWeight(w, "d", languages)] * n) for w, n in ((1.0, 1), (0.5, 2)))
    assert twice == pytest.approx(alone)
    assert half_width([TaskWeight(0.5, "d", languages), TaskWeight(0.5, "e", languages)]) < alone


def test_a_task_in_one_language_counts_and_only_its_documents_are_unsure() -> None:
    one = {"swa": named(dict(enumerate([0.0, 1.0] * 50)))}
    assert half_width([TaskWeight(1.0, "", one)]) == pytest.approx(stats.t.ppf(0.975, 99) * (0.25 / 99) ** 0.5)


def test_an_interval_of_more_questions_is_what_they_then_give() -> None:
    """Eight languages whose means differ by some points, with parallel questions: 50 of them foretell 400."""
    rng = np.random.default_rng(4)

    def drawn(n: int) -> TaskWeight:
        level, hard = np.linspace(0.3, 0.6, 8), rng.random(n)
        return TaskWeight(
            1.0,
            "",
            {k: named(dict(enumerate((rng.random(n) < (p + hard) / 2).astype(float)))) for k, p in enumerate(level)},
        )

    foretold, found = (np.mean([half_width([drawn(n)], 400 / n) for _ in range(60)]) for n in (50, 400))
    assert foretold == pytest.approx(found, rel=0.05)
    assert np.mean([half_width([drawn(50)]) for _ in range(60)]) > 1.3 * found


def test_afrobench_pools_pairs_and_takes_the_best_prompt_of_a_group() -> None:
    def cell(task: str, language: str, prompt: int, value: float) -> CellScores:
        return scored([value], task, language=language, prompt=prompt, suite="all", suite_groups=GROUPS)

    of_prompts = {1: (0.9, 0.1, 0.3), 2: (0.2, 0.8, 0.9)}
    units = [
        cell(task, language, prompt, value)
        for prompt, values in of_prompts.items()
        for (task, language), value in zip(
            [("tweets", "yor"), ("tweets", "por"), ("films", "hau")], values, strict=True
        )
    ]
    units += [cell("tweets", code, prompt, 1.0) for code in APART for prompt in (1, 2)]
    (found,) = suite_averages(units, "afrobench")
    assert found.score == pytest.approx(100 * (0.2 + 0.8 + 0.9) / 3) and {p.prompt for p in found.parts} == {2}
    assert [(p.task, p.languages) for p in found.parts] == [("tweets", ["por", "yor"]), ("films", ["hau"])]
    assert found.missing == ["news"]
    (ours,) = suite_averages(units)
    assert ours.score == pytest.approx(100 * ((0.9 + 0.2) / 2 + (0.3 + 0.9) / 2) / 2), "no Portuguese, all prompts"


def test_tasks_have_the_metric_of_their_published_scores_next_to_the_leaderboard() -> None:
    f1 = metric({"name": "f1", "average": "weighted"})
    own = scored([1.0, 1.0, 0.0, 0.0], "sib200")
    topics = replace(
        own,
        metrics={**own.metrics, f1.name: f1},
        measures={**own.measures, f1.name: np.array([[0, 0], [0, 0], [1, 0], [2, 0]], dtype=np.float64)},
    )
    units = [topics, scored([1.0, 0.0], "belebele"), scored([1.0], "no_task")]
    given = {p.task: (p.metric, p.score) for p in suite_averages(all_as_published(units), "afrobench")[0].parts}
    assert given == {
        "sib200": ("f1_weighted", pytest.approx(100 / 3)), "belebele": ("acc", 50.0), "no_task": ("acc", 100.0),
    }  # fmt: skip


@pytest.mark.data
def test_afrobench_is_the_average_that_its_authors_print() -> None:
    """Their leaderboard has the highest of the printed averages of a model's prompts."""
    rows = read_published(Path(str(REAL_DATA)) / "afrobench_results/afrimmlu-0shot.csv").rows
    for model in dict.fromkeys(row.model for row in rows):
        units = [
            scored([score / 100], "t", language=code, prompt=int(row.prompt), model=model)
            for row in rows if row.model == model
            for code, score in row.scores.items()
        ]  # fmt: skip
        (found,) = suite_averages(units, "afrobench")
        assert found.score == pytest.approx(max(row.average or 0 for row in rows if row.model == model), abs=0.1)


def test_models_prompts_and_forms_of_answer_have_averages_of_their_own() -> None:
    units = [*cells(), *cells(model="other"), *cells(prompt_language="native", answer_form="generate")]
    assert [(a.dimensions["model"], a.dimensions["prompt_language"]) for a in suite_averages(units)] == [
        ("m", "eng"), ("other", "eng"), ("m", "native"),
    ]  # fmt: skip
    generated = [c for c in cells(answer_form="generate") if c.task == "tweets"]
    text, generate = suite_averages([*cells(), *generated])
    assert (text.dimensions["answer_form"], generate.dimensions["answer_form"]) == ("text", "generate")
    assert [p.task for p in generate.parts] == ["tweets", "films", "news"], "others have one form only"


def test_scores_without_a_range_and_languages_with_a_defect_are_left_out_and_named() -> None:
    lossy = [
        scored([3.0, 2.0], "films", of=LOSS, language=code, suite="all", suite_groups=GROUPS) for code in LANGUAGES
    ]
    marked = scored([1.0], "tweets", language="zul", declared={"defective": {"zul": "no Zulu"}})
    (found,) = suite_averages([*(c for c in cells() if c.task != "films"), *lossy, marked])
    assert found.outside == ["films"] and [p.task for p in found.parts] == ["tweets", "news"]
    assert "zul" not in found.parts[0].languages


def test_without_a_suite_each_task_is_a_group() -> None:
    (found,) = suite_averages(cells(suite="", suite_groups={}))
    assert [p.weight for p in found.parts] == pytest.approx([1 / 3] * 3) and not found.suite


def test_a_task_whose_documents_all_score_alike_is_not_certain() -> None:
    """Its interval is that of one language's score, as tables of scores have it."""
    flat = [scored([0.0] * 10, "flat", language=code) for code in LANGUAGES]
    (found,) = suite_averages([*flat, *(c for c in cells() if c.task == "tweets")])
    (of_one,) = by_language(flat[:1])
    alone = next(part for part in found.parts if part.task == "flat")
    assert of_one.interval and alone.interval == pytest.approx((0.0, 100 * of_one.interval.high))
    (mean,) = means(flat, ["Africa"])
    assert mean.interval == pytest.approx(of_one.interval)
