"""A checkout to change, and sheets filled in by a script."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import ROOT

from afrieval.tools.review.read import PARTS
from afrieval.tools.review.sheet import Sheet, sheet_of

Filled = Callable[..., Sheet]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Returns a copy of everything in the checkout that a review may change, without any review."""
    root = tmp_path / "checkout"
    for name in PARTS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, dirs_exist_ok=True)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, root / name)
    for path in (root / "reviews").glob("*.yaml"):
        path.unlink()
    return root


@pytest.fixture
def filled(checkout: Path) -> Filled:
    """Returns a function that fills in the sheet of a language as it is now.

    It takes the texts that are changed by id, and the ids of those that are approved; None approves all others.
    """

    def fill_in(
        changed: Mapping[str, str], approved: list[str] | None, reviewer: str = "Ade Bello", language: str = "yor"
    ) -> Sheet:
        sheet = sheet_of(checkout, language)
        rows = [replace(row, number=number) for number, row in enumerate(sheet.rows, 6)]
        for at, row in enumerate(rows):
            if row.id in changed:
                rows[at] = replace(row, verdict="change", new=changed[row.id])
            elif approved is None or row.id in approved:
                rows[at] = replace(row, verdict="ok")
        return replace(sheet, rows=rows, reviewer=reviewer, dialect="Ọ̀yọ́")

    return fill_in
