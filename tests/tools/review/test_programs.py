"""Sheets survive the programs that speakers use; tests of a program that is not installed are skipped."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.tools.review.conftest import Filled

from afrieval.tools.review.forms import read_sheet, sheet_bytes
from afrieval.tools.review.sheet import Sheet, SheetRow

OFFICE = shutil.which("soffice")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
NEW = {"words/neither": '=Kò sí, "ìkankan"', "afrimgsm/1/template": "- Ìbéèrè: {{ question }}\nÌdáhùn:"}
needs_office = pytest.mark.skipif(OFFICE is None, reason="LibreOffice is not installed")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
COMMAS_UTF8 = "Text - txt - csv (StarCalc):44,34,76,1"  # what its dialogs offer for such a file
# What a speaker would do in the browser, and the file that is saved as the page's text.
FILL_IN = """
URL.createObjectURL = blob => { blob.text().then(text => { document.body.textContent = text; }); return "#"; };
name.value = REVIEWER; dialect.value = DIALECT;
for (const row of ROWS) {
  const p = parts(cards.find(card => card.dataset.id === row.id));
  for (const radio of p.radios) radio.checked = radio.value === row.verdict;
  p.text.value = row.new; p.comment.value = row.comment;
}
keep(); save();
"""


def said(sheet: Sheet) -> tuple[str, str, str, list[SheetRow]]:
    """Returns what a speaker said, without what only the program shows."""
    kept = [
        SheetRow(r.id, native=r.native, verdict=r.verdict, new=r.new, comment=r.comment, dialect=r.dialect)
        for r in sheet.rows
        if r.verdict
    ]
    return sheet.language, sheet.reviewer, sheet.dialect, kept


def body(sheet: Sheet, folder: Path, script: str = "") -> str:
    """Returns the body of a sheet's page after its own script, and then another one, were run."""
    page = folder / "sheet.html"
    page.write_text(sheet_bytes(sheet, page).decode().replace("</script>", f"{script}</script>"), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    shown = subprocess.run([str(BROWSER), *options, page.as_uri()], check=True, capture_output=True, timeout=120)
    text = re.search(r"<body>(.*)</body>", shown.stdout.decode(), re.DOTALL)
    assert text
    return html.unescape(text[1])


@pytest.mark.parametrize("first", [".xlsx", ".csv"])
@pytest.mark.parametrize("second", [".xlsx", ".csv"])
@needs_office
def test_saved_by_libreoffice(first: str, second: str, filled: Filled, tmp_path: Path) -> None:
    sheet = filled(NEW, ["afrixnli/system"])
    path, out = tmp_path / f"sheet{first}", tmp_path / "out"
    path.write_bytes(sheet_bytes(sheet, path))
    form = f"csv:{COMMAS_UTF8}" if second == ".csv" else "xlsx"
    options = ["--headless", f"-env:UserInstallation=file://{tmp_path}/profile", "--convert-to", form]
    options += [f"--infilter={COMMAS_UTF8}"] if first == ".csv" else []
    subprocess.run([str(OFFICE), *options, "--outdir", out, path], check=True, capture_output=True, timeout=120)
    assert said(read_sheet(out / f"sheet{second}")) == said(sheet)


@needs_browser
def test_saved_by_a_browser(filled: Filled, tmp_path: Path) -> None:
    sheet = filled(NEW, ["afrixnli/system"])
    sheet = replace(sheet, rows=[replace(r, comment="ok, 'so'") if r.verdict == "ok" else r for r in sheet.rows])
    values = {"REVIEWER": sheet.reviewer, "DIALECT": sheet.dialect, "ROWS": [vars(r) for r in sheet.rows if r.verdict]}
    script = FILL_IN
    for name, value in values.items():
        script = script.replace(name, json.dumps(value), 1)
    empty = replace(sheet, reviewer="", dialect="", rows=[replace(r, verdict="", new="") for r in sheet.rows])
    saved = tmp_path / "review-yor.csv"
    saved.write_text(body(empty, tmp_path, script), encoding="utf-8")
    assert said(read_sheet(saved)) == said(sheet)


@needs_browser
def test_a_browser_shows_what_is_doubtful(filled: Filled, tmp_path: Path) -> None:
    sheet = filled(NEW, ["afrixnli/system"])
    shown = body(replace(sheet, rows=[replace(sheet.rows[0], doubt="Rare in texts.")]), tmp_path)
    assert "Rare in texts." in shown
