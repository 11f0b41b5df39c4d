"""Tasks of lm-evaluation-harness by name: leaf tasks of a task, group or tag, and their configs as JSON."""

import datetime
import difflib
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from lm_eval.api.group import Group
from lm_eval.api.task import Task
from lm_eval.tasks import TaskManager
from lm_eval.tasks._factory import TaskFactory
from lm_eval.tasks._index import Entry, Kind

from afrieval._util import stamps
from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.models.credentials import quiet
from afrieval.tasks.cells.cell import RunPart


def plain(value: Any) -> Any:
    """Returns a value as JSON: functions as their source, arrays as lists, other types as text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(v) for v in value), key=str)
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, partial):
        return [plain(value.func), plain(value.args), plain(value.keywords)]
    if callable(value):  # as its source: its address differs from run to run
        try:
            return inspect.getsource(value)
        except (TypeError, OSError):
            name = getattr(value, "__qualname__", type(value).__name__)
            return f"{getattr(value, '__module__', '')}.{name}"
    fields = getattr(value, "__dict__", None)
    return [type(value).__name__, plain(fields)] if fields else str(value)


def digest(value: Any) -> str:
    """Returns a short hash of a value in its plain form."""
    return stamps.digest(json.dumps(plain(value), sort_keys=True, ensure_ascii=False))


Config = dict[str, Any]
Index = dict[str, Entry]


@dataclass(frozen=True)
class HarnessTask:
    """A leaf task; its data is not loaded yet.

    Attributes:
        requested_as: the name by which it was first requested: its own, or a group's or tag's.
        config: the merged config of its YAML file, included files, and the groups that contain it.
    """

    name: str
    requested_as: str
    config: Config

    @property
    def telling_digest(self) -> str:
        """A hash of all settings but its display name."""
        return digest({name: setting for name, setting in self.config.items() if name != "task_alias"})


def task_manager() -> TaskManager:
    """Returns the harness' index of all its tasks; loading 14,000 files takes 10 to 20 seconds."""
    note("loading the index of the harness' tasks, about 12 s ...")
    return TaskManager()


def find(names: list[str], index: Index) -> tuple[list[HarnessTask], dict[str, RunPart]]:
    """Returns the leaf tasks of tasks, groups or tags, each once, and the groups among these, as run.yaml keeps them.

    Raises:
        UserError: for an unknown name, a task that cannot be loaded, or two versions of one task.
    """
    tasks: dict[str, HarnessTask] = {}
    groups: dict[str, RunPart] = {}
    for name in names:
        for item in _load(name, index):
            if isinstance(item, Group):
                groups[item.name] = _group(item)
                continue
            task = HarnessTask(item.task_name, name, item.definition)
            first = tasks.setdefault(task.name, task)
            if first is not task and first.telling_digest != task.telling_digest:  # groups may override settings
                problem = f"two of the given groups or names contain {task.name}, with different settings"
                raise UserError(problem, "run them one after the other, each with a separate --run_dir")
    return list(tasks.values()), groups


class _Leaf(Task):
    """Stands for a task when the harness expands groups and tags, without loading its data set."""

    def __init__(self, definition: Config):
        self.definition = definition

    @property
    def task_name(self) -> str:
        return str(self.definition["task"])


_Leaf.__abstractmethods__ = frozenset()  # its methods are never called


class _Leaves(TaskFactory):
    """The harness' factory, except that tasks are named and not built."""

    def _build_task(self, entry: Entry, overrides: Config | None) -> _Leaf:
        return _Leaf(self._load_full_config(entry, overrides))

    def _build_group_members(
        self, member_list: list[Any], group_name: str, overrides: Config | None, registry: Index
    ) -> list[Any]:
        members = []
        for member in member_list:
            if isinstance(member, dict) and "group" not in member and member.get("task") not in registry:
                # a task defined inside its group: the factory would build it immediately
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
                f"the harness cannot load its task {name}: {short(e)}", "remove the task; it may need another package"
            ) from e
    for item in loaded if isinstance(loaded, list) else [loaded]:
        yield item
        if isinstance(item, Group):
            yield from (*item.get_all_tasks(), *item.get_all_groups())


def _group(group: Group) -> RunPart:
    aggregate = [
        {"metric": a.metric, "filter_list": a.filter_list, "weight_by_size": a.weight_by_size}
        for a in group.aggregate_metric_list or []
    ]
    return {
        "alias": group.alias or group.name,
        "version": group.version,
        "children": list(group.child_names),
        "tasks": list(dict.fromkeys(task.task_name for task in group.get_all_tasks())),
        "aggregate": aggregate,
    }


def short(error: Exception) -> str:
    """Returns an error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text if len(text) <= 200 else text[:200] + ' ...'}"
