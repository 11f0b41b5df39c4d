"""What run.yaml says of where likelihoods come from."""

from typing import Any, cast

import pytest

from afrieval.results.comparable_runs import source_of_likelihoods
from afrieval.results.schema import RunRecord

SOURCES: dict[str, tuple[dict[str, Any], list[str | None], str]] = {
    "tree": ({"model_type": "hf"}, ["tree"], "the tree engine"),
    "both engines": ({"model_type": "hf"}, ["tree", "plain", "tree"], "the tree engine and the plain engine"),
    "former version": ({}, [None], ""),
    "vllm": ({"model_type": "vllm"}, [None], "vLLM"),
    "echo": ({"model_type": "openai", "api": {"endpoint": "completions"}}, [None], "prompts that the server repeats"),
    "letters": (
        {"model_type": "openai", "api": {"endpoint": "chat", "top_logprobs": 20}},
        [None],
        "the most likely first tokens that the server states",
    ),
    "file": ({"model_type": "recorded"}, [None], "the answer file"),
    "harness": ({"model_type": "local-completions"}, [None], "the backend local-completions"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_way_has_a_name(name: str) -> None:
    model, engines, said = SOURCES[name]
    record = {"identity": {"model": {"model_name": "m", **model}}, "visits": [{"engine": e} for e in engines]}
    assert source_of_likelihoods(cast(RunRecord, record)) == said
