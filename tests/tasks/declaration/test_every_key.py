"""Each key of a declaration is given each wrong value: an error names file, key and cure, and nothing else happens."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT

from afrieval._util.errors import UserError
from afrieval._util.yaml_files import YamlFile, read_as, read_map_file
from afrieval.addons.sweep.combinations import jobs_of
from afrieval.addons.sweep.sweep_file import read_sweep
from afrieval.config.files import read_file, run_config
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tasks.declaration.spec import TASKS, load_task, task_files
from afrieval.tasks.prompts.prompts import load_prompts
from afrieval.tasks.prompts.vocabulary import Vocabulary

Place = tuple[str | int, ...]
WRONG: list[Any] = ["", " ", {}, [], None, 5, {"a": {"b": 1}}, [""], ["x", "x"], "no such name"]
WALKED = ("afrimmlu", "mmlu", "meta_ifeval", "masakhaner", "tofu_forget", "tukabench")  # nearly all keys
# What is accepted besides texts that are not blank: lists of files, numbers, and that there are none of something.
ACCEPTED: dict[str, list[Any]] = {
    "data.columns": [["x", "x"], []], "data.files": [["x", "x"], []], "data.rows": [5, None, {}], "data.folders": [[]],
    "data.fewshot": [None], "data.converted": [{}, None], "join.rows": [5, None], "join": [None], "version": [5],
    "data": [{}], "metrics": [None], "texts": [{}], "options": [{}], "breakdowns": [[]], "parallel": [{}, []],
    "direction": [{}], "examples": [{}], "examples.same": [[]],
    "generation": [None], "generation.max_tokens": [5], "paper": [None], "paper.prompts": [{}, []], "translate": [None],
    "macro": [None], "probabilities": [None], "prompt": [None], "verdict": [None], "fields": [{}],
    "groups": [{}], "judge": [None], "judge.version": [5], "judge.examples": [[]],
}  # fmt: skip


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Yields the place of each key; of maps of names, and of lists, the first ones."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    few = isinstance(value, list) or at[:1] == ("languages",) or at[-1:] in (("groups",), ("prompts",)) or len(at) > 2
    for key, member in list(pairs)[: 1 if few else None]:
        yield (*at, key)
        yield from places(member, (*at, key))


def changed(content: Any, place: Place, value: Any) -> Any:
    content = deepcopy(content)
    of = content
    for key in place[:-1]:
        of = of[key]
    of[place[-1]] = value
    return content


@cache
def content_of(path: Path) -> Any:
    return read_map_file(path).content


@pytest.mark.parametrize("task", WALKED)
def test_each_wrong_value_is_named(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = task_files(TASKS)[task]
    content, others = content_of(path), WALKED[: WALKED.index(task)]
    known_places = {place for other in others for place in places(content_of(task_files(TASKS)[other]))}
    for place in places(content):
        for value in WRONG if place not in known_places else ():
            given = YamlFile(path, changed(content, place, value), None)
            monkeypatch.setattr(
                "afrieval.tasks.declaration.spec.read_map_file",
                lambda of, given=given: given if of == given.path else YamlFile(of, content_of(of), None),
            )
            key, keys = ".".join(map(str, place)), [str(step) for step in place]
            try:
                load_task(task)
            except UserError as e:
                assert "task.yaml" in e.message and e.hint, (key, value, e)
                named = value in ({}, [], None) or any(
                    step.rstrip("s") in e.message.partition("task.yaml")[2] for step in [*keys, "column"]
                )
                assert named, (key, value, e)  # without one key, another may be the wrong one
                continue
            known = [ACCEPTED[k] for k in (key, ".".join(keys[:2]), keys[0]) if k in ACCEPTED]
            is_text = isinstance(value, str) and value.strip()
            assert is_text or (known and value in known[0]), f"{key}: {value!r} is accepted"


def error_of(task: str, monkeypatch: pytest.MonkeyPatch, *changes: tuple[Place, Any]) -> str:
    path = task_files(TASKS)[task]
    content = content_of(path)
    for place, value in changes:
        content = changed(content, place, value)
    given = YamlFile(path, content, None)
    monkeypatch.setattr(
        "afrieval.tasks.declaration.spec.read_map_file",
        lambda of: given if of == path else YamlFile(of, content_of(of), None),
    )
    with pytest.raises(UserError) as caught:
        load_task(task)
    return caught.value.message.partition("task.yaml")[2]


@pytest.mark.parametrize("name", ["code", "language", "evals"])
def test_names_that_the_suite_fills_in_itself_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every language would read one file, without a word."""
    parts = (("data", "parts"), {name: ["amh", "yor"]})
    assert error_of("afrimmlu", monkeypatch, parts) == f": data.parts: the name {name!r} is reserved"
    options = (("options",), {name: ["amh", "yor"]})
    assert error_of("afrimmlu", monkeypatch, options) == f": options: the name {name!r} is reserved"


