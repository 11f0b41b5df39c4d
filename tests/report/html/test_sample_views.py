"""Samples in pages: options, answers and notes; marks in words, directions of texts, hostile texts as texts."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.cells import scored
from tests.report.html.small_runs import small_run, two_models

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.selected_samples import selections
from afrieval.exchange.discovery import read_inputs
from afrieval.report.html.sample_views import card, cut, samples_html
from afrieval.tasks.cells.sample_lines import likelihood_lines


def cards(given: Inputs, model: str = "second", room: int = 6000) -> str:
    [chosen] = [s for s in selections(given.run_cells, 5) if (s.cells[0].model, s.cells[0].language) == (model, "yor")]
    return samples_html(chosen, [], room)


def test_flips_are_shown_under_both_prompts(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path))
    assert "Samples of second: 5 of 8 documents (flipped)" in html
    assert "4 right under English prompt 1 only; 4 right under native prompt 1 only." in html
    assert html.count('<div class="side">') == 10
    assert html.count("<strong>right</strong> under English prompt 1") == 3


def test_other_documents_are_shown_once_with_the_other_verdict(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path), "first")
    assert html.count('<div class="side">') == 5
    assert html.count("Under native prompt 1: wrong.") == 3
    assert html.count("Under native prompt 1: right.") == 2


def test_marks_are_words_and_signs_are_for_eyes_only(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path))
    assert "<td>right, picked</td>" in html
    assert '<span aria-hidden="true">✗</span> <strong>wrong</strong>' in html


def test_native_prompts_name_their_language_and_all_texts_find_their_direction(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path))
    assert re.search('<pre dir="auto" lang="yo">Ṣé ó dára', html)
    assert re.search('<pre dir="auto">Ṣé ó dára', html)
    assert "<pre>" not in html


def test_hostile_texts_are_texts(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "c", "<b>m</b>", question='<script>alert("1")</script>\u202e\x1b[31m')
    html = cards(read_inputs([folder]), "<b>m</b>")
    assert "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;\\u202e\\x1b[31m" in html
    assert "<script" not in html
    assert "<b>" not in html


def test_long_prompts_are_cut_in_the_middle(tmp_path: Path) -> None:
    html = cards(two_models(tmp_path, question="ọ̀rọ̀ " * 5000))
    assert " characters are not shown …</span>" in html
    assert len(html.encode()) < 60_000


ROOM = 6000


def sample(**changes: Any) -> dict[str, Any]:
    """A line of a task whose answers are generated."""
    return {
        "doc_id": 3, "doc": {"id": 3, "choices": []}, "target": "18", "arguments": [["Question?\nAnswer:", {}]],
        "resps": [["18."]], "metrics": ["acc"], "acc": 1.0, "measures": {"acc": [1.0]}, "answer": "18", "n_choices": 0,
        **changes,
    }  # fmt: skip


def options(likelihoods: list[float], **changes: Any) -> dict[str, Any]:
    """A line of a task whose options are compared by likelihood."""
    texts = [f" option {i}" for i in range(len(likelihoods))]
    known: dict[str, Any] = {
        "n_choices": len(texts),
        "answer": 0,
        "gold": 1,
        "picked": 0,
        "acc": 0.0,
        "measures": {"acc": [0.0]},
    }
    known |= {"arguments": [["Question?\nAnswer:", text] for text in texts]}
    return sample(resps=[[[value, False, 4]] for value in likelihoods], **known | changes)


def shown(line: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return card(3, [(scored([1.0], **changes), line)], 1, ROOM)


def test_options_have_their_share_of_the_probability_and_marks_in_words() -> None:
    [side] = shown(options([-1.0, -1.0 - math.log(3)]))["sides"]
    assert side["verdict"] == "wrong"
    assert [c["marks"] for c in side["choices"]] == ["picked", "right"]
    assert [c["probability"] for c in side["choices"]] == pytest.approx([0.75, 0.25])
    assert [c["tokens"] for c in side["choices"]] == [4, 4]
    assert side["choices"][1]["text"].start == " option 1"


def test_letters_name_the_options_they_stand_for() -> None:
    line = options([-1.0, -2.0], doc={"id": 3, "choices": ["p = 4", "p = 8"]})
    line["arguments"] = [["Q", " A"], ["Q", " B"]]
    [side] = shown(line)["sides"]
    assert [c["text"].start for c in side["choices"]] == [" A  (p = 4)", " B  (p = 8)"]


def test_the_same_text_after_a_blank_has_the_choice_that_fills_it() -> None:
    line = options([-1.0, -2.0], doc={"id": 3, "choices": ["stone", "glass"]})
    line["arguments"] = [["The stone", " was hard."], ["The glass", " was hard."]]
    prompt = shown(line)["sides"][0]["prompt"]
    assert prompt and prompt.start == "The [stone | glass]"
    assert [c["text"].start for c in shown(line)["sides"][0]["choices"]] == ["stone | was hard.", "glass | was hard."]
    assert ["stone |" in of for of in likelihood_lines(line)] == [True, False]


def test_impossible_options_have_no_probability() -> None:
    [side] = shown(options([-1.0, -1e9]))["sides"]
    assert [c["probability"] for c in side["choices"]] == [1.0, 0.0]


def test_texts_whose_likelihood_is_measured_have_roles_instead() -> None:
    line = options([-8.0, -9.0], roles=["answer", "perturbed"], n_choices=None, acc=0.00371234)
    [side] = shown(line)["sides"]
    assert side["verdict"] == "acc 0.0037"
    assert [(c["marks"], c["probability"], c["per_token"]) for c in side["choices"]] == [
        ("right answer", None, -2.0),
        ("wrong answer", None, -2.25),
    ]


def test_whole_texts_have_no_prompt() -> None:
    line = options([-8.0], roles=["answer"], n_choices=None, arguments=[["A whole text.", {"tokens": True}]])
    [side] = shown(line)["sides"]
    assert (side["prompt"], [c["text"].start for c in side["choices"]]) == (None, ["A whole text."])


def test_generated_answers_show_what_was_extracted_and_what_is_right() -> None:
    found = shown(sample())
    [side] = found["sides"]
    assert side["answer"] and side["answer"].start == "18."
    assert (side["verdict"], side["extracted"], found["gold"], side["choices"]) == ("right", "18", ["18"], [])


@pytest.mark.parametrize(
    ("changes", "extracted", "gold"),
    [
        ({"answer": None, "acc": 0.0, "measures": {"acc": [0.0]}}, None, ["18"]),
        ({"answer": [["PER", "Ali"], ["LOC", "Kano"]], "target": "PER: Ali"}, "PER: Ali\nLOC: Kano", ["PER: Ali"]),
        ({"answer": ["O", "B-PER"], "target": "O O"}, "O B-PER", ["O O"]),
        ({"answer": "b", "target": "a", "doc": {"gold": '["a", "b"]'}}, "b", ["a", "b"]),
        ({"answer": "b", "target": "a", "doc": {"gold": "[a"}}, "b", ["a"]),
        ({"answer": 1, "picked": 1, "gold": 0, "n_choices": 2, "doc": {"choices": ["yes", "no"]}}, "no", ["yes"]),
        ({"answer": {"joy": 1, "fear": 0}, "target": "joy"}, "joy: 1, fear: 0", ["joy"]),
        ({"answer": {"strict": [True]}, "inst_level_strict_acc": [1.0]}, None, ["18"]),
    ],
)
def test_answers_of_all_kinds(changes: dict[str, Any], extracted: str | None, gold: list[str]) -> None:
    found = shown(sample(**changes))
    assert (found["sides"][0]["extracted"], found["gold"]) == (extracted, gold)


def test_thinking_is_apart_from_the_answer() -> None:
    [side] = shown(sample(resps=[["I add. </think> 18"]]), recorded_settings={"thinking_end": "</think>"})["sides"]
    assert side["thinking"] and side["answer"]
    assert (side["thinking"].start, side["answer"].start) == ("I add. </think>", " 18")
    [side] = shown(sample(details={"thinking": "I add."}))["sides"]
    assert side["thinking"] and side["thinking"].start == "I add."


def test_a_long_beginning_is_apart() -> None:
    question = "How many are left of them?"
    examples = f"Question: {question} No.\nAnswer: b\n\n" * 15
    document = {"subject": "a_long_name_of_a_subject", "question": question, "choices": []}
    line = sample(arguments=[[f"{examples}Question: {question}\nAnswer:", {}]], doc=document, fewshot_ids=[5] * 15)
    [side] = shown(line)["sides"]
    assert side["beginning"] and side["prompt"]
    assert (side["beginning"].start, side["prompt"].start) == (examples, f"Question: {question}\nAnswer:")
    assert side["examples"] == 15
    [side] = shown(line | {"doc": {"question": "another question, which is not there"}})["sides"]
    assert side["beginning"] is None
    [side] = shown(line | {"arguments": [[f"Answer.\n\nQuestion: {question}", {}]]})["sides"]
    assert side["beginning"] is None


def test_notes_say_what_else_is_known() -> None:
    line = sample(
        fitted={"passage": [100, 2500], "examples": [2, 5]}, details={"finish_reason": "length"}, guess="lone",
        published_correct=False, defect="two equal options", inst_level_strict_acc=[1.0, 0.0],
    )  # fmt: skip
    [side] = shown(line)["sides"]
    assert side["notes"] == [
        "To fit the model's context, the field passage was shortened: 100 of 2,500 characters were sent.",
        "To fit the model's context, few-shot examples were left out: 2 of 5 examples were sent.",
        "The answer was cut off at its limit of tokens.",
        "The answer was guessed from a letter in the text (lone).",
        "Instructions followed: yes, no.",
        "Published answer of the authors' model: wrong.",
        "Known defect of this row: two equal options.",
    ]


def test_prompts_that_were_not_kept_are_said_so() -> None:
    line = sample()
    del line["arguments"], line["doc"]
    [side] = shown(line)["sides"]
    assert (side["prompt"], side["notes"]) == (None, ["The prompt was not kept: eval.log_samples is false."])
    bare = options([-1.0, -2.0])
    del bare["arguments"]
    [side] = shown(bare)["sides"]
    assert [c["text"].start for c in side["choices"]] == ["option 1", "option 2"]


def test_fields_that_scores_are_broken_down_by_are_named() -> None:
    line = sample(doc={"subject": "physics", "question": "?"})
    assert shown(line, declared={"breakdowns": ["subject"]})["fields"] == {"subject": "physics"}


def test_further_prompts_have_their_verdict_only() -> None:
    cell, line = scored([1.0]), sample()
    found = card(3, [(cell, line), (scored([1.0], prompt=2), line)], 1, ROOM)
    assert len(found["sides"]) == 1
    assert found["others"] == ["English prompt 2: right"]


def test_long_texts_are_cut_between_words_and_say_how_much_is_missing() -> None:
    text = "ọ̀rọ̀ " * 1000
    found = cut(text, 500)
    assert len(found.start.encode()) + len(found.end.encode()) <= 500
    assert len(found.start) + found.left_out + len(found.end) == len(text)
    assert found.start.endswith("ọ̀rọ̀")
    assert cut("short", 500).start == "short"
    assert cut("x" * 10_000, 100).left_out >= 9_900
