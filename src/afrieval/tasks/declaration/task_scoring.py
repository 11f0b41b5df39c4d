"""How a task is scored: what its kind says, with the overrides of its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from afrieval._util.errors import UserError, nearest
from afrieval.scoring import registry
from afrieval.scoring.base import Extractor, Metric
from afrieval.scoring.derived import derived as derived_metric
from afrieval.scoring.extract import extractor
from afrieval.scoring.extract.phrase import GUESSING
from afrieval.scoring.metrics import metric, stored
from afrieval.scoring.registry import Spec
from afrieval.scoring.tokens import Need
from afrieval.scoring.user_code import NO_CODE, UserCode
from afrieval.tasks.answers.base import AnswerType
from afrieval.tasks.declaration.kinds import Kind, answer_type
from afrieval.tasks.declaration.schema import AnswerSpec, DerivedSpec
from afrieval.tasks.declaration.task_file import AnswerForm, TaskFile

FORMS: list[AnswerForm] = ["text", "letter", "generate"]


@dataclass(frozen=True)
class Scoring:
    """How a task is scored: what its kind says, with the overrides of its file.

    Attributes:
        kind: the kind.
        answer: the answer type.
        extract: extracts the answer from a generated text.
        specs: the metrics, as declared.
        metrics: the metrics, in the same order.
        derived: name to derived metric.
        answer_forms: the first is the default.
        contrast: the metric that compares prompt languages; None for the main one.
        names: types of spans, or tags, of tokens.
        user_code: metrics and extractors, also of the user's, in files next to the task's.
        code: the hash of the user's files that are used; empty for none.
        fields: names of the fields of a question.
        roles: of the texts whose likelihood is measured.
    """

    kind: Kind
    answer: AnswerType
    extract: Extractor
    specs: Sequence[Spec]
    metrics: Sequence[Metric]
    derived: Mapping[str, DerivedSpec]
    answer_forms: Sequence[AnswerForm]
    contrast: str | None = None
    user_code: UserCode = NO_CODE
    code: str = ""
    names: Sequence[str] = ()
    fields: Sequence[str] = ()
    roles: Sequence[str] = ()

    @property
    def needs(self) -> frozenset[Need]:
        """What its metrics need of each token of a text."""
        return frozenset(need for metric in self.metrics for need in metric.needs)

    def metrics_of(self, answer_form: str, counts_tokens: bool = True, language: str = "") -> list[Metric]:
        """Returns the metrics that apply to an answer form, the main one first.

        Args:
            answer_form: `text`, `letter` or `generate`.
            counts_tokens: whether the model reports how many tokens a continuation has.
            language: code of the language of the answers; if empty, any that the metric supports.
        """
        computable = [m for m in self.metrics if not m.missing(language)]
        return [m for m in computable if self.applies(m, answer_form, counts_tokens)]

    def specs_of(self, answer_form: str) -> list[Spec]:
        """Returns the metrics that apply to an answer form, as run.yaml has them."""
        pairs = zip(self.specs, self.metrics, strict=True)
        applicable = [(spec, m) for spec, m in pairs if not m.missing("") and self.applies(m, answer_form)]
        code = self.user_code
        return [stored(m, str(code.metrics.file)) if code.has_metric(spec) else spec for spec, m in applicable]

    @property
    def of_own(self) -> list[Metric]:
        """The metrics that are in the file of own metrics."""
        return [m for spec, m in zip(self.specs, self.metrics, strict=True) if self.user_code.has_metric(spec)]

    def signatures_of(self, answer_form: str) -> dict[str, str]:
        """Returns the settings and version of libraries that compute metrics of an answer form, by metric."""
        nrefs = "var" if self.answer.lists else 1
        return {m.name: m.signature.format(nrefs=nrefs) for m in self.metrics_of(answer_form) if m.signature}

    def applies(self, metric: Metric, answer_form: str, counts_tokens: bool = True) -> bool:
        """Returns whether a metric applies to an answer form, as it declares; arguments as for `metrics_of`."""
        field = metric.field or next(iter(self.fields), None)
        return (
            metric.applies(self.answer.form, by_likelihood(answer_form))
            and (counts_tokens or not metric.counts_tokens)
            and {*metric.roles} <= {*self.roles}
            and (metric.field is None or field in self.fields)
        )


def by_likelihood(answer_form: str) -> bool:
    """Returns whether an answer form needs likelihoods."""
    return answer_form != "generate"


def extract_of(declared: TaskFile, kind: Kind) -> Spec:
    """Returns the extractor of a task's generated answers, with its options.

    Raises:
        UserError: if neither its file nor its kind names one.
    """
    if (extract := declared.extract or kind.extract) is None:
        raise UserError("a task of this kind needs `extract`", "name an extractor, as in extract: whole")
    return extract


def scoring(declared: TaskFile, kind: Kind, user_code: UserCode, switched: Mapping[str, bool] | None = None) -> Scoring:
    """Returns how a task is scored: what its kind says, with the overrides of its file.

    Args:
        declared: its file.
        kind: its kind.
        user_code: metrics and extractors that it may name.
        switched: options of its extractor that the user has changed.

    Raises:
        UserError: if a name or option is unknown, or two of them are incompatible.
    """
    answer_name, answer = answer_type(kind, declared.answer.type if isinstance(declared.answer, AnswerSpec) else None)
    if ("texts" in answer.keys) != bool(declared.texts):
        hint = "give texts, and kind: likelihoods"
        raise UserError("texts must be given where likelihoods are measured, and only there", hint)
    extract = extract_of(declared, kind)
    extract = {**({"name": extract} if isinstance(extract, str) else extract), **(switched or {})}
    names = answer.names(declared)
    # These do not depend on how long the words for labels are.
    of_labels = registry.OF_LABELS if declared.labels and answer.has_choices else ()
    specs: Sequence[Spec] = declared.metrics or [*kind.metrics_of(names), *of_labels]
    specs = [*specs, "guessed"] if any(extract.get(name) for name in GUESSING) and "guessed" not in specs else specs
    derived = {**({} if declared.metrics else kind.derived), **declared.derived}
    requests = {form: {"loglikelihood", "rolling"} if by_likelihood(form) else {"generate"} for form in FORMS}
    forms = [f for f in declared.answer_forms or kind.answer_forms if declared.request in (None, *requests[f])]
    metrics = [metric(spec, user_code.metrics) for spec in specs]
    metric_names = [m.name for m in metrics]
    contrast = declared.contrast or (registry.OF_CONTRASTS if registry.OF_CONTRASTS in metric_names else None)
    if contrast not in (None, *metric_names):
        raise UserError(f"contrast: the task has no metric {contrast!r}", nearest(str(contrast), metric_names))
    fields, roles = list(declared.fields), list(declared.texts)
    of_answers = kind, answer, extractor(extract, user_code.extractors), specs, metrics, derived, forms, contrast
    code = "-".join(filter(None, (user_code.digest(specs, extract), kind.digest)))
    task_scoring = Scoring(*of_answers, user_code=user_code, code=code, names=names, fields=fields, roles=roles)
    _check_metrics(task_scoring, answer_name)
    if not declared.labels and (calibrated := [m.name for m in metrics if m.calibrated]):
        raise UserError(f"the metric {calibrated[0]} needs a task with labels", "name another metric")
    _check_derived(derived, [*metric_names, *(f"{group}.{name}" for group in declared.groups for name in metric_names)])
    return task_scoring


def _check_metrics(task_scoring: Scoring, answer: str) -> None:
    for spec, m in zip(task_scoring.specs, task_scoring.metrics, strict=True):
        if task_scoring.user_code.has_metric(spec):
            stored(m, str(task_scoring.user_code.metrics.file))
    names = [m.name for m in task_scoring.metrics]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"the metric {twice[0]} is declared twice", "remove one of them")
    applied = {m.name for m in task_scoring.metrics if any(task_scoring.applies(m, form) for form in FORMS)}
    if unfit := [m.name for m in task_scoring.metrics if m.name not in applied and not m.missing("")]:
        roles = f", or one of the texts with of: {', '.join(task_scoring.roles)}" if task_scoring.roles else " or type"
        raise UserError(f"the metric {unfit[0]} cannot score answers of type {answer}", f"name another metric{roles}")


def _check_derived(named: Mapping[str, DerivedSpec], metric_names: list[str]) -> None:
    metric_names = list(metric_names)
    for name, spec in named.items():
        if name in metric_names:
            raise UserError(f"derived {name!r} has the name of a metric", "rename it")
        for input_name in spec.names:
            if input_name not in metric_names:
                raise UserError(f"derived {name}: unknown metric {input_name!r}", nearest(input_name, metric_names))
        n = len(spec.names) * (2 if spec.reference else 1)
        if (n_inputs := derived_metric(name, spec.how).n_inputs) not in (None, n):
            cure = f"give {spec.how} {n_inputs}; inputs of a reference run count too"
            raise UserError(f"derived {name} has {n} inputs", cure)
        metric_names.append(name)
