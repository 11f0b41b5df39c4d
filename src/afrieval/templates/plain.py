"""Which templates are plain: with any values, they can neither run long nor grow.

A plain template only prints values and chooses between them. It has no loops, arithmetic, calls or variables, and only
filters whose time is linear in their text. Rendering it takes at most its length times that of the values. Only the
node types listed here are plain, so that new ones of Jinja are not.
"""

from collections.abc import Iterator

from jinja2 import nodes

from afrieval.templates.environment import ENVIRONMENT
from afrieval.templates.fault import TemplateFault

LONGEST = 100_000  # characters of a template
LONGEST_PLAIN = 10_000
FILES: dict[type[nodes.Node], str] = {
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
}
PLAIN_NODES = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.Const, nodes.Name, nodes.Getattr, nodes.Getitem),
    *(nodes.If, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Test),
)
BRANCHES = (nodes.Getitem, nodes.If, nodes.CondExpr, nodes.And, nodes.Or)  # what may depend on the content of a value
PLAIN_FILTERS = ("capitalize", "join", "lettered", "length", "lower", "spaced", "trim", "upper")


def is_plain(source: str) -> bool:
    """Returns whether a template is plain.

    Raises:
        TemplateFault: if it is too long for a prompt, or uses other files.
        TemplateError: if it cannot be parsed.
    """
    if len(source) > LONGEST:
        raise TemplateFault(f"it has more than {LONGEST:,} characters")
    every = list(_nodes(ENVIRONMENT.parse(source)))
    for node in every:
        if word := FILES.get(type(node)):
            raise TemplateFault(f"{word} is not supported, in line {node.lineno}; a template must be self-contained")
    return len(source) <= LONGEST_PLAIN and all(map(_is_plain, every))


def is_uniform(source: str) -> bool:
    """Returns whether a plain template is rendered, or fails, alike with all values of the same names and types.

    The only other fault is a text that is too long.
    """
    return not any(isinstance(node, BRANCHES) for node in _nodes(ENVIRONMENT.parse(source)))


def _nodes(tree: nodes.Node) -> Iterator[nodes.Node]:
    """Yields all nodes, in any order; a tree may be too deep for recursion."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.iter_child_nodes()


def _is_plain(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter):
        given = [*node.args, *node.kwargs, node.dyn_args, node.dyn_kwargs]
        separated = node.name in ("join", "lettered") and not any(given[len(node.args) :])
        short = not any(given) or (separated and all(isinstance(a, nodes.Const) for a in node.args))
        return node.name in PLAIN_FILTERS and short
    if isinstance(node, nodes.Test):
        return node.name == "defined"
    return type(node) in PLAIN_NODES
