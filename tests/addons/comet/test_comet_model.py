"""COMET gives the scores of unbabel-comet, in batches of any size, and names what it cannot read."""

import ast
import gzip
import io
import pickle
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from tests.addons.comet.tiny_comet import tiny_comet
from tests.conftest import ROOT

from afrieval._util.errors import UserError
from afrieval.addons.comet.comet_model import WEIGHTS, Translation, read_comet

GIVEN = [
    Translation("Ana buɗe kasuwar.", "The market opens.", "Ana buɗe kasuwar ƙarfe shida na safe."),
    Translation("", "The bus was late because of the rain.", "Bas ta makara saboda ruwan sama."),
    Translation("My sister bought oranges", "My sister bought oranges", "'Yar'uwata ta sayi lemu."),
    Translation("la " * 60, "the " * 40, "da " * 50),  # longer than the encoder takes
]
UNIFIED, FREE = "unified_metric", "referenceless_regression_metric"
# Computed by unbabel-comet 2.2.7 with torch 2.14 and transformers 4.57 from the files that `tiny_comet` writes:
# `load_from_checkpoint(FILE).predict(ROWS, batch_size=2, gpus=0).scores`, without `ref` for models without reference.
OF_UNBABEL: list[tuple[str, dict[str, Any], list[float]]] = [
    ("regression_metric", {}, [-0.4214, -0.4046, -0.4247, -0.41343]),
    (
        "regression_metric",
        {"layer_transformation": "sparsemax_patch", "layer_norm": True, "pool": "cls"},
        [-0.35244, -0.34539, -0.35592, -0.33459],
    ),
    (
        "regression_metric",
        {"layer": 1, "pool": "max", "final_activation": "Sigmoid"},
        [0.38819, 0.42242, 0.38825, 0.42094],
    ),
    (FREE, {}, [-0.43742, -0.42758, -0.43172, -0.44864]),
    (UNIFIED, {}, [-0.29601, -0.31909, -0.3254, -0.25297]),
    (
        UNIFIED,
        {"input_segments": ["mt", "src"], "layer_transformation": "softmax"},
        [-0.27253, -0.30809, -0.29795, -0.25418],
    ),
]


@pytest.mark.parametrize(("kind", "settings", "expected"), OF_UNBABEL)
def test_scores_are_those_of_unbabel(
    tmp_path: Path, kind: str, settings: dict[str, Any], expected: list[float]
) -> None:
    comet = read_comet(str(tiny_comet(tmp_path / "tiny", kind, **settings)), device="cpu")
    assert comet.name == "comet_tiny"
    assert comet.needs_reference == ("ref" in settings.get("input_segments", ["ref"]) and kind != FREE)
    for size in (1, 3, 4):
        assert comet.scores(GIVEN, size) == pytest.approx(expected, abs=2e-5)


class Harmful:
    def __reduce__(self) -> Any:
        return Path.touch, (Path("harmed"),)


def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_comet(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    for save in (torch.save, lambda of, path: path.write_bytes(pickle.dumps(of))):
        save({"state_dict": {}, "callbacks": Harmful()}, folder / "checkpoints" / "model.ckpt")
        with pytest.raises(UserError, match="not a checkpoint of weights"):
            read_comet(str(folder))
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"encoder_model": "BERT"}, "the encoder BERT"),
        ({"pool": "default"}, "the pooling default"),
        ({"activations": "Softsign"}, "Softsign"),
        ({"layer": 9}, "layer 9"),
        ({"layer": True}, "layer must be"),
        ({"layer": "first"}, "'first'"),
        ({"pretrained_model": "/nowhere"}, "/nowhere"),
        ({"final_activation": {"a": 1}}, "final_activation must be"),
        ({"kind": UNIFIED, "input_segments": "mt"}, "input_segments must be a list"),
        ({"kind": UNIFIED, "input_segments": []}, "input_segments must be"),
        ({"kind": UNIFIED, "sent_layer": 10**30}, "layer 10000"),
    ],
)
def test_other_networks_are_named(tmp_path: Path, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem) as caught:
        read_comet(str(tiny_comet(tmp_path / "tiny", **settings)), device="cpu")
    assert str(tmp_path / "tiny") in caught.value.message


Weights = dict[str, Any]
WORDS = "encoder.model.embeddings.word_embeddings.weight"
FIRST, GAMMA, SHARE = "estimator.ff.0.weight", "layerwise_attention.gamma", "layerwise_attention.scalar_parameters.1"


def _with(**changed: Any) -> Any:
    """Returns a change of weights: names have __ for a dot; None removes one."""
    named = {name.replace("__", "."): value for name, value in changed.items()}
    return lambda weights: {name: of for name, of in {**weights, **named}.items() if of is not None}


def _one(name: str, number: float) -> Any:
    def change(weights: Weights) -> Weights:
        weights[name].view(-1)[-1] = number
        return weights

    return change


