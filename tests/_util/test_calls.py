"""The arguments of public functions: each that is wrong is named, and no other error comes out."""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import pytest

import afrieval
from afrieval._util.calls import checked_call
from afrieval._util.errors import UserError
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, Positive
from afrieval.api import Comparison, Run


class Call(NamedTuple):
    """A public function, with what else it needs."""

    name: str
    function: Callable[..., Any]
    needed: dict[str, Any]

    def __call__(self, **given: Any) -> Any:
        return self.function(**{**self.needed, **given})


def calls() -> Iterator[Call]:
    """Yields all public functions, all methods with arguments of public classes, and their constructors."""
    valid = {"model": "demo", "tasks": "nothing", "runs": "nowhere", "folder": "nowhere", "name": "nothing"}
    valid |= {"path": "nowhere", "field": "nothing", "task": "nothing", "language": "yor"}
    for name in afrieval.__all__:
        public = getattr(afrieval, name)
        instance = {Comparison: Comparison.__new__(Comparison), Run: Run("nowhere")}.get(public)
        methods = [m for m, of in vars(public).items() if inspect.isfunction(of) and m[0] != "_"] if instance else []
        found = {f"{name}.{method}": getattr(instance, method) for method in methods}
        if inspect.isfunction(public) or public in (afrieval.Run, afrieval.ModelConfig):
            found[name] = public
        for place, function in found.items():
            if arguments := inspect.signature(function).parameters:
                yield Call(place, function, {each: valid[each] for each in arguments if each in valid})


CALLS = list(calls())
ARGUMENTS = [(c, a) for c in CALLS for a in inspect.signature(c.function).parameters]
ARGUMENTS += [  # options of run, which evaluate takes by name
    (next(call for call in CALLS if call.name == "evaluate"), name)
    for name in (
        "languages",
        "prompts",
        "shots",
        "sample",
        "extract",
        "reference",
        "batch_size",
        "data",
        "run_dir",
        "log",
    )
]
FREE = ("ModelConfig.backend_args",)
WRONG = [object(), 1j, b"x", pd.DataFrame({"x": [1]}), np.zeros((2, 2)), lambda: 1, [object()], {"x": object()}]
OTHER = [5, -1, 1.5, True, None, "x", "", [], ["x"], [5], {}, {"x": 5}, np.float64("nan"), np.array([1]), range(2)]


def test_all_of_them_are_here() -> None:
    names = {"evaluate", "compare", "load_run", "load_task", "task_names", "write_report", "ModelConfig", "Run"}
    methods = {"Run.samples", "Comparison.contrasts", "Comparison.means", "Comparison.by"}
    assert names | methods == {call.name for call in CALLS}
    assert len(ARGUMENTS) > 50


@pytest.mark.parametrize(("call", "argument"), ARGUMENTS, ids=lambda of: of.name if isinstance(of, Call) else of)
def test_what_cannot_be_meant_is_refused_by_name(
    call: Call, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for value in WRONG:
        if f"{call.name}.{argument}" in FREE and isinstance(value, dict):
            continue
        with pytest.raises(UserError) as caught:
            call(**{argument: value})
        assert argument in caught.value.message, value
        assert caught.value.hint and len(str(caught.value)) < 400
    for value in OTHER:
        try:
            call(**{argument: value})
        except UserError as e:
            assert e.message and e.hint
        except AttributeError:
            assert call.name.startswith("Comparison."), "one without runs: the value was taken"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_unknown_missing_and_superfluous_arguments(call: Call) -> None:
    first = next(iter(inspect.signature(call.function).parameters))
    with pytest.raises(UserError, match=rf"^{call.name}: unknown argument '{first}x' \(did you mean {first}\?\)"):
        call(**{f"{first}x": 1})
    with pytest.raises(UserError, match=rf"{call.name}: too many positional arguments \(its arguments are {first}"):
        call.function(*range(50))


@dataclass(frozen=True)
class Inner:
    __pydantic_config__ = CLOSED
    size: Positive = 1


@checked_call
def public(
    names: str | Annotated[Iterable[str], AT_LEAST_ONE] = "a",
    maps: Mapping[str, Iterable[int]] | None = None,
    path: str | os.PathLike[str] = ".",
    inner: Inner | None = None,
    kind: Literal["a", "b"] = "a",
    share: float = 0.5,
    several: Annotated[Iterable[Positive], "give numbers"] = (),
    anything: Any = None,
) -> dict[str, Any]:
    return locals()


TAKEN: list[tuple[str, Any, Any]] = [
    ("names", "abc", "abc"), ("names", Path("x/y"), "x/y"), ("names", pd.Series(["x"]), ["x"]),
    ("names", {"x": 1}.keys(), ["x"]), ("maps", {"x": range(2)}, {"x": [0, 1]}), ("path", Path("x"), "x"),
    ("inner", {"size": 3}, Inner(3)), ("inner", Inner(2), Inner(2)), ("share", np.float32(0.5), 0.5),
    ("share", 1, 1.0), ("several", np.arange(1, 3), [1, 2]), ("several", iter([np.int8(1)]), [1]),
    ("anything", ..., ...),
]  # fmt: skip
REFUSED: list[tuple[str, Any, str]] = [
    ("names", ["x", 5], "names.1 must be text, not 5"),
    ("names", (x for x in [5]), "names.0 must be text, not 5"),
    ("names", (), "names must be text or a list or map that is not empty, not []"),
    ("maps", {"x": [True]}, "maps.x.0 must be a whole number, not True"),
    ("maps", {"x": 5}, "maps.x must be a list, not 5"),
    ("path", None, "path must be text or a path, not None (give a value, or leave it out)"),
    ("inner", {"size": 0}, "inner: size must be 1 or more"),
    ("inner", {"siz": 1}, "inner: unknown key 'siz' (did you mean size?)"),
    ("kind", "c", "kind must be a or b, not 'c' (choose from a, b)"),
    ("share", "0.5", "share must be a number, not '0.5'"),
    ("several", [0], "several.0 must be 1 or more, not 0 (give numbers)"),
    ("several", pd.Series([1.5]), "several.0 must be a whole number, not 1.5"),
    ("several", "12", "several must be a list, not '12'"),
]


@pytest.mark.parametrize(("argument", "given", "taken"), TAKEN)
def test_taken(argument: str, given: Any, taken: Any) -> None:
    assert public(**{argument: given})[argument] == taken


@pytest.mark.parametrize(("argument", "given", "message"), REFUSED)
def test_refused(argument: str, given: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        public(**{argument: given})
    assert message in str(caught.value) and str(caught.value).startswith(("public: ", argument))


def test_a_checked_function_stays_itself() -> None:
    assert public.__name__ == "public" and next(iter(inspect.signature(public).parameters)) == "names"
    with pytest.raises(UserError, match="multiple values for argument 'names'"):
        public("a", names="b")  # type: ignore[misc]
