"""Tables in every form: nothing lost, nothing cut, no sign misread."""

import csv
import io
import json
import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import check

from afrieval._util.errors import UserError
from afrieval._util.terminal import console, one_line
from afrieval.report.columns import Column
from afrieval.report.formats import FORMATS, csv_files, csv_parts, html, latex, markdown, show, write
from afrieval.report.table import Table, Tables

LONG = "organisation/a-model-with-a-name-that-has-no-end-at-all-7B-Instruct"
TABLE = Table(
    "t",
    "50 % of [bold]x",
    [Column("model"), Column("language", "language"), Column("score", "score", "s"), Column("p", "p")],
    [[LONG, "yor", 0.5, 0.0001], ["a|b_c^d", "xxx", 0.25, 0.5]],
    ["[/x] stays."],
    marks={"yor": "*"},
)


def printed(table: Table, width: int = 60) -> str:
    screen = console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    screen.print(table, crop=False)
    return screen.export_text()


def test_numbers_are_never_cut_and_brackets_are_no_markup() -> None:
    text = printed(TABLE)
    assert "50 % of [bold]x" in text and "[/x] stays." in text
    assert all(number in text for number in ("50.0", "25.0", "<.001", ".500", "Yoruba*")) and "…" not in text
    assert max(map(len, text.splitlines())) <= 60


def test_columns_move_together_where_a_table_is_too_wide() -> None:
    columns = [Column(f"score_{at}", "score") for at in range(6)]
    lines = printed(Table("t", "x", columns, [[0.5] * 6]), 50).splitlines()
    assert lines[1] == " ".join(f"score_{at}" for at in range(6)) and len(lines) == 4


def test_signs_that_latex_and_markdown_would_misread() -> None:
    text = latex(TABLE)
    assert "a\\textbar{}b\\_c\\textasciicircum{}d" in text and "\\textless{}.001" in text and "50 \\% of" in text
    assert r"a\|b\_c^d" in markdown(TABLE)


def test_columns_for_programs_or_people_alone_and_names_in_lines() -> None:
    columns = [Column("task"), Column("shown", "text", "-"), Column("span", "limits"), Column("told", "hidden")]
    table = Table("t", "x", columns, [["a_task_of_long_names", "seen", None, "raw"]], ends=[0])
    assert table.records() == [{"table": "t", "task": "a_task_of_long_names", "span": None, "told": "raw"}]
    assert r"| a\_task\_of\_long\_names | seen |  |" in markdown(table) and "raw" not in markdown(table) + latex(table)
    lines = [line.split() for line in printed(table, 25).splitlines()]
    assert ["a_task_of_", "seen"] in lines and ["long_names"] in lines and "raw" not in printed(table)
    assert ["a_task_of_long_names", "seen"] in [line.split() for line in printed(table).splitlines()]


FORMULAS = ("=HYPERLINK(1)", "+1+cmd", "-2+3", "@SUM(1)", "＝1+1")
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


def test_lines_of_data_are_no_lines_of_the_table() -> None:
    assert printed(HOSTILE_TABLE).count("\\n") == 2


def test_html_is_escaped_and_says_all() -> None:
    text = html(HOSTILE_TABLE)
    check(text)
    assert "a_b|" in text and text.count("<tr>") == 1 + len(NAMES) and text.count("</td>") == 2 * len(NAMES)
    marked = Table("t", "<script>", [Column("<x>")], [["<y>"]], ["<z>"], ["<f>"], dimmed=[0])
    assert not {"<script>", "<x>", "<y>", "<z>", "<f>"} & set(re.findall("<[^/ ]*>", html(marked)))
    assert "opacity" in html(marked) and "opacity" not in text


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


def test_a_terminal_has_an_empty_line_after_each_table(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("t", "title", [Column("x")], [["a"]], ["note"], ["finding"])
    show([table, table])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["title", "x", "─", "a", "finding", "note", ""] * 2


def test_a_csv_has_tables_of_one_kind_and_one_unit_per_column() -> None:
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
