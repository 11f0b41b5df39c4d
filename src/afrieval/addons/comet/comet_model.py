"""COMET: scores of translations by a trained network, from the checkpoints that unbabel-comet writes.

unbabel-comet itself needs older versions of numpy and transformers, so its checkpoints are read here: an encoder of
transformers, a mix of its layers, and an estimator on top. Only weights are loaded: nothing is unpickled.
"""

import hashlib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

import torch
from annotated_types import MinLen
from torch import Tensor
from torch.nn.functional import linear
from torch.nn.utils.rnn import pad_sequence

from afrieval._util import signals
from afrieval._util.errors import UserError
from afrieval._util.files import opened, user_path
from afrieval._util.schema import UNIQUE, OpenMap, Text, validated
from afrieval._util.yaml_files import read_map_file
from afrieval.scoring.learned import learned_name

VERSION = 1  # of this computation
SETTINGS, WEIGHTS = "hparams.yaml", "checkpoints/model.ckpt"
CHOOSE = "name a model such as masakhane/africomet-stl-1.1, or a folder with hparams.yaml and checkpoints/model.ckpt"
OTHER = "choose another COMET model"
DIGITS = 5  # that do not depend on which other texts are in a batch
UNIFIED = "unified_metric"
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}
ENCODERS = {"XLM-RoBERTa": "xlm-roberta"}  # to the model_type in config.json
ENCODER, MIX, ESTIMATOR = "encoder.model.", "layerwise_attention.", "estimator.ff."  # weights that are used
BUFFER = "position_ids"  # of older versions of transformers, which is no weight


class Translation(NamedTuple):
    """A translation, its source and a right translation."""

    mt: str
    src: str
    ref: str


INPUTS = {"regression_metric": Translation._fields, "referenceless_regression_metric": ("mt", "src")}


class CometSettings(OpenMap):
    """The hyperparameters that are read, as unbabel-comet stores them."""

    class_identifier: Literal["regression_metric", "referenceless_regression_metric", "unified_metric"]
    encoder_model: str
    pretrained_model: Text
    layer: NotRequired[int | str]
    sent_layer: NotRequired[int | str]
    layer_transformation: str
    layer_norm: bool
    pool: NotRequired[str]
    activations: str
    final_activation: NotRequired[str | None]
    input_segments: NotRequired[Annotated[list[Literal["mt", "src", "ref"]], MinLen(1), UNIQUE]]
    word_level_training: NotRequired[bool]


