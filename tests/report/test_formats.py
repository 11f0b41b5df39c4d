"""Tables in every form: nothing lost, nothing cut, no sign misread; folded and coloured in terminals."""

import csv
import io
import json
import math
import re
import unicodedata
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame, isna
from tests.hostile import FORMULAS, check
from tests.report.screen import printed

from afrieval._util.errors import UserError
from afrieval._util.terminal import console, one_line
from afrieval.report.columns import Column
from afrieval.report.columns import shown as shown_value
from afrieval.report.formats import FORMATS, SCALE, SHADES, csv_files, csv_parts, html, latex, markdown, show, write
from afrieval.report.table import Table, Tables
from afrieval.report.values import ANY

LONG = "organisation/a-model-with-a-name-that-has-no-end-at-all-7B-Instruct"
TABLE = Table(
    "t",
    "50 % of [bold]x",
    [Column("model"), Column("language", "language"), Column("score", "score", "s"), Column("p", "p")],
    [[LONG, "yor", 0.5, 0.0001], ["a|b_c^d", "xxx", 0.25, 0.5]],
    ["[/x] stays."],
    marks={"yor": "*"},
)


def test_numbers_are_never_cut_and_brackets_are_no_markup() -> None:
    text = printed(TABLE, width=60)
    assert "50 % of [bold]x" in text and "[/x] stays." in text
    assert all(number in text for number in ("50.0", "25.0", "<.001", ".500", "Yoruba*")) and "…" not in text
    assert max(map(len, text.splitlines())) <= 60


def test_columns_move_together_where_a_table_is_too_wide() -> None:
    columns = [Column(f"score_{at}", "score") for at in range(6)]
    lines = printed(Table("t", "x", columns, [[0.5] * 6]), width=50).splitlines()
    assert lines[1] == " ".join(f"score_{at}" for at in range(6)) and len(lines) == 5


def test_a_table_in_latex_is_centred_and_can_be_referred_to() -> None:
    columns = [Column("task"), Column("difference", "score"), Column("95%", "limits")]
    lines = latex(Table("contrasts", "Hausa, English – native", columns, [["a-b", -0.5, [-0.75, 0.25]]])).splitlines()
    assert lines[:2] == ["\\begin{table}", "\\centering"]
    assert lines[3] == "\\label{tab:contrasts-hausa-english-native}"
    row = next(line for line in lines if line.startswith("a-b"))
    assert "$-$50.0" in row and "$-$75.0" in row, row


def test_signs_that_latex_and_markdown_would_misread() -> None:
    text = latex(TABLE)
    assert "a\\textbar{}b\\_c\\textasciicircum{}d" in text and "\\textless{}.001" in text and "50 \\% of" in text
    assert r"a\|b\_c^d" in markdown(TABLE)


def test_columns_for_programs_or_people_alone_and_names_in_lines() -> None:
    columns = [Column("task"), Column("shown", "text", "-"), Column("span", "limits"), Column("told", "hidden")]
    table = Table("t", "x", columns, [["a_task_of_long_names", "seen", None, "raw"]], ends=[0])
    assert table.records() == [{"table": "t", "task": "a_task_of_long_names", "span": None, "told": "raw"}]
    assert r"| a\_task\_of\_long\_names | seen |  |" in markdown(table) and "raw" not in markdown(table) + latex(table)
    lines = [line.split() for line in printed(table, width=25).splitlines()]
    assert ["a_task_of_", "seen"] in lines and ["long_names"] in lines and "raw" not in printed(table)
    assert ["a_task_of_long_names", "seen"] in [line.split() for line in printed(table).splitlines()]


NAMES = (*FORMULAS, "\t=1", "-3.1", "org/model-7B", "a--b", "\x1b[31m\n\u202e|x")
HOSTILE_TABLE = Table(
    "t", "a_b|\x1b[1m\n#", [Column("=model"), Column("score", "change")], [[n, -0.031] for n in NAMES]
)


