"""Converts documents of declared tasks to lines of sample files, and these to printed documents."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from afrieval.results.samples import DROPPED, Sample, verdict
from afrieval.scoring.base import Metric, Score
from afrieval.scoring.detailed import Details, details_of, together
from afrieval.tasks.documents import Document
from afrieval.tasks.shown import NOT_KEPT, Block, Shown

if TYPE_CHECKING:
    from afrieval.tasks.sources.templated import TemplatedQuestions


def sample_line(
    questions: "TemplatedQuestions",
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
        "task": task.name,
        "language": questions.language,
        "prompt": questions.prompt.id,
        "prompt_language": questions.prompt_language,
        "fewshot_ids": [e.id for e in (fitted or [document, *questions.examples(document)])[1:]] if answered else [],
        "defect": document.defect,
        "n_choices": len(document.choices),
        **({"answer": score.answer, "measures": score.measures} if score else {}),
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
    """Returns what a backend reports of the answers of a document."""
    return together(details_of(answer) for answers in sample["resps"] for answer in answers)


def _kept(questions: "TemplatedQuestions", document: Document, fitted: Sequence[Document]) -> dict[str, list[int]]:
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
    lines = []
    for i, ((_, continuation), (answer,)) in enumerate(zip(sample["arguments"], sample["resps"], strict=True)):
        marks = ("gold " if i == sample["gold"] else "") + ("picked" if i == sample["picked"] else "")
        lines.append(f"{answer[0]:12.4f}  {continuation!r}  {marks}".rstrip())
    return lines