@dataclass(frozen=True)
class Comet:
    """A COMET model, ready to score.

    Attributes:
        name: the metric's.
        signature: all that its scores depend on.
        inputs: which of `Translation` it reads, in order.
        unified: whether it reads them as one text.
        settings: as unbabel-comet stores them.
        mix: the weight of each layer; of one layer only, a 1 among zeros.
        estimator: weights and biases.
    """

    name: str
    signature: str
    inputs: list[str]
    unified: bool
    settings: Mapping[str, Any]
    tokenizer: Any
    encoder: Any
    mix: Tensor
    estimator: list[tuple[Tensor, Tensor]]

    @property
    def needs_reference(self) -> bool:
        """Whether it compares with a right translation."""
        return "ref" in self.inputs

    def scores(self, translations: Sequence[Translation], batch_size: int) -> list[float]:
        """Returns a score for each translation; a good one has about 1, a bad one about 0."""
        order = sorted(range(len(translations)), key=lambda i: sum(map(len, translations[i])))
        rounded = [0.0] * len(translations)
        for start in range(0, len(order), batch_size):
            signals.check()
            indices = order[start : start + batch_size]
            try:
                with torch.inference_mode():
                    scores = self._of_batch([translations[i] for i in indices]).tolist()
            except torch.OutOfMemoryError:
                problem = f"{self.name} does not fit the device's memory with {batch_size} translations at a time"
                raise UserError(problem, "lower --comet.batch_size, or give --comet.device cpu") from None
            for index, score in zip(indices, scores, strict=True):
                if not isfinite(score):
                    raise UserError(f"{self.name} gives {score} for the translation {translations[index].mt!r}", OTHER)
                rounded[index] = round(score, DIGITS)
        return rounded

    def _of_batch(self, translations: Sequence[Translation]) -> Tensor:
        tokens = {name: self._tokens([getattr(of, name) for of in translations]) for name in self.inputs}
        if self.unified:
            parts = [["mt", "src"], ["mt", "ref"], self.inputs] if len(self.inputs) == 3 else [self.inputs]
            estimates = [self._estimated(self._embedded(self._joined([tokens[name] for name in of]))) for of in parts]
            return torch.stack(estimates).mean(0)
        embedded = {name: self._embedded(texts) for name, texts in tokens.items()}
        mt, src = embedded["mt"], embedded["src"]
        to_src = [mt * src, (mt - src).abs()]
        if "ref" not in embedded:
            return self._estimated(torch.cat([mt, src, *to_src], 1))
        ref = embedded["ref"]
        return self._estimated(torch.cat([mt, ref, mt * ref, (mt - ref).abs(), *to_src], 1))

    @property
    def _most(self) -> int:
        return int(self.encoder.config.max_position_embeddings) - 2

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        token_ids: list[list[int]] = self.tokenizer(texts, truncation=True, max_length=self._most - 2)["input_ids"]
        return token_ids

    def _joined(self, parts: list[list[list[int]]]) -> list[list[int]]:
        """Returns the tokens of each row's texts as one text, cut to what the encoder takes."""
        begin, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        joined = []
        for texts in zip(*parts, strict=True):
            inner = [text[1:-1] for text in texts]
            whole = [begin, *inner[0], *(token for text in inner[1:] for token in [end, end, *text]), end]
            cut = sum(map(len, inner)) > self._most - 1 - 2 * len(inner)
            joined.append(whole[: self._most] if cut else whole)
        return joined

    def _embedded(self, texts: list[list[int]]) -> Tensor:
        """Returns a vector for each text."""
        pad, device = self.tokenizer.pad_token_id, self.mix.device
        ids = pad_sequence([torch.tensor(text) for text in texts], batch_first=True, padding_value=pad).to(device)
        lengths = torch.tensor([len(text) for text in texts], device=device)
        mask = (torch.arange(ids.shape[1], device=device) < lengths[:, None]).float()
        layers = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        if self.settings["layer_norm"] and _layer(self.settings) == "mix":
            layers = [_normed(layer, mask) for layer in layers]
        words = sum(weight * layer for weight, layer in zip(self.mix, layers, strict=True))
        if self.unified or self.settings["pool"] == "cls":
            return Tensor(words[:, 0])
        padding = (ids == pad)[..., None]
        if self.settings["pool"] == "max":
            return Tensor(words.masked_fill(padding, float("-inf")).max(1)[0])
        return Tensor(words.masked_fill(padding, 0).sum(1) / lengths[:, None])

    def _estimated(self, features: Tensor) -> Tensor:
        between, final = self.settings["activations"], self.settings.get("final_activation")
        for weight, bias in self.estimator[:-1]:
            features = ACTIVATIONS[between.lower()](linear(features, weight, bias))
        estimates = linear(features, *self.estimator[-1])
        return (ACTIVATIONS[final.lower()](estimates) if final else estimates).view(-1)


def read_comet(model: str, revision: str = "main", device: str | None = None) -> Comet:
    """Loads a COMET model.

    Args:
        model: its name on the hub, or a folder.
        revision: branch, tag or commit on the hub.
        device: cuda, cuda:1, mps or cpu; the GPU if there is one.

    Raises:
        UserError: if it is not there, or not a COMET model that can be read.
    """
    folder, version = _folder(model, revision)
    settings, weights = _read(folder)
    unified = settings["class_identifier"] == UNIFIED
    with _explained(f"the COMET model in {folder} cannot be loaded", f"{OTHER}, or another --comet.device"):
        named = settings["input_segments"] if unified else INPUTS[settings["class_identifier"]]
        inputs = [name for name in Translation._fields if name in named]
        _check(folder, settings, unified)
        on = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        tokenizer, encoder = _encoder(folder, settings, weights)
        encoder.to(on)
        features = encoder.config.hidden_size * (1 if unified else 2 * len(inputs))
        estimator = [(w.to(on), b.to(on)) for w, b in _estimator(weights, features)]
        mix = _mix(settings, weights, encoder.config.num_hidden_layers + 1).to(on)
        form = "with reference" if "ref" in inputs else "without reference"
        shown = folder.name if user_path(model).is_dir() else model
        signature = f"{shown}|{version}|{form}|dtype:float32|batch:any|version:{VERSION}"
        name = learned_name("comet_", model)
        comet = Comet(name, signature, inputs, unified, settings, tokenizer, encoder, mix, estimator)
        with torch.inference_mode():  # a fault shows here, and not after some cells are written
            [score] = comet._of_batch([Translation("a", "a", "a")]).tolist()
        if not isfinite(score):
            raise ValueError(f"it gives {score} for a translation")
    return comet


