"""Converts documents of declared tasks to lines of sample files, and these to printed documents."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from afrieval.results.samples import DROPPED, Sample, verdict
from afrieval.scoring.base import Metric, Score
from afrieval.scoring.responses import Details, details_of, together
from afrieval.tasks.cells.cell import NOT_KEPT, Block, Shown
from afrieval.tasks.data.documents import Document

if TYPE_CHECKING:
    from afrieval.tasks.cells.templated import TemplateCell


TOKENS = "tokens"  # in the details of a likelihood


def sample_line(
    questions: "TemplateCell",
    document: Document,
    answered: Sample | None,
    score: Score | None,
    fitted: Sequence[Document] = (),
) -> Sample:
    """Returns the line of a document: the harness' fields, then ours.

    Args:
        questions: the cell's questions.
        document: one of its documents.
        answered: the harness' sample; None if the document cannot be scored.
        score: its score; None if the document cannot be scored.
        fitted: the document and its examples as shown, if they were shortened or examples left out.
    """
    unanswered: Sample = {"doc": {"id": document.id, **document.fields}, "target": None}
    unanswered |= {"arguments": [], "resps": [], "filtered_resps": [], "metrics": []}
    sample = dict(answered or unanswered)
    if not questions.config.eval.log_samples:
        sample = {k: v for k, v in sample.items() if k not in ("doc", "arguments")}
    task = questions.task
    return {
        **sample,
        "doc_id": document.id,
        **({"sample_rank": ranks[document.id]} if (ranks := questions.rows.ranks) else {}),
        "task": task.name,
        "language": questions.language,
        "prompt": questions.prompt.id,
        "prompt_language": questions.prompt_language,
        "fewshot_ids": [e.id for e in (fitted or [document, *questions.examples(document)])[1:]] if answered else [],
        "defect": document.defect,
        "n_choices": None if document.roles else len(document.choices),
        **({"roles": document.roles} if document.roles else {}),
        **({"answer": score.answer} if score and not document.roles else {}),
        **({"measures": score.measures} if score else {}),
        **({"gold": document.gold, "picked": score.answer} if score and task.scoring.answer.is_choice else {}),
        **({"guess": score.guessed} if score and score.guessed else {}),
        **({"neutral": score.neutral} if score and score.neutral else {}),
        **({"published_correct": document.verdict} if document.verdict is not None else {}),
        **({"part": document.fields[task.macro]} if task.macro else {}),
        **({"key": document.key} if document.key else {}),
        **({"details": details} if (details := _details(sample)) else {}),
        **({"fitted": _kept(questions, document, fitted)} if fitted else {}),
    }


def _details(sample: Sample) -> Details:
    """Returns what a backend reports of the answers of a document; the answer file has that of each token."""
    every = (details_of(answer) for answers in sample["resps"] for answer in answers)
    return together({k: v for k, v in details.items() if k != TOKENS} for details in every)


def _kept(questions: "TemplateCell", document: Document, fitted: Sequence[Document]) -> dict[str, list[int]]:
    """Returns field to the number of characters shown and in the data; they differ unless only examples were cut.

    Where examples are left out, it is `examples` to the number of those shown and asked for.
    """
    shown, *examples = fitted
    if questions.task.examples.drop:
        return {DROPPED: [len(examples), questions.shots]}
    name = str(questions.task.fit)
    return {name: [len(shown.fields[name]), len(document.fields[name])]}


def recalled(title: str, main: Metric, samples: Iterator[Sample]) -> Shown:
    """Returns the first scored document of a cell, with the model's answer or its likelihoods.

    Args:
        title: the cell's title.
        main: its main metric.
        samples: the lines of its sample file.
    """
    sample = next((s for s in samples if s["metrics"]), None)
    if sample is None:
        return Shown(f"{title}: no document of this cell can be scored")
    heading = f"{title}, document {sample['doc_id']}, few-shot rows {sample['fewshot_ids'] or 'none'}"
    if "arguments" not in sample:
        return Shown(f"{heading}\n{NOT_KEPT}")
    return Shown(heading, [Block(sample["arguments"][0][0], _answers(sample, main))])


def _answers(sample: Sample, main: Metric) -> list[str]:
    if isinstance(sample["resps"][0][0], str):
        return [f"answer: {sample['resps'][0][0]!r}  {verdict(sample, main)}"]
    return likelihood_lines(sample)


def likelihood_lines(sample: Sample) -> list[str]:
    """Returns a line for each continuation of a sample: its likelihood, and its role or whether it is right."""
    answers = [answer if isinstance(answer, tuple | list) else [answer] for (answer,) in sample["resps"]]
    asked = [text_of(arguments) for arguments in sample.get("arguments", [])]
    texts = asked or [f" choice {i}" for i in range(len(answers))]
    marks = map(partial(_mark, sample), range(len(answers)), answers)
    lines = zip(answers, texts, marks, strict=True)
    return [f"{answer[0]:12.4f}  {text!r}  {mark}".rstrip() for answer, text, mark in lines]


def text_of(arguments: Sequence[Any]) -> str:
    """Returns the text whose likelihood a request is for: a continuation, or a whole text."""
    return next(str(text) for text in reversed(arguments) if isinstance(text, str))


def _mark(sample: Sample, i: int, answer: Sequence[Any]) -> str:
    """Returns the role of a text and its loss, or what is known of a choice."""
    if roles := sample.get("roles"):
        n = answer[2] if len(answer) > 2 else None
        return f"{roles[i]}, loss {-answer[0] / n:.4f}" if n else str(roles[i])
    return " ".join(name for name in ("gold", "picked") if sample.get(name) == i)


class DocumentRow(dict[str, Any]):
    """A document as a map, which the harness hashes and logs, with the document as an attribute."""

    def __init__(self, document: Document):
        own: dict[str, Any] = {"choices": list(document.choices)}
        own |= {"roles": list(document.roles)} if document.roles else {"gold": document.gold_cell}
        own |= {"worked": document.worked}
        own |= {"prompt": document.prompt} if document.prompt else {}
        super().__init__({"id": document.id, **document.fields, **own})
        self.document = document
