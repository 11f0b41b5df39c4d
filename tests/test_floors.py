"""Each room of the house knows only the rooms below it."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src/afrieval"
# Room to the rooms that it may know; every room may know itself and GROUND.
GROUND = {"collector", "errors", "files", "grouping", "isolated", "languages", "resources", "stopping", "terminal"}
FLOORS = {
    "config": set(),
    "data": {"config"},
    "templates": set(),
    "scoring": set(),
    "statistics": {"scoring"},
    "results": {"scoring", "statistics"},
    "tasks": {"config", "data", "results", "scoring", "templates"},
    "suites": {"config", "results", "scoring", "statistics", "tasks"},
    "review": {"data", "tasks"},
    "models": {"config", "data", "scoring", "templates"},
    "quality": {"data", "scoring", "statistics", "tasks"},
    "harness": {"config", "data", "models", "results", "scoring", "statistics", "tasks", "templates"},
    "run": {"config", "data", "harness", "models", "results", "scoring", "suites", "tasks", "templates"},
    "foreign": {"data", "harness", "results", "scoring", "tasks"},
    "analysis": {"data", "foreign", "harness", "results", "scoring", "statistics", "tasks"},
    "estimates": {"analysis", "config", "data", "harness", "models", "results", "run", "scoring", "tasks"},
    "doctor": {"config", "data", "harness", "models", "scoring", "tasks"},
    "report": {
        "analysis",
        "doctor",
        "estimates",
        "harness",
        "quality",
        "results",
        "scoring",
        "statistics",
        "suites",
        "tasks",
    },
    "exports": {"analysis", "config", "harness", "report", "results", "scoring", "statistics", "tasks"},
    "pages": {"analysis", "report", "results", "scoring", "statistics", "suites", "tasks"},
    "plots": {"analysis", "report", "results", "scoring", "statistics"},
    "sweeps": {"config", "data", "exports", "models", "report", "results", "run", "suites", "tasks"},
}
MADE_FROM = ("tasks.sources.templated", "tasks.sources.in_memory", "harness.cell", "harness.build")


def imported(path: Path) -> list[str]:
    """Returns the modules of the suite that a file imports, wherever in it."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [
                f"{node.module}.{alias.name}" if node.module == "afrieval" else node.module for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name.removeprefix("afrieval.") for name in names if name.startswith("afrieval.")]


@pytest.mark.parametrize("room", sorted(FLOORS), ids="{}/".format)  # the bare name is that of a marker
def test_a_room_knows_only_rooms_below(room: str) -> None:
    allowed = FLOORS[room] | GROUND | {room}
    files = SOURCE.glob(f"{room}/**/*.py")
    above = [(str(p.relative_to(SOURCE)), m) for p in files for m in imported(p) if m.split(".")[0] not in allowed]
    assert not above


def test_rooms_are_floors() -> None:
    """The table itself has no circles."""
    seen: set[str] = set()
    while len(seen) < len(FLOORS):
        ready = {room for room, below in FLOORS.items() if below <= seen} - seen
        assert ready, f"circles among {set(FLOORS) - seen}"
        seen |= ready


@pytest.mark.parametrize("room", ["run", "commands"])
def test_what_runs_and_shows_cells_does_not_know_what_they_are_made_from(room: str) -> None:
    found = {module for path in SOURCE.glob(f"{room}/*.py") for module in imported(path)}
    assert not {m for m in found if m.startswith(MADE_FROM)}
