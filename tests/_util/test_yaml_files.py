"""YAML as plain values with their lines; what JSON could not say is refused."""

import importlib.util
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import ROOT

from afrieval._util import yaml_files as module
from afrieval._util.errors import UserError
from afrieval._util.yaml_files import YamlFile, parsed, read_map_file


def written(folder: Path, text: str) -> Path:
    (folder / "x.yaml").write_text(text, encoding="utf-8")
    return folder / "x.yaml"


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60))
BAD = {
    "broken": ("a: [x\nb: c\n", "line 2, is not valid YAML"),
    "a key twice": ("a: 1\nb: 2\na: 3\n", "line 3, is not valid YAML: key 'a' is given twice"),
    "a key that YAML makes false": ("a: 1\nno: 2\n", "line 2, is not valid YAML: the key 'no' is not text"),
    "an empty key": ("? \n: 2\n", "the key '' is not text"),
    "a number as key": ("1.5: 2\n", "the key '1.5' is not text"),
    "a list as key": ("[a]: 2\n", "is not text"),
    "Python": ("a: !!python/object/apply:os.system [x]\n", "is not supported"),
    "bytes": ("a: !!binary aGk=\n", "is not supported"),
    "a circle": ("a: &a [*a]\n", "an alias refers to a value that contains it"),
    "a bomb": (BOMB, "aliases expand to too much"),
    "a thousand levels": (
        "a: " + "[" * 1000 + "]" * 1000,
        "nested too deeply|nesting depth",
    ),  # the latter since PyYAML 6.0.4
    "many levels": ("a: " + "{a: " * 100_000, "nested too deeply|is not valid YAML"),
    "many digits": ("a: " + "1" * 5000, "is not valid YAML"),
    "many hexadecimal digits": ("a: 0x" + "f" * 5000, "line 1, is not valid YAML"),
    "text as a number": ("a: !!int x", "line 1, is not valid YAML: 'x' is not a valid int"),
    "text as a truth value": ("a: !!bool x", "'x' is not a valid bool"),
    "a list as a map": ("a: !!map [1]", "expected a mapping node"),
    "a text as a map": ("!!map x", "expected a mapping node"),
    "half a character": ('a: "\\ud800"', "found invalid Unicode"),
    "no character": ('a: "\\UFFFFFFFF"', "line 1, is not valid YAML: found invalid Unicode"),
    "a merge key": ("<<: {a: x}", "line 1, is not valid YAML: the merge key << is not supported"),
    "a control character": ("a: \x1b[31m", "is not valid YAML"),
    "nothing": ("", "is empty"),
    "a comment": ("# a\n", "is empty"),
    "a list": ("- a\n", "not a map"),
    "two documents": ("a: 1\n---\nb: 2\n", "is not valid YAML"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_used(tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    with pytest.raises(UserError, match=message) as caught:
        read_map_file(written(tmp_path, text))
    assert str(tmp_path) in caught.value.message and "\n" not in caught.value.message and caught.value.hint


def test_dates_stay_texts_and_aliases_are_written_out(tmp_path: Path) -> None:
    text = "a: 2024-13-45\nb: 2024-01-01\nc: &c [1, true]\nd: *c\n1: yes\n"
    assert read_map_file(written(tmp_path, text)).content == {
        "a": "2024-13-45",
        "b": "2024-01-01",
        "c": [1, True],
        "d": [1, True],
        1: True,
    }


def test_places_have_lines() -> None:
    content, root = parsed("a: 1\nb:\n  c: [x,\n   y]\n  2: {d: e}\n")
    file = YamlFile(Path("f"), content, root)
    lines = {("a",): 1, ("b",): 2, ("b", "c"): 3, ("b", "c", 1): 4, ("b", 2, "d"): 5, ("b", "none"): 3, (): 1}
    assert {place: file.line(place) for place in lines} == lines


def test_a_file_that_is_not_there_has_a_hint(tmp_path: Path) -> None:
    written(tmp_path, "a: 1")
    with pytest.raises(UserError) as caught:
        read_map_file(tmp_path / "xx.yaml")
    assert caught.value.hint.startswith("did you mean x.yaml?")


@given(st.text(alphabet=st.sampled_from("ab: \n-[]{}&*!\"'#|>1.,?~%@`\t"), max_size=60))
def test_any_text_is_a_map_or_a_user_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = written(tmp_path_factory.getbasetemp(), text)
    try:
        assert isinstance(read_map_file(path).content, dict)
    except UserError as e:
        assert "\n" not in e.message and e.hint


def test_the_nodes_of_large_files_are_not_kept(tmp_path: Path) -> None:
    small, large = (f"a: [{'x' * size}]\n" for size in (10, module.LARGE))
    kept = []
    for text in (small, large):
        before = module._parsed.cache_info().currsize
        assert read_map_file(written(tmp_path, text)).line(("a", 0)) == 1
        kept.append(module._parsed.cache_info().currsize - before)
    assert kept == [1, 0]


def test_every_file_of_the_repository_reads_the_same_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others read them with PyYAML's Python parser, which refuses some texts that libyaml takes."""
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    spec = importlib.util.spec_from_file_location("without_libyaml", str(module.__file__))
    assert spec and spec.loader
    slow = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(slow)
    folders = ("tasks", "vocabulary", "configs", "reviews")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.yaml")]
    for path in (path for folder in ("examples", ".github") for path in (ROOT / folder).rglob("*.y*ml")):
        yaml.load(path.read_text(encoding="utf-8"), yaml.SafeLoader)
    assert len(paths) > 400 and issubclass(slow._Loader, yaml.scanner.Scanner)
    assert not [path for path in paths if slow.read_map_file(path).content != read_map_file(path).content]