def test_a_part_is_neither_an_option_nor_a_column_of_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    options, files = (("options",), {"half": ["one"]}), (("data", "files", "test"), "{code}/{half}.tsv")
    for name, more in (("half", options), ("split", files)):
        found = error_of("afrimmlu", monkeypatch, (("data", "parts"), {name: ["a"]}), more)
        assert found == f": data.parts: the name {name!r} is reserved"
    assert "no pattern" in error_of("afrimmlu", monkeypatch, (("data", "parts"), {"half": ["a"]}))
    for field in ("answer_language", "labels", "a b", "5"):
        assert repr(field) in error_of("afrimmlu", monkeypatch, (("fields", field), "question"))


def test_languages_do_not_share_a_file_by_oversight(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = "is the same file for all languages"
    assert shared in error_of("afrimmlu", monkeypatch, (("data", "files", "test"), "data/test.tsv"))
    assert shared in error_of("afrimmlu", monkeypatch, (("data", "files", "test"), ["{code}.tsv", "test.tsv"]))
    assert shared in error_of("tydiqa", monkeypatch, (("data", "where"), {"id": "x"}))
    assert "'amh' twice" in error_of("afrimmlu", monkeypatch, (("languages", "eng"), "amh"))


def test_a_mark_that_is_empty_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert error_of("mmmlu", monkeypatch, (("data", "cut", "Subject"), "")).startswith(": data.cut.Subject must be")


def _model(path: Path) -> None:
    run_config(read_file(path, "model"), needs_model=True, needs_task=False)


def _suite(path: Path) -> None:
    chosen_tasks(run_config(read_file(path, "task"), needs_model=False))


# A file, what reads it, where it looks for its content, and keys that may be empty.
FILES: dict[str, tuple[str, Callable[[Path], object], str, str]] = {
    "prompts": (
        "tasks/afrixnli/prompts/yor.yaml",
        lambda path: load_prompts(load_task("afrixnli"), path.stem),
        "afrieval.tasks.prompts.prompts",
        "written_by reviewed_by reviewed_on system lead_in source header",
    ),
    "vocabulary": (
        "vocabulary/yor.yaml",
        partial(read_as, Vocabulary),
        "afrieval._util.yaml_files",
        "notes languages words back evidence doubt",
    ),
    "model": ("configs/models/claude_sonnet_4.5.yaml", _model, "afrieval.config.files", "api prices input output"),
    "suite": ("configs/suites/irokobench.yaml", _suite, "afrieval.config.files", "derived reference"),
    "sweep": (
        "configs/sweeps/demo.yaml",
        lambda path: jobs_of(*read_sweep(path)),
        "afrieval.addons.sweep.sweep_file",
        "common settings 0 limit languages prompts",
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_the_same_of_other_files(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, load, module, may_be_empty = FILES[kind]
    path = ROOT / name
    content, read = content_of(path), read_map_file
    monkeypatch.chdir(ROOT)
    for place in places(content):
        for value in ["", " ", {}, [], None, {"a": {"b": 1}}, [""]]:
            given = YamlFile(path, changed(content, place, value), None)
            monkeypatch.setattr(
                f"{module}.read_map_file", lambda of, *hint, given=given: given if of == given.path else read(of, *hint)
            )
            try:
                load(path)
            except UserError as e:
                assert e.message and e.hint, (place, value)
                continue
            named = str(place[-1]) in may_be_empty.split() or value in (None, {})
            assert named, f"{place}: {value!r} is accepted"
