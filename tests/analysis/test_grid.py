"""Tables in every form: nothing lost, nothing cut, no sign misread."""

from afrieval.analysis.grid import Column, Grid, as_csv, latex, markdown, records, terminal
from afrieval.terminal import console

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
