"""Samples as instance-level records: answers of servers, refusals, texts without a right choice."""

import json
from typing import Any

import pytest
from tests.analysis.cells import scored

from afrieval.exchange.every_eval_ever_export import instance


def line(**changes: Any) -> dict[str, Any]:
    """A generated answer to a question with two fields."""
    return {
        "doc_id": 7,
        "doc": {"id": 7, "question": "2 + 2?", "hint": 4, "choices": [], "gold": 4, "worked": ""},
        "target": "4",
        "arguments": [["Question: 2 + 2?\nAnswer:", {"max_gen_toks": 5}]],
        "resps": [["It is 4."]],
        "metrics": ["exact_match"],
        "measures": {"exact_match": [1.0]},
        "exact_match": 1.0,
        "answer": 4,
        "task": "afrimgsm",
        "language": "yor",
        "prompt": 1,
        "prompt_language": "eng",
        "defect": "",
        **changes,
    }


CELL = scored([1.0], task="afrimgsm", of="exact_match", ids=[7])


def test_a_generated_answer() -> None:
    found = instance(line(), CELL)
    assert found["input"]["raw"] == "question: 2 + 2?\nhint: 4" and found["input"]["reference"] == ["4"]
    assert found["output"]["raw"] == ["It is 4."] and found["evaluation"] == {"score": 1.0, "is_correct": True}
    (of,) = found["answer_attribution"]
    assert of["extracted_value"] == "4" and of["extraction_method"] == "afrimgsm, version 1"
    assert "token_usage" not in found and "error" not in found and found["sample_id"] == "7"


def test_a_generated_answer_to_a_question_with_choices_is_the_choice() -> None:
    doc = {"id": 7, "question": "2 + 2?", "choices": ["3", "four"], "gold": 1, "worked": ""}
    found = instance(line(doc=doc, gold=1, answer=1, picked=1, resps=[["B"]]), CELL)
    assert found["answer_attribution"][0]["extracted_value"] == "four" == found["input"]["reference"][0]


def test_tokens_that_a_server_counted() -> None:
    details = {"prompt_tokens": 9, "completion_tokens": 3, "reasoning_tokens": 2, "cost": 0.1}
    usage = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12, "reasoning_tokens": 2}
    assert instance(line(details=details), CELL)["token_usage"] == usage
    assert "token_usage" not in instance(line(details={"prompt_tokens": 9}), CELL)


def test_refused_and_unparsed_answers_have_no_extracted_value() -> None:
    refused = instance(line(answer=None, refused=1.0, measures={"exact_match": [0.0]}), CELL)
    assert refused["error"] == "refused" and refused["answer_attribution"] == []
    assert refused["evaluation"] == {"score": 0.0, "is_correct": False}
    assert "error" not in instance(line(answer=None, refused=0.0), CELL)


@pytest.mark.parametrize("metric", ["probability", "loss"])
def test_texts_whose_likelihood_is_measured_have_no_right_choice(metric: str) -> None:
    cell = scored([0.5], task="tofu_forget", of=metric, ids=[0])
    texts = ["is in Kano", "stands in Kano", "is in Gao"]
    found = instance(
        line(
            doc={"id": 0, "question": "Where?", "choices": texts, "gold": 0, "worked": ""},
            roles=["answer", "answer", "perturbed"],
            arguments=[["Where?", f" {text}"] for text in texts],
            resps=[[[-1.5, False, 3]], [[-2.0, False, 3]], [[-2.5, False, 3]]],
            measures={metric: [0.5]},
            answer=None,
        ),
        cell,
    )
    assert found["input"]["reference"] == texts[:2] and "choices" not in found["input"]
    assert found["output"]["raw"] == [] and found["evaluation"] == {"score": 0.5, "is_correct": False}
    assert json.loads(found["metadata"]["log_likelihoods"]) == [-1.5, -2.0, -2.5]
