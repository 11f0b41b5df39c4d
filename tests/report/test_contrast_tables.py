"""Contrasts as tables and in words."""

from dataclasses import replace
from typing import Any

from tests.analysis.cells import scored
from tests.report.screen import printed

from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.differences import Difference
from afrieval.analysis.scores import PromptMean
from afrieval.report.contrast_tables import contrast_table, sentence
from afrieval.scoring.base import Metric
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import Interval


def row(language: str, first: float, second: float, p: float = 0.001, **changes: Any) -> Difference:
    made = Difference(
        language=language,
        prompts=[1, 2],
        n=20,
        dropped=0,
        first=first,
        second=second,
        interval=Interval(-0.1, 0.3),
        p=p,
        adjusted=p,
        detectable=0.2,
        gained=4,
        lost=1,
    )
    return replace(made, **changes)


def contrast(
    *rows: Difference, dimension: str = "prompt_language", sides: tuple[Any, Any] = ("eng", "native")
) -> Contrast:
    return Contrast("afrixnli", dimension, *sides, {}, list(rows), [], [])


def test_in_words() -> None:
    mixed = [row("hau", 0.0, 1.0), row("swa", 0.0, 1.0), row("amh", 1.0, 0.0), row("yor", 0.5, 0.6, 0.9)]
    text = "Native prompts help in Hausa and Swahili, hurt in Amharic, no detectable difference in Yoruba."
    assert sentence(contrast(*mixed)) == text
    models = contrast(row("yor", 0.0, 1.0), dimension="model", sides=("m", "n"))
    assert sentence(models) == "n scores higher in Yoruba (against m)."
    many = [row(code, 0.5, 0.5, 1.0) for code in ("hau", "swa", "zul", "ibo")]
    assert sentence(contrast(*many)) == "Native prompts: no detectable difference in 4 languages."
    languages = contrast(row("hau", 0.5, 0.5, 1.0), dimension="language", sides=("yor", "hau"))
    assert sentence(languages) == "Hausa and Yoruba: no detectable difference."
    prompts = contrast(row("yor", 1.0, 0.0), dimension="prompt", sides=(1, 2))
    assert sentence(prompts) == "Prompt 2 scores lower in Yoruba (against Prompt 1)."


def test_more_of_a_loss_does_not_help() -> None:
    assert sentence(contrast(row("hau", 1.0, 3.0)), metric("loss")) == "Native prompts hurt in Hausa."


def test_a_row_is_in_percent_and_points() -> None:
    side = PromptMean([scored([1.0], prompt_language="native", declared={"unreviewed": {"yor": True}})])
    table = contrast_table(contrast(row("yor", 0.25, 0.5, sides=(side, side))))
    assert table.title == "afrixnli: native prompts against English prompts, prompts 1-2"
    cells = ["Yoruba*", "25.0", "50.0", "+25.0", "-10.0 to +30.0", ".001", "20.0", "20"]
    assert table.cells() == [cells] and "percentage points" in table.legend[0]
    assert table.records()[0]["interval"] == (-0.1, 0.3) and table.records()[0]["dimension"] == "prompt_language"


def test_other_scores_are_as_they_are() -> None:
    chrf = Metric("chrf", measure=lambda response, question: None, bounds=(0.0, 100.0))
    one = row("yor", 41.0, 45.26, interval=Interval(-1.0, 9.52), detectable=5.0)
    table = contrast_table(contrast(one), metric=chrf)
    assert table.cells()[0][1:7] == ["41.0", "45.3", "+4.3", "-1.0 to +9.5", ".001", "5.0"]
    assert table.title.startswith("afrixnli, chrf: ") and "percentage points" not in " ".join(table.legend)


def test_what_was_left_out_and_what_differs_is_said() -> None:
    found = replace(
        contrast(row("yor", 0.2, 0.4, dropped=3)), refused=["hau, prompt 1: data differs"], settings=["dtype: a and b"]
    )
    notes = contrast_table(found).notes
    assert "Left out: 3 questions" in notes[0] and notes[1:] == [
        "Not compared: hau, prompt 1: data differs.",
        "Settings that differ: dtype: a and b.",
    ]


def test_prompts_have_a_column_where_they_differ() -> None:
    table = contrast_table(contrast(row("yor", 0.2, 0.4), row("hau", 0.2, 0.4, prompts=[1])))
    assert [line[1] for line in table.cells()] == ["1-2", "1"]
    assert table.title.endswith("against English prompts")
    assert max(map(len, printed(table).splitlines())) <= 80


def test_the_metric_that_compares_prompt_languages_is_named() -> None:
    even = metric("acc_matched")
    table = contrast_table(replace(contrast(row("yor", 0.2, 0.4)), metric=even, is_score=False))
    assert table.title == "afrixnli, acc_matched: native prompts against English prompts, prompts 1-2"
    assert table.about["metric"] == "acc_matched" and "labels made equally frequent" in " ".join(table.legend)
    assert "metric" not in contrast_table(replace(contrast(row("yor", 0.2, 0.4)), metric=even)).about


def test_label_length_that_cannot_be_told_apart_is_said() -> None:
    one = contrast(row("yor", 0.2, 0.4))
    said = "cannot separate the effects of prompt language and label length"
    assert said in " ".join(contrast_table(replace(one, by_length=True)).notes)
    assert said not in " ".join(contrast_table(one).notes)
