"""A filled-in sheet becomes changes of the prompt files and what depends on them, and of nothing else."""

import difflib
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.review.conftest import Filled, copied, filled_in

from afrieval._util.errors import UserError
from afrieval._util.schema import KeyPath
from afrieval._util.yaml_files import parsed
from afrieval.tasks.prompts.vocabulary import strings, text_hash
from afrieval.tools.review import read as reading
from afrieval.tools.review.check import decisions
from afrieval.tools.review.generated import golden_files
from afrieval.tools.review.read import NotEditableError, read, replaced, write_all
from afrieval.tools.review.sheet import read_sheet, sheet_bytes

DAY = "2026-01-31"
CHANGED = {
    "words/neither": "Kò sí: ìkankan",  # plain text of YAML could not contain it
    "afrimgsm/system": "A fún ọ ní ìbéèrè ìṣirò.",
    "afrimmlu/values/subject/international_law": "òfin gbogbo àgbáyé",
}
TEN = [f"{task}/{n}/template" for task in ("afrimmlu", "afrixnli", "belebele") for n in (1, 2, 3)] + ["afrixnli/system"]


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    """What a sheet with three changes and ten approvals changes: the new text by path."""
    root = copied(tmp_path_factory.mktemp("review") / "checkout")
    found, errors = read(root, filled_in(root, CHANGED, TEN), "sheet.csv", DAY)
    assert not errors
    return found


def by_name(changes: dict[Path, str]) -> dict[str, str]:
    return {path.as_posix(): text for path, text in changes.items()}


def changed_lines(path: Path, text: str) -> list[str]:
    lines = difflib.ndiff(path.read_text(encoding="utf-8").splitlines(), text.splitlines())
    return [line for line in lines if line[0] in "+-"]


@pytest.mark.parametrize("form", [".csv", ".xlsx"])
def test_a_file_says_what_was_filled_in(form: str, checkout: Path, filled: Filled, tmp_path: Path) -> None:
    file, given = tmp_path / f"sheet{form}", filled(CHANGED, TEN)
    file.write_bytes(sheet_bytes(given, file))
    found = read_sheet(file)
    assert (found.language, found.reviewer, found.dialect) == (given.language, given.reviewer, given.dialect)
    known = strings(checkout, "yor")
    decided, errors = decisions(found, known, "sheet")
    assert not errors and [(row.id, row.verdict, row.new) for row in decided] == [
        (row.id, row.verdict, row.new or known[row.id].text) for row in given.rows if row.verdict
    ]


def test_three_changes_and_ten_approvals(checkout: Path, changes: dict[Path, str]) -> None:
    """Only the lines of the changed strings differ, and the reviews are stored."""
    old = {id: string.text for id, string in strings(checkout, "yor").items()}
    named = by_name(changes)
    neutral, law = CHANGED["words/neither"], CHANGED["afrimmlu/values/subject/international_law"]
    edited = {name: c for name, c in named.items() if name.endswith("yor.yaml") and "reviews" not in name}
    assert {name: changed_lines(checkout / name, text) for name, text in edited.items()} == {
        "vocabulary/yor.yaml": [f"-   neither: {old['words/neither']}", f'+   neither: "{neutral}"'],
        "tasks/afrimgsm/prompts/yor.yaml": [
            f"- system: {old['afrimgsm/system']}",
            f"+ system: {CHANGED['afrimgsm/system']}",
        ],
        "tasks/afrimmlu/prompts/yor.yaml": [
            f"-     international_law: {old['afrimmlu/values/subject/international_law']}",
            f"+     international_law: {law}",
        ],
    }
    stored = yaml.safe_load(named["reviews/yor.yaml"])
    said = {"reviewer": "Ade Bello", "date": DAY, "dialect": "Ọ̀yọ́"}
    assert stored == {id: [{"hash": text_hash(old[id]), "verdict": "ok", **said}] for id in TEN} | {
        id: [{"hash": text_hash(new), "verdict": "change", **said}] for id, new in CHANGED.items()
    }


