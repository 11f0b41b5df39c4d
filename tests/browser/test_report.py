"""The report in a browser: views, filters, links, sorting, themes, keyboard."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browser.conftest import Open

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
HEAT = "table.matrix:not(.open)"


def seen(page: "Page", selector: str) -> list[str]:
    """The texts of elements that can be seen."""
    return [one.inner_text().strip() for one in page.locator(selector).all() if one.is_visible()]


def check_view(page: "Page", name: str) -> None:
    """Checks which view is shown, as soon as the browser has followed a link."""
    from playwright.sync_api import expect

    expect(page.locator("h2:visible")).to_have_text(name)


def opened(page: "Page") -> "Page":
    """The page with all that is one click deeper."""
    page.locator("details.behind").evaluate_all("all => all.forEach((one) => { one.open = true })")
    return page


def test_it_opens_from_disk_and_says_who_is_best(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file)
    check_view(page, "Overview")
    assert page.title() == "Overview - Evaluation report"
    assert [text.split(":")[0] for text in seen(page, ".findings li")] == [
        "*",  # prompts that nobody has reviewed
        "No score is above chance in Hausa and Yoruba.",
    ]
    assert "mean of 2 languages" in page.locator(".summary tbody tr:visible").inner_text()
    page.get_by_role("combobox", name="Language").select_option("hau")
    assert "Hausa, accuracy, n = 8" in page.locator(".summary tbody tr:visible").inner_text()
    page.locator(".findings").get_by_role("link", name="Hausa").click()
    check_view(page, "Languages")
    assert page.get_by_role("combobox", name="Language").input_value() == "hau"


def test_what_stands_on_top_follows_the_filters(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file)
    rows = page.locator(".summary tbody tr:visible")
    best = rows.locator(".side").inner_text()
    other = next(name for name in ("small", "google/gemma-3-4b-it") if name not in best)
    page.get_by_role("combobox", name="Model").select_option(other)
    assert rows.count() == 1 and other in rows.locator(".side").inner_text()
    page.goto(f"{report_file.as_uri()}#view=languages")
    assert seen(page, "section.language h3") == [], "a language is chosen first"


def test_links_go_to_views_and_back(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file)
    page.get_by_role("link", name="Native prompts").click()
    check_view(page, "Native prompts")
    assert page.locator("nav a[aria-current=page]").inner_text() == "Native prompts"
    page.get_by_role("link", name="Prompts", exact=True).click()
    check_view(page, "Prompts")
    page.go_back()
    check_view(page, "Native prompts")
    page.go_back()
    check_view(page, "Overview")


def test_filters_hide_what_is_about_something_else(report_file: Path, open_page: Open) -> None:
    page = opened(open_page(report_file))
    page.get_by_role("combobox", name="Language").select_option(label="Hausa")
    assert page.url.endswith("language=hau")
    assert set(seen(page, f"{HEAT} tbody tr:not(.group) th")) == {"Hausa"}
    assert set(seen(page, f"{HEAT} .group")) == {"Afro-Asiatic"}
    assert "row" in page.get_by_role("status").inner_text()
    page.get_by_role("combobox", name="Model").select_option("small")
    assert seen(page, f"{HEAT} thead th:not(:first-child)") == ["small", "small*"]  # English and native prompts
    page.get_by_role("combobox", name="Family").select_option("Niger-Congo")
    assert seen(page, HEAT) == [] and page.locator("#nothing").is_visible() is False  # models x tasks stay
    page.get_by_role("button", name="Show all").click()
    assert set(seen(page, f"{HEAT} tbody tr:not(.group) th")) == {"Hausa", "Yoruba"}
    assert page.get_by_role("status").inner_text() == ""


def test_a_filtered_view_is_a_link(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file, "#view=native&language=yor&model=small")
    check_view(page, "Native prompts")
    opened(page)
    assert set(seen(page, "section.table:not(:has(.matrix)) tbody th")) == {"Yoruba*"}
    assert page.get_by_role("combobox", name="Language").input_value() == "yor"
    page.get_by_role("link", name="Overview").click()
    check_view(page, "Overview")
    opened(page)
    assert "language=yor" in page.url and set(seen(page, f"{HEAT} tbody tr:not(.group) th")) == {"Yoruba"}
    page = open_page(report_file, "#view=nonsense&language=xx%22%3E&color=1")
    check_view(page, "Overview")
    assert page.get_by_role("combobox", name="Language").input_value() == "", "an unknown state shows everything"
    page = open_page(report_file, "#view=prompts&language=hau&family=Niger-Congo")
    assert page.locator("#nothing").is_visible()


def test_columns_sort_numbers_and_words_both_ways(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file, "#view=prompts")
    table = page.locator("table.sortable:visible").first
    column = table.locator("thead th").all_inner_texts().index("mean")
    cells = table.locator(f"tbody tr > :nth-child({column + 1})")
    page.get_by_role("button", name="mean").click()
    numbers = [float(text) for text in cells.all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True) and len(set(numbers)) > 1
    page.get_by_role("button", name="mean").click()
    assert [float(text) for text in cells.all_inner_texts()] == sorted(numbers)
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="language", exact=True).click()
    names = table.locator("tbody th").all_inner_texts()
    assert names == sorted(names) and table.locator("th[aria-sort]").count() == 1


def test_rows_of_a_heat_map_are_sorted_inside_their_family(report_file: Path, open_page: Open) -> None:
    page = opened(open_page(report_file))
    table = page.locator(HEAT).first
    table.get_by_role("button").nth(1).click()
    assert table.locator("tbody .group ~ tr").count() == 2  # each family's name is still first


def test_intervals_are_shown_on_request(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file)
    assert not page.get_by_label("Intervals").is_visible()
    opened(page)
    interval = page.locator(f"{HEAT} td .ci").first
    assert not interval.is_visible()
    page.get_by_label("Intervals").check()
    assert interval.is_visible() and "intervals=shown" in page.url
    page.go_back()
    interval.wait_for(state="hidden")


def background(page: "Page") -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_the_theme_is_the_systems_until_it_is_chosen(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file, color_scheme="dark")
    dark = background(page)
    page.get_by_role("button", name="Light colours").click()
    assert background(page) == "rgb(255, 255, 255)" != dark
    page.wait_for_timeout(300)  # what is stored reaches the browser later than the page
    page.reload()
    assert background(page) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark colours").click()
    assert background(page) == dark
    assert background(open_page(report_file, color_scheme="light")) == "rgb(255, 255, 255)"


def test_everything_is_reached_by_keyboard(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file)
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    assert skip.evaluate("one => one === document.activeElement && one.getBoundingClientRect().left >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main" and page.url.endswith(".html")
    stops = []
    opened(page)
    page.locator(".skip").focus()
    while page.evaluate("document.activeElement !== document.body"):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                """() => { const one = document.activeElement, style = getComputedStyle(one);
                return [one.name || one.innerText.trim(), style.outlineStyle, one.getClientRects().length > 0]; }"""
            )
        )
    names = [name for name, _, _ in stops]
    assert {"Dark colours", "Overview", "Native prompts", "Prompts", "language", "model", "intervals"} <= set(names)
    assert {"Show all", "How to read this", "afrixnli: all languages"} <= set(names)
    assert [name for name, outline, is_seen in stops[:-1] if outline == "none" or not is_seen] == []  # the last is none
    page.locator("nav a", has_text="Native").focus()
    page.keyboard.press("Enter")
    check_view(page, "Native prompts")


def test_without_script_everything_is_shown(report_file: Path, browser: "Browser") -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(report_file.as_uri())
    assert {"Overview", "Native prompts", "Prompts"} <= set(page.locator("h2:visible").all_inner_texts())
    assert not page.locator("form").is_visible()
    page.get_by_role("link", name="Hausa").first.click()
    place = page.locator("section.language[data-language=hau]").bounding_box()
    assert place and abs(place["y"]) < 60


def test_print_has_the_view_and_no_controls(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file, "#view=prompts", color_scheme="dark")
    page.emulate_media(media="print")
    check_view(page, "Prompts")
    assert seen(page, "nav, form, #theme") == []
    assert page.locator(".wide:visible").first.evaluate("one => getComputedStyle(one).overflow") == "visible"
    assert background(page) == "rgb(255, 255, 255)" and page.pdf()[:5] == b"%PDF-"


def test_only_what_changes_the_view_is_offered(report_file: Path, open_page: Open) -> None:
    page = opened(open_page(report_file, "#view=overview&language=hau"))
    page.get_by_label("Intervals").wait_for(state="visible")
    page.get_by_role("link", name="Prompts", exact=True).click()
    check_view(page, "Prompts")
    assert page.locator("select[name=language]").is_visible() and not page.get_by_label("Intervals").is_visible()
    page.get_by_role("link", name="Runs").click()
    check_view(page, "Runs")
    assert page.locator("select[name=model]").is_visible() and not page.locator("select[name=language]").is_visible()
    page.get_by_role("link", name="Overview").click()
    check_view(page, "Overview")
    assert page.locator("select[name=language]").input_value() == "hau"


def test_the_current_view_is_told_from_others_in_forced_colours(report_file: Path, open_page: Open) -> None:
    page = open_page(report_file, forced_colors="active")
    colours = page.locator("nav a").evaluate_all("all => all.map((one) => getComputedStyle(one).borderBottomColor)")
    assert colours[0] not in colours[1:]


def test_averages_of_a_leaderboard_are_chosen_by_name_and_filtered(site_folder: Path, open_page: Open) -> None:
    page = open_page(site_folder / "index.html")
    views = page.locator("nav a").all()
    assert len(views) > 1
    for link in views:
        link.click()
        assert page.locator("section.view:visible").count() == 1
    views[0].click()
    page.get_by_role("combobox", name="Model").select_option("small")
    assert {text.strip() for text in page.locator("tbody th:visible").all_inner_texts()} == {"small"}
