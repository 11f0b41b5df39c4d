"""Models whose weights are packed, adapted, or not all in memory answer as they do without the engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import dispatch_model
from tests.models.engine.asked import distance, plain, shared_requests, tree, verdicts
from tests.models.engine.written import generated, shared_prompts
from tests.models.shapes import decoder, encoder_decoder, loaded
from torch import nn

from afrieval._util.errors import UserError

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
