"""The names of cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.results.cell_key import PAPER, SUITE, CellKey, paper_id

PROMPTS = st.integers(0, 99) | st.builds(paper_id, st.integers(1, 99), st.booleans())
KEYS = st.builds(
    CellKey,
    st.sampled_from(["afrixnli", "mafand_en", "native_eng_1", "x_paper1_uncleaned"]),
    st.sampled_from(["eng", "yor"]),
    PROMPTS,
    st.sampled_from(["eng", "native"]),
)


@given(KEYS)
def test_a_key_is_read_from_its_text(key: CellKey) -> None:
    assert CellKey.parse(key.text()) == key


@pytest.mark.parametrize(
    "name", ["gsm8k", "afrixnli_yor_eng", "afrixnli_yor_deu_1", "t_yor_eng_x", "t_yor_eng_1_uncleaned", "_yor_eng_1"]
)
def test_other_names_are_no_keys(name: str) -> None:
    assert CellKey.parse(name) is None


def test_what_cells_have_in_common() -> None:
    key = CellKey("t", "yor", paper_id(3), "eng", 5, "text")
    assert key.without() == key
    assert key.without("prompt") == CellKey("t", "yor", PAPER, "eng", 5, "text")
    assert key.without("prompt").prompt_set == key.prompt_set == PAPER != SUITE
    assert key.without("task", "language", "prompt_set", "shots") == CellKey(prompt_language="eng", answer_form="text")
    assert CellKey("gsm8k").text() == "gsm8k" and CellKey("gsm8k").without("prompt") == CellKey("gsm8k")
