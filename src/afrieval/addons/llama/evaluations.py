"""Meta's evaluation data sets, the models that they were made with, and their tasks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from afrieval._util.errors import UserError, nearest
from afrieval._util.yaml_files import read_map_file
from afrieval.tasks.data.schema import filled
from afrieval.tasks.declaration.schema import EvalsSpec
from afrieval.tasks.declaration.spec import TASKS, TaskSpec

ORGANISATION, END = "meta-llama/", "-evals"
GROUPS = {"meta_instruct": True, "meta_pretrain": False}  # for instruct models, or for pretrained ones
SIZES = {"3.1": ("8B", "70B", "405B"), "3.2": ("1B", "3B")}
PUBLISHED = TASKS / "llama" / "published.yaml"
_NAME = re.compile(r"(?:Meta-)?Llama-(\d+\.\d+)-(\d+B)(?:-Vision)?(-Instruct)?")


class Llama(NamedTuple):
    """A Llama model; `family` is 3.1 or 3.2, `size` such as 8B."""

    family: str
    size: str
    instruct: bool

    @property
    def name(self) -> str:
        """The model's name, without the organisation."""
        return f"Llama-{self.family}-{self.size}{'-Instruct' if self.instruct else ''}"

    @property
    def tuning(self) -> str:
        """`instruct` or `pretrained`, for messages."""
        return "instruct" if self.instruct else "pretrained"

    @property
    def dataset(self) -> str:
        """The hub repository of its evaluation data."""
        return f"{ORGANISATION}{self.name}{END}"

    @property
    def spec(self) -> EvalsSpec:
        """The `evals` section of task files for models like it."""
        return EvalsSpec(self.family, self.instruct)


# Those whose evaluations Meta has published for the tasks here; a data set is named as its model, with -evals.
WITH_EVALS = [Llama(f, size, instruct) for f, sizes in SIZES.items() for size in sizes for instruct in (False, True)]


def llama(model_name: str | None) -> Llama | None:
    """Returns the Llama model that a hub id or a folder's last part names; None if it is another."""
    match = _NAME.fullmatch(str(model_name).rstrip("/").rpartition("/")[2])
    return Llama(match[1], match[2], bool(match[3])) if match else None


def chosen_evals(model_name: str | None, evals_dataset: str | None) -> Llama | None:
    """Returns the model whose evaluation data set is used: the one named, or the model's own.

    Raises:
        UserError: if the data set does not exist or does not suit the model.
    """
    model = llama(model_name)
    if evals_dataset is None:
        if model is not None and model not in WITH_EVALS:
            raise UserError(f"Meta publishes no evaluation data of {model.name} for these tasks", _fitting(model))
        return model
    datasets, name = [evals.dataset for evals in WITH_EVALS], evals_dataset.removeprefix(ORGANISATION)
    evals = llama(name.removesuffix(END)) if name.endswith(END) and "/" not in name else None
    if evals is None or evals not in WITH_EVALS:
        raise UserError(f"unknown evaluation data set for these tasks: {evals_dataset!r}", nearest(name, datasets))
    if model and model.instruct != evals.instruct:
        raise UserError(
            f"{evals_dataset} has prompts for {evals.tuning} models, but {model_name} is {model.tuning}",
            _fitting(model),
        )
    if model and model.size != evals.size:
        raise UserError(
            f"{evals_dataset} was made with a {evals.size} model, but {model_name} has {model.size}", _fitting(model)
        )
    return evals


def _fitting(model: Llama) -> str:
    """Returns a hint at a model's data set, or at the nearest for one without, such as Llama 3.3."""
    if model in WITH_EVALS:
        return f"give evals_dataset {model.dataset}"
    same = [e for e in WITH_EVALS if (e.size, e.instruct) == (model.size, model.instruct)]
    if same:
        return f"give evals_dataset {same[0].dataset} if its prompts suit; its verdicts are for {same[0].name}"
    return f"use a model with published data: {', '.join(e.name for e in WITH_EVALS)}"


def of_evals(spec: TaskSpec, evals: Llama | None, samples: bool) -> TaskSpec:
    """Returns a task with the data set of a model; unchanged if it needs none, as sample rows do.

    Raises:
        UserError: if the data set does not have the task, or none is chosen.
    """
    if spec.evals is None or (evals is None and samples):
        return spec
    if evals is None:
        raise UserError(
            f"{spec.name} needs one of Meta's evaluation data sets, and the model's name does not say which",
            f"give --task.evals_dataset, such as {next(e for e in WITH_EVALS if e.spec == spec.evals).dataset}",
        )
    if spec.evals != evals.spec:
        models = f"Llama {spec.evals.family} {'instruct' if spec.evals.instruct else 'pretrained'}"
        group = next(name for name, instruct in GROUPS.items() if instruct == evals.instruct)
        raise UserError(
            f"{spec.name} is a task of the {models} evaluations, which {evals.dataset} does not include",
            f"give --task.task_name {group} for all tasks that it includes",
        )
    files = {split: filled(of, {"{evals}": evals.name + END}) for split, of in spec.data.files.items()}
    hub = spec.data.hub.replace("{evals}", evals.name + END)
    return replace(spec, data=replace(spec.data, hub=hub, files=files))


def members(group: str, specs: list[TaskSpec], evals: Llama | None) -> list[str]:
    """Returns the tasks of a group for a data set, in alphabetical order.

    Raises:
        UserError: if the group is for other models, or no data set is chosen.
    """
    if evals is None:
        raise UserError(
            f"the tasks of {group} depend on the model, and its name is not a Llama 3.1 or 3.2 model's",
            f"give --task.evals_dataset, such as {next(e for e in WITH_EVALS if e.instruct == GROUPS[group]).dataset}",
        )
    if evals.instruct != GROUPS[group]:
        other = next(name for name in GROUPS if name != group)
        raise UserError(f"{group} is not for {evals.tuning} models such as {evals.name}", f"give {other}")
    return [s.name for s in specs if s.evals == evals.spec]


def selected(
    names: Sequence[str], declared: Mapping[str, TaskSpec], model_name: str | None, dataset: str | None, samples: bool
) -> list[TaskSpec]:
    """Returns named tasks and those of named groups, each with the chosen data set, which sample rows do not need."""
    evals, chosen = chosen_evals(model_name, dataset), list[str]()
    for name in names:
        chosen += members(name, [*declared.values()], evals) if name in GROUPS else [name]
    return [of_evals(declared[name], evals, samples) for name in dict.fromkeys(chosen)]


def other_model(model_name: str | None, evals_dataset: str | None) -> str:
    """Returns the model whose data set is named; empty if that is the one run, or none is named."""
    evals = llama(str(evals_dataset).removesuffix(END))
    return evals.name if evals and evals != llama(model_name) else ""


def published(spec: TaskSpec) -> list[dict[str, Any]]:
    """Returns the published scores of a task and its data set's model, each with its setting."""
    model = spec.data.hub.removeprefix(ORGANISATION).removesuffix(END)
    scores: list[dict[str, Any]] = read_map_file(PUBLISHED).content.get(model, {}).get(spec.name, [])
    return scores
