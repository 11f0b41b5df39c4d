"""BLEU, spBLEU and chrF: n-grams that answers and references have in common, over all documents."""

import socket
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from afrieval._util.errors import UserError
from afrieval.scoring.base import REFERENCES, Array, Metric, Question, Response
from afrieval.scoring.texts import references


def bleu(tokenize: Literal["13a", "intl", "char"] = "13a") -> Metric:
    """Returns corpus BLEU as sacrebleu computes it, from 0 to 100 (Papineni et al. 2002, Post 2018).

    Args:
        tokenize: sacrebleu's tokenizer; `intl` separates punctuation of every script.
    """
    from sacrebleu.metrics.bleu import BLEU  # here, since importing it takes a fifth of a second

    return _of_sums("bleu", BLEU(tokenize=tokenize, force=True))


def chrf(word_order: int = 0) -> Metric:
    """Returns corpus chrF, or chrF++, as sacrebleu computes it, from 0 to 100 (Popović 2015, 2017).

    Args:
        word_order: longest n-grams of words that count too; 2 makes it chrF++.
    """
    from sacrebleu.metrics.chrf import CHRF  # here, since importing it takes a fifth of a second

    return _of_sums("chrf" + "+" * word_order, CHRF(word_order=word_order))


def _of_sums(name: str, metric: Any, tokenized: Callable[[], Any] | None = None) -> Metric:
    """Returns a corpus metric of sacrebleu, from 0 to 100; `tokenized` returns what counts, if `metric` cannot."""

    def measure(response: Response, question: Question) -> list[float] | None:
        texts = [[unicodedata.normalize("NFC", text)] for text in references(question.gold)]
        if not texts:
            return None
        answer = unicodedata.normalize("NFC", str(response.answer or ""))
        counting = tokenized() if tokenized else metric
        return list(map(float, counting._extract_corpus_statistics([answer], texts)[0]))

    def score(measures: Array, weights: Array) -> Array:
        return np.array([metric._compute_score_from_stats(sums.tolist()).score for sums in weights @ measures])

    metric.num_refs = 1
    signature = str(metric.get_signature().format()).replace("nrefs:1", "nrefs:{nrefs}")
    corpus_metric = Metric(name, measure, score, bounds=(0.0, 100.0), interval="bootstrap", applies_to=REFERENCES)
    return replace(corpus_metric, signature=signature)


TOKENIZER = "flores200"
SECONDS = 20.0  # to wait for an answer of the server


def spbleu() -> Metric:
    """Returns corpus spBLEU as sacrebleu computes it with FLORES-200's tokenizer, from 0 to 100.

    BLEU (Papineni et al. 2002, Post 2018) of the tokens of a SentencePiece model that was trained on
    the languages of FLORES-200 (Goyal et al. 2022, NLLB Team 2022). sacrebleu downloads the model.
    """
    from sacrebleu.metrics.bleu import BLEU  # here, since importing it takes a fifth of a second

    def fetch() -> None:
        if _missing("") and (problem := _problem()):
            raise UserError(
                f"sacrebleu's tokenizer {TOKENIZER} cannot be downloaded: {problem}",
                f"copy {_model()} from another machine, or do without spbleu",
            )

    bleu = _of_sums("spbleu", BLEU(tokenize="none", force=True), _with_tokenizer)
    signature = bleu.signature.replace("tok:none", f"tok:{TOKENIZER}")
    return replace(bleu, signature=signature, missing=_missing, fetch=fetch)


@cache
def _with_tokenizer() -> Any:
    from sacrebleu.metrics.bleu import BLEU

    if problem := _missing(""):  # sacrebleu would download it, while answers wait to be scored
        raise UserError(problem, "or do without spbleu")
    return BLEU(tokenize=TOKENIZER, force=True)


def _missing(language: str) -> str:
    model = _model()
    if not model.is_file() or not model.stat().st_size:
        return f"sacrebleu's tokenizer {TOKENIZER} is not on this machine; `afrieval prefetch` downloads it"
    return _damage(str(model))


@cache
def _damage(model: str) -> str:
    from sentencepiece import SentencePieceProcessor

    try:
        SentencePieceProcessor(model_file=model)
    except (OSError, RuntimeError):
        return f"sacrebleu's tokenizer {model} is damaged; delete the file, and `afrieval prefetch` downloads it"
    return ""


@cache
def _problem() -> str:
    """Downloads the model, once per process; returns why it cannot, if so."""
    from huggingface_hub.constants import HF_HUB_OFFLINE
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import download_file

    if HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(SECONDS)
    try:
        download_file(SPM_MODELS[TOKENIZER]["url"], str(_model()))
    except (OSError, ValueError, SystemExit) as e:  # sacrebleu exits where a certificate is not valid
        return str(e) or type(e).__name__
    finally:
        socket.setdefaulttimeout(before)
    return _missing("")


def _model() -> Path:
    from sacrebleu.tokenizers import tokenizer_spm

    url: str = tokenizer_spm.SPM_MODELS[TOKENIZER]["url"]
    return Path(tokenizer_spm.SACREBLEU_DIR) / "models" / url.rpartition("/")[2]
