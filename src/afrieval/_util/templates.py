"""Renders untrusted templates in bounded time and memory; errors of templates in words.

Jinja's sandbox keeps a template from code and files, but not from endless work. Plain templates cannot run long; all
others are rendered in a separate process, which runs this module and ends when its time is up.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, Undefined, meta, nodes
from jinja2.sandbox import SandboxedEnvironment

from afrieval._util.worker import EndedError, isolated, serve

WORKER = "afrieval._util.templates"
SECONDS = 3.0
LONGEST_TEXT = 10_000_000  # characters
MEMORY = 512  # MiB that rendering a template may take, if the system can limit it
WORDS: dict[type[Exception], str] = {
    MemoryError: f"it needs more than {MEMORY} MiB of memory",
    RecursionError: "it is nested too deeply, or calls itself endlessly",
    ZeroDivisionError: "it divides by zero",
}


class TemplateFault(Exception):
    """A template that cannot be rendered.

    Attributes:
        reason: why, in one line.
        ended: whether its process was ended, rather than failing.
    """

    def __init__(self, reason: str, ended: bool = False):
        super().__init__(reason)
        self.reason = reason
        self.ended = ended


def fault(error: Exception) -> TemplateFault:
    """Returns any exception of a template as a TemplateFault."""
    if isinstance(error, TemplateFault):
        return error
    for kind, words in WORDS.items():
        if isinstance(error, kind):
            return TemplateFault(words)
    message = error.msg if isinstance(error, SyntaxError) else error.args[-1] if error.args else ""
    text = " ".join(str(message)[:1000].split()).rstrip(".") or type(error).__name__
    text = "".join(c for c in text if c.isprintable())[:300]
    return TemplateFault(f"{text}, in line {error.lineno}" if isinstance(error, TemplateSyntaxError) else text)


def _check_length(length: int) -> None:
    if length > LONGEST_TEXT:
        raise TemplateFault(f"its text has more than {LONGEST_TEXT:,} characters")


def checked(text: str) -> str:
    """Returns a text, if a tokenizer can encode it.

    Raises:
        TemplateFault: if it has too many characters.
        UnicodeEncodeError: if it contains half a character, such as U+D800.
    """
    _check_length(len(text))
    text.encode()
    return text


def serve_texts(render: Callable[[Any], Any]) -> None:
    """Answers the questions of `ask`, in a separate process of limited memory, with what `render` returns of each."""

    def reply(question: Any) -> dict[str, Any]:
        try:
            return {"result": render(question)}
        except Exception as e:  # all are faults of the template; the process must live on for the next one
            return {"fault": fault(e).reason}

    serve(reply, memory=MEMORY)


def ask(worker: str, question: Any, seconds: float) -> Any:
    """Returns the answer of a separate process that runs `serve_texts`.

    Raises:
        TemplateFault: if it cannot answer, or not in time.
    """
    try:
        reply = isolated(worker).ask(question, seconds)
    except EndedError as e:
        reason = f"it takes longer than {seconds:g} s" if e.late else "its process ended, maybe for lack of memory"
        raise TemplateFault(reason, ended=True) from None
    if "fault" in reply:
        raise TemplateFault(reply["fault"])
    return reply["result"]


def lettered(choices: Sequence[str], separator: str = ": ") -> str:
    """Returns one line per choice, beginning with its letter: `A: ...`."""
    return "\n".join(f"{letter}{separator}{text}" for letter, text in zip(ascii_uppercase, choices, strict=False))


def spaced(text: str) -> str:
    """Returns a raw name such as `high_school_geography` as words."""
    return text.replace("_", " ")


def _shown(value: Any) -> Any:
    """Returns a value that a template may print; an object would print its address, which differs each time."""
    if isinstance(value, str | int | float | list | tuple | dict | Undefined):
        return value
    raise TypeError(f"it prints a {type(value).__name__}, which is not text")


ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False, finalize=_shown)
ENVIRONMENT.filters.update(lettered=lettered, spaced=spaced)
ENVIRONMENT.filters.pop("random")  # a prompt must be the same each time
ENVIRONMENT.globals.pop("lipsum")


def fill(source: str, values: Mapping[str, Any], seconds: float = SECONDS) -> str:
    """Returns the text of a template.

    Raises:
        TemplateFault: if it cannot be rendered, for any reason, or takes too much time or memory.
    """
    return str(_bounded([source, dict(values)], seconds))


def names(source: str, seconds: float = SECONDS) -> list[str]:
    """Returns the names of the variables that a template uses, sorted.

    Raises:
        TemplateFault: if it cannot be parsed, uses other files, or takes too much time or memory.
    """
    return list(_bounded([source, None], seconds))


def _bounded(question: list[Any], seconds: float) -> Any:
    """Returns the answer to a question: computed here for a plain template, or else in a separate process."""
    try:
        if is_plain(question[0]):
            return _answer(question)
    except Exception as e:  # all are faults of the template
        raise fault(e) from None
    return ask(WORKER, question, seconds)


_compiled = lru_cache(1024)(ENVIRONMENT.from_string)
_variables = lru_cache(4096)(lambda source: sorted(meta.find_undeclared_variables(ENVIRONMENT.parse(source))))


def _answer(question: list[Any]) -> Any:
    """Returns a template's text; or, if there are no values, the names of the variables that it uses."""
    source, values = question
    if values is None:
        return _variables(source)
    parts, length = [], 0
    for part in _compiled(source).generate(values):
        length += len(part)
        _check_length(length)
        parts.append(part)
    return checked("".join(parts))


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


@lru_cache(4096)
def is_plain(source: str) -> bool:
    """Returns whether a template is plain.

    Raises:
        TemplateFault: if it is too long for a prompt, or uses other files.
        TemplateError: if it cannot be parsed.
    """
    if len(source) > LONGEST:
        raise TemplateFault(f"it has more than {LONGEST:,} characters")
    all_nodes = list(_nodes(ENVIRONMENT.parse(source)))
    for node in all_nodes:
        if word := FILES.get(type(node)):
            raise TemplateFault(f"{word} is not supported, in line {node.lineno}; a template must be self-contained")
    return len(source) <= LONGEST_PLAIN and all(map(_is_plain, all_nodes))


@lru_cache(4096)
def is_uniform(source: str) -> bool:
    """Returns whether a template that fails with some values fails with all longer ones of the same names and types.

    Raises:
        TemplateFault: if it cannot be parsed, or is too long.
    """
    try:
        return is_plain(source) and not any(isinstance(node, BRANCHES) for node in _nodes(ENVIRONMENT.parse(source)))
    except Exception as e:
        raise fault(e) from None


def _nodes(tree: nodes.Node) -> Iterator[nodes.Node]:
    """Yields all nodes, in any order; a tree may be too deep for recursion."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.iter_child_nodes()


def _is_plain(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter):
        arguments = [*node.args, *node.kwargs, node.dyn_args, node.dyn_kwargs]
        separated = node.name in ("join", "lettered") and not any(arguments[len(node.args) :])
        short = not any(arguments) or (separated and all(isinstance(a, nodes.Const) for a in node.args))
        return node.name in PLAIN_FILTERS and short
    if isinstance(node, nodes.Test):
        return node.name == "defined"
    return type(node) in PLAIN_NODES


if __name__ == "__main__":
    serve_texts(_answer)
