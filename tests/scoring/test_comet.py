"""COMET gives the scores of unbabel-comet, in batches of any size, and names what it cannot read."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.scoring.tiny_comet import tiny_comet

from afrieval._util.errors import UserError
from afrieval.scoring.comet import Translation, read_comet

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
        ({"pretrained_model": "/nowhere"}, "/nowhere"),
    ],
)
def test_other_networks_are_named(tmp_path: Path, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        read_comet(str(tiny_comet(tmp_path / "tiny", **settings)))


def test_damaged_models_are_named(tmp_path: Path) -> None:
    folder = tiny_comet(tmp_path / "tiny")
    weights = folder / "checkpoints" / "model.ckpt"
    stored = torch.load(weights, weights_only=True)
    for lost in ("encoder.model.embeddings.word_embeddings.weight", "estimator.ff.3.bias"):
        torch.save({**stored, "state_dict": {n: w for n, w in stored["state_dict"].items() if n != lost}}, weights)
        with pytest.raises(UserError, match=lost.removeprefix("encoder.model.")):
            read_comet(str(folder))
    (folder / "hparams.yaml").write_text("class_identifier: ranking_metric\n")
    with pytest.raises(UserError, match="ranking_metric"):
        read_comet(str(folder))
    weights.unlink()
    with pytest.raises(UserError, match=r"it has no checkpoints/model\.ckpt"):
        read_comet(str(folder))
