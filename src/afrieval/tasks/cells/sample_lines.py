"""Writes the lines of sample files, of all cells, and prints stored documents."""

import logging
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from afrieval.results.cell_key import CellKey
from afrieval.results.samples import DROPPED, Sample, generated_text, verdict, without_texts
from afrieval.scoring.base import Metric, Response
from afrieval.scoring.responses import Details, details_of, together
from afrieval.tasks.cells.cell import NOT_KEPT, Preview
from afrieval.tasks.cells.questions import Questions
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.sampling import ChosenRows

log = logging.getLogger("afrieval")

NOTHING: Details = {}
TOKENS = "tokens"  # a key in the details of a likelihood, not stored in samples: the answer file has them


def sample_line(
    key: CellKey,
    rows: ChosenRows,
    answered: Sample,
    /,
    *,
    log_samples: bool = True,
    usage: Details = NOTHING,
    **fields: Any,
) -> Sample:
    """Returns a line of a sample file, of whichever cell: the harness' fields, then ours.

    Args:
        key: what names the cell.
        rows: the rows that are run.
        answered: the harness' sample, or what replaces it where nothing was asked.
        log_samples: whether to keep documents, prompts and right answers.
        usage: of requests that belong to no document.
        fields: further fields, which may replace the fields that all cells have.
    """
    number = fields["doc_id"] if "doc_id" in fields else answered["doc_id"]
    answers = (answer for answers in answered["resps"] for answer in answers)
    each = [{name: value for name, value in details_of(answer).items() if name != TOKENS} for answer in answers]
    details = together([*each, usage])
    log.debug("line: row %s of %s", number, key)
    return {
        **(answered if log_samples else without_texts(answered)),
        "doc_id": number,
        **({"sample_rank": rows.ranks[number]} if rows.ranks else {}),
        "task": key.task,
        "language": key.language,
        "prompt": key.prompt,
        "prompt_language": key.prompt_language,
        "fewshot_ids": [],
        "defect": "",
        **fields,
        **({"details": details} if details else {}),
    }


def document_line(
    questions: Questions,
    document: Document,
    answered: Sample | None,
    score: Response | None,
    fitted: Sequence[Document] | None = None,
    usage: Details | None = None,
) -> Sample:
    """Returns the line of a document of a declared task.

    Args:
        questions: the cell's questions.
        document: one of its documents.
        answered: the harness' sample; None if the document cannot be scored.
        score: its score; None if the document cannot be scored.
        fitted: the document and its examples as shown, if they were shortened or examples left out.
        usage: of neutral prompts, if this document was the first to need them.
    """
    task = questions.task
    unanswered: Sample = {"doc": {"id": document.id, **document.fields}, "target": None}
    unanswered |= {"arguments": [], "resps": [], "filtered_resps": [], "metrics": []}
    shown = fitted or [document, *questions.examples(document)] if answered else []
    of_score: Sample = {}
    if score:
        of_score = {
            **({} if document.roles else {"answer": score.answer}),
            "measures": score.measures,
            **({"gold": document.gold, "picked": score.answer} if task.scoring.answer.has_choices else {}),
            **({"guess": score.guessed} if score.guessed else {}),
            **({"thought": score.thought} if score.thought else {}),
            **({"neutral": score.neutral} if score.neutral else {}),
        }
    lengths: dict[str, list[int]] = {}  # shown, and in the data or asked for
    if fitted and task.examples.drop:
        lengths = {DROPPED: [len(fitted) - 1, questions.shots]}
    elif fitted and (name := task.fit):
        lengths = {name: [len(fitted[0].fields[name]), len(document.fields[name])]}
    fields = {
        "doc_id": document.id,
        "fewshot_ids": [example.id for example in shown[1:]],
        "defect": document.defect,
        "n_choices": None if document.roles else len(document.choices) if task.scoring.answer.has_choices else 0,
        **({"roles": document.roles} if document.roles else {}),
        **of_score,
        **({"published_correct": document.verdict} if document.verdict is not None else {}),
        **({"part": document.fields[task.macro]} if task.macro else {}),
        **({"key": document.key} if document.key else {}),
        **({"fitted": lengths} if lengths else {}),
    }
    rows, log_samples = questions.rows, questions.settings.log_samples
    return sample_line(
        questions.key, rows, answered or unanswered, log_samples=log_samples, usage=usage or {}, **fields
    )