@contextmanager
def _explained(problem: str, hint: str) -> Iterator[None]:
    """Makes any error a UserError: torch, transformers and tokenizers raise those of any type for a damaged file."""
    try:
        yield
    except (UserError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as e:  # tokenizers, in Rust, raises errors that are not an Exception
        why = f"{e} is missing or unknown" if isinstance(e, KeyError) else str(e).strip() or type(e).__name__
        raise UserError(f"{problem}: {why}", hint) from e


def _folder(model: str, revision: str) -> tuple[Path, str]:
    """Returns where a model's files are, and its commit on the hub or the hash of its weights."""
    from huggingface_hub import snapshot_download

    folder = user_path(model)
    if not folder.is_dir():
        try:
            folder = Path(snapshot_download(model, revision=revision, allow_patterns=[SETTINGS, WEIGHTS]))
        except (OSError, ValueError) as e:  # errors of the hub are kinds of both
            why = str(e).splitlines()[0] if str(e) else type(e).__name__
            raise UserError(f"there is no COMET model {model} ({revision}): {why}", CHOOSE) from None
    for name in (SETTINGS, WEIGHTS):
        if not (folder / name).is_file():
            raise UserError(f"{model} is not a COMET model: it has no {name}", CHOOSE)
    if not user_path(model).is_dir():
        return folder, f"revision:{folder.name}"
    with opened(folder / WEIGHTS, CHOOSE) as file:
        return folder.resolve(), f"weights:{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"


def _read(folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Tensor]]:
    stated, path = dict(read_map_file(folder / SETTINGS, CHOOSE).content), folder / WEIGHTS
    hint = "download it again, or choose another model; only weights are loaded"
    with _explained(f"{path} is not a checkpoint of weights", hint):
        if zipfile.is_zipfile(path) and (damaged := zipfile.ZipFile(path).testzip()):  # torch checks no checksum
            raise ValueError(f"the checksum of {damaged} is another")
        stored = torch.load(path, map_location="cpu", weights_only=True)
        weights, trained = stored["state_dict"], stored.get("hyper_parameters") or {}
        if not isinstance(weights, Mapping):
            raise ValueError("its state_dict is not a map of weights")
        for name, weight in weights.items():
            if not name.startswith((ENCODER, MIX, ESTIMATOR)) or name.endswith(BUFFER):
                continue
            if not isinstance(weight, Tensor) or not weight.is_floating_point():
                raise ValueError(f"{name} has no decimal numbers")
            if not weight.isfinite().all():
                raise ValueError(f"{name} has numbers that are infinite or NaN")
        # As unbabel-comet does it: the file names the class, and the checkpoint has what it was trained with.
        parameters = {**stated, **trained, "class_identifier": stated.get("class_identifier")}
    settings = {name: parameters[name] for name in CometSettings.__annotations__ if name in parameters}
    return validated(CometSettings, settings, f"{folder / SETTINGS} or {path}", OTHER), weights


def _check(folder: Path, settings: Mapping[str, Any], unified: bool) -> None:
    """Rejects what unbabel-comet can compute and this file cannot."""
    activations = [settings["activations"], settings.get("final_activation") or "tanh"]
    problems = {
        f"the encoder {settings['encoder_model']}": settings["encoder_model"] not in ENCODERS,
        "tags of words": unified and settings.get("word_level_training"),
        f"the activations {activations}": any(name.lower() not in ACTIVATIONS for name in activations),
        f"the pooling {settings.get('pool')}": not unified and settings["pool"] not in ("avg", "cls", "max"),
    }
    if obstacles := [what for what, is_so in problems.items() if is_so]:
        raise UserError(f"the COMET model in {folder} has {obstacles[0]}, which afrieval cannot compute", OTHER)


