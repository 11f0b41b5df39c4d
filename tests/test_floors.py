"""Each folder of the suite knows those below it, and none above: data goes down the line and does not come back up."""

import ast
from collections.abc import Iterator

from tests.conftest import ROOT

SRC = ROOT / "src/afrieval"
FLOORS = {"data": 0, "files": 0, "scoring": 0, "statistics": 0, "results": 1, "models": 1, "tasks": 2, "harness": 3}
FLOORS |= {"analysis": 3, "run": 4, "report": 4, "commands": 5}
# The harness takes seconds to import, and is asked for when a cell is built.
STEPS_UP = {("tasks/sources/templated.py", "harness.in_memory")}
SOURCES = ("tasks.sources.templated", "harness.cell", "harness.build", "harness.in_memory")


def imports(folder: str) -> Iterator[tuple[str, str]]:
    """Files of a folder, each with a module of the suite that it imports, anywhere in it."""
    for path in (SRC / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("afrieval."):
                yield path.relative_to(SRC).as_posix(), str(node.module).removeprefix("afrieval.")


def test_no_folder_imports_from_a_floor_above() -> None:
    assert set(FLOORS) <= {path.name for path in SRC.iterdir()}
    found = {
        (file, module)
        for folder, floor in FLOORS.items()
        for file, module in imports(folder)
        if FLOORS.get(module.split(".")[0], 0) > floor
    }
    assert found == STEPS_UP


def test_what_runs_and_shows_cells_does_not_know_what_they_are_made_from() -> None:
    assert not [
        (file, module) for folder in ("run", "commands") for file, module in imports(folder) if module in SOURCES
    ]