def preview_stored(title: str, main: Metric, samples: Iterator[Sample]) -> Preview:
    """Returns the first scored document of a cell, with the model's answer or its likelihoods."""
    sample = next((s for s in samples if s["metrics"]), None)
    if sample is None:
        return Preview(f"{title}: no document of this cell can be scored")
    heading = f"{title}, document {sample['doc_id']}, few-shot rows {sample['fewshot_ids'] or 'none'}"
    if "arguments" not in sample:
        return Preview(f"{heading}\n{NOT_KEPT}")
    answer = generated_text(sample)
    lines = likelihood_lines(sample) if answer is None else [f"answer: {answer!r}  {verdict(sample, main)}"]
    return Preview(heading, {prompt_of(sample): lines})


def likelihood_lines(sample: Sample) -> list[str]:
    """Returns a line for each continuation of a sample: its likelihood, and its role or whether it is right."""
    answers = [answer if isinstance(answer, tuple | list) else [answer] for (answer,) in sample["resps"]]
    texts = texts_of(sample) or [f" choice {i}" for i in range(len(answers))]
    lines = []
    for i, (answer, text) in enumerate(zip(answers, texts, strict=True)):
        mark = " ".join(name for name in ("gold", "picked") if sample.get(name) == i)
        if roles := sample.get("roles"):
            n_tokens = answer[2] if len(answer) > 2 else None
            mark = f"{roles[i]}, loss {-answer[0] / n_tokens:.4f}" if n_tokens else str(roles[i])
        lines.append(f"{answer[0]:12.4f}  {text!r}  {mark}".rstrip())
    return lines


def texts_of(sample: Sample) -> list[str]:
    """Returns the text of each request; if all are the same, as after a blank, with the choices that precede them."""
    texts = list(map(text_of, sample.get("arguments", [])))
    document = sample.get("doc")
    choices = document.get("choices", []) if isinstance(document, dict) else []
    alike = len(set(texts)) == 1 < len(texts) == len(choices)
    return [f"{choice} |{text}" for choice, text in zip(choices, texts, strict=True)] if alike else texts


def prompt_of(sample: Sample) -> str:
    """Returns the prompt of a sample; where choices fill a blank in it, with all of them: `The [jar | cup]`."""
    requests = sample["arguments"]
    return (
        with_choices([str(first) for first, *_ in requests])
        if len(set(map(text_of, requests))) == 1
        else str(requests[0][0])
    )


def with_choices(prompts: Sequence[str]) -> str:
    """Returns prompts as one, with the words that differ in brackets."""
    if len(set(prompts)) == 1:
        return prompts[0]
    head = re.sub(r"\S+\Z", "", _common(prompts))
    rest = [prompt.removeprefix(head) for prompt in prompts]
    tail = re.sub(r"\A\w+", "", _common([text[::-1] for text in rest])[::-1])
    return f"{head}[{' | '.join(text.removesuffix(tail) for text in rest)}]{tail}"


def _common(texts: Sequence[str]) -> str:
    """Returns what all texts begin with."""
    return "".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, zip(*texts, strict=False)))


def text_of(arguments: Sequence[Any]) -> str:
    """Returns the text whose likelihood a request is for: a continuation, or a whole text."""
    return next(str(text) for text in reversed(arguments) if isinstance(text, str))


class DocumentRow(dict[str, Any]):
    """A document as a map, which the harness hashes and logs.

    Attributes:
        shown: the document and its examples, as its prompt shows them.
        shortened: whether the prompt was too long to show them whole.
        neutral: the requests with neutral prompts after these examples.
        first: whether they are asked for this document first, of those with these examples.
    """

    def __init__(self, document: Document):
        further: dict[str, Any] = {"choices": list(document.choices)}
        further |= {"roles": list(document.roles)} if document.roles else {"gold": document.gold_cell}
        further |= {"worked": document.worked}
        further |= {"prompt": document.prompt} if document.prompt else {}
        super().__init__({"id": document.id, **document.fields, **further})
        self.document = document
        self.shown: Sequence[Document] = [document]
        self.shortened = self.first = False
        self.neutral: list[list[Any]] = []
