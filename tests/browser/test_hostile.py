"""Text of data, models and tasks that a browser would obey shows as text: no script runs, nothing is loaded."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.analysis.cells import scored
from tests.browser.conftest import NARROW, WIDTH, Open
from tests.hostile import ATTACKS, CONTROLS, HOSTILE, is_dangerous
from tests.report.html.small_runs import small_run

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.published_files import PublishedRow
from afrieval.cli.main import main
from afrieval.exchange.discovery import read_inputs
from afrieval.report.html.report import report

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
TEXT = " ".join(ATTACKS) + HOSTILE + "&amp;&lt;b&gt;" + "\x00" + "ሀ" * 3000 + "W" * 3000
NAME = f"{ATTACKS[0]}{ATTACKS[3]}{ATTACKS[4]}{CONTROLS}{'m' * 300}"


def check(path: Path, open_page: Open, *shown: str) -> "Page":
    """Looks through all views on a narrow screen; `open_page` looks for dialogs, requests and errors."""
    page = open_page(path, width=NARROW)
    for link in page.locator("nav a").all():
        link.click()
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW, link.inner_text()
    text = page.locator("body").evaluate("one => one.textContent")
    assert all(part in text for part in shown)
    assert not {c for c in text if is_dangerous(c)}
    assert page.locator("img, iframe, base, object, embed, link, [style], body script ~ script").count() == 0
    assert page.locator("script").count() == 1 and page.locator("meta[http-equiv]").count() == 1
    assert page.evaluate(
        """[...document.querySelectorAll("*")].every((one) => [...one.attributes].every((a) => !/^on/i.test(a.name)))"""
    )
    return page


def test_questions_answers_and_models_are_text(tmp_path: Path, open_page: Open) -> None:
    runs = [
        small_run(tmp_path / f"<img src=x onerror=alert(8)>{at}", name, at, question=TEXT, prompts=2)
        for at, name in enumerate((NAME, "m"))
    ]
    for path in (path for run in runs for path in run.glob("samples_*")):  # subjects and labels are from data, too
        text = path.read_text(encoding="utf-8").replace('"even"', json.dumps(f"{ATTACKS[4]}{HOSTILE}"))
        path.write_text(text.replace('"neutral"', json.dumps(ATTACKS[2])), encoding="utf-8")
    path = tmp_path / "report<b>&#.html"
    path.write_bytes(report(read_inputs(runs), title=ATTACKS[1]))
    page = check(path, open_page, *ATTACKS, "onerror=alert(8)")
    page.get_by_role("link", name="Overview").click()
    page.set_viewport_size({"width": WIDTH, "height": 900})
    page.get_by_role("combobox", name="Model").select_option(index=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    for _ in range(2):
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        rows = page.locator(".matrix.open tbody tr:visible").all_inner_texts()
        assert {ATTACKS[0] in text for text in rows} == {True}, "a filter finds it by its name"
        page.reload()


def test_tasks_and_fields_and_published_models_are_text(tmp_path: Path, open_page: Open) -> None:
    cells = [
        replace(
            scored([1.0, 0.0] * 8, task=f"{ATTACKS[1]}{NAME}", language=code, prompt=prompt, model=f"{ATTACKS[2]}{at}"),
            prompt_language=kind,
        )
        for code in ("yor", "hau")
        for at in ("\ud800", "b")  # half a character of UTF-16
        for kind in ("eng", "native")
        for prompt in (1, 2)
    ]
    scores = {"yor": 40.0, "hau": 30.0, "W" * 3000: 20.0}
    row = PublishedRow(ATTACKS[3], f"{NAME}{ATTACKS[5]}", ATTACKS[6], None, scores, None, 0)
    path = tmp_path / "report.html"
    path.write_bytes(report(Inputs([], cells, [row])))
    check(path, open_page, ATTACKS[1], ATTACKS[2], ATTACKS[5], r"\ud800")


def test_a_megabyte_of_text_or_of_a_name_is_shortened(tmp_path: Path, open_page: Open) -> None:
    own = read_inputs([small_run(tmp_path / "run", question="<p>" + "ab " * 350_000)]).run_cells
    rows = [PublishedRow("afrixnli", "W" * 1_000_000, "1", None, {"yor": 40.0, "hau": 30.0}, None, 0)]
    cells = [scored([1.0, 0.0] * 8, language=code, model=m) for code in ("yor", "hau") for m in ("b\n" * 99_999, "c")]
    path = tmp_path / "report.html"
    path.write_bytes(content := report(Inputs(own, cells, rows)))
    assert len(content) < 2_000_000
    check(path, open_page, "characters are not shown")


def test_models_of_a_leaderboard_are_text(tmp_path: Path, open_page: Open) -> None:
    small_run(tmp_path / "results/run", f"{ATTACKS[2]}{NAME}")
    with (tmp_path / "results/afrixnli-0shot.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["model", "prompt", "hau", "yor"], [f"../{ATTACKS[3]}{ATTACKS[5]}", "p_1", 60, 50]])
    assert main(["leaderboard", str(tmp_path / "results"), "-o", str(tmp_path / "site")]) == 0
    pages = list((tmp_path / "site/models").glob("*.html"))
    assert len(pages) == 2
    for path in pages:
        check(path, open_page)
    page = check(tmp_path / "site/index.html", open_page, ATTACKS[2], ATTACKS[3], ATTACKS[5])
    page.locator("nav a").first.click()
    page.locator("main section:visible a", has_text=ATTACKS[3]).first.click()
    assert ATTACKS[3] in page.locator("h1").inner_text()


def test_piles_of_combining_marks_stay_in_their_place(tmp_path: Path, open_page: Open) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(report(read_inputs([small_run(tmp_path / "run", question="e" + "\u0301" * 2000)])))
    page = open_page(path, "#view=languages&language=yor")
    top = page.screenshot(clip={"x": 0, "y": 0, "width": 800, "height": 300})
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.screenshot(clip={"x": 0, "y": 0, "width": 800, "height": 300}) == top
