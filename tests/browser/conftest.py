"""A browser, and pages in it: nothing may be loaded, no script may fail, and no dialog may open."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.report.html.small_runs import small_run
from tests.report.judged_runs import GIVEN, judged_run

from afrieval.cli.main import main
from afrieval.exchange.discovery import read_inputs
from afrieval.report.html.report import report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

Open = Callable[..., "Page"]
NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDTH, NARROW = 1280, 390
MODELS = {"small": 0, "google/gemma-3-4b-it": 1}


@pytest.fixture(scope="session")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two models with two prompts in each prompt language."""
    folder = tmp_path_factory.mktemp("report")
    runs = [small_run(folder / str(at), name, at, prompts=2) for name, at in MODELS.items()]
    path = folder / "report.html"
    path.write_bytes(report(read_inputs(runs)))
    return path


@pytest.fixture(scope="session")
def judged_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of judged answers."""
    folder = tmp_path_factory.mktemp("judged")
    path = folder / "report.html"
    path.write_bytes(report(read_inputs([judged_run(folder / "run", GIVEN)])))
    return path


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A leaderboard of the same runs, and a published table."""
    folder = tmp_path_factory.mktemp("site")
    for at, (name, picks) in enumerate(MODELS.items()):
        small_run(folder / "results" / str(at), name, picks)
    table = "model,prompt,hau,yor,avg\ngpt-4o,prompt_1,60.1,55.2,57.65\ngpt-4o,prompt_2,61.0,50.0,55.5\n"
    (folder / "results/afrixnli-0shot.csv").write_text(table, encoding="utf-8")
    assert main(["leaderboard", str(folder / "results"), "-o", str(folder / "site")]) == 0
    return folder / "site"


@pytest.fixture(scope="module")  # not longer, since no event loop can be started while it is there
def browser() -> "Iterator[Browser]":
    """Debian's Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"none of {', '.join(NAMES)} is installed")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def watch(page: "Page", problems: list[str]) -> None:
    """Notes what no page may do: fail, open a dialog, or load anything but itself and pages that a link leads to."""

    def dismiss(dialog: "Dialog") -> None:
        problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def allow(request: "Request") -> None:
        if not request.is_navigation_request() or not request.url.startswith("file:"):
            problems.append(f"request: {request.url}")

    page.on("console", lambda message: problems.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("dialog", dismiss)
    page.on("request", allow)


@pytest.fixture(scope="module")
def window(browser: "Browser") -> "tuple[Page, list[str]]":
    """A page that all tests of a module use, since a new one takes long, and what it has done that it may not."""
    page, problems = browser.new_page(), list[str]()
    watch(page, problems)
    return page, problems


@pytest.fixture
def open_page(window: "tuple[Page, list[str]]") -> Iterator[Open]:
    """Returns a function that opens a file as if for the first time, and checks in the end what the page has done."""
    page, problems = window

    def opened(path: Path, state: str = "", width: int = WIDTH, **media: Any) -> "Page":
        if page.url.startswith("file:"):
            page.evaluate("localStorage.clear()")
            page.goto("about:blank")  # a change of the state alone would not load the file again
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(**{"media": "null", "color_scheme": "null", "forced_colors": "null"} | media)
        page.goto(f"{path.as_uri()}{state}")
        return page

    yield opened
    found = [*problems]
    problems.clear()
    assert not found, found
