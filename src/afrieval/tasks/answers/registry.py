"""Answer types by name, as task files name them."""

from afrieval._util.registry import Registry
from afrieval.tasks.answers.base import AnswerType
from afrieval.tasks.answers.choices import Index, Label
from afrieval.tasks.answers.label_numbers import LabelSet, Levels
from afrieval.tasks.answers.measured_texts import MeasuredTexts
from afrieval.tasks.answers.spans import ListedSpans, Spans, Tags
from afrieval.tasks.answers.written import Entries, Instructions, Mathematics, Number, Open, Texts, WeightedTexts

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
