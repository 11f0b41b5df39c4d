"""Answer types by name, and kinds of tasks: an answer type, an extractor and metrics; a task file may override them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError, nearest
from afrieval._util.registry import Registry
from afrieval._util.schema import CLOSED, Positive
from afrieval.scoring import registry
from afrieval.scoring.registry import Spec
from afrieval.tasks.answers.base import AnswerType, require
from afrieval.tasks.answers.choices import Index, Label
from afrieval.tasks.answers.labelled import LabelSet, Levels, ListedSpans, Spans, Tags
from afrieval.tasks.answers.written import (
    Entries,
    Instructions,
    Mathematics,
    MeasuredTexts,
    Number,
    Open,
    Texts,
    WeightedTexts,
)
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import DerivedSpec
from afrieval.tasks.declaration.task_file import AnswerForm, TaskFile

ANSWERS: Registry[AnswerType] = Registry(
    "answer type",
    "afrieval.answer_types",
    {
        "index": Index(),
        "label": Label(),
        "number": Number(),
        "text": AnswerType(),
        "open": Open(),
        "texts": Texts(),
        "entries": Entries(),
        "spans": Spans(),
        "listed_spans": ListedSpans(),
        "tags": Tags(),
        "weighted": WeightedTexts(),
        "labels": LabelSet(),
        "levels": Levels(),
        "likelihoods": MeasuredTexts(),
        "mathematics": Mathematics(),
        "instructions": Instructions(),
    },
    needs=("parse_row",),
)


@dataclass(frozen=True)
class Kind:
    """A kind of task.

    Attributes:
        answer: the answer type, or the name of one.
        metrics: the first is the main one; which apply depends on the answer form.
        extract: extracts the answer from a generated text; None if the task file must name it.
        answer_forms: the first is the default.
        derived: name to derived metric.
        keys: a dataclass of further keys of task files, with defaults; None for none.
        of_each_name: a metric for each type of spans; empty for none.
        digest: the hash of the user's file that defines it; empty for others.
        check: refuses a task file and its further keys, besides what the answer type refuses.
        defect: returns why a document should not be scored, besides what the answer type says; usually empty.
    """

    answer: str | AnswerType
    metrics: Sequence[Spec]
    extract: Spec | None
    answer_forms: Sequence[AnswerForm] = ("generate",)
    derived: Mapping[str, DerivedSpec] = field(default_factory=dict)
    keys: type[Any] | None = None
    of_each_name: str = ""
    digest: str = ""
    check: Callable[[TaskFile, Any], None] = lambda spec, keys: None
    defect: Callable[[Document], str] = lambda document: ""

    def metrics_of(self, names: Sequence[str]) -> list[Spec]:
        """Returns its metrics, with those of each type of spans."""
        return [*self.metrics, *({"name": self.of_each_name, "type": name} for name in names if self.of_each_name)]


UNMARKED = "no marks to restore"  # often because the author wrote none: copying would be right


@dataclass(frozen=True)
class TextKeys:
    """Further keys of tasks that measure the likelihood of texts.

    Attributes:
        end: whether the likelihood of a text includes its end token.
        tokens: how many tokens of a whole text are used; None for all.
    """

    __pydantic_config__ = CLOSED

    end: bool = False
    tokens: Positive | None = None


KINDS_FILE = "kinds.py"  # next to a task file
CHOSEN: tuple[AnswerForm, ...] = ("text", "generate")
KINDS: Registry[Kind] = Registry(
    "kind of task",
    "afrieval.kinds",
    {
        "multiple_choice": Kind("index", registry.CHOICES, "choice", CHOSEN),
        "number": Kind("number", registry.ANSWERS, "number"),
        "text": Kind("text", registry.ANSWERS, None),
        "mathematics": Kind("mathematics", registry.MATHEMATICS, "boxed"),
        "instructions": Kind(
            "instructions",
            registry.INSTRUCTIONS,
            "instructions",
            derived={name: DerivedSpec("mean", metrics) for name, metrics in registry.OF_INSTRUCTIONS.items()},
        ),
        "classification": Kind("label", registry.CLASSES, "choice", CHOSEN),
        "question": Kind("texts", registry.QUESTIONS, "line"),
        "translation": Kind("text", registry.TRANSLATIONS, "passage"),
        "summary": Kind("text", registry.SUMMARIES, "passage"),
        "restoration": Kind(
            "text",
            registry.RESTORATIONS,
            "passage",
            defect=lambda document: UNMARKED if document.gold in document.fields.values() else "",
        ),
        "spans": Kind("spans", registry.SPANS, "spans", of_each_name="span_f1"),
        "tags": Kind("tags", registry.TAGS, "tags"),
        "labels": Kind("labels", registry.LABELS, "labels"),
        "levels": Kind("levels", registry.LEVELS, "levels"),
        "likelihoods": Kind(
            "likelihoods",
            registry.OF_TEXTS,
            "whole",
            ("text",),
            keys=TextKeys,
            check=lambda spec, keys: require(
                spec.request == "rolling" or keys.tokens is None, "tokens needs request rolling"
            ),
        ),
        "open": Kind("open", registry.OPEN, "whole"),
    },
    needs=("answer", "metrics", "extract"),
    kind=Kind,
)


def kinds_of(folder: Path) -> Registry[Kind]:
    """Returns all kinds, with those that a file `kinds.py` in a task's folder defines; its code is run.

    Raises:
        UserError: if the file cannot be run, or defines none.
    """
    kinds = KINDS.with_file(folder / KINDS_FILE, "write a function with `-> Kind`, as in docs/adding-a-kind.md")
    for name in kinds.of_file:
        make: Any = kinds[name]
        with kinds.calling(name):
            kinds[name] = replace(make(), digest=kinds.stamp)
    return kinds


def answer_type(kind: Kind, name: str | None) -> tuple[str, AnswerType]:
    """Returns the name of an answer type and the type: the one that a task file names, or the kind's.

    Raises:
        UserError: for an unknown name.
    """
    chosen = name or kind.answer
    if isinstance(chosen, str) and chosen not in ANSWERS:
        raise UserError(f"unknown answer type {chosen!r}", nearest(chosen, sorted(ANSWERS)))
    return (chosen, ANSWERS[chosen]) if isinstance(chosen, str) else (type(chosen).__name__.lower(), chosen)
