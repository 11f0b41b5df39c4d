"""Answers are told from thinking, in whichever marks a model writes it; ordinary texts are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.thinking import answer_span, is_mark, parted, stopped

WHY = "12 - 5 = 7, or 9?"
MARKS = {
    "<think>": "</think>", "<thinking>": "</thinking>", "<reasoning>": "</reasoning>", "<thought>": "</thought>",
    "<seed:think>": "</seed:think>", "[THINK]": "[/THINK]", "◁think▷": "◁/think▷", "<Think>": "</Think>",
    "<|START_THINKING|>": "<|END_THINKING|>", "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>": "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    "analysisWe ask: ": "assistantfinal", "<|channel>thought\n": "<channel|>", "<|inner_prefix|>": "<|inner_suffix|>",
}  # fmt: skip


@pytest.mark.parametrize(("begin", "end"), MARKS.items(), ids=MARKS)
def test_the_answer_follows_thinking(begin: str, end: str) -> None:
    for before in ("", "\n ", "Let me see.\n"):
        text = f"{before}{begin}{WHY}{end}"
        if before.strip() and begin.startswith("analysis"):
            continue
        assert parted(f"{text}\n\nC") == (text, "\n\nC")
        assert parted(text)[1].strip() == before.strip(), "nothing follows thinking"
        assert parted(f"{before}{begin}{WHY}")[1].strip() == before.strip(), "nothing of unfinished thinking"
        assert parted(f"{before}{begin}\n\n{end}\n\nC")[1] == "\n\nC", "an empty block"
    assert parted(f"{WHY}{end}C", opened=True)[1] == parted(f"{WHY}{end}C")[1] == "C", "the prompt began it"
    assert parted(f"{begin}{WHY}{end}B {begin}{WHY}{end}C")[1] == "C"
    assert parted(f"{begin}{WHY}{end}C\n{begin}{WHY}")[1].strip() in ("C", f"C\n{begin}{WHY}")


WRAPPED = [
    "C<|return|>",
    "<|START_RESPONSE|>C<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
    "\n<response>\nC\n</response>",
    "C<|im_end|>\nuser",
]


@pytest.mark.parametrize("rest", WRAPPED)
def test_tokens_around_an_answer_are_not_in_it(rest: str) -> None:
    assert parted(f"<think>{WHY}</think>{rest}")[1].strip() == "C"


ORDINARY = (
    "C", "", "analysis of the text: C", "analysis", "Analysis: 7", "The final answer is C", "final", "finally, 7",
    "I think 7.", "The tag `</think>` ends thinking.", 'Models write "</think>" and "[/THINK]".', "a < b > c",
    "[think] 7", "I use <think> in a line; 7",
    "<p>7</p>", "<|endoftext|>", "commentary on 7", "[Reasoning] 5 + 2 [Answer] 7",
    "Here is my response: 7", "<analysis>7", "thought: 7", "Tunani: 7", "analysisng", "<answer>C</answer>",
)  # fmt: skip


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_are_whole(text: str) -> None:
    assert parted(text) == ("", text)
    assert stopped(text, ["\n\n", ""]) == text


@given(st.text(), st.sampled_from(sorted(MARKS)), st.text(), st.booleans())
def test_any_text_is_thinking_or_answer(before: str, mark: str, after: str, opened: bool) -> None:
    for text in (before, before + mark + after, before + MARKS[mark] + after):
        begin, end = answer_span(text, opened=opened)
        assert 0 <= begin <= end <= len(text)
        assert text.startswith(stopped(text, [after], opened=opened))
    assert parted(f"{before}</so>", "</so>")[1] == ""


def test_a_mark_that_is_known() -> None:
    assert parted("I add. </so> 18", "</so>") == ("I add. </so>", " 18")
    assert parted("18", "</so>") == ("18", ""), "it was cut short"
    assert parted("<think>9</think>18", "</so>")[1] == "18", "another mark than was said"
    assert parted("18", opened=True) == ("18", "")
    assert parted("Here's my thought process: 9\nHere is my response: 7")[1] == " 7"


@pytest.mark.parametrize("text", ["C\n<think>A</think>", "<think>A</think>C<think>B</think>\n", "<think >A</think >C"])
def test_an_answer_stands_before_or_after_thinking(text: str) -> None:
    assert parted(text)[1].strip() == "C"


@pytest.mark.parametrize("mark", ["\ufeff", "\u200b", "\u200e\n"])
def test_unfinished_thinking_after_a_mark_that_nobody_sees(mark: str) -> None:
    assert parted(f"{mark}<think>A")[1].strip("\ufeff\u200b\u200e\n") == ""


def test_stop_texts_count_after_thinking_only() -> None:
    text = "<think>a\n\nQuestion: b</think>\n\nC\n\nQuestion: d"
    assert stopped(text, ["\n\n"]) == stopped(text, ["Question:", "\n\nQ"])[: len(text) - 13] == text[:-13]
    assert stopped("a\n\nb", ["\n\n"]) == "a" and stopped("\n\na", ["\n\n"]) == ""
    assert stopped("a\n\nb", ["\n\n"], opened=True) == "a\n\nb"
    assert stopped("a\n\nb</so>C\n\n", ["\n\n"], "</so>") == "a\n\nb</so>C"


def test_which_special_tokens_matter() -> None:
    assert all(map(is_mark, ("<think>", "[/THINK]", "<|channel|>", "<|END_THINKING|>", "</seed:think>", "<|message|>")))
    assert not any(map(is_mark, ("</s>", "<|im_end|>", "<pad>", "", "<|eot_id|>", "[INST]", "<|end|>")))
    assert is_mark("<|sep|>", "a<|sep|>")
