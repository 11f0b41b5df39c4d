"""What a model can do is known before it is loaded, for each backend of the harness."""

from typing import Any

import pytest
from lm_eval.models import MODEL_MAPPING

from afrieval._util.errors import UserError
from afrieval.config.settings import ModelConfig
from afrieval.models.base import Capabilities, UnknownTokenizer
from afrieval.models.registry import backend_of


def of(backend: str, name: str = "m", **given: Any) -> Capabilities:
    return backend_of(backend).capabilities(ModelConfig(model_name=name, model_type=backend, backend_args=given))


@pytest.mark.parametrize("backend", ["hf", "vllm"])
def test_our_backends_do_everything(backend: str) -> None:
    assert of(backend) == Capabilities(tokens=backend == "hf"), "vllm without each token's likelihood"


CHATS = ["local-chat-completions", "openai-chat-completions", "anthropic-chat", "litellm"]


@pytest.mark.parametrize("backend", CHATS)
def test_chats_give_no_likelihoods_and_take_nothing_but_chats(backend: str) -> None:
    assert of(backend) == Capabilities(False, False, True, "messages", count_tokens=False)


def test_completions_need_a_tokenizer_for_likelihoods() -> None:
    for given in ({}, {"tokenizer": "o/n"}, {"tokenizer_backend": "huggingface"}):
        assert of("local-completions", **given) == Capabilities(max_length=2047, assumed=True)
    for unknown in (None, "None", "none"):
        can = of("local-completions", tokenizer_backend=unknown, tokenizer="o/n")
        assert can == Capabilities(False, False, True, chat=None, count_tokens=False)
    assert of("local-completions", tokenizer_backend="remote").chat is None  # its template would not be sandboxed


def test_a_length_that_is_given_is_not_assumed() -> None:
    can = of("local-completions", max_length=4096)
    assert can.max_length == 4095 and not can.assumed


def test_openai_gives_likelihoods_of_two_models_only() -> None:
    assert of("openai-completions", "davinci-002").loglikelihood
    assert not of("openai-completions", "gpt-3.5-turbo-instruct").loglikelihood


def test_the_harness_dummy() -> None:
    assert of("dummy") == Capabilities(chat="text", count_tokens=False)


def test_classes_that_only_raise_errors() -> None:
    assert not of("gguf").rolling and of("gguf").loglikelihood
    can = of("anthropic-completions")
    assert can.generate and not can.loglikelihood and not can.rolling and can.chat is None


@pytest.mark.parametrize("backend", sorted(MODEL_MAPPING))
def test_each_backend_says_what_it_can_or_why_it_cannot_be_used(backend: str) -> None:
    try:
        assert of(backend).generate
    except UserError as e:
        assert backend in e.message and e.hint and "\n" not in e.message + e.hint


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("vlm", "unknown backend 'vlm'", "did you mean vllm?"),
        ("local-completion", "unknown backend 'local-completion'", "did you mean local-completions?"),
        ("", "unknown backend ''", "dummy"),
        ("x" * 5000, "unknown backend 'xxx", "choose from"),
        ("huggingface", "another name of hf", "--model.model_type hf"),
    ],
)
def test_names_that_are_not_a_backend(name: str, message: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        of(name)
    assert message in caught.value.message and hint in caught.value.hint and len(caught.value.message) < 200


def test_without_a_tokenizer_a_token_per_byte_is_assumed() -> None:
    assert UnknownTokenizer().count_tokens("ጥ") == 4
