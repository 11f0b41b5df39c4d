"""Which templates are plain: they can neither run long nor grow, whatever the values are.

A plain template shows values and chooses by them, no more: no loop, no arithmetic, no call, no variable of its own, and
of the filters those that take no longer than their text. What it takes to fill one in is at most its length times that
of the values. Only node types that are named here are plain, so that new ones of Jinja are not.
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
PLAIN_FILTERS = ("capitalize", "lettered", "length", "lower", "spaced", "upper")


def is_plain(source: str) -> bool:
    """Tells whether a template is plain.

    Raises:
        TemplateFault: if it is too long to be a prompt, or wants other files.
        TemplateError: if it cannot be parsed.
    """
    if len(source) > LONGEST:
        raise TemplateFault(f"it has more than {LONGEST:,} characters")
    every = list(_nodes(ENVIRONMENT.parse(source)))
    for node in every:
        if word := FILES.get(type(node)):
            raise TemplateFault(f"{word} is not supported, in line {node.lineno}; a template is whole by itself")
    return len(source) <= LONGEST_PLAIN and all(map(_is_plain, every))


def _nodes(tree: nodes.Node) -> Iterator[nodes.Node]:
    """Returns all nodes, in no order; a tree may be too deep for a function that calls itself."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.iter_child_nodes()


def _is_plain(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter):
        given = [*node.args, *node.kwargs, node.dyn_args, node.dyn_kwargs]
        short = not any(given) or (node.name == "lettered" and all(isinstance(a, nodes.Const) for a in node.args))
        return node.name in PLAIN_FILTERS and short
    if isinstance(node, nodes.Test):
        return node.name == "defined"
    return type(node) in PLAIN_NODES