CHANGES: list[tuple[Any, str]] = [
    (lambda weights: None, "its state_dict is not a map"),
    (lambda weights: {0: weights[FIRST]}, "startswith"),
    (lambda weights: {}, "has no weights"),
    (_with(**{WORDS: None}), "word_embeddings"),
    (_with(**{WORDS: torch.zeros(9, 16)}), "size mismatch"),
    (_with(**{WORDS: [0.5]}), "has no decimal numbers"),
    (_with(**{FIRST: torch.ones(8, 96, dtype=torch.int64)}), f"{FIRST} has no decimal numbers"),
    (_with(**{FIRST: torch.ones(8, 64)}), "and 96 inputs"),
    (_with(**{FIRST: torch.ones(8)}), "and 96 inputs"),
    (_with(**{"estimator.ff.3.bias": None}), r"estimator\.ff\.3\.bias"),
    (_with(**{"estimator.ff.6.weight": None, "estimator.ff.6.bias": None}), "does not give one score"),
    (_with(**{"estimator.ff.x.weight": torch.ones(1)}), "'x'"),
    (_with(**{GAMMA: None}), "gamma"),
    (_with(**{GAMMA: torch.ones(3)}), "shape"),
    (_with(**{SHARE: None}), r"scalar_parameters\.1"),
    (_with(**{"encoder.model.encoder.layer.2.attention.self.query.weight": torch.ones(16, 16)}), "does not have"),
    (_one(WORDS, float("nan")), f"{WORDS} has numbers that are infinite or NaN"),
    (_one(FIRST, float("inf")), f"{FIRST} has numbers that are infinite or NaN"),
    (_one(GAMMA, 3e38), "it gives nan for a translation"),
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_comet(tmp_path_factory.mktemp("comet") / "tiny")


@pytest.mark.parametrize(("change", "problem"), CHANGES)
def test_damaged_weights_are_named(tiny: Path, tmp_path: Path, change: Any, problem: str) -> None:
    path = Path(shutil.copytree(tiny, tmp_path / "tiny")) / WEIGHTS
    stored = torch.load(path, weights_only=True)
    torch.save({**stored, "state_dict": change(stored["state_dict"])}, path)
    with pytest.raises(UserError, match=problem) as caught:
        read_comet(str(tmp_path / "tiny"), device="cpu")
    assert str(tmp_path / "tiny") in caught.value.message


def _flipped(content: bytes) -> bytes:
    at = len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def _zip(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model/data.txt", content[:100])
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *((WEIGHTS, change) for change in (_flipped, _zip, gzip.compress, lambda of: of[:-3000], lambda of: b"")),
        (WEIGHTS, lambda _: safetensors.torch.save({"a": torch.ones(2)})),
        (WEIGHTS, lambda _: _saved([1, 2])),
        (WEIGHTS, lambda _: _saved({"weights": {}})),
        (WEIGHTS, lambda content: _saved({**torch.load(io.BytesIO(content)), "hyper_parameters": ["layer"]})),
        ("hparams.yaml", lambda _: b""),
        ("hparams.yaml", lambda _: b"\xff\xfe"),
        ("hparams.yaml", lambda _: b"class_identifier: ranking_metric"),
        ("encoder/config.json", lambda _: b"[]"),
        ("encoder/config.json", lambda _: b'{"model_type": "llama"}'),
        ("encoder/config.json", lambda content: content.replace(b"xlm-roberta", b"bert")),
        ("encoder/config.json", lambda content: content.replace(b'hidden_layers": 2', b'hidden_layers": 1')),
        ("encoder/config.json", lambda content: content.replace(b'hidden_layers": 2', b'hidden_layers": "x"')),
        ("encoder/config.json", lambda content: content.replace(b'pad_token_id": 1', b'pad_token_id": 2')),
        ("encoder/config.json", lambda content: content.replace(b'hidden_size": 16', b'hidden_size": 32')),
        ("encoder/tokenizer.json", lambda content: content[:200]),
        ("encoder/config.json", lambda content: b'{"auto_map": {"AutoModel": "a.B", "AutoConfig": "a.C"}}'),
    ],
)  # fmt: skip
def test_damaged_files_are_named(tmp_path: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    path = tiny_comet(tmp_path / "tiny") / name
    before = path.read_bytes()
    path.write_bytes(change(before))
    assert path.read_bytes() != before
    with pytest.raises(UserError) as caught:
        read_comet(str(tmp_path / "tiny"), device="cpu")
    assert str(tmp_path / "tiny") in caught.value.message


def _saved(content: Any) -> bytes:
    file = io.BytesIO()
    torch.save(content, file)
    return file.getvalue()


@pytest.mark.parametrize("device", ["meta", "nosuch", "cuda:99", "privateuseone"])
def test_devices_that_cannot_compute_are_named(tmp_path: Path, device: str) -> None:
    with pytest.raises(UserError, match=r"--comet\.device"):
        read_comet(str(tiny_comet(tmp_path / "tiny")), device=device)


def test_no_score_without_a_number_is_given(tmp_path: Path) -> None:
    comet = read_comet(str(tiny_comet(tmp_path / "tiny")), device="cpu")
    with pytest.raises(UserError, match=r"comet_tiny gives nan for the translation 'My sister"):
        replace(comet, mix=comet.mix * float("nan")).scores(GIVEN[2:3], 1)


def test_no_code_of_others_is_run() -> None:
    """Each call of transformers that could run a model's code says whether it may; without, it asks at the terminal."""
    for path in (ROOT / "src").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in LOADS:
                options = [word.arg for word in call.keywords]
                of = ast.unparse(call)
                safe = "GenerationConfig" in of or "PeftModel" in of  # neither has code
                assert safe or {"trust_remote_code", None} & {*options}, f"{path}: {of}"
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "torch.load":
                assert "weights_only=True" in ast.unparse(call), path


LOADS = ("from_pretrained", "from_config", "pipeline", "load_dataset", "get_class_from_dynamic_module")


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    for name in (WEIGHTS, "hparams.yaml"):
        path = tiny_comet(tmp_path / name / "tiny") / name
        path.unlink()
        with pytest.raises(UserError, match=f"it has no {name}"):
            read_comet(str(tmp_path / name / "tiny"))
