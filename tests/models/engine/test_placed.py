"""Models whose weights are packed, adapted, or not all in memory answer as they do without the engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import dispatch_model
from tests.models.engine.asked import distance, plain, shared_requests, tree, verdicts
from tests.models.engine.written import generated, shared_prompts
from tests.models.shapes import asked, by_hand, decoder, encoder_decoder, loaded
from torch import nn

from afrieval._util.errors import UserError
from afrieval.models.backends.hf import HF
from afrieval.models.demo import byte_tokenizer
from afrieval.models.engine.requests import EngineError

CLOSE = 1e-4
REQUESTS, PROMPTS = shared_requests()[::4], shared_prompts()[::2]


class Packed(nn.Module):
    """A linear layer of 8 bits, as those of bitsandbytes, GPTQ and AWQ: no weight of its own, only packed numbers."""

    def __init__(self, of: nn.Linear):
        super().__init__()
        scale = of.weight.detach().abs().amax(dim=1, keepdim=True) / 127
        self.register_buffer("qweight", (of.weight.detach() / scale).round().to(torch.int8))
        self.register_buffer("scales", scale.half())
        self.bias = of.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.get_buffer("qweight").to(x.dtype) * self.get_buffer("scales").to(x.dtype)
        return nn.functional.linear(x, weight, self.bias)


class Adapted(nn.Module):
    """A linear layer with a product of small matrices added, as in LoRA."""

    def __init__(self, of: nn.Linear):
        super().__init__()
        self.base_layer = of
        self.a, self.b = nn.Linear(of.in_features, 2, bias=False), nn.Linear(2, of.out_features, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = self.base_layer(x) + self.b(self.a(x))
        return added


def replaced(model: Any, kind: Callable[[nn.Linear], nn.Module]) -> Any:
    """Returns a model with other linear layers, its output layer left alone."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        for parent in [*model.model.layers.modules()]:
            for name, layer in [*parent.named_children()]:
                if type(layer) is nn.Linear and not isinstance(parent, Adapted):
                    setattr(parent, name, kind(layer))
    return model.eval()


def check(lm: Any, attention: str = "tiles") -> None:
    expected = plain(lm, REQUESTS)
    lm.choose_engine("tree")
    assert lm.attention == attention
    found = tree(lm, REQUESTS, 16)
    assert distance(expected, found) <= CLOSE and verdicts(expected) == verdicts(found)
    assert generated(lm, PROMPTS, "tree") == generated(lm, PROMPTS, "plain")


@pytest.mark.parametrize(("name", "kind"), [("gemma3", Packed), ("llama", Adapted)])
def test_linear_layers_of_other_kinds(name: str, kind: Any) -> None:
    check(loaded(replaced(decoder(name), kind)))


@pytest.mark.parametrize("name", ["gemma2", "falcon"])
def test_layers_that_are_loaded_from_disk_for_each_pass(name: str, tmp_path: Path) -> None:
    model = decoder(name)
    expected = plain(loaded(model), REQUESTS)
    base = model.base_model_prefix
    parts = [f"{base}.{part}" for part, _ in getattr(model, base).named_children()]
    parts = [part for part in parts if not part.endswith((".layers", ".h"))] + ["lm_head"]
    stacks = [f"{base}.{part}" for part in ("layers", "h") if hasattr(getattr(model, base), part)]
    where: dict[str, Any] = dict.fromkeys(parts, "cpu") | {f"{stacks[0]}.0": "cpu", f"{stacks[0]}.1": "disk"}
    lm = loaded(dispatch_model(model, where, main_device="cpu", offload_dir=str(tmp_path), force_hooks=True))
    assert any(weight.is_meta for weight in lm.model.parameters())
    assert distance(expected, plain(lm, REQUESTS)) == 0
    check(lm, "masks" if name == "falcon" else "tiles")


def adapted(model: Any, kind: str, **settings: Any) -> Any:
    peft = pytest.importorskip("peft", reason="the package peft is not installed")
    with torch.random.fork_rng():
        torch.manual_seed(4)
        return peft.get_peft_model(model, getattr(peft, kind)(**settings)).eval()


def test_lora() -> None:
    settings = {"task_type": "CAUSAL_LM", "r": 4, "init_lora_weights": False, "target_modules": "all-linear"}
    check(loaded(adapted(decoder("gemma2"), "LoraConfig", **settings)))


