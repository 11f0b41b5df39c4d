"""A registry has entries of the suite, of packages and of a user's file; what is wrong with one names its file."""

import sys
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import pytest

from afrieval._util.errors import UserError
from afrieval._util.registry import Registry, module_of_file

GROUP = "afrieval.toys"


def registry() -> Registry[object]:
    return Registry("toy", GROUP, {"path": "pathlib:Path", "one": 1}, needs=["joinpath"], kind=int)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yields the folder of an installed package with four entries, of which one is right."""
    points = "good = toys:good\nbare = toys:bare\ngone = toys:gone\nbroken = broken_toys:toy\n"
    for name in ("toys", "more_toys"):
        (tmp_path / f"{name}-1.dist-info").mkdir()
        (tmp_path / f"{name}-1.dist-info/METADATA").write_text(f"Name: {name}\nVersion: 1\n")
    (tmp_path / "toys-1.dist-info/entry_points.txt").write_text(f"[{GROUP}]\n{points}twice = toys:good\n")
    (tmp_path / "more_toys-1.dist-info/entry_points.txt").write_text(f"[{GROUP}]\ntwice = toys:good\n")
    (tmp_path / "toys.py").write_text("import pathlib\n\ngood = pathlib.PurePath\nbare = 3\n")
    (tmp_path / "broken_toys.py").write_text("import json\n\ntoy = 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("toys", "broken_toys"):
        sys.modules.pop(name, None)


def test_entries_are_imported_when_they_are_used() -> None:
    toys = Registry[object]("toy", GROUP, {"path": "pathlib:Path", "wrong": "no_such_module:x"})
    assert [*toys] == ["path", "wrong"] and "path" in toys and "other" not in toys
    assert toys["path"] is Path
    with pytest.raises(ModuleNotFoundError):
        toys["wrong"]


def test_an_unknown_name() -> None:
    with pytest.raises(UserError, match=r"there is no toy 'pth' \(did you mean path\?\)"):
        registry()["pth"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bare", "the toy bare of the package toys has no joinpath"),
        ("gone", r"the toy gone of the package toys is missing: .*toys.py has no gone"),
        ("broken", r"of the package toys cannot be imported: .*broken_toys.py, line 3: ZeroDivisionError: division"),
        ("twice", r"the toy twice is in the packages (toys and more_toys|more_toys and toys)"),
    ],
)
def test_entries_of_other_packages(package: Path, name: str, message: str) -> None:
    toys = registry()
    assert {*toys} == {"path", "one", "good", "bare", "gone", "broken", "twice"}
    assert toys["good"] is PurePath and toys["path"] is Path
    with pytest.raises(UserError, match=message):
        toys[name]


def test_an_entry_that_raises_is_named_with_its_line_and_row(tmp_path: Path) -> None:
    path = tmp_path / "toys.py"
    path.write_text(
        "def toy() -> int:\n    return 1 // 0\n\n\ndef _hidden() -> int: ...\n\n\ndef other() -> str: ...\n"
    )
    toys = registry().with_file(path, "write one")
    assert [*toys] == ["path", "one", "toy"] and toys.of_file == ["toy"] and "toy" not in registry()
    toy: Any = toys["toy"]
    with (
        pytest.raises(UserError, match=rf"{path}, line 2: ZeroDivisionError: .*, in the toy toy for row 3"),
        toys.calling("toy", "for row 3"),
    ):
        toy()
    with pytest.raises(UserError, match=rf"{path}, line 8: other is not marked as a function that returns int"):
        toys["other"]
    with pytest.raises(UserError, match="defines toy, a toy of the suite"):
        toys.with_file(path, "write one")
    path.write_text("x = 1\n")
    with pytest.raises(UserError, match=r"defines no toy \(write one\)"):
        registry().with_file(path, "write one")


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    path = tmp_path / "toys.py"
    for text, message in {"x = 1\ny = x.z\n": "line 2: AttributeError", "def f(:\n": "line 1: SyntaxError"}.items():
        with pytest.raises(UserError, match=message):
            module_of_file(path, text)
