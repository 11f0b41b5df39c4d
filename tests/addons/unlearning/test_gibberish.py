"""Gibberish by a classifier: the probability of its class; never downloaded on the quiet."""

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from afrieval._util.errors import UserError
from afrieval.scoring.base import Likelihood, Question, Response
from afrieval.scoring.metrics import metric

WORDS = ["[PAD]", "[UNK]", "ada", "bakes", "bread", "xq", "zzk", "in", "town"]
TEXTS = ["ada bakes bread", "xq zzk xq", "ada " * 50]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random classifier of four classes."""
    folder = tmp_path_factory.mktemp("classifier")
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(WORDS), max_position_embeddings=64, num_labels=4, **sizes)
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("class_id", [0, 2])
def test_it_is_the_softmax_of_the_class(classifier: Path, class_id: int) -> None:
    found = metric({"name": "gibberish", "classifier": str(classifier), "class_id": class_id, "max_length": 8})
    model = BertForSequenceClassification.from_pretrained(classifier).eval()
    for text in TEXTS:
        ids = torch.tensor([[WORDS.index(word) for word in text.split()][:8]])
        logits = model(input_ids=ids).logits[0]
        expected = (logits.exp() / logits.exp().sum())[class_id].item()
        assert found.measure(Response(text, text), Question("bread")) == pytest.approx([expected], rel=1e-5)
    assert found.measure(Response(None, ""), Question("bread")) == [0.0]
    assert not found.missing("") and str(classifier) in found.signature


def test_it_is_of_generated_texts_only(classifier: Path) -> None:
    found = metric({"name": "gibberish", "classifier": str(classifier)})
    assert found.measure(Response(0, likelihoods=[Likelihood(-1.0, True)]), Question(0, ["a"])) is None


def test_what_is_not_there_is_said(classifier: Path, tmp_path: Path) -> None:
    usual, nowhere = metric("gibberish"), metric({"name": "gibberish", "classifier": str(tmp_path / "none")})
    assert "`afrieval prefetch` downloads it" in usual.missing("") and "there is no folder" in nowhere.missing("")
    for found in (usual, nowhere):
        with pytest.raises(UserError):
            found.measure(Response("x", "x"), Question("x"))
        with pytest.raises(UserError, match="cannot be downloaded"):
            found.fetch()
    many = metric({"name": "gibberish", "classifier": str(classifier), "class_id": 4})
    with pytest.raises(UserError, match="has no class 4"):
        many.measure(Response("x", "x"), Question("x"))
