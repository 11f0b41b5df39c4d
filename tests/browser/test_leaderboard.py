"""The pages of a leaderboard in a browser: links from page to page, averages to choose from, narrow screens."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browser.conftest import NARROW, WIDTH, Open
from tests.pages.small_runs import small_run

from afrieval.analysis.boards import leaderboard
from afrieval.analysis.gathered import found_below, gathered
from afrieval.files.folders import replace_folder
from afrieval.pages.leaderboard import site

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser-leaderboard")]
TABLE = "model,prompt,hau,yor,swa\nother/model,prompt_1,40,50,60\nthird,prompt_1,80,85,86\n"
HOSTILE = "<img src=x onerror=alert(1)>\u202e"
PAGES = ["index.html", "tasks/afrixnli.html", "languages/hau.html", "models/first.html"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of three runs, one with a hostile name, and of published scores."""
    runs = tmp_path_factory.mktemp("runs")
    for at, name in enumerate(("first", "second/model", HOSTILE)):
        small_run(runs / str(at), name, at)
    (runs / "afrixnli-0shot.csv").write_text(TABLE)
    found = tmp_path_factory.mktemp("leaderboard") / "site"
    replace_folder(found, site(leaderboard(gathered(runs, found_below(runs)))), ".marker")
    return found


def headings(page: "Page") -> list[str]:
    return [one.inner_text() for one in page.locator("h2, h3").all() if one.is_visible()]


def test_averages_are_chosen_by_name(folder: Path, open_page: Open) -> None:
    page = open_page(folder / "index.html")
    assert "Average: tasks and African languages" in headings(page)
    page.get_by_role("link", name="AfroBench's average").click()
    assert headings(page)[:2] == ["AfroBench's average", "Average: AfroBench's rule"]
    page.get_by_role("link", name="Languages").click()
    assert headings(page) == ["Languages", "Best model in each language", "All models in each language"]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [WIDTH, NARROW])
def test_pages_open_from_disk_and_fit_the_screen(folder: Path, open_page: Open, name: str, width: int) -> None:
    page = open_page(folder / name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["index.html#view=languages", *PAGES])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(folder: Path, open_page: Open, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    path, _, state = name.partition("#")
    page = open_page(folder / path, f"#{state}" if state else "", color_scheme=scheme)
    found = axe.Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []


def test_filters_hide_other_models(folder: Path, open_page: Open) -> None:
    page = open_page(folder / "index.html")
    page.get_by_role("combobox", name="Model").select_option("first")
    names = {one.inner_text() for one in page.locator("tbody th").all() if one.is_visible()}
    assert names == {"first"}


def test_a_name_that_is_markup_is_text(folder: Path, open_page: Open) -> None:
    page = open_page(folder / "index.html")
    assert page.locator("main a", has_text="<img src=x onerror=alert(1)>\\u202e").count() > 0
    assert page.locator("main img").count() == 0
