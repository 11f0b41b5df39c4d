"""A checkout to change, and sheets filled in by a script."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.conftest import ROOT

from afrieval.tools.review.generated import pages
from afrieval.tools.review.read import PARTS
from afrieval.tools.review.sheet import Sheet, sheet_of

Filled = Callable[..., Sheet]
PAGES: dict[Path, str] = {}
TASKS = ("afrihate", "afrimgsm", "afrimmlu", "afrixnli", "belebele")  # with fewer files, tests take a tenth of the time


def copied(root: Path) -> Path:
    """Returns a folder, now a copy of what a review may change in the checkout, of some tasks, without any review."""
    for name in (*(f"tasks/{task}" for task in TASKS), *PARTS[1:]):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, dirs_exist_ok=True)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, root / name)
    for path in (root / "reviews").glob("*.yaml"):
        path.unlink()
    if not PAGES:  # of these tasks alone
        PAGES.update(pages(root, ["yor"]))
    for page, text in PAGES.items():
        (root / page).write_text(text, encoding="utf-8", newline="")
    return root


def filled_in(
    root: Path,
    changed: Mapping[str, str],
    approved: list[str] | None,
    reviewer: str = "Ade Bello",
    language: str = "yor",
) -> Sheet:
    """Returns the sheet of a language as it is now, filled in.

    It takes the texts that are changed by id, and the ids of those that are approved; None approves all others.
    """
    sheet = sheet_of(root, language)
    rows = [replace(row, number=number) for number, row in enumerate(sheet.rows, 6)]
    for at, row in enumerate(rows):
        if row.id in changed:
            rows[at] = replace(row, verdict="change", new=changed[row.id])
        elif approved is None or row.id in approved:
            rows[at] = replace(row, verdict="ok")
    return replace(sheet, rows=rows, reviewer=reviewer, dialect="Ọ̀yọ́")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copied(tmp_path / "checkout")


@pytest.fixture
def filled(checkout: Path) -> Filled:
    return partial(filled_in, checkout)
