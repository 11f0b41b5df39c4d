"""The last box of a solution is found, whatever stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.extract.phrase import last_boxed


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (r"So $x = \boxed{5}$.", "5"),
        (r"$\boxed{3}$, no, $\boxed{4}$", "4"),  # the last one counts
        (r"$\boxed{\frac{1}{2}}$", r"\frac{1}{2}"),  # braces in braces
        (r"$\boxed{\left\{1, 2\right\}}$", r"\left\{1, 2\right\}"),  # escaped braces are signs
        (r"$\boxed{\{1\}$ and more}", r"\{1\}$ and more"), (r"$\boxed{\}}$", r"\}"),
        (r"$\boxed{a \\}$", r"a \\"),  # a line break, then a brace
        (r"$\fbox{5}$", "5"), (r"$\boxed{3}$ then $\fbox{4}$", "4"), (r"$\boxed {5}$", "5"), (r"$\boxed 5$.", "5"),
        (r"\(\boxed 5\).", "5"), ("\\boxed 5\nThat is all.", "5"), (r"\boxed 5", "5"), (r"$\boxed5$", "5"),
        (r"$\boxed{\boxed{5}}$", "5"), (r"$\boxed{}$", ""), ("\\boxed{\n5\n}", "\n5\n"),
        (r"$\boxed{5", None),  # cut short
        (r"$\boxed{3}$ so $\boxed{\frac{1}{2}", None), (r"\boxed", None), (r"\boxed ", None),
        (r"\boxedanswer{5}", None),  # another command
        ("boxed{5}", None), ("The answer is 5.", None), ("", None),
    ],
)  # fmt: skip
def test_last_box(text: str, held: str | None) -> None:
    assert last_boxed(text) == held


BALANCED = st.recursive(
    st.text(st.characters(exclude_characters="\\{}", exclude_categories=["Cs"]), max_size=5)
    | st.sampled_from([r"\{", r"\}", r"\\", r"\frac"]),
    lambda inner: st.lists(inner, max_size=3).map(lambda parts: "{" + "".join(parts) + "}"),
)


@given(BALANCED, st.text())
def test_balanced_braces_are_found_again(held: str, before: str) -> None:
    assert last_boxed(f"{before}$\\boxed{{{held}}}$.") == held


@given(st.text(), st.text(st.sampled_from("\\{} box$")))
def test_any_text_has_a_box_or_none(text: str, tail: str) -> None:
    held = last_boxed(text + tail)
    assert held is None or held in text + tail
