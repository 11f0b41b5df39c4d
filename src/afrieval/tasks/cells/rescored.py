"""Checks that stored answers are answers to what a run would ask today, and scores them again."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from afrieval._util.errors import UserError
from afrieval.models.answer_file import AnswerFile
from afrieval.models.base import UnknownTokenizer
from afrieval.results.changes import alike
from afrieval.results.samples import DROPPED, WITHHELD, Sample
from afrieval.scoring.learned import JUDGED, RATINGS, learned_of, with_learned
from afrieval.scoring.responses import Generated, Generation, shown
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.questions import UNENDED, Questions
from afrieval.tasks.cells.sample_lines import DocumentRow, document_line
from afrieval.tasks.data.document import Document
from afrieval.tasks.prompts.prompts import answers

RUN_AGAIN = "run the model again, with another --run_dir: its answers are to other questions"


def _differences(questions: Questions, document: Document, sample: Sample, limits: Generation | None) -> Iterator[str]:
    if bool(sample["resps"]) != (document.gold is not None):
        yield "whether it can be scored"
    if document.gold is None or not sample["resps"]:
        return
    if not _is_document(document, sample):
        yield "the document has"
    examples, fitted = questions.examples(document), sample.get("fitted", {})
    shown = examples[: len(sample["fewshot_ids"])] if DROPPED in fitted else examples
    if [example.id for example in shown] != sample["fewshot_ids"]:
        yield "its few-shot examples have"
    requests = sample.get("arguments", [])
    prompt = str(requests[document.gold if questions.fills else 0][0]) if requests else ""
    if requests and not (fitted.keys() - {DROPPED}) and not questions.whole:  # whole texts are the documents themselves
        texts = [questions.text(each).strip() for each in (document, *shown)]
        # as text, or in a list of messages
        if not all(text in prompt or json.dumps(text, ensure_ascii=False)[1:-1] in prompt for text in texts):
            yield "its prompt has"
    if requests and not _is_asked(questions, document, requests, limits):
        yield "the answers asked for or their limits have"


def _is_document(document: Document, sample: Sample) -> bool:
    """Returns whether a sample is of a document; a stored one may lack keys that later versions store."""
    row = DocumentRow(document)
    whole = json.dumps(row, indent=2, ensure_ascii=False)  # as the harness hashes it
    if hashlib.sha256(whole.encode()).hexdigest() == sample.get("doc_hash"):
        return True
    stored = sample.get("doc")
    current = json.loads(whole)
    return isinstance(stored, dict) and all(stored[key] == current[key] for key in stored if key in current)


def _is_asked(questions: Questions, document: Document, requests: Sequence[Any], limits: Generation | None) -> bool:
    """Returns whether stored requests ask for what a run would ask for today, with limits that are no lower."""
    if limits is not None:
        stored_limits = requests[0][-1]
        if not (isinstance(stored_limits, dict) and stored_limits.keys() >= {"until", "max_gen_toks"}):
            return False
        declared = questions.task.generation is not None  # other limits depend on the tokenizer
        return stored_limits["until"] == list(limits.stop) and (
            not declared or stored_limits["max_gen_toks"] == limits.max_tokens
        )
    if document.roles:
        return not questions.options or all(each[-1] == questions.options for each in requests)
    texts = answers(questions.prompt, document, questions.answer_form)
    return len(texts) == len(requests) and all(
        str(each[-1]).endswith(text) for text, each in zip(texts, requests, strict=True)
    )


# What the harness stores of a document and its answers, in its order; scores follow.
OF_HARNESS = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
)
OF_MODEL = ("fewshot_ids", "details", "fitted")  # what no answer says, and its tokenizer decided
KEPT = (*OF_MODEL, JUDGED, RATINGS)


def with_new_scores(questions: Questions, stored: AnswerFile, samples: Iterator[Sample]) -> Iterator[Sample]:
    """Yields samples with the scores that their answers get now; unchanged samples are yielded as they are.

    Raises:
        UserError: if a document, prompt or limit has changed, or a metric cannot be computed.
    """
    limits = generation(questions, UnknownTokenizer()) if questions.generates else None
    scorer, language = questions.scorer(limits or UNENDED), questions.task.answers_in(questions.language)
    for document, sample in zip(questions.documents, samples, strict=True):
        if what := next(_differences(questions, document, sample, limits), None):
            problem = f"{questions.name}, document {document.id}: {what} changed since the run"
            raise UserError(problem, RUN_AGAIN)
        if document.gold is None or sample["resps"][0][0] == WITHHELD:
            yield sample
            continue
        for metric in questions.task.scoring.metrics:  # without one, its scores would be lost
            if metric.name in sample["metrics"] and (why := metric.missing(language)):
                problem = f"{questions.name} has {metric.name}, which cannot be computed here: {why}"
                raise UserError(problem, "provide it")
        score = scorer(document, _given(questions, sample, stored), sample.get("neutral", []))
        values = shown(score, questions.metrics)
        answered = {name: sample[name] for name in OF_HARNESS if name in sample} | {"metrics": [*values], **values}
        line = document_line(questions, document, answered, score) | {k: sample[k] for k in KEPT if k in sample}
        line = with_learned(line, learned_of(sample)) if learned_of(sample) else line
        yield sample if alike(sample, line) else line


def _given(questions: Questions, sample: Sample, stored: AnswerFile) -> list[Any]:
    """Returns the answers of a sample as the model gave them."""
    first = [answers[0] for answers in sample["resps"]]
    if questions.generates:
        return [Generated(first[0], sample.get("details", {}))]
    if not questions.task.scoring.needs:
        return first
    if "arguments" not in sample:
        problem = f"{questions.name} has no texts, by which the likelihoods of their tokens are found"
        raise UserError(problem, f"{RUN_AGAIN}; --eval.log_samples true stores texts")
    outputs = [stored.recall(questions.request, arguments) for arguments in sample["arguments"]]
    if None in outputs:
        problem = f"{questions.name}, document {sample['doc_id']}: the likelihoods of its tokens are not stored"
        raise UserError(problem, RUN_AGAIN)
    return outputs
