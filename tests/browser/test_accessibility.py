"""axe-core finds nothing on any page or in any view; in dark colours, and on a narrow screen, what these change."""

from pathlib import Path
from typing import Any

import pytest
from tests.browser.conftest import NARROW, WIDTH, Open

pytestmark = pytest.mark.browser
COLOURS, ROOM = ({"runOnly": rules} for rules in (["color-contrast"], ["scrollable-region-focusable", "target-size"]))
# What opens is alike, and axe takes long: some of it is enough.
OPEN = """[...document.querySelectorAll("details")].filter((one) => one.checkVisibility()).slice(0, 4)
  .forEach((one) => { one.open = true; })"""


@pytest.mark.parametrize(
    ("theme", "width", "rules"),
    [("light", WIDTH, {}), ("dark", WIDTH, COLOURS), ("light", NARROW, ROOM)],
    ids=["all", "dark", "narrow"],
)
def test_no_view_of_a_page_has_a_violation(
    report_file: Path, site_folder: Path, open_page: Open, theme: str, width: int, rules: dict[str, Any]
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    pages = [min((site_folder / folder).glob("*.html")) for folder in ("", "tasks", "languages", "models")]
    for path in (report_file, *(pages if not rules else ())):
        page = open_page(path, "#language=hau", width=width, color_scheme=theme)  # a filter makes views smaller
        views = page.locator("nav a").all() or [page.locator("h1")]
        for view in views if path == report_file else [views[0], *views[1:][-2:]]:  # averages are alike
            view.click()
            page.evaluate(OPEN)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, "tables scroll, not the page"
            found = axe.run(page, options=rules)
            assert not found.violations_count, f"{path.name}, {view.inner_text()}: {found.generate_report()}"
