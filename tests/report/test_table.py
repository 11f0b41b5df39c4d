"""What a table holds for programs, for people and for notebooks."""

import math

from pandas import DataFrame, isna

from afrieval.report.columns import Column, shown
from afrieval.report.table import Table
from afrieval.report.values import ANY

TABLE = Table(
    "scores",
    "two models",
    [
        Column("model"),
        Column("language", "language"),
        Column("score", "score", "s"),
        Column("95% CI", "interval", "interval"),
        Column("loss", "score", "", ANY),
        Column("shown", "text", "-"),
        Column("", "hidden", "members"),
    ],
    [
        ["a", "yor", 0.5, (0.25, 0.75), 2.5, "x", ["yor", "hau"]],
        ["<b>", "xxx", 0.25, None, 12.0, "", ["xxx"]],
    ],
    notes=["A & B."],
    findings=["a wins."],
    about={"task": "t"},
    marks={"yor": "*"},
)


def test_for_programs_values_are_raw() -> None:
    place = {"table": "scores", "task": "t"}
    assert TABLE.records() == [
        {**place, "model": "a", "language": "yor", "s": 0.5, "interval": (0.25, 0.75), "loss": 2.5,
         "members": ["yor", "hau"]},
        {**place, "model": "<b>", "language": "xxx", "s": 0.25, "interval": None, "loss": 12.0, "members": ["xxx"]},
    ]  # fmt: skip


def test_for_people_they_are_texts() -> None:
    assert TABLE.cells() == [
        ["a", "Yoruba*", "50.0", "25.0-75.0", "2.5000", "x"],
        ["<b>", "xxx", "25.0", "none", "12.00", ""],
    ]


def test_a_value_that_is_missing() -> None:
    forms = ("score", "limits", "text", "interval", "changes")
    assert [shown(None, Column("", form)) for form in forms] == ["", "", "", "none", "none"]
    assert shown(math.nan, Column("", "score")) == ""


def test_a_data_frame_and_csv_have_intervals_in_two_columns() -> None:
    frame = TABLE.to_pandas()
    assert isinstance(frame, DataFrame) and frame["interval low"][0] == 0.25 and "interval" not in frame
    assert isna(frame["interval high"][1]) and list(frame["members"]) == ["yor hau", "xxx"]
    head, first, second = TABLE.to_csv().splitlines()
    assert head == "table,task,model,language,s,interval low,interval high,loss,members"
    assert first == "scores,t,a,yor,0.5,0.25,0.75,2.5,yor hau" and second == "scores,t,<b>,xxx,0.25,,,12.0,xxx"


def test_a_notebook_shows_it_escaped() -> None:
    text = TABLE._repr_html_()
    assert "<caption>two models</caption>" in text and "<p>A &amp; B.</p>" in text and "<p>a wins.</p>" in text
    assert '<td style="text-align: left">&lt;b&gt;</td>' in text and "<b>" not in text
    assert '<td style="text-align: right">50.0</td>' in text and "hidden" not in text


def test_printed_it_is_what_a_terminal_shows() -> None:
    lines = str(TABLE).splitlines()
    assert lines[0] == "two models" and lines[1].split()[:2] == ["model", "language"]
    assert lines[-2:] == ["a wins.", "A & B."] and max(map(len, lines)) <= 80