def test_what_depends_on_the_prompts(checkout: Path, changes: dict[Path, str]) -> None:
    """Versions rise once, the changelog says so, and golden files are those of the new prompts."""
    named = by_name(changes)
    for task in ("afrixnli", "afrimgsm", "afrimmlu"):
        old, new = changed_lines(checkout / f"tasks/{task}/task.yaml", named[f"tasks/{task}/task.yaml"])
        version = int(old.removeprefix("- version: "))
        assert new == f"+ version: {version + 1}"
    lines = changed_lines(checkout / "CHANGELOG.md", named["CHANGELOG.md"])
    assert all(line.startswith("+ ") for line in lines)
    assert "scores with native Yoruba prompts" in " ".join(line[2:].strip() for line in lines)
    write_all(checkout, changes)
    golden = golden_files(checkout, ["yor"])
    assert {path: (checkout / path).read_text() for path in golden} == golden
    assert {name for name in named if "golden" in name} == {
        "tests/tasks/golden/afrihate-yor.txt",
        "tests/tasks/golden/afrixnli-yor.txt",
    }  # the sample row of AfriMMLU is of another subject, and golden files have no system texts


def test_nothing_is_written_unless_all_is(
    checkout: Path, changes: dict[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(checkout)
    write = reading._write

    def stopped(path: Path, text: str) -> None:
        if path.name == "task.yaml" and text == changes[path.relative_to(checkout)]:
            raise KeyboardInterrupt
        write(path, text)

    monkeypatch.setattr(reading, "_write", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_all(checkout, changes)
    assert files(checkout) == before


def test_an_empty_sheet_and_one_read_twice_change_nothing(
    checkout: Path, filled: Filled, changes: dict[Path, str]
) -> None:
    sheets = filled(CHANGED, TEN), filled({}, [])
    write_all(checkout, changes)
    for sheet in sheets:
        assert read(checkout, sheet, "sheet.csv", DAY) == ({}, [])


def test_a_changelog_without_its_heading(checkout: Path, filled: Filled) -> None:
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## 1.0\n")
    with pytest.raises(UserError, match="has no heading '## Unreleased'"):
        read(checkout, filled(CHANGED, []), "sheet.csv", DAY)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


SOURCE = """\
# A comment.
plain: one  # another
quoted: 'it''s'
double: "a \\"b\\""
flow: {first: one, "second": "two", third: three}
list:
  - one
  - 'two'
prompts:
  1:
    template: |
      First: {{ x }}

      Last:
  # between
  2: {template: "a\\nb"}
  3:
    template: |-
      no line end
version: 2
last: end"""
PLACES: list[KeyPath] = [
    ("plain",),
    ("quoted",),
    ("double",),
    *(("flow", name) for name in ("first", "second", "third")),
    ("list", 0),
    ("list", 1),
    *(("prompts", n, "template") for n in (1, 2, 3)),
    ("last",),
]
LINE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=12)
AWKWARD = st.sampled_from(
    ["No", "5", "a: b", "# c", "- d", "it's", '"', "{", "[x", "&a", "*a", "!b", "%", "|", ">", "~"]
)
TEXT = st.lists(LINE | AWKWARD, min_size=1, max_size=4).map("\n".join).map(str.strip).filter(bool)


@given(place=st.sampled_from(PLACES), text=TEXT)
def test_any_text_can_take_the_place_of_another(place: KeyPath, text: str) -> None:
    lines = [line.strip() for line in text.split("\n")]
    text = "\n".join(lines)
    edited = replaced(SOURCE, place, text)
    expected = yaml.safe_load(SOURCE)
    within = expected
    for step in place[:-1]:
        within = within[step]
    within[place[-1]] = text + ("\n" if place == ("prompts", 1, "template") else "")
    assert parsed(edited)[0] == expected
    assert {line for line in SOURCE.split("\n") if "#" in line} <= {*edited.split("\n")} or place == ("plain",)


@pytest.mark.parametrize(
    ("place", "value", "old", "new"),
    [
        (("plain",), "two", "plain: one  # another", "plain: two  # another"),
        (("plain",), "a: b", "plain: one  # another", 'plain: "a: b"  # another'),
        (("quoted",), "that's", "quoted: 'it''s'", "quoted: 'that''s'"),
        (("flow", "third"), "No", "third: three}", 'third: "No"}'),
        (("version",), 3, "version: 2", "version: 3"),
        (("prompts", 1, "template"), "Zuerst: {{ x }}\n\nLast:", "First: {{ x }}", "Zuerst: {{ x }}"),
    ],
)
def test_the_style_is_kept_where_it_can_be(place: KeyPath, value: str | int, old: str, new: str) -> None:
    assert replaced(SOURCE, place, value) == SOURCE.replace(old, new)


@pytest.mark.parametrize("source", ["a: >\n  folded\n  text\n", "a: &x one\nb: *x\n", "a: [list]\n"])
def test_what_cannot_be_replaced_safely_is_refused(source: str) -> None:
    with pytest.raises(NotEditableError, match="line 1"):
        replaced(source, ("a",), "new")
