"""axe-core finds nothing on any page or in any view; in dark colours, and on a narrow screen, what these change."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser.conftest import NARROW, WIDTH, Open

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
COLOURS, ROOM = ({"runOnly": rules} for rules in (["color-contrast"], ["scrollable-region-focusable", "target-size"]))
# What opens is alike, and axe takes long: some of it is enough.
OPEN = """[...document.querySelectorAll("details")].filter((one) => one.checkVisibility()).slice(0, 4)
  .forEach((one) => { one.open = true; })"""
SETTINGS = pytest.mark.parametrize(
    ("theme", "width", "rules"),
    [("light", WIDTH, {}), ("dark", WIDTH, COLOURS), ("light", NARROW, ROOM)],
    ids=["all", "dark", "narrow"],
)


def check(page: "Page", rules: dict[str, Any], name: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    page.evaluate(OPEN)
    found = axe.run(page, options=rules)
    assert not found.violations_count, f"{name}: {found.generate_report()}"


@SETTINGS
def test_no_view_has_a_violation(
    report_file: Path, open_page: Open, theme: str, width: int, rules: dict[str, Any]
) -> None:
    page = open_page(report_file, width=width, color_scheme=theme)
    for link in page.locator("nav a").all():
        link.click()
        check(page, rules, link.inner_text())


@SETTINGS
def test_no_page_of_a_leaderboard_has_a_violation(
    site_folder: Path, open_page: Open, theme: str, width: int, rules: dict[str, Any]
) -> None:
    for folder in ("", "tasks", "languages", "models"):
        path = min((site_folder / folder).glob("*.html"))
        check(open_page(path, width=width, color_scheme=theme), rules, path.name)
