"""Tables in terminals: folded where they are too wide, coloured where the terminal has 256 colours."""

import csv
import io
import json
import re
from itertools import pairwise
from typing import Any

import pytest

from afrieval._util.terminal import console
from afrieval.report.columns import Column
from afrieval.report.formats import SCALE, SHADES, write
from afrieval.report.table import Table

COLUMNS = [Column("language", "language"), *[Column(f"score{i}", "score", f"metric_{i}") for i in range(9)]]
WIDE = Table("t", "wide", COLUMNS, [["yor", *[i / 10 for i in range(9)]], ["hau", *[i / 20 for i in range(9)]]])
HEAT = Table("t", "heat", COLUMNS[:3], [["yor", 0.1, 0.9]], shades={(0, 1): 0.0, (0, 2): 1.0})
CODES = re.compile(r"\x1b\[[\d;]*m")


def shown(table: Table, width: int, **options: Any) -> str:
    screen = console(width=width, file=io.StringIO(), **options)
    screen.print(table, crop=False)
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


def test_one_number_is_never_cut() -> None:
    table = Table("t", "x", [Column("language", "language"), Column("p", "exact")], [["yor", 123456.75]])
    assert "123457" in shown(table, 12).replace("\n", "") or "123456.75" in shown(table, 12)


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
