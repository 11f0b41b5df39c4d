"""Ratchets: how large the house may be, and what its code does not have. A figure here may only fall,
except for lines of a new feature, which its commit adds on purpose."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src/afrieval"
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
LINES, CORE_LINES = 59_593, 55_123
CLASSES, RECORDS = 449, 272  # records: dataclasses and NamedTuples
WITH_CONFIG = 25  # functions that take the whole RunConfig
TINY = 79  # private functions of at most five lines that are used once
# Names that say where a value comes from, and not what it is.
NAMELESS = {
    *("found", "of", "at", "known", "given", "place", "places", "asked", "said", "told", "taken", "every", "now"),
    *("own", "made", "kept", "wanted", "here", "there", "standing"),
}
KEYS = {"of"}  # of files and options: what a derived metric or a setting is about


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[Path, ast.AST]]:
    """Yields all nodes of some kinds, with their files."""
    return ((path, node) for path, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, kinds))


def bound() -> Iterator[str]:
    """Yields what is bound by assignments, loops, `with`, fields and parameters; comprehensions reach a line only."""
    kinds = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.NamedExpr, ast.withitem, ast.arg)
    for path, node in nodes(*kinds):
        if isinstance(node, ast.arg):
            names = [(node.arg, node.lineno)]
        else:
            targets = getattr(node, "targets", None) or [getattr(node, "target", getattr(node, "optional_vars", None))]
            inner = (name for target in targets if target for name in ast.walk(target))
            stored = (n for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            names = [(name.id, name.lineno) for name in stored]
        yield from (f"{path.relative_to(SOURCE)}:{line} {name}" for name, line in names)


def test_names_say_what_a_value_is() -> None:
    nameless = [binding for binding in bound() if binding.split()[-1] in NAMELESS]
    assert [binding for binding in nameless if binding.split()[-1] not in KEYS] == []
    assert len(nameless) <= 15


def test_the_house_does_not_grow() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in TREES}
    assert sum(lines.values()) <= LINES
    assert sum(n for path, n in lines.items() if "addons" not in path.parts) <= CORE_LINES


def test_few_concepts() -> None:
    classes = [node for _, node in nodes(ast.ClassDef)]
    records = [c for c in classes if any(word in ast.unparse(c).split(":")[0] for word in ("@dataclass", "NamedTuple"))]
    assert len(classes) <= CLASSES and len(records) <= RECORDS


def test_functions_take_what_they_need() -> None:
    functions = (node for _, node in nodes(ast.FunctionDef, ast.AsyncFunctionDef))
    signatures = [f for f in functions if "RunConfig" in ast.unparse(f.args)]  # type: ignore[attr-defined]
    assert len(signatures) <= WITH_CONFIG


def test_a_private_function_says_more_than_its_body() -> None:
    tiny = [name for tree in TREES.values() for name in used_once(tree)]
    assert len(tiny) <= TINY


def used_once(tree: ast.Module) -> Iterator[str]:
    """Yields private functions of a module that are used once and have at most five lines."""
    uses = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and uses.count(node.name) == 1:
            body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            if len({n.lineno for s in body for n in ast.walk(s) if hasattr(n, "lineno")}) <= 5:
                yield node.name