def _encoder(folder: Path, settings: Mapping[str, Any], weights: Mapping[str, Tensor]) -> tuple[Any, Any]:
    """Returns tokenizer and encoder; their settings are those of the model that was trained further."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    base, path = settings["pretrained_model"], folder / WEIGHTS
    problem = f"the encoder {base} of the COMET model in {folder} cannot be read"
    with _explained(problem, "provide its config.json and tokenizer, from the hub or its cache"):
        tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
        config = AutoConfig.from_pretrained(base, trust_remote_code=False)
        if config.model_type != ENCODERS[settings["encoder_model"]]:
            raise ValueError(f"its config.json is of {config.model_type}")
        if len(tokenizer) > config.vocab_size or tokenizer.pad_token_id != config.pad_token_id:
            raise ValueError("its tokenizer is of another model than its config.json")
        encoder = AutoModel.from_config(config, add_pooling_layer=False, trust_remote_code=False)
    encoder_weights = {name.removeprefix(ENCODER): of for name, of in weights.items() if name.startswith(ENCODER)}
    missing, unexpected = encoder.load_state_dict(encoder_weights, strict=False)
    if missing:
        raise UserError(f"{path} has no weights {missing[0]} of the encoder", "download it again")
    if others := [name for name in unexpected if not name.endswith(BUFFER) and not name.startswith("pooler.")]:
        raise UserError(f"{path} has weights {others[0]}, which the encoder {base} does not have", OTHER)
    return tokenizer, encoder.float().eval()


def _estimator(weights: Mapping[str, Tensor], features: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields weights and biases; between two layers are an activation and dropout, which count too."""
    layers = sorted({int(name.split(".")[2]) for name in weights if name.startswith(ESTIMATOR)})
    for number, layer in enumerate(layers):
        weight, bias = (weights[f"{ESTIMATOR}{layer}.{part}"].float() for part in ("weight", "bias"))
        if layer != 3 * number or weight.shape != (len(bias), features) or bias.dim() != 1:
            raise ValueError(f"{ESTIMATOR}{layer} has {list(weight.shape)} weights, and {features} inputs")
        features = len(bias)
        yield weight, bias
    if not layers or features != 1:
        raise ValueError(f"the last layer of the estimator, {ESTIMATOR}{layers[-1:]}, does not give one score")


def _layer(settings: Mapping[str, Any]) -> Any:
    return settings["sent_layer"] if settings["class_identifier"] == UNIFIED else settings["layer"]


def _mix(settings: Mapping[str, Any], weights: Mapping[str, Tensor], n: int) -> Tensor:
    """Returns the weight of each layer of the encoder; the first one is its embeddings."""
    if _layer(settings) != "mix":
        layer = int(_layer(settings))
        if not 0 <= layer < n:
            raise KeyError(f"layer {layer}")
        return torch.eye(n)[layer]
    raw = torch.cat([weights[f"{MIX}scalar_parameters.{i}"].float().reshape(1) for i in range(n)])
    shares = _sparsemax(raw) if settings["layer_transformation"] == "sparsemax" else raw.softmax(0)
    return weights[f"{MIX}gamma"].float().reshape(1) * shares


def _sparsemax(values: Tensor) -> Tensor:
    """Returns the point of the simplex that is nearest to some values (Martins & Astudillo 2016)."""
    ordered = values.sort(descending=True)[0]
    over = ordered.cumsum(0) - 1
    counts = torch.arange(1, len(values) + 1)
    support = int((counts * ordered > over).sum())
    return (values - over[support - 1] / support).clamp(min=0)


def _normed(layer: Tensor, mask: Tensor) -> Tensor:
    """Returns a layer with mean 0 and variance 1 over all numbers of each text."""
    shown = mask[..., None]
    n = mask.sum(1) * layer.shape[2]
    mean = ((layer * shown).sum((1, 2)) / n)[:, None, None]
    variance = (((layer * shown - mean) * shown) ** 2).sum((1, 2)) / n
    return (layer - mean) / (variance + 1e-12).sqrt()[:, None, None]
