"""`model.backend_args` are checked by name and kind before anything is loaded, without importing a backend."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import ROOT

from afrieval._util.errors import UserError
from afrieval.config.settings import ModelConfig
from afrieval.models import backend_args
from afrieval.models.backend_args import FORWARDED
from afrieval.models.registry import check_backend_args


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
    backend_args.arguments_of_vllm.cache_clear()
    check("vllm", max_num_seqs=8)
    with pytest.raises(UserError, match="gpu_memory"):
        check("vllm", gpu_memory_utilization=0.9)
    backend_args.arguments_of_vllm.cache_clear()


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
