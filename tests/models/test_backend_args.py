"""`model.backend_args` are checked by name and kind before anything is loaded, without importing a backend."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval.models import MODEL_MAPPING
from tests.conftest import ROOT

from afrieval._util.errors import UserError
from afrieval.config.settings import ModelConfig
from afrieval.models import backend_args
from afrieval.models.backend_args import FORWARDED
from afrieval.models.base import Capabilities, UnknownTokenizer
from afrieval.models.registry import backend_of, check_backend_args


def check(backend: str = "hf", /, **given: Any) -> None:
    check_backend_args(ModelConfig(model_name="o/n", model_type=backend, backend_args=given))


GOOD: dict[str, tuple[Any, ...]] = {
    "max_length": (1, 4096, None),
    "batch_size": (1, "auto", "auto:4"),
    "max_batch_size": (8, None),
    "truncation": (True, False, None),
    "backend": ("causal", "seq2seq", "default"),
    "dtype": ("bfloat16", "auto", None),
    "softmax_dtype": ("float32", None),
    "peft": ("org/adapter", "/folder", None),
    "tp_plan": ("auto", {"layers": "colwise"}),
    "prefix_token_id": (0, 5),
    "max_memory_per_gpu": ("10GiB", 10**9),
    "think_end_token": ("</think>", 0, 7),
    "chat_template_args": ({"a": 1}, {}, None),
    "attn_implementation": ("sdpa",),
    "token": ("hf_x", True),
}
BAD: dict[str, tuple[Any, ...]] = {
    "max_length": ("text", "4096", 0, -1, 1.5, True, [1], {}),
    "batch_size": ("text", 0, -1, "auto:0", "", 1.5, True),
    "max_batch_size": (0, "8"),
    "truncation": ("yes", 1, "true"),
    "backend": ("decoder", None, 1),
    "dtype": ("float", "int8", "", 16),
    "softmax_dtype": ("auto", "nope"),
    "peft": (1, True, "", " ", ["a"]),
    "tp_plan": (1, []),
    "prefix_token_id": (-1, "x"),
    "chat_template_args": ("x", []),
    "attn_implementation": (1, ""),
    "token": (1,),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_an_argument_takes(name: str) -> None:
    for value in GOOD[name]:
        check("hf", **{name: value})


@pytest.mark.parametrize("name", BAD)
def test_what_an_argument_does_not_take(name: str) -> None:
    for value in BAD[name]:
        with pytest.raises(UserError) as caught:
            check("hf", **{name: value})
        assert f"backend_args.{name} is {value!r}" in caught.value.message
        assert caught.value.hint.startswith("give ")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("max_lenght", "did you mean max_length?"), ("attn_implementatoin", "did you mean attn_implementation?"),
        ("nothing_like_it", "'Models'"), ("self", "'Models'"), ("ignore_mismatched_sizes", "'Models'"),
        ("weights_only", "'Models'"), ("pretrained", "model.model_name"), ("max_memory", "_memory"),
    ],
)  # fmt: skip
def test_names_that_the_backend_does_not_know(name: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        check("hf", **{name: 1})
    assert f"backend_args.{name}" in caught.value.message and hint in caught.value.hint


def test_of_vllm_the_signature_counts_and_its_own_arguments_if_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check("vllm", tensor_parallel_size=2, gpu_memory_utilization=0.9, max_num_seqs=8, dtype="bfloat16")
    for wrong in ({"tensor_parallel_size": "2"}, {"max_model_len": 0}, {"dtype": "int8"}, {"max_length": "text"}):
        with pytest.raises(UserError):
            check("vllm", **wrong)
    engine = tmp_path / "vllm/engine"
    engine.mkdir(parents=True)
    (tmp_path / "vllm/__init__.py").write_text("raise AssertionError('it must not be imported')")
    (engine / "arg_utils.py").write_text(
        "class EngineArgs:\n    max_num_seqs: int = 1\n    enforce_eager: bool = False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    check("vllm", max_num_seqs=8)
    with pytest.raises(UserError, match="gpu_memory"):
        check("vllm", gpu_memory_utilization=0.9)


def test_shipped_files() -> None:
    for path in (ROOT / "configs/models").glob("*.yaml"):
        content = yaml.safe_load(path.read_text())
        check(content.get("model_type", "hf"), **content.get("backend_args", content.get("vllm", {})))


def test_what_is_arguments_of_vllm_is_what_the_library_takes() -> None:
    """The names stand in the code or the documentation of its from_pretrained, or are keys of every config."""
    import inspect

    from transformers import PreTrainedConfig, PreTrainedModel
    from transformers.models.auto.auto_factory import _BaseAutoModelClass

    text = inspect.getsource(PreTrainedModel.from_pretrained) + inspect.getsource(_BaseAutoModelClass.from_pretrained)
    unknown = [name for name in FORWARDED if name not in text and not hasattr(PreTrainedConfig(), name)]
    assert unknown == ["tie_word_embeddings"], "a key of the configs of language models"


def test_the_engine_of_another_backend() -> None:
    with pytest.raises(UserError, match=r"model\.engine tree is not supported with model\.model_type vllm") as error:
        check_backend_args(ModelConfig(model_name="o/n", model_type="vllm", engine="tree"))
    assert error.value.hint == "leave model.engine out, or use model.model_type hf"


def test_documentation_names_all() -> None:
    text = (ROOT / "docs/models.md").read_text()
    assert [
        name
        for name in (*FORWARDED, *backend_args.signature("models/huggingface.py", "HFLM"))
        if f"`{name}`" not in text
    ] == ["pretrained"]


def test_no_library_is_imported_for_it() -> None:
    code = (
        "import sys; from afrieval.config.settings import ModelConfig; from afrieval.models.registry import *\n"
        "check_backend_args(ModelConfig(model_name='x', backend_args={'max_length': 5, 'variant': 'a'}))\n"
        "print([name for name in ('torch', 'transformers', 'lm_eval') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> Any:
        return None if name == "tenacity" else find_spec(name)

    monkeypatch.setattr("afrieval.models.backends.harness.find_spec", find)
    with pytest.raises(UserError) as caught:
        check("local-completions", base_url="http://localhost:1/v1/completions")
    assert "not installed: tenacity" in caught.value.message and "afrieval[api]" in caught.value.hint


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


ASKS = re.compile(r"\bmodel_type\s*(==|!=|in|not in)\s*['\"(\[]|\bis_api\b|\bOURS\b|\bRECORDED\b")


def test_no_other_module_asks_which_backend_a_model_has() -> None:
    files = (ROOT / "src/afrieval").rglob("*.py")
    found = [(path.name, line) for path in files for line in path.read_text().splitlines() if ASKS.search(line)]
    assert not found