@pytest.mark.parametrize(
    ("kind", "task"), [("PromptTuningConfig", "CAUSAL_LM"), ("PrefixTuningConfig", "SEQ_2_SEQ_LM")]
)
def test_tuned_prompts_are_left_to_the_harness(kind: str, task: str) -> None:
    model = decoder("llama") if task == "CAUSAL_LM" else encoder_decoder("T5")
    lm = loaded(adapted(model, kind, task_type=task, num_virtual_tokens=3))
    with pytest.raises(UserError, match="puts tokens of its own before each text"):
        lm.choose_engine("tree")
    lm.choose_engine("auto")
    assert lm.engine == "plain"


TOKENS = len(byte_tokenizer())
PADDED, GROWN = TOKENS + 40, TOKENS + 3
NEW = [f"<new{i}>" for i in range(GROWN - TOKENS)]
BOTH = {"modules_to_save": ["embed_tokens", "lm_head"]}


def base(folder: Path, rows: int, tied: bool = False, seed: int = 0) -> Any:
    model = decoder("llama", seed, vocab_size=rows, tie_word_embeddings=tied)
    model.save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return type(model).from_pretrained(folder, dtype=torch.float32)


def likelihood(model: Any, tokenizer: Any, context: str, text: str) -> float:
    before, whole = (tokenizer(each)["input_ids"] for each in (context, context + text))
    return by_hand(model, before, whole[len(before) :])


def answer(folder: Path, context: str, text: str, **arguments: Any) -> float:
    lm: Any = HF(pretrained=str(folder), device="cpu", dtype="float32", softmax_dtype="float32", **arguments)
    lm.choose_engine("auto")
    return float(lm.loglikelihood(asked((context, text)))[0][0])


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("rows", "trained", "settings"),
    [
        (PADDED, PADDED, {}),
        (PADDED, PADDED, {"modules_to_save": ["lm_head"]}),
        (PADDED, PADDED, {"modules_to_save": ["embed_tokens"]}),
        (PADDED, PADDED, {"target_modules": ["q_proj", "embed_tokens"]}),
        (PADDED, TOKENS, BOTH),  # trained after its base was cut
        (TOKENS, GROWN, BOTH),
        (TOKENS, GROWN, {}),  # PEFT saves both by itself
        (TOKENS, GROWN, {"trainable_token_indices": {"embed_tokens": [*range(TOKENS, GROWN)]}}),
    ],
)
def test_as_in_peft(tmp_path: Path, tied: bool, rows: int, trained: int, settings: dict[str, Any]) -> None:
    peft = pytest.importorskip("peft", reason="the package peft is not installed")
    model, tokenizer = base(tmp_path / "base", rows, tied), byte_tokenizer()
    if trained != rows:
        model.resize_token_embeddings(trained)
    if trained == GROWN:
        tokenizer.add_tokens(NEW)
    usual = {"task_type": "CAUSAL_LM", "r": 4, "init_lora_weights": False, "target_modules": ["q_proj", "v_proj"]}
    whole = peft.get_peft_model(model, peft.LoraConfig(**usual | settings)).eval()
    with torch.no_grad():
        for name, weight in whole.named_parameters():
            weight += 0.1 * torch.randn_like(weight) * ("modules_to_save" in name)
    whole.save_pretrained(tmp_path / "adapter")
    tokenizer.save_pretrained(tmp_path / "adapter")
    expected = likelihood(whole, tokenizer, "Kí ni?", f" Abuja{NEW[0]}")
    folder = str(tmp_path / "adapter")
    found = answer(tmp_path / "base", "Kí ni?", f" Abuja{NEW[0]}", peft=folder, tokenizer=folder)
    assert found == pytest.approx(expected, abs=1e-4)


def test_new_tokens_without_weights_are_refused(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="the package peft is not installed")
    model = base(tmp_path / "base", TOKENS)
    model.resize_token_embeddings(GROWN)
    settings = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj", "embed_tokens"]}
    peft.get_peft_model(model, peft.LoraConfig(**settings)).save_pretrained(tmp_path / "adapter")
    with pytest.raises(EngineError, match="has 262 tokens, 3 more than the model, but lacks weights of them"):
        answer(tmp_path / "base", "x", "y", peft=str(tmp_path / "adapter"))


@pytest.mark.parametrize("tied", [False, True])
def test_differences_of_weights_are_added_once(tmp_path: Path, tied: bool) -> None:
    model, delta = base(tmp_path / "base", PADDED, tied), base(tmp_path / "delta", PADDED, tied, seed=1)
    for name, weight in model.named_parameters():
        weight.data += delta.get_parameter(name).data
    expected = likelihood(model, byte_tokenizer(), "Kí ni?", " Abuja")
    found = answer(tmp_path / "base", "Kí ni?", " Abuja", delta=str(tmp_path / "delta"))
    assert found == pytest.approx(expected, abs=1e-4)
