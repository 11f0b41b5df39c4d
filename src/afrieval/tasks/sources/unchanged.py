"""Checks that stored answers are answers to what a run would ask today."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from afrieval.errors import UserError
from afrieval.results.samples import DROPPED, Sample
from afrieval.scoring.scorers import Generation
from afrieval.tasks.documents import Document
from afrieval.tasks.prompts import answers
from afrieval.tasks.sources.likelihoods import TextQuestions
from afrieval.tasks.sources.rows import Row

if TYPE_CHECKING:
    from afrieval.tasks.sources.templated import TemplatedQuestions

RUN_AGAIN = "run the model again, with another --run_dir: its answers are to other questions"


def check_unchanged(
    questions: "TemplatedQuestions", document: Document, sample: Sample, limits: Generation | None
) -> None:
    """Rejects a sample whose document, prompt, examples or limits differ from those of a run today.

    Args:
        questions: the cell's questions.
        document: the sample's document, as it is now.
        sample: a stored sample.
        limits: those of a generated answer; None for likelihoods.

    Raises:
        UserError: naming what differs.
    """
    if what := next(_differences(questions, document, sample, limits), None):
        problem = f"{questions.name}, document {document.id}: {what} changed since the run"
        raise UserError(problem, RUN_AGAIN)


def _differences(
    questions: "TemplatedQuestions", document: Document, sample: Sample, limits: Generation | None
) -> Iterator[str]:
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
    asked = sample.get("arguments", [])
    if asked and not (fitted.keys() - {DROPPED}) and not _is_prompt(questions, [document, *shown], str(asked[0][0])):
        yield "its prompt has"
    if asked and not _is_asked(questions, document, asked, limits):
        yield "the answers asked for or their limits have"


def _is_document(document: Document, sample: Sample) -> bool:
    """Returns whether a sample is of a document; a stored one may lack keys that later versions store."""
    row = Row(document)
    whole = json.dumps(row, indent=2, ensure_ascii=False)  # as the harness hashes it
    if hashlib.sha256(whole.encode()).hexdigest() == sample.get("doc_hash"):
        return True
    stored = sample.get("doc")
    now = json.loads(whole)
    return isinstance(stored, dict) and all(stored[key] == now[key] for key in stored if key in now)


def _is_prompt(questions: "TemplatedQuestions", shown: Sequence[Document], prompt: str) -> bool:
    """Returns whether a prompt contains the texts of its question and examples, as text or in a list of messages."""
    if isinstance(questions, TextQuestions) and questions.whole:
        return True  # the documents themselves
    texts = [questions.text(document).strip() for document in shown]
    return all(text in prompt or json.dumps(text, ensure_ascii=False)[1:-1] in prompt for text in texts)


def _is_asked(
    questions: "TemplatedQuestions", document: Document, asked: Sequence[Any], limits: Generation | None
) -> bool:
    """Returns whether the same continuations were asked for, or answers with the same limits and at least as long."""
    if limits is not None:
        given = asked[0][1]
        declared = questions.task.generation is not None  # other limits depend on the tokenizer
        return given["until"] == list(limits.stop) and (not declared or given["max_gen_toks"] == limits.max_tokens)
    if isinstance(questions, TextQuestions):
        return not questions.options or all(each[-1] == questions.options for each in asked)
    texts = answers(questions.prompt, document, questions.answer_form)
    return len(texts) == len(asked) and all(each[1].endswith(text) for text, each in zip(texts, asked, strict=True))
