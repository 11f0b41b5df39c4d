"""Sheets survive the programs that speakers use; the issue form asks for what a sheet asks for."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import ROOT
from tests.tools.review.conftest import Filled

from afrieval.tasks.prompts.reviews import VERDICTS
from afrieval.tools.review.sheet import Sheet, SheetRow, read_sheet, sheet_bytes

OFFICE = shutil.which("soffice")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
NEW = {"words/neither": '=Kò sí, "ìkankan"', "afrimgsm/1/template": "- Ìbéèrè: {{ question }}\nÌdáhùn:"}
needs_office = pytest.mark.skipif(OFFICE is None, reason="LibreOffice is not installed")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
COMMAS_UTF8 = "Text - txt - csv (StarCalc):44,34,76,1"  # what its dialogs offer for such a file
# The file that is saved becomes the page's text.
SAVED = "URL.createObjectURL = of => { of.text().then(text => { document.body.textContent = text; }); return '#'; };"
FILL_IN = """
[heads[0].value, heads[1].value] = [REVIEWER, DIALECT];
for (const row of ROWS) {
  const p = parts(cards.find(card => card.dataset.id === row.id));
  for (const radio of p.radios) radio.checked = radio.value === row.verdict;
  p.area.value = row.new;
  p.typed.find(input => input.dataset.column === "comment").value = row.comment;
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


def body(page: Path, script: str = "") -> str:
    """Returns the body of a page after its own script, and then another one, were run."""
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</script>", f"{SAVED}{script}</script>"), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    shown = subprocess.run([str(BROWSER), *options, page.as_uri()], check=True, capture_output=True, timeout=120)
    found = re.search(r"<body>(.*)</body>", shown.stdout.decode(), re.DOTALL)
    assert found
    return html.unescape(found[1])


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
    page = tmp_path / "sheet.html"
    page.write_bytes(sheet_bytes(empty, page))
    saved.write_text(body(page, script), encoding="utf-8")
    assert said(read_sheet(saved)) == said(sheet)


@needs_browser
def test_a_browser_shows_what_is_doubtful(filled: Filled, tmp_path: Path) -> None:
    sheet = filled(NEW, ["afrixnli/system"])
    page = tmp_path / "sheet.html"
    page.write_bytes(sheet_bytes(replace(sheet, rows=[replace(sheet.rows[0], doubt="Rare in texts.")]), page))
    assert "Rare in texts." in body(page)


# GitHub's schema of issue forms: what each kind of element must and may have.
TEXT = {"label", "description", "placeholder", "value"}
ATTRIBUTES = {
    "markdown": ({"value"}, {"value"}),
    "input": ({"label"}, TEXT),
    "textarea": ({"label"}, TEXT | {"render"}),
    "dropdown": ({"label", "options"}, {"label", "description", "multiple", "options", "default"}),
}


def form() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/review.yml").read_text(encoding="utf-8"))
    return content


def test_github_accepts_it() -> None:
    content = form()
    assert {"name", "description", "body"} <= {*content} <= {"name", "description", "title", "labels", "body"}
    for element in content["body"]:
        needed, known = ATTRIBUTES[element["type"]]
        assert needed <= {*element["attributes"]} <= known
        assert {*element} <= {"type", "id", "attributes", "validations"}
        assert element["type"] == "markdown" or re.fullmatch(r"[\w-]+", element["id"])
        assert {*element.get("validations", {})} <= {"required"}
    for what in ("id", "label"):
        names = [e.get(what) or e["attributes"].get(what) for e in content["body"] if e["type"] != "markdown"]
        assert len({*names}) == len(names)


def test_it_has_the_fields_of_a_sheet() -> None:
    fields = {element.get("id"): element for element in form()["body"]}
    assert {"language", "id", "verdict", "new_text", "comment", "dialect", "reviewer"} <= {*fields}
    assert fields["verdict"]["attributes"]["options"] == [*VERDICTS]
