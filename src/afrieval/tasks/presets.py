"""Kinds of tasks: presets of answer type, extractor and metrics that a task file may override."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from afrieval.errors import UserError, nearest
from afrieval.scoring import usual
from afrieval.scoring.base import Extractor, Likelihood, Metric, Question, Response
from afrieval.scoring.derived import derived as derived_metric
from afrieval.scoring.extract import extractor
from afrieval.scoring.metrics import metric
from afrieval.scoring.named import Spec
from afrieval.tasks.answers import ANSWERS, AnswerType
from afrieval.tasks.schema import AnswerSpec, DerivedSpec

if TYPE_CHECKING:
    from afrieval.tasks.spec import TaskFile

AnswerForm = Literal["text", "letter", "generate"]
Kind = Literal["multiple_choice", "number", "text", "mathematics", "instructions", "classification"]
FORMS: list[AnswerForm] = ["text", "letter", "generate"]
CHOSEN: list[AnswerForm] = ["text", "generate"]


@dataclass(frozen=True)
class Preset:
    """The defaults of a kind of task.

    Attributes:
        answer: name of the answer type.
        metrics: the first is the main one; which apply depends on the answer form.
        extract: extracts the answer from a generated text; None if the task file must name it.
        answer_forms: the first is the default.
        derived: name to derived metric.
    """

    answer: str
    metrics: Sequence[Spec]
    extract: Spec | None
    answer_forms: Sequence[AnswerForm] = ("generate",)
    derived: dict[str, DerivedSpec] = field(default_factory=dict)


PRESETS: dict[str, Preset] = {
    "multiple_choice": Preset("index", usual.CHOICES, "choice", CHOSEN),
    "classification": Preset("label", usual.CLASSES, "choice", CHOSEN),
    "number": Preset("number", usual.ANSWERS, "number"),
    "text": Preset("text", usual.ANSWERS, None),
    "mathematics": Preset("mathematics", usual.MATHEMATICS, "boxed"),
    "instructions": Preset(
        "instructions",
        usual.INSTRUCTIONS,
        "instructions",
        derived={name: DerivedSpec("mean", of) for name, of in usual.OF_INSTRUCTIONS.items()},
    ),
}


@dataclass(frozen=True)
class Scoring:
    """How a task is scored: the preset of its kind, with the overrides of its file.

    Attributes:
        answer: the answer type.
        extract: extracts the answer from a generated text.
        specs: the metrics, as declared.
        metrics: the metrics, in the same order.
        derived: name to derived metric.
        answer_forms: the first is the default.
        contrast: the metric that compares prompt languages; None for the main one.
    """

    answer: AnswerType
    extract: Extractor
    specs: Sequence[Spec]
    metrics: Sequence[Metric]
    derived: Mapping[str, DerivedSpec]
    answer_forms: Sequence[AnswerForm]
    contrast: str | None = None

    def metrics_of(self, answer_form: str, counts_tokens: bool = True) -> list[Metric]:
        """Returns the metrics that apply to an answer form, the main one first.

        Args:
            answer_form: `text`, `letter` or `generate`.
            counts_tokens: whether the model reports how many tokens a continuation has.
        """
        return [m for m in self.metrics if self._applies(m, answer_form, counts_tokens)]

    def specs_of(self, answer_form: str) -> list[Spec]:
        """Returns the metrics that apply to an answer form, as declared."""
        pairs = zip(self.specs, self.metrics, strict=True)
        return [spec for spec, m in pairs if self._applies(m, answer_form)]

    def _applies(self, found: Metric, answer_form: str, counts_tokens: bool = True) -> bool:
        """Returns whether a metric applies, by scoring an example with a right answer."""
        choices = ("x", "y") if self.answer.is_choice else ()
        likelihoods = [Likelihood(-1.0, True, 1 if counts_tokens else None) for _ in choices]
        asked = Question(self.answer.example, choices, choices)
        given = Response(self.answer.example)
        if by_likelihood(answer_form):
            given = Response(self.answer.example, likelihoods=likelihoods, neutral=[[-1.0] * len(choices)])
        return found.measure(given, asked) is not None


def by_likelihood(answer_form: str) -> bool:
    """Returns whether an answer form needs likelihoods."""
    return answer_form != "generate"


def scoring(declared: "TaskFile") -> Scoring:
    """Returns how a task is scored: the preset of its kind, with the overrides of its file.

    Raises:
        UserError: if a name or option is unknown, or two of them are incompatible.
    """
    preset = PRESETS[declared.kind]
    answer = (declared.answer.type if isinstance(declared.answer, AnswerSpec) else None) or preset.answer
    if answer not in ANSWERS:
        raise UserError(f"unknown answer type {answer!r}", nearest(answer, sorted(ANSWERS)))
    extract = {"name": "phrase", **asdict(declared.read)} if declared.read else declared.extract or preset.extract
    if extract is None:
        raise UserError("a task of this kind needs `extract`", "name an extractor, as in extract: whole")
    specs: Sequence[Spec] = declared.metrics or [*preset.metrics, *(usual.OF_LABELS if declared.labels else [])]
    derived = {**({} if declared.metrics else preset.derived), **declared.derived}
    requests = {form: "loglikelihood" if by_likelihood(form) else "generate" for form in FORMS}
    forms = [f for f in declared.answer_forms or preset.answer_forms if declared.request in (None, requests[f])]
    metrics = [metric(spec) for spec in specs]
    names = [m.name for m in metrics]
    contrast = declared.contrast or (usual.OF_CONTRASTS if usual.OF_CONTRASTS in names else None)
    if contrast not in (None, *names):
        raise UserError(f"contrast: the task has no metric {contrast!r}", nearest(str(contrast), names))
    found = Scoring(ANSWERS[answer], extractor(extract), specs, metrics, derived, forms, contrast)
    _check_metrics(found, answer)
    if not declared.labels and (of_labels := [m.name for m in metrics if m.calibrated]):
        raise UserError(f"the metric {of_labels[0]} needs a task with labels", "name another metric")
    _check_derived(derived, [*names, *(f"{group}.{name}" for group in declared.groups for name in names)])
    return found


def _check_metrics(found: Scoring, answer: str) -> None:
    names = [m.name for m in found.metrics]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"the metric {twice[0]} is declared twice", "remove one of them")
    applied = {m.name for form in FORMS for m in found.metrics_of(form)}
    if unfit := [name for name in names if name not in applied]:
        raise UserError(f"the metric {unfit[0]} cannot score answers of type {answer}", "name another metric or type")


def _check_derived(named: Mapping[str, DerivedSpec], known: list[str]) -> None:
    known = list(known)
    for name, spec in named.items():
        if name in known:
            raise UserError(f"derived {name!r} has the name of a metric", "rename it")
        for of in spec.names:
            if of not in known:
                raise UserError(f"derived {name}: unknown metric {of!r}", nearest(of, known))
        n = len(spec.names) * (2 if spec.reference else 1)
        if (wanted := derived_metric(name, spec.how).n_inputs) not in (None, n):
            cure = f"give {spec.how} {wanted}; those of a reference run count too"
            raise UserError(f"derived {name} has {n} inputs", cure)
        known.append(name)
