"""`afrieval review` on the command line, in a checkout that tests may change."""

import csv
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
import yaml
from openpyxl import load_workbook
from openpyxl.styles import Font
from tests.conftest import Cli, Refusal
from tests.tools.review.conftest import checkout, filled

from afrieval.cli.commands import review

__all__ = ["checkout", "filled"]


@pytest.fixture
def changeable(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout that the command changes."""
    monkeypatch.setattr(review, "HOME", checkout)
    monkeypatch.setattr(review, "CHECKOUT", checkout)
    return checkout


def fill_in(path: Path, verdicts: dict[str, tuple[str, str]], reviewer: str = "Ade") -> None:
    """Fills in a CSV sheet: id to verdict and new text."""
    rows = list(csv.reader(path.open(encoding="utf-8-sig", newline="")))
    rows[1][1] = reviewer
    header = rows[4]
    for row in rows[5:]:
        if row[0] in verdicts:
            row[header.index("verdict")], row[header.index("new text")] = verdicts[row[0]]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", [".xlsx", ".csv", ".html"])
def test_a_sheet_is_written(form: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / f"amh{form}"
    done = cli("review", "sheet", "--language", "amh", "-o", path)
    assert done.code == 0 and done.out.startswith(f"wrote {path}: ") and path.stat().st_size > 10_000


def test_dry_run_writes_nothing_and_the_same_without_it_does(changeable: Path, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "yor.csv"
    cli("review", "sheet", "--language", "yor", "-o", path)
    fill_in(path, {"words/neither": ("change", "Kò sí ọ̀kankan"), "words/answer": ("ok", "")})
    before = everything(changeable)
    done = cli("review", "read", path, "--dry-run")
    assert done.code == 0 and everything(changeable) == before
    assert "+  neither: Kò sí ọ̀kankan\n" in done.out and "+++ b/reviews/yor.yaml\n" in done.out
    done = cli("review", "read", path, "--reviewer", "Bola")
    changed = {path.relative_to(changeable).as_posix() for path, text in everything(changeable).items()} - {
        path.relative_to(changeable).as_posix() for path, text in before.items() if path.read_bytes() == text
    }
    assert done.code == 0 and {line.removeprefix("wrote ") for line in done.err.splitlines()} == changed
    assert changed >= {"vocabulary/yor.yaml", "reviews/yor.yaml", "docs/native-prompts/yor.md", "CHANGELOG.md"}
    stored = yaml.safe_load((changeable / "reviews/yor.yaml").read_text(encoding="utf-8"))
    assert {entry["reviewer"] for entries in stored.values() for entry in entries} == {"Bola"}


def test_each_error_of_a_sheet_is_printed(changeable: Path, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "yor.csv"
    cli("review", "sheet", "--language", "yor", "-o", path)
    fill_in(path, {"words/neither": ("change", ""), "words/answer": ("maybe", "")})
    before = everything(changeable)
    done = cli("review", "read", path)
    assert done.code == 2 and done.err.count("error: ") == done.err.count("hint: ") == 2
    assert everything(changeable) == before


def test_an_installed_package_cannot_be_changed(
    changeable: Path, cli: Cli, refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review, "CHECKOUT", None)
    for name in ("docs", "tests", "CHANGELOG.md"):  # a wheel lacks them
        (changeable / name).rename(tmp_path / name)
    path = tmp_path / "yor.csv"
    cli("review", "sheet", "--language", "yor", "-o", path)
    fill_in(path, {"words/neither": ("change", "Kò sí ọ̀kankan")})
    assert f"error: {path} is in order, but only a checkout" in refusal("review", "read", path)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 damaged", b"a,b\n1,2\n", b'a,"b\n', b"\xff\xfe\x00", b"afrieval review,yor\n"]
)
def test_damaged_files(content: bytes, refusal: Refusal, tmp_path: Path) -> None:
    for name in ("sheet.xlsx", "sheet.csv"):
        (tmp_path / name).write_bytes(content)
        assert name in refusal("review", "read", tmp_path / name)


def test_a_workbook_that_would_fill_the_memory(refusal: Refusal, tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with ZipFile(path, "w", ZIP_DEFLATED) as packed:
        packed.writestr("xl/workbook.xml", b"\0" * (2**26 + 1))
    assert "when it is unpacked" in refusal("review", "read", path)


@pytest.mark.parametrize(("cell", "text"), [("A30000", "x"), ("XFD300", "x"), ("A30000", "")])
def test_a_workbook_is_read_as_far_as_it_is_filled_in(cli: Cli, tmp_path: Path, cell: str, text: str) -> None:
    """Programs keep styled cells, and the sizes that they state, far from what was written."""
    path = tmp_path / "yor.xlsx"
    cli("review", "sheet", "--language", "yor", "-o", path)
    book = load_workbook(path)
    book.worksheets[0][cell].value = text or None
    book.worksheets[0][cell].font = Font(bold=True)
    book.save(path)
    done = cli("review", "read", path, "--reviewer", "Ade")
    if (cell, text) == ("A30000", "x"):
        assert done.code == 2 and f"{path} has a row 30,000; 20,000 are the limit" in done.err
    else:
        assert done.code == 0 and "nothing changes" in done.out


def test_a_workbook_cut_off_anywhere(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "yor.xlsx"
    cli("review", "sheet", "--language", "yor", "-o", path)
    whole = path.read_bytes()
    for part in (0.1, 0.5, 0.99):
        path.write_bytes(whole[: int(part * len(whole))])
        assert cli("review", "read", path).code == 2
    path.write_bytes(whole[:3000] + b"\0" * 3000 + whole[6000:])
    assert cli("review", "read", path).code == 2
