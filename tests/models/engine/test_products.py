"""Products by oneDNN are torch's own, for inputs of every shape, and a model has its own way back afterwards."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.models.engine.asked import distance, plain, shared_requests, tree
from tests.models.shapes import decoder, loaded
from torch import nn

from afrieval.models.engine import processor, products
from afrieval.models.engine.products import layers_for_onednn, onednn

AMD = "processor : 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nvendor_id\t: another\n"


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setattr(products, "processor_vendor", lambda: request.param)


class Quantised(torch.Tensor):
    """Weights that compute products by themselves."""


foreign = pytest.mark.parametrize("vendor", ["AuthenticAMD"], indirect=True)


@given(rows=st.lists(st.integers(0, 40), min_size=1, max_size=3), bias=st.booleans(), turned=st.booleans())
def test_products_are_torchs_own(rows: list[int], bias: bool, turned: bool) -> None:
    random = torch.Generator().manual_seed(sum(rows))
    layer = nn.Linear(24, 17, bias=bias)
    inputs = torch.randn(*rows, 24, generator=random)
    if turned:  # the numbers of an input do not lie one behind the other
        inputs = torch.randn(24, *rows, generator=random).movedim(0, -1)
    exact = inputs.double() @ layer.weight.double().T + (layer.bias.double() if bias else 0)
    with torch.no_grad(), onednn([layer]):
        output = layer(inputs)
    assert output.shape == (*rows, 17) and output.dtype == torch.float32
    torch.testing.assert_close(output.double(), exact, atol=1e-5, rtol=1e-5)


@foreign
def test_the_engine_computes_by_onednn_and_the_harness_by_itself(vendor: None, monkeypatch: Any) -> None:
    lm, requests, computed = loaded(decoder("llama")), shared_requests(), list[str]()
    usual = products.product

    def product(layer: nn.Linear, inputs: torch.Tensor) -> torch.Tensor:
        computed.append(type(layer).__name__)
        return usual(layer, inputs)

    monkeypatch.setattr(products, "product", product)
    expected = plain(lm, requests)
    assert not computed
    assert distance(expected, tree(lm, requests, 16)) <= 1e-4
    assert computed
    assert not any("forward" in vars(module) for module in lm.model.modules())


@foreign
def test_leaves_out_layers_with_a_way_of_their_own(vendor: None) -> None:
    lm = loaded(decoder("llama"))
    every = layers_for_onednn(lm)
    assert every == [module for module in lm.model.modules() if isinstance(module, nn.Linear)] != []
    every[0].forward = other = every[0].forward  # as accelerate does to weights that lie on a disk
    every[1].to(torch.bfloat16)
    every[2].weight = nn.Parameter(every[2].weight.data.as_subclass(Quantised))
    lm.model.lm_head.__class__ = type("Own", (nn.Linear,), {})
    assert layers_for_onednn(lm) == every[3:-1]
    with onednn(layers_for_onednn(lm)):
        assert every[0].forward is other
    assert every[0].forward is other
    lm.mixed_precision_dtype = torch.bfloat16
    assert layers_for_onednn(lm) == []


@pytest.mark.parametrize("vendor", ["GenuineIntel", ""], indirect=True)
def test_leaves_products_to_mkl_on_its_own_processors_and_on_unknown_ones(vendor: None) -> None:
    assert layers_for_onednn(loaded(decoder("llama"))) == []


def test_reads_who_made_a_processor(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (info := tmp_path / "cpuinfo").write_text(AMD)
    monkeypatch.setattr(processor, "INFO", info)
    assert processor.processor_vendor.__wrapped__() == "AuthenticAMD"
    assert processor.processor_name.__wrapped__() == "AMD EPYC"
    info.unlink()  # as where there is no such file
    assert processor.processor_vendor.__wrapped__() == ""
