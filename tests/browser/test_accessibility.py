"""axe-core finds nothing in any view, in light and dark."""

from pathlib import Path

import pytest
from tests.browser.conftest import NARROW, WIDTH, Open

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser-axe")]


@pytest.mark.parametrize(("theme", "width"), [("light", WIDTH), ("dark", WIDTH), ("light", NARROW)])
def test_no_view_has_a_violation(report_file: Path, open_page: Open, theme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(report_file, width=width, color_scheme=theme)
    for view in page.locator("nav a").all():
        view.click()
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found = axe.run(page)
        assert not found.violations_count, f"{view.inner_text()}: {found.generate_report()}"
