"""Tables in every form: nothing lost, nothing cut, no sign misread."""

import csv
import io
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import check

from afrieval.report.table import Column, Grid, as_csv, latex, markdown, records, terminal
from afrieval.terminal import console, one_line

LONG = "organisation/a-model-with-a-name-that-has-no-end-at-all-7B-Instruct"
GRID = Grid(
    "t",
    "50 % of [bold]x",
    [Column("model"), Column("language", "language"), Column("score", "percent", "s"), Column("p", "p")],
    [[LONG, "yor", 0.5, 0.0001], ["a|b_c^d", "xxx", 0.25, 0.5]],
    ["[/x] stays."],
    starred=["yor"],
)


def printed(grid: Grid) -> str:
    screen = console(width=60, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    screen.print(terminal(grid))
    return screen.export_text()


def test_numbers_are_never_cut_and_brackets_are_no_markup() -> None:
    text = printed(GRID)
    assert "50 % of [bold]x" in text and "[/x] stays." in text
    assert all(number in text for number in ("50.0", "25.0", "<.001", ".500", "Yoruba*")) and "…" not in text
    assert max(map(len, text.splitlines())) <= 60


def test_for_programs_values_are_raw() -> None:
    assert records(GRID)[0] == {"table": "t", "model": LONG, "language": "yor", "s": 0.5, "p": 0.0001}
    assert as_csv([GRID]).splitlines()[0] == "table,model,language,s,p"


def test_signs_that_latex_and_markdown_would_misread() -> None:
    text = latex(GRID)
    assert "a\\textbar{}b\\_c\\textasciicircum{}d" in text and "\\textless{}.001" in text and "50 \\% of" in text
    assert r"a\|b\_c^d" in markdown(GRID)


def test_columns_for_programs_or_people_alone_and_names_in_lines() -> None:
    columns = [Column("task", "id"), Column("shown", "text", "-"), Column("span", "limits"), Column("told", "hidden")]
    grid = Grid("t", "x", columns, [["a_task_of_long_names", "seen", None, "raw"]], ends=[0])
    assert records(grid) == [{"table": "t", "task": "a_task_of_long_names", "span": None, "told": "raw"}]
    assert r"| a\_task\_of\_long\_names | seen |  |" in markdown(grid) and "raw" not in markdown(grid) + latex(grid)
    lines = [line.split() for line in printed(grid).splitlines()]
    assert ["a_task_of_", "seen"] in lines and ["long_names"] in lines and "raw" not in printed(grid)


FORMULAS = ("=HYPERLINK(1)", "+1+cmd", "-2+3", "@SUM(1)", "＝1+1")
NAMES = (*FORMULAS, "\t=1", "-3.1", "org/model-7B", "a--b", "\x1b[31m\n\u202e|x")
HOSTILE_GRID = Grid("t", "a_b|\x1b[1m\n#", [Column("=model"), Column("score", "points")], [[n, -0.031] for n in NAMES])


def test_no_cell_of_csv_is_a_formula_and_numbers_stay_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv([HOSTILE_GRID]))))
    shown = [row["'=model"] for row in rows]
    assert shown[: len(FORMULAS)] == [f"'{name}" for name in FORMULAS]
    assert shown[len(FORMULAS) :] == [r"\t=1", "-3.1", "org/model-7B", "a--b", r"\x1b[31m\n\u202e|x"]
    assert {row["score"] for row in rows} == {"-0.031"}
    assert [record["=model"] for record in records(HOSTILE_GRID)] == list(NAMES), "for JSON they are as they are"


@given(st.text() | st.text("=+-@＝＋－ \t\n1.x"), st.floats(-100, 100))
def test_csv_of_any_name(name: str, value: float) -> None:
    grid = Grid("t", "x", [Column("name"), Column("score")], [[name, value]])
    (row,) = csv.DictReader(io.StringIO(as_csv([grid])))
    assert float(row["score"]) == value and row["name"].removeprefix("'").endswith(one_line(name).removeprefix("'"))
    written = unicodedata.normalize("NFKC", row["name"].strip())
    assert written[:1] not in ("=", "+", "-", "@") or re.fullmatch(r"[+-]\d+(\.\d+)?", written)


def test_markdown_and_latex_keep_names_that_hold_their_signs() -> None:
    text = markdown(HOSTILE_GRID)
    check(text)
    assert text.startswith("## a\\_b\\|\\\\x1b\\[1m\\\\n\\#\n") and text.count("\n") == 4 + len(NAMES)
    text = latex(HOSTILE_GRID)
    check(text)
    assert "a-{}-b" in text and "textbackslash{}x1b{[}31m" in text and "\n[" not in text and "\n*" not in text


def test_a_star_or_bracket_is_no_option_of_the_row_above() -> None:
    grid = Grid("t", "x", [Column("name")], [["a"], ["[2]"], ["*b"]])
    assert "{[}2{]} \\\\" in latex(grid) and "{*}b \\\\" in latex(grid)


def test_lines_of_data_are_no_lines_of_the_table() -> None:
    assert printed(HOSTILE_GRID).count("\\n") == 2