def test_no_cell_of_csv_is_a_formula_and_numbers_stay_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(HOSTILE_TABLE.to_csv())))
    shown = [row["'=model"] for row in rows]
    assert shown[: len(FORMULAS)] == [f"'{name}" for name in FORMULAS]
    assert shown[len(FORMULAS) :] == [r"\t=1", "-3.1", "org/model-7B", "a--b", r"\x1b[31m\n\u202e|x"]
    assert {row["score"] for row in rows} == {"-0.031"}
    assert [record["=model"] for record in HOSTILE_TABLE.records()] == list(NAMES), "for JSON they are as they are"


@given(st.text() | st.text("=+-@＝＋－ \t\n1.x"), st.floats(-100, 100))
def test_csv_of_any_name(name: str, value: float) -> None:
    table = Table("t", "x", [Column("name"), Column("score")], [[name, value]])
    (row,) = csv.DictReader(io.StringIO(table.to_csv()))
    assert float(row["score"]) == value and row["name"].removeprefix("'").endswith(one_line(name).removeprefix("'"))
    written = unicodedata.normalize("NFKC", row["name"].strip())
    assert written[:1] not in ("=", "+", "-", "@") or re.fullmatch(r"[+-]\d+(\.\d+)?", written)


def test_markdown_and_latex_keep_names_that_hold_their_signs() -> None:
    text = markdown(HOSTILE_TABLE)
    check(text)
    assert text.startswith("## a\\_b\\|\\\\x1b\\[1m\\\\n\\#\n") and text.count("\n") == 4 + len(NAMES)
    text = latex(HOSTILE_TABLE)
    check(text)
    assert "a-{}-b" in text and "textbackslash{}x1b{[}31m" in text and "\n[" not in text and "\n*" not in text


def test_a_star_or_bracket_is_no_option_of_the_row_above() -> None:
    table = Table("t", "x", [Column("name")], [["a"], ["[2]"], ["*b"]])
    assert "{[}2{]} \\\\" in latex(table) and "{*}b \\\\" in latex(table)


def test_html_is_escaped_and_says_all() -> None:
    text = html([HOSTILE_TABLE])
    check(text)
    assert "a_b|" in text and text.count("<tr>") == 1 + len(NAMES) and text.count("</td>") == 2 * len(NAMES)
    marked = Table("t", "<script>", [Column("<x>")], [["<y>"]], ["<z>"], ["<f>"], dimmed=[0])
    assert not {"<script>", "<x>", "<y>", "<z>", "<f>"} & set(re.findall("<[^/ ]*>", html([marked])))
    assert "opacity" in html([marked]) and "opacity" not in text


