"""Tasks that share the keys, prompts and samples of another."""

from pathlib import Path

import pytest
import yaml

from afrieval._util.errors import UserError
from afrieval.tasks.data.documents import Document
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages, render

FROM_ENGLISH = {
    "name": "from_eng",
    "version": 1,
    "title": "From English",
    "description": "d",
    "citation": "c",
    "licence": "l",
    "kind": "text",
    "extract": "whole",
    "data": {
        "hub": "a/b",
        "revision": "main",
        "files": {"test": "{code}.jsonl"},
        "evaluate": "test",
        "fewshot": "test",
    },
    "languages": {"hau": "ha", "yor": "yo"},
    "parallel": {},
    "fields": {"source": "eng"},
    "answer": "other",
    "direction": {"from": "eng"},
}
PROMPT = "From {{ source_language }} to {{ target_language }}:\n{{ source }}\n"
NATIVE = "{{ source_language }}: {{ source }}\n{{ target_language }}:\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tasks, in a subfolder as translation tasks are, and a vocabulary."""
    tasks = tmp_path / "tasks"
    home = write(tasks, FROM_ENGLISH)
    (home / "prompts").mkdir()
    (home / "sample").mkdir()
    (home / "prompts" / "eng.yaml").write_text(
        yaml.safe_dump({"origin": "human", "prompts": {1: {"template": PROMPT}}})
    )
    native = {"origin": "machine", "prompts": {1: {"template": NATIVE}}}
    (home / "prompts" / "hau.yaml").write_text(yaml.safe_dump(native))
    (home / "sample" / "hau.jsonl").write_text('{"split": "test", "eng": "Good morning", "other": "Ina kwana"}\n')
    vocabulary = {"origin": "machine", "written_by": "x", "words": {}, "languages": {"eng": "Turanci", "hau": "Hausa"}}
    (tmp_path / "vocabulary").mkdir()
    (tmp_path / "vocabulary" / "hau.yaml").write_text(yaml.safe_dump(vocabulary))
    write(tasks, {"name": "to_eng", "like": "from_eng", "version": 3, **REVERSED})
    return tasks


REVERSED = {"fields": {"source": "other"}, "answer": "eng", "direction": {"to": "eng"}, "data": {"hub": "a/c"}}


def write(tasks: Path, declared: dict[str, object]) -> Path:
    path = tasks / "translation" / str(declared["name"])
    path.mkdir(parents=True)
    (path / "task.yaml").write_text(yaml.safe_dump(declared))
    return path


def test_numbers_of_rows_are_those_of_the_same_data_set(folder: Path) -> None:
    path = folder / "translation" / "from_eng" / "task.yaml"
    declared = yaml.safe_load(path.read_text())
    declared["data"]["rows"] = {"test": 5}
    path.write_text(yaml.safe_dump(declared))
    write(folder, {"name": "same", "like": "from_eng", "version": 1})
    assert [load_task(name, folder).data.rows for name in ("same", "to_eng")] == [{"test": 5}, None]


def test_keys_are_its_own_or_the_others(folder: Path) -> None:
    spec = load_task("to_eng", folder)
    assert (spec.version, spec.data.hub, spec.direction) == (3, "a/c", {"to": "eng"})
    assert (spec.title, spec.languages, spec.data.files) == (
        "From English",
        {"hau": "ha", "yor": "yo"},
        {"test": "{code}.jsonl"},
    )
    assert spec.shares_prompts and not load_task("from_eng", folder).shares_prompts


@pytest.mark.parametrize(
    ("task", "expected"), [("from_eng", ("eng", "Good morning", "hau")), ("to_eng", ("hau", "Ina kwana", "eng"))]
)
def test_prompts_and_samples_are_shared_in_both_directions(
    folder: Path, task: str, expected: tuple[str, str, str]
) -> None:
    spec = load_task(task, folder)
    split = load_split(spec, "hau", "test", "samples")
    assert split
    source, text, target = expected
    names = {"eng": ("English", "Turanci"), "hau": ("Hausa", "Hausa")}
    english = render(load_prompts(spec, "eng")[1], split.documents[0], "hau")
    assert english == f"From {names[source][0]} to {names[target][0]}:\n{text}"
    native = render(load_prompts(spec, "hau")[1], split.documents[0], "hau")
    assert native == f"{names[source][1]}: {text}\n{names[target][1]}:"
    assert spec.answers_in("hau") == target


def test_prompts_of_its_own_come_first(folder: Path) -> None:
    own = folder / "translation" / "to_eng" / "prompts"
    own.mkdir()
    (own / "eng.yaml").write_text(yaml.safe_dump({"origin": "human", "prompts": {1: {"template": "{{ source }}"}}}))
    spec = load_task("to_eng", folder)
    assert prompt_languages(spec) == ["eng"] and not spec.shares_prompts
    assert render(load_prompts(spec, "eng")[1], Document(0, {"source": "x"}, (), "y"), "hau") == "x"
    assert load_split(spec, "hau", "test", "samples"), "samples are still shared"


def test_a_direction_changes_the_hash_of_a_prompt(folder: Path) -> None:
    hashes = {load_prompts(load_task(name, folder), "eng")[1].hash for name in ("from_eng", "to_eng")}
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"like": "form_eng"}, "line 1: like is 'form_eng', an unknown task"),
        ({"like": "third"}, "like is 'third', an unknown task"),
        ({"like": "to_eng"}, "to_eng is itself like another task"),
        ({"direction": {"from": "english"}}, "language 'english' is not in the language table"),
        ({"direction": {"from": "eng", "to": "fra"}}, "direction must be either `from` or `to` a language"),
        ({"direction": {"between": "eng"}}, "direction.between must be from or to"),
        ({"answer_language": {"hau": "xyz"}}, "language 'xyz' is not in the language table"),
        ({"data": {"hubb": "a/b"}}, "unknown key 'data.hubb'"),
        ({"data": 5}, "data must be a map"),
    ],
)
def test_errors(folder: Path, change: dict[str, object], message: str) -> None:
    write(folder, {"like": "from_eng", "version": 1, **change, "name": "third"})
    with pytest.raises(UserError) as error:
        load_task("third", folder)
    assert message in str(error.value)


def test_a_folder_without_another_task(tmp_path: Path) -> None:
    write(tmp_path, {"name": "alone", "like": "sib200", "version": 1})
    with pytest.raises(UserError, match="has no other task that it can be like"):
        load_task("alone", tmp_path)


def test_a_vocabulary_without_the_name_of_a_language(folder: Path) -> None:
    write(folder, {"name": "from_fra", "like": "from_eng", "direction": {"from": "fra"}})
    with pytest.raises(UserError, match=r"hau\.yaml has no name of French"):
        load_prompts(load_task("from_fra", folder), "hau")
