"""The leaderboard in a browser: pages, links between them, filters and data."""

from pathlib import Path

import pytest
from tests.browser.conftest import NARROW, Open
from tests.report.html.small_runs import small_run

from afrieval.cli.main import main

pytestmark = pytest.mark.browser


def test_links_lead_from_the_index_to_all_pages_and_back(site_folder: Path, open_page: Open) -> None:
    page = open_page(site_folder / "index.html")
    addresses = set(page.locator("a[href$='.html']").evaluate_all("all => all.map((one) => one.href)"))
    kinds = {address.rsplit("/", 2)[1] for address in addresses}
    assert {"tasks", "languages", "models"} <= kinds
    for address in sorted(addresses):
        page.goto(address)
        assert page.locator("h1").is_visible()
        page.get_by_role("link", name="Leaderboard").click()
        assert page.url.endswith("index.html")


def test_published_scores_are_marked(site_folder: Path, open_page: Open) -> None:
    page = open_page(site_folder / "index.html")
    row = page.locator("tbody tr", has_text="gpt-4o").first
    assert "published" in page.locator("main").inner_text() and row.get_attribute("class") == "faint"


def test_averages_are_chosen_by_name_and_filtered(site_folder: Path, open_page: Open) -> None:
    page = open_page(site_folder / "index.html")
    views = page.locator("nav a").all()
    assert len(views) > 1
    for link in views:
        link.click()
        assert page.locator("section.view:visible").count() == 1
    views[0].click()
    page.get_by_role("combobox", name="Model").select_option("small")
    assert {text.strip() for text in page.locator("tbody th:visible").all_inner_texts()} == {"small"}


@pytest.mark.parametrize("folder", ["", "tasks", "languages", "models"])
def test_a_narrow_screen_scrolls_tables_not_the_page(site_folder: Path, open_page: Open, folder: str) -> None:
    page = open_page(min((site_folder / folder).glob("*.html")), width=NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("folder", ["", "tasks", "languages", "models"])
def test_axe_finds_nothing(site_folder: Path, open_page: Open, folder: str, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(min((site_folder / folder).glob("*.html")), color_scheme=theme)
    for view in page.locator("nav a").all() or [page.locator("h1")]:
        view.click()
        found = axe.run(page)
        assert not found.violations_count, f"{view.inner_text()}: {found.generate_report()}"


def test_a_name_that_is_markup_is_text(tmp_path: Path, open_page: Open) -> None:
    small_run(tmp_path / "runs/a", "<img src=x onerror=alert(1)>\u202e")
    assert main(["leaderboard", str(tmp_path / "runs"), "-o", str(tmp_path / "site")]) == 0
    page = open_page(tmp_path / "site/index.html")
    page.locator("main a", has_text="<img src=x onerror=alert(1)>\\u202e").first.click()
    assert page.locator("h1").inner_text() == "<img src=x onerror=alert(1)>\\u202e"
    assert page.locator("main img").count() == 0