def test_json_has_all_sentences_and_raw_values() -> None:
    table = Table("t", "x", [Column("score", "score")], [[0.5]], ["note"], ["finding"])
    assert json.loads(write([table], "json")) == [
        {"title": "x", "notes": ["finding", "note"], "rows": [{"table": "t", "score": 0.5}]}
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_several_tables_are_one_text(form: str) -> None:
    again = Table("u", "another", [Column("score"), Column("n", "count")], [["s", 7]])
    text = write([TABLE, again], form)
    assert LONG in text.replace("\\", "") and "7" in text


def test_a_terminal_has_an_empty_line_after_each_table_and_one_legend(capsys: pytest.CaptureFixture[str]) -> None:
    of_task: Any = {"signs": ["*: a star."], "about": {"task": "a"}}
    table = Table("scores", "title", [Column("x", says="the unknown")], [["a"]], ["note"], ["finding"], **of_task)
    show([table, replace(table, kind="contrast"), replace(table, about={"task": "b"})])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    seen = ["title", "finding", "x", "─", "a"]
    noted = [*seen, "note", ""]
    assert lines == [*noted, *seen, "", *noted, "x: the unknown.", "*: a star.", ""], "what is alike is said once"


def test_a_csv_has_tables_of_one_kind_and_one_unit_per_column(tmp_path: Path) -> None:
    def table(kind: str, bounds: tuple[float, float], name: str = "score") -> Table:
        return Table(
            kind, "t", [Column(name, "score", "", bounds), Column("95%", "limits", "interval", bounds)], [[1, None]]
        )

    share, points, loss = (0.0, 1.0), (0.0, 100.0), (0.0, math.inf)
    tables = [
        table("scores", share),
        table("scores", points),
        table("other means", share),
        table("scores", share, "acc"),
    ]
    tables += [table("scores", points, "chrf"), table("scores", loss)]
    parts = csv_parts(tables)
    assert {name: [tables.index(of) for of in found] for name, found in parts.items()} == {
        "scores": [0, 3], "scores-0-100": [1, 4], "other-means": [2], "scores-0-inf": [5]
    }  # fmt: skip
    assert list(csv_files(str(tmp_path), tables)) == [str(tmp_path / f"{name}.csv") for name in parts]
    assert list(csv_files("/dev/null", tables[:1])) == ["/dev/null"]
    texts = csv_files("/folder/t.csv", tables)
    assert list(texts) == [f"/folder/t-{name}.csv" for name in parts]
    assert list(csv_files("t", tables[:1])) == ["t"] and list(csv_files("t", tables[:2])) == [
        "t-scores",
        "t-scores-0-100",
    ]
    assert write(tables[:2], "csv").count("\n\ntable,") == 1, "an empty line is between two parts"
    with pytest.raises(UserError, match="scores, scores-0-100"):
        Tables(tables[:2]).to_pandas()
    assert len(Tables(tables[3:4]).to_pandas()) == 1


COLUMNS = [Column("language", "language"), *[Column(f"score{i}", "score", f"metric_{i}") for i in range(9)]]
WIDE = Table("t", "wide", COLUMNS, [["yor", *[i / 10 for i in range(9)]], ["hau", *[i / 20 for i in range(9)]]])
HEAT = Table("t", "heat", COLUMNS[:3], [["yor", 0.1, 0.9]], shades={(0, 1): 0.0, (0, 2): 1.0})
CODES = re.compile(r"\x1b\[[\d;]*m")


def shown(table: Table, width: int, **options: Any) -> str:
    screen = console(width=width, file=io.StringIO(), **options)
    show([table], screen=screen)
    return screen.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_a_table_of_more_numbers_than_a_terminal_has_room_for_is_folded(width: int) -> None:
    lines = shown(WIDE, width).splitlines()
    assert max(map(len, lines)) <= width
    of_yoruba = [line.split()[1:] for line in lines if "Yoruba" in line]
    assert [number for row in of_yoruba for number in row] == [f"{10 * i:.1f}" for i in range(9)]
    assert (len(of_yoruba) == 1) == (width >= 80), "a wide terminal has it in one piece"
    assert [head for line in lines for head in line.split() if head.startswith("score")] == [
        f"score{i}" for i in range(9)
    ]


def test_heads_of_numbers_are_broken_before_a_table_is_folded() -> None:
    heads = [Column("language", "language"), *[Column(f"afrimmlu native {i}", "score", f"m{i}") for i in range(5)]]
    lines = shown(Table("t", "x", heads, [["yor", *[0.5] * 5]]), 70).splitlines()
    assert max(map(len, lines)) <= 70 and len([line for line in lines if "Yoruba" in line]) == 1
    assert lines[1].split() == ["afrimmlu"] * 5


def test_colours_only_where_the_terminal_has_256(monkeypatch: pytest.MonkeyPatch) -> None:
    for system, coloured in {"256": True, "truecolor": True, "standard": False}.items():
        text = shown(HEAT, 80, force_terminal=True, color_system=system)
        assert ("48;5;" in text) == coloured and (SCALE in CODES.sub("", text)) == coloured
        assert {"10.0", "90.0"} <= set(CODES.sub("", text).split()), "numbers are always there"
    plain = shown(HEAT, 80)
    assert "\x1b" not in plain and SCALE not in plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert "48;5;" not in shown(HEAT, 80, force_terminal=True, color_system="256")


def luminance(number: int) -> float:
    """Relative luminance, as WCAG defines it, of a colour of the palette of 256."""
    steps = (0, 95, 135, 175, 215, 255)
    parts = [steps[(number - 16) // size % 6] / 255 for size in (36, 6, 1)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_shades_have_contrast_and_an_order_without_hue() -> None:
    for back, front in SHADES:
        high, low = sorted(map(luminance, (back, front)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (back, front)
    assert all(one < other for one, other in pairwise(luminance(back) for back, _ in SHADES))


@pytest.mark.parametrize("name", ["m" * 90_000, "m " * 45_000, "model-" * 15_000], ids=["letters", "blanks", "hyphens"])
def test_long_names_are_cut_where_people_read_them_and_whole_in_files(name: str) -> None:
    """Laying out a name of 20,000 characters took 42 s: each of its widths was tried."""
    names = [f"{name}{end}" for end in "ab"]
    table = Table("t", f"Of {name}", [Column("model"), Column(name)], [[each, 0.5] for each in names], [name], [name])
    for form in ("markdown", "latex"):
        assert len(write([table], form)) < 20_000
    assert len(str(table)) < 20_000 and len(table._repr_html_()) < 20_000
    (first, _), (second, _) = table.cells()
    assert first != second and first.endswith("a") and second.endswith("b") and "…" in first
    assert [row["model"] for row in csv.DictReader(io.StringIO(table.to_csv()))] == names
    assert [row["model"] for row in json.loads(write([table], "json"))[0]["rows"]] == names


RESULTS = Table(
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
    [["a", "yor", 0.5, (0.25, 0.75), 2.5, "x", ["yor", "hau"]], ["<b>", "xxx", 0.25, None, 12.0, "", ["xxx"]]],
    notes=["A & B."],
    findings=["a wins."],
    about={"task": "t"},
    marks={"yor": "*"},
)


def test_for_programs_values_are_raw() -> None:
    place = {"table": "scores", "task": "t"}
    assert RESULTS.records() == [
        {**place, "model": "a", "language": "yor", "s": 0.5, "interval": (0.25, 0.75), "loss": 2.5,
         "members": ["yor", "hau"]},
        {**place, "model": "<b>", "language": "xxx", "s": 0.25, "interval": None, "loss": 12.0, "members": ["xxx"]},
    ]  # fmt: skip


def test_for_people_they_are_texts() -> None:
    assert RESULTS.cells() == [
        ["a", "Yoruba*", "50.0", "25.0-75.0", "2.5000", "x"],
        ["<b>", "xxx", "25.0", "none", "12.00", ""],
    ]


def test_a_value_that_is_missing() -> None:
    forms = ("score", "limits", "text", "interval", "changes")
    assert [shown_value(None, Column("", form)) for form in forms] == ["", "", "", "none", "none"]
    assert shown_value(math.nan, Column("", "score")) == ""


def test_a_data_frame_and_csv_have_intervals_in_two_columns() -> None:
    frame = RESULTS.to_pandas()
    assert isinstance(frame, DataFrame) and frame["interval low"][0] == 0.25 and "interval" not in frame
    assert isna(frame["interval high"][1]) and list(frame["members"]) == ["yor hau", "xxx"]
    head, first, second = RESULTS.to_csv().splitlines()
    assert head == "table,task,model,language,s,interval low,interval high,loss,members"
    assert first == "scores,t,a,yor,0.5,0.25,0.75,2.5,yor hau" and second == "scores,t,<b>,xxx,0.25,,,12.0,xxx"


def test_a_notebook_shows_it_escaped() -> None:
    text = RESULTS._repr_html_()
    assert "<caption>two models<br>a wins.</caption>" in text and "<p>A &amp; B.</p>" in text
    assert '<td style="text-align: left">&lt;b&gt;</td>' in text and "<b>" not in text
    assert '<td style="text-align: right">50.0</td>' in text and "hidden" not in text
