"""Tasks of lm-evaluation-harness: from names of tasks, groups and tags to leaf tasks, and to Task objects."""

import difflib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval.api.group import Group
from lm_eval.api.task import Task
from lm_eval.tasks import TaskManager
from lm_eval.tasks._factory import TaskFactory
from lm_eval.tasks._index import Entry, Kind

from afrieval.errors import UserError
from afrieval.tasks.clean import clean_task
from afrieval.tasks.data import HUB
from afrieval.tasks.plain import digest
from afrieval.tasks.quiet import quiet

Config = dict[str, Any]
Index = dict[str, Entry]
# what is changed in a config to read local data and to stay off the network
DATA_KEYS = ("dataset_path", "dataset_kwargs", "metric_list")


class LackingError(UserError):
    """A folder has a task's data set, but not the part of it that the task needs, or in another form."""


@dataclass(frozen=True)
class HarnessTask:
    """A leaf task: what its YAML file, what that includes, and the groups above it say; no data is read yet."""

    name: str
    config: Config


@dataclass(frozen=True)
class HarnessGroup:
    """A group of tasks.

    Attributes:
        children: names of the tasks and groups right below it.
        tasks: names of all tasks below it.
        aggregate: metric, filters and weighting of each score of its own; empty if it has none.
    """

    name: str
    alias: str
    version: str
    children: list[str]
    tasks: list[str]
    aggregate: list[Config]


@dataclass(frozen=True)
class Found:
    """What names stand for: leaf tasks without repetition, and the groups above them."""

    tasks: list[HarnessTask]
    groups: list[HarnessGroup]


def task_manager() -> TaskManager:
    """Returns the harness' index of all its tasks; reading 14,000 files takes 10 to 20 seconds."""
    print("reading the index of the harness' tasks, about 12 s ...", file=sys.stderr)
    return TaskManager()


def find(names: list[str], index: Index) -> Found:
    """Returns the leaf tasks and groups that names of tasks, groups or tags stand for.

    Args:
        names: in the order in which they should run.
        index: the task manager's.

    Raises:
        UserError: for an unknown name, a task that cannot be read, or two versions of one task.
    """
    tasks: dict[str, HarnessTask] = {}
    groups: dict[str, HarnessGroup] = {}
    for name in names:
        for item in _load(name, index):
            if isinstance(item, Group):
                groups[item.name] = _group(item)
            elif item.task_name in tasks:
                _check_same(tasks[item.task_name], item.given)
            else:
                tasks[item.task_name] = HarnessTask(item.task_name, item.given)
    return Found(list(tasks.values()), list(groups.values()))


def build(task: HarnessTask, source: str, shots: int | None, seed: int, clean: bool) -> Any:
    """Returns a fresh Task of the harness, its data read.

    Args:
        task: what to build.
        source: `hub`, or a folder laid out as on the hub, used for the data sets that it has.
        shots: worked examples before each document; None for the task's own number.
        seed: of the choice of these examples.
        clean: whether stray blanks are taken out of its prompts.

    Raises:
        LackingError: if a folder given as source lacks its part of a data set.
        UserError: if its data cannot be had, or the task cannot be built or run here.
    """
    config = _mended(task.config, source)
    entry = Entry(task.name, Kind.PY_TASK if "class" in config else Kind.TASK, None, cfg=config)
    with quiet():
        try:
            built: Any = TaskFactory().build(entry, registry={})
        except Exception as e:  # a data set's, the hub's, the task's own code's: there is no end to their kinds
            raise _explain(task, config, e) from e
    _check_runnable(task.name, built)
    _set_shots(built, shots)
    _mend_choices(built)
    built.set_fewshot_seed(seed)
    if clean:
        clean_task(built)
    return built


def requests(name: str, built: Any, documents: int, **options: Any) -> list[Any]:
    """Returns the requests of a task's first documents.

    Args:
        name: the task's.
        built: the Task.
        documents: how many.
        options: of a chat template, if one is used, as the harness takes them.

    Raises:
        UserError: if its prompt cannot be built, or it has too few examples.
    """
    with quiet():
        try:
            built.build_all_requests(limit=documents, **options)
        except Exception as e:  # the task's own templates and code
            shots = built.config.num_fewshot
            hint = (
                f"give fewer than the {shots} examples of --eval.num_fewshot, or leave it out"
                if shots
                else "leave it out"
            )
            raise UserError(f"the harness cannot build the prompts of {name}: {_short(e)}", hint) from e
    return [instance for instance in built.instances for _ in range(instance.repeats or 1)]


def config_hash(task: HarnessTask, built: Any) -> str:
    """Returns what changes when the task's config does; where its data was read from is no part of it."""
    dumped = {**built.dump_config(), **{k: task.config.get(k) for k in DATA_KEYS}}
    return digest({k: v for k, v in dumped.items() if k not in ("metadata", "num_fewshot", "task_alias")})


class _Leaf(Task):
    """Stands for a task in the harness' own walk over groups and tags, without reading its data set."""

    def __init__(self, given: Config):
        self.given = given

    @property
    def task_name(self) -> str:
        return str(self.given["task"])


_Leaf.__abstractmethods__ = frozenset()  # nothing is ever asked of it


