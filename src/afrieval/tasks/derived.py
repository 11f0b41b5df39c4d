"""Checks the derived metrics that a suite declares, and the reference runs that are given for them."""

import re
from collections.abc import Mapping, Sequence

from afrieval.config.options import DerivedConfig
from afrieval.config.settings import RunConfig
from afrieval.errors import UserError, choices, nearest
from afrieval.scoring.base import Derived
from afrieval.scoring.derived import DERIVED, derived
from afrieval.tasks.select import task_folder
from afrieval.tasks.spec import load_task


def check_derived(config: RunConfig) -> None:
    """Rejects derived metrics that no run could have, and references that none of them uses.

    Raises:
        UserError: for an unknown way, task, metric or reference, or a wrong number of inputs.
    """
    declared = config.task.derived
    tasks = [name for members in config.task.groups.values() for name in members] or config.task_names
    for number, (name, spec) in enumerate(declared.items()):
        before = dict(list(declared.items())[:number])
        _check_names(name, spec)
        for of in _names(spec):
            if of not in before:
                _check_metric(name, of, tasks, list(before), config)
        _check_inputs(name, spec, before)
    check_references(list(config.reference), [spec.get("reference", "") for spec in declared.values()])


def check_references(given: Sequence[str], used: Sequence[str]) -> None:
    """Rejects a reference that no derived metric uses.

    Args:
        given: names of references.
        used: names in declarations; empty for none.
    """
    known = list(dict.fromkeys(filter(None, used)))
    for name in given:
        if name not in known:
            hint = nearest(name, known) if known else "leave --reference out"
            raise UserError(f"no derived metric uses the reference {name!r}", hint)


def _names(spec: DerivedConfig) -> list[str]:
    return [spec["of"]] if isinstance(spec["of"], str) else spec["of"]


def _check_metric(name: str, of: str, tasks: list[str], before: list[str], config: RunConfig) -> None:
    task, dot, metric = of.partition(".")
    if not dot:
        hint = nearest(of, before) if before else "write TASK.METRIC, or a derived metric declared before"
        raise UserError(f"task.derived.{name}: there is no derived metric {of!r} before it", hint)
    if task not in tasks:
        raise UserError(f"task.derived.{name}: the suite has no task {task!r}", nearest(task, tasks))
    scoring = load_task(task, task_folder(config)).scoring
    known = [*(m.name for m in scoring.metrics), *scoring.derived]
    if metric.rpartition(".")[2] not in known:  # a group of documents may stand before it
        raise UserError(f"task.derived.{name}: {task} has no metric {metric!r}", nearest(metric, known))


def _check_names(name: object, spec: DerivedConfig) -> None:
    """Rejects names that neither `of` nor `--reference NAME=PATH` could contain."""
    if not isinstance(name, str) or not name or "." in name:
        raise UserError(f"task.derived has the name {name!r}", "give a word without a full stop")
    reference = spec.get("reference")
    if reference is not None and not re.fullmatch(r"[\w-]+", reference):
        raise UserError(f"task.derived.{name}: reference is {reference!r}", "give a name of letters, digits, - and _")


def _check_inputs(name: str, spec: DerivedConfig, before: Mapping[str, DerivedConfig]) -> None:
    how, names, where = derived(name, spec["how"]), _names(spec), f"task.derived.{name}: {spec['how']}"
    if how.needs == "orders":
        raise UserError(f"{where} is not supported in suites", choices(_of_suites()))
    if spec.get("reference") and how.n_inputs is None:
        raise UserError(f"{where} does not compare with a reference run", "remove reference:")
    n = len(names) * (2 if spec.get("reference") else 1)
    if not n or how.n_inputs not in (None, n):
        wanted = how.n_inputs or "one or more"
        raise UserError(f"{where} takes {wanted} inputs, not {n}", "correct of:; those of a reference run count too")
    _check_kinds(where, how, names, before)
    if how.needs == "pairs" and not spec.get("reference"):
        raise UserError(f"{where} needs a reference run", "add reference: and its name")


def _of_suites() -> list[str]:
    return [name for name in DERIVED if derived(name, name).needs != "orders"]


def _check_kinds(where: str, how: Derived, names: list[str], before: Mapping[str, DerivedConfig]) -> None:
    """Rejects an input that has no documents, or is not an AUC, where that is needed."""
    if how.needs in ("documents", "pairs") and (of := next((of for of in names if of in before), None)):
        raise UserError(f"{where} needs documents, which {of} does not have", "name metrics of tasks")
    attacks = [of for of, spec in before.items() if spec["how"].startswith("auc")]
    if how.needs == "attack" and (of := next((of for of in names if of not in attacks), None)):
        raise UserError(f"{where} needs an AUC, which {of} is not", "name a derived metric with how: auc")
