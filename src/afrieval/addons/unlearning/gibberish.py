"""How much generated texts are like sentences, by a classifier."""

from functools import cache
from typing import Any

from afrieval._util.errors import UserError
from afrieval.scoring.base import TEXT, Metric, Question, Response

USUAL = "madhurjindal/autonlp-Gibberish-Detector-492513457"  # its first class is clean text


def gibberish(classifier: str = USUAL, class_id: int = 0, max_length: int = 32) -> Metric:
    """Returns the mean over documents of the probability that a text is clean, from 0 to 1.

    As in open-unlearning: the softmax probability of a class of a sequence classifier. Higher is better: the text is
    less like gibberish. An empty text has 0. The classifier runs on the CPU.

    Args:
        classifier: a sequence classifier of transformers, by name on the hub or as a folder.
        class_id: the class of clean texts.
        max_length: how many tokens of a text are looked at.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        if response.likelihoods or question.choices or not isinstance(question.gold, str):
            return None
        if not response.text.strip():
            return [0.0]
        import torch

        tokenizer, model = _loaded(classifier)
        if not 0 <= class_id < model.config.num_labels:
            raise UserError(f"{classifier} has no class {class_id}", f"give 0 to {model.config.num_labels - 1}")
        tokens = tokenizer(response.text, truncation=True, max_length=max_length, return_tensors="pt")
        with torch.inference_mode():
            return [float(model(**tokens).logits[0].double().softmax(-1)[class_id])]

    def fetch() -> None:
        if _missing(classifier) and (problem := _problem(classifier)):
            raise UserError(f"the classifier {classifier} cannot be downloaded: {problem}", "name a folder that has it")

    named = classifier.replace("{", "{{").replace("}", "}}")  # signatures are templates
    return Metric(
        "gibberish",
        measure,
        interval="bootstrap",
        signature=f"{named}, class {class_id}, {max_length} tokens",
        applies_to=frozenset({TEXT}),
        missing=lambda language: _missing(classifier),
        fetch=fetch,
    )


@cache
def _loaded(classifier: str) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    if problem := _missing(classifier):
        raise UserError(problem, "or do without the metric gibberish")
    options = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(classifier, **options)
    model = AutoModelForSequenceClassification.from_pretrained(classifier, **options)
    return tokenizer, model.eval()


def _missing(classifier: str) -> str:
    """Returns why the classifier cannot be used; empty if it is on this machine."""
    from huggingface_hub import try_to_load_from_cache

    from afrieval._util.files import user_path

    if (user_path(classifier) / "config.json").is_file():
        return ""
    try:
        path = try_to_load_from_cache(classifier, "config.json")
    except ValueError:  # not a name on the hub
        return f"there is no folder {classifier} with a classifier"
    is_cached = isinstance(path, str)
    return "" if is_cached else f"the classifier {classifier} is not on this machine; `afrieval prefetch` downloads it"


@cache
def _problem(classifier: str) -> str:
    """Downloads a classifier, once per process; returns why it cannot, if so."""
    from huggingface_hub import snapshot_download

    try:
        snapshot_download(classifier, allow_patterns=["*.json", "*.txt", "*.model", "*.safetensors", "*.bin"])
    except (OSError, ValueError) as e:  # errors of the hub are kinds of both
        return str(e).splitlines()[0] if str(e) else type(e).__name__
    return _missing(classifier)