class _Leaves(TaskFactory):
    """The harness' factory, but for tasks that are named and not built."""

    def _build_task(self, entry: Entry, overrides: Config | None) -> _Leaf:
        return _Leaf(self._load_full_config(entry, overrides))

    def _build_group_members(
        self, member_list: list[Any], group_name: str, overrides: Config | None, registry: Index
    ) -> list[Any]:
        members = []
        for member in member_list:
            if isinstance(member, dict) and "group" not in member and member.get("task") not in registry:
                # a task written out in its group: the factory would build it on the spot
                name = f"{group_name}::{member['task']}"
                registry[name] = Entry(name, Kind.TASK, None, cfg={"task": name})
                member = {**member, "task": name}
            members.append(member)
        return list(super()._build_group_members(members, group_name, overrides, registry))


def _load(name: str, index: Index) -> Iterator[Any]:
    if name not in index:
        near = difflib.get_close_matches(name, index, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`lm-eval ls tasks` lists all of them"
        raise UserError(f"the harness has no task, group or tag {name!r}", hint)
    with quiet():
        try:
            loaded: Any = _Leaves().build(index[name], registry=index)
        except Exception as e:
            raise UserError(
                f"the harness cannot read its task {name}: {_short(e)}", "leave it out; it may need another package"
            ) from e
    for item in loaded if isinstance(loaded, list) else [loaded]:
        yield item
        if isinstance(item, Group):
            yield from (*item.get_all_tasks(), *item.get_all_groups())


def _group(group: Group) -> HarnessGroup:
    aggregate = [
        {"metric": a.metric, "filter_list": a.filter_list, "weight_by_size": a.weight_by_size}
        for a in group.aggregate_metric_list or []
    ]
    tasks = list(dict.fromkeys(task.task_name for task in group.get_all_tasks()))
    return HarnessGroup(group.name, group.alias or group.name, group.version, list(group.child_names), tasks, aggregate)


def _check_same(known: HarnessTask, config: Config) -> None:
    """Refuses one task under two configs, which groups that override their tasks' settings lead to."""
    ours, theirs = ({k: v for k, v in c.items() if k != "task_alias"} for c in (known.config, config))
    if digest(ours) != digest(theirs):
        raise UserError(
            f"two of the groups or names given have {known.name}, with other settings each",
            "run them one after the other, each with a --run_dir of its own",
        )


def _mended(config: Config, source: str) -> Config:
    """Returns a config that reads local data and asks the network for nothing that is not used."""
    config = dict(config)
    path = config.get("dataset_path")
    if source != HUB and path and (local := Path(source).expanduser() / path).is_dir():
        config["dataset_path"] = str(local.resolve())
        config["dataset_kwargs"] = {**(config.get("dataset_kwargs") or {}), "cache_dir": _cache(local.resolve())}
    if config.get("output_type", "generate_until") != "generate_until":
        # Likelihood tasks go by a metric's name; its `evaluate` module would be fetched for nothing.
        config["metric_list"] = [
            {k: v for k, v in metric.items() if k != "hf_evaluate"} for metric in config.get("metric_list") or []
        ] or None
    return config


def _cache(folder: Path) -> str:
    """Returns a cache folder for this state of these files.

    `datasets` knows a local folder with configs by its last name alone: it would give the rows of another mirror, or
    those from before a change.
    """
    import datasets

    files = sorted(p for p in folder.rglob("*") if p.is_file())
    stamp = [str(folder), *([str(p), p.stat().st_size, p.stat().st_mtime_ns] for p in files)]
    return str(Path(datasets.config.HF_DATASETS_CACHE) / "afrieval" / digest(stamp))


def _set_shots(built: Any, shots: int | None) -> None:
    """Sets the number of examples as the harness does: a task that says 0 itself takes none."""
    own = built.get_config("num_fewshot")
    if shots is not None and own != 0:
        built.set_config(key="num_fewshot", value=shots)
    elif own is None:
        built.set_config(key="num_fewshot", value=0)


def _mend_choices(built: Any) -> None:
    """Makes texts of choices that are numbers, as they are shown; the harness stops at a row with such."""
    if built.OUTPUT_TYPE != "multiple_choice" or not hasattr(built, "doc_to_choice"):
        return
    choices = built.doc_to_choice
    built.doc_to_choice = lambda doc, *args: [c if isinstance(c, str) else str(c) for c in choices(doc, *args)]


def _check_runnable(name: str, built: Any) -> None:
    if getattr(built, "MULTIMODAL", False):
        raise UserError(f"{name} shows pictures or plays sound", "leave it out: text models only, so far")
    if getattr(built, "UNSAFE_CODE", False):
        raise UserError(f"{name} runs code that the model writes", "leave it out; run it with lm-eval in a sandbox")
    lacking = [m for m, function in getattr(built, "_metric_fn_list", {}).items() if function is None]
    if lacking and built.OUTPUT_TYPE == "generate_until" and not built.config.process_results:
        raise UserError(
            f"{name}: its metric {lacking[0]} cannot be fetched from the hub (evaluate library)",
            "run it where there is a network, or leave it out",
        )


def _explain(task: HarnessTask, config: Config, error: Exception) -> UserError:
    path = config.get("dataset_path")
    if path is None:
        return UserError(f"the harness cannot build the task {task.name}: {_short(error)}", "leave it out")
    shown = " ".join(str(part) for part in (path, config.get("dataset_name")) if part)
    hint = (
        "fetch it with `afrieval prefetch` where there is a network, give --data.source FOLDER, or leave the task out"
    )
    message = f"the data of {task.name} ({shown}) cannot be had or used: {_short(error)}"
    if path != task.config.get("dataset_path"):
        return LackingError(message, "complete that folder, give --data.source hub, or leave the task out")
    return UserError(message, hint)


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text if len(text) <= 200 else text[:200] + ' ...'}"
