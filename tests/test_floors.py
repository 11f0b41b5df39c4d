"""Each room of the house knows only the rooms below it, and nothing knows itself in a circle."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src/afrieval"
# From the ground up.
FLOORS = (
    {"_util"},
    {"languages"},
    {"config"},
    {"scoring"},
    {"models"},
    {"results"},
    {"tasks"},
    {"run"},
    {"analysis"},
    {"report"},
    {"exchange"},
    {"tools"},
    {"addons"},
    {"api"},
    {"api_evaluate"},
    {"cli"},
)
ROOMS = [room for floor in FLOORS for room in sorted(floor)]
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
    if path != SOURCE / "__init__.py"
}


REFERENCE = re.compile(r"afrieval\.([\w.]+):[\w.]+")  # to an object, as registries have it


def imported(path: Path) -> set[str]:
    """Returns the modules of the suite that a file imports, wherever in it, or names as "afrieval.module:object"."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name) and node.id == "__path__":  # a package that imports all its modules
            names |= {name for name in MODULES if MODULES[name].parent == path.parent and MODULES[name] != path}
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (named := REFERENCE.fullmatch(node.value))
        ):
            names.add(named[1])
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("afrieval"):
            module = (node.module or "").removeprefix("afrieval").removeprefix(".")
            within = [f"{module}.{alias.name}".removeprefix(".") for alias in node.names]
            names |= {name if name in MODULES else module for name in within}
    return names & set(MODULES)


@cache
def known() -> dict[str, set[str]]:
    """Returns the modules that each module imports."""
    return {module: imported(path) for module, path in MODULES.items()}


def room(module: str) -> str:
    return module.split(".")[0]


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_knows_only_rooms_below(name: str) -> None:
    floor = next(number for number, rooms in enumerate(FLOORS) if name in rooms)
    allowed = {name}.union(*FLOORS[:floor])
    assert not [(of, to) for of in known() if room(of) == name for to in known()[of] if room(to) not in allowed]


def test_every_room_has_a_floor() -> None:
    assert {room(module) for module in MODULES} == set(ROOMS)


def test_no_module_knows_itself_in_a_circle() -> None:
    left = {module: set(below) for module, below in known().items()}
    while ends := [module for module, below in left.items() if not below & set(left)]:
        for module in ends:
            del left[module]
    assert not left


def test_the_engine_knows_itself_only() -> None:
    engine = {module for module in MODULES if module.startswith("models.engine")}
    assert not [(of, to) for of in engine for to in known()[of] - engine]
