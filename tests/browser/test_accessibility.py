"""axe-core finds nothing on any page or in any view; in dark colours, and on a narrow screen, what these change."""

from pathlib import Path
from typing import Literal

import pytest
from tests.browser.conftest import NARROW, WIDTH, Open

pytestmark = pytest.mark.browser
LOOKS: list[tuple[Literal["light", "dark"], int, list[str]]] = [
    ("light", WIDTH, []),  # all rules
    ("dark", WIDTH, ["color-contrast"]),
    ("light", NARROW, ["scrollable-region-focusable", "target-size"]),
]
# axe takes long, also for what is hidden. All that opens is opened; of what is alike, some is enough.
ALIKE = ".sample ~ .sample, .run ~ .run, .samples ~ .samples ~ .samples, details > .table ~ .table ~ .table, \
tbody tr:not([class]) ~ tr:not([class]) ~ tr:not([class])"
OPEN = f"""for (const one of document.querySelectorAll("{ALIKE}")) one.remove();
for (const one of document.querySelectorAll("details")) one.open = true;"""
TAKE_AWAY = """() => {
  window.taken = [...document.querySelectorAll("main *")]
    .filter((one) => !one.checkVisibility() && one.parentElement.checkVisibility())
    .map((one) => { const place = document.createComment(""); one.replaceWith(place); return [place, one]; });
}"""
PUT_BACK = "() => { for (const [place, one] of window.taken) place.replaceWith(one); }"


def test_no_view_of_a_page_has_a_violation(
    report_file: Path, judged_file: Path, site_folder: Path, open_page: Open
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    pages = [min((site_folder / folder).glob("*.html")) for folder in ("", "tasks", "languages", "models")]
    for path in (report_file, judged_file, *pages):
        page = open_page(path, "#language=hau")  # a filter makes views smaller
        page.evaluate(OPEN)
        ids = page.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
        assert len(ids) == len({*ids})
        views = page.locator("nav a", has_text="Judged" if path == judged_file else None).all() or [page.locator("h1")]
        for view in views if path == report_file else [views[0], *views[1:][-2:]]:  # averages are alike
            view.click()
            page.evaluate(TAKE_AWAY)
            for theme, width, rules in LOOKS if path in (report_file, judged_file) else LOOKS[:1]:
                page.emulate_media(color_scheme=theme)
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, "tables scroll, not the page"
                found = axe.run(page, options={"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {}))
                assert not found.violations_count, f"{path.name}, {view.inner_text()}: {found.generate_report()}"
            page.set_viewport_size({"width": WIDTH, "height": 900})
            page.evaluate(PUT_BACK)
