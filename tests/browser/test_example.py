"""The example of docs/report.md: its commands run, and the page has what it says."""

import re
import shlex
from pathlib import Path

import pytest
from tests.browser.conftest import Open
from tests.conftest import ROOT, Cli

pytestmark = pytest.mark.browser


@pytest.fixture
def example(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The report of the demo run, as the first commands of the page make it, of fewer documents."""
    text = (ROOT / "docs/report.md").read_text(encoding="utf-8")
    (block, *_) = re.findall(r"(?m)(?:^    .*\n)+", text)
    commands = [shlex.split(line, comments=True) for line in block.replace("\\\n", " ").splitlines()]
    monkeypatch.chdir(tmp_path)
    for program, name, *words in commands:
        assert program == "afrieval"
        outcome = cli(name, *words, *(["--eval.limit", "2"] if name == "run" else []))
        assert outcome.code == 0, outcome.err
    return tmp_path / "report.html"


def test_the_example_of_the_page_is_built_and_has_all_views(example: Path, open_page: Open) -> None:
    page = open_page(example)
    titles = page.locator("nav a").all_inner_texts()
    described = re.findall(r"(?m)^\| (\w[\w ]*) \| ", (ROOT / "docs/report.md").read_text(encoding="utf-8"))
    assert titles == [title for title in described if title != "view"]
    for link in page.locator("nav a").all():
        link.click()
        assert page.locator("section.view:visible").inner_text().count("\n") > 5
