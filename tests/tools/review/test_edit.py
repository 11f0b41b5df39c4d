"""One value of a YAML text is replaced, and nothing else."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.schema import Place
from afrieval._util.yaml_files import parsed
from afrieval.tools.review.read import NotEditableError, replaced

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
PLACES: list[Place] = [
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
def test_any_text_can_take_the_place_of_another(place: Place, text: str) -> None:
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
def test_the_style_is_kept_where_it_can_be(place: Place, value: str | int, old: str, new: str) -> None:
    assert replaced(SOURCE, place, value) == SOURCE.replace(old, new)


@pytest.mark.parametrize("source", ["a: >\n  folded\n  text\n", "a: &x one\nb: *x\n", "a: [list]\n"])
def test_what_cannot_be_replaced_safely_is_refused(source: str) -> None:
    with pytest.raises(NotEditableError, match="line 1"):
        replaced(source, ("a",), "new")
