"""Scores the stored answers of a cell again, as a run scores new ones."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from afrieval.errors import UserError
from afrieval.results.moved import alike
from afrieval.results.samples import Sample
from afrieval.scoring.detailed import Generated
from afrieval.scoring.scorers import shown
from afrieval.tasks.documents import Document
from afrieval.tasks.questions import UNENDED, Scorer
from afrieval.tasks.sources.lines import sample_line
from afrieval.tasks.sources.unchanged import RUN_AGAIN, check_unchanged

if TYPE_CHECKING:
    from afrieval.tasks.sources.templated import TemplatedQuestions

# What the harness stores of a document and its answers, in its order; scores follow.
OF_HARNESS = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
)
OF_MODEL = ("fewshot_ids", "details", "fitted")  # what no answer says, and its tokenizer decided


def rescored(questions: "TemplatedQuestions", model: Any, samples: Iterator[Sample]) -> Iterator[Sample]:
    """Yields samples with the scores that their answers get now; unchanged samples are yielded as they are.

    Args:
        questions: the cell's questions.
        model: recalls likelihoods of tokens, which samples do not have; its tokenizer need not be known.
        samples: as stored, one for each document.

    Raises:
        UserError: if a document, prompt or limit has changed, or a metric cannot be computed.
    """
    limits = questions.generation(model)
    scorer = questions.scorer(limits or UNENDED)
    for document, sample in zip(questions.documents, samples, strict=True):
        check_unchanged(questions, document, sample, limits)
        if document.gold is None:
            yield sample
            continue
        _check_metrics(questions, sample)
        now = _again(questions, document, sample, scorer, partial(model.recall, questions.asks))
        yield sample if alike(sample, now) else now


def _again(questions: "TemplatedQuestions", document: Document, sample: Sample, scorer: Scorer, recall: Any) -> Sample:
    """Returns the line of a document with a new score; everything else is as it was."""
    score = scorer(document, _given(questions, sample, recall), sample.get("neutral", []))
    values = shown(score, questions.metrics)
    answered = {name: sample[name] for name in OF_HARNESS if name in sample} | {"metrics": [*values], **values}
    return sample_line(questions, document, answered, score) | {k: sample[k] for k in OF_MODEL if k in sample}


def _given(questions: "TemplatedQuestions", sample: Sample, recall: Any) -> list[Any]:
    """Returns the answers of a sample as the model gave them."""
    first = [answers[0] for answers in sample["resps"]]
    if questions.generates:
        return [Generated(first[0], sample.get("details", {}))]
    if not questions.task.scoring.needs:
        return first
    if "arguments" not in sample:
        problem = f"{questions.name} has no texts, by which the likelihoods of their tokens are found"
        raise UserError(problem, f"{RUN_AGAIN}; --eval.log_samples true stores texts")
    found = [recall(arguments) for arguments in sample["arguments"]]
    if None in found:
        problem = f"{questions.name}, document {sample['doc_id']}: the likelihoods of its tokens are not stored"
        raise UserError(problem, RUN_AGAIN)
    return found


def _check_metrics(questions: "TemplatedQuestions", sample: Sample) -> None:
    """Rejects a cell with a metric that cannot be computed here: its scores would be lost."""
    language = questions.task.answers_in(questions.language)
    for metric in questions.task.scoring.metrics:
        if metric.name in sample["metrics"] and (why := metric.missing(language)):
            raise UserError(f"{questions.name} has {metric.name}, which cannot be computed here: {why}", "provide it")
