"""A name means one thing: no two public classes, and no two files that are not an obvious part, are called alike."""

import re
from collections import Counter

from tests.conftest import ROOT

PACKAGE = ROOT / "src/afrieval"
FILES = [p for p in PACKAGE.rglob("*.py") if PACKAGE / "cli/commands" not in p.parents]  # named after their commands
PARTS = {
    *("__init__", "base", "check", "checks", "files", "plan", "registry", "rows", "run", "schema", "settings"),
    "tables",
}


def test_a_class_has_a_name_of_its_own() -> None:
    """But for classes that read another program's format: they have its names."""
    others = {PACKAGE / "exchange", PACKAGE / "addons/readers"}
    own = [path for path in FILES if not others & {*path.parents}]
    found = [re.findall(r"(?m)^ *class ([A-Z]\w*)[(:\[]", path.read_text(encoding="utf-8")) for path in own]
    classes = Counter(name for names in found for name in names)
    assert not {name for name, n in classes.items() if n > 1}


def test_a_file_has_a_name_of_its_own() -> None:
    names = Counter(path.stem for path in FILES)
    assert {name for name, n in names.items() if n > 1} <= PARTS
