"""Evaluates language models on African languages; docs/python.md shows how.

The names are imported when they are used, so that `import afrieval` is fast.
"""

import importlib
import logging
import os
from typing import TYPE_CHECKING

from afrieval._util.version import __version__

if TYPE_CHECKING:
    from afrieval._util.errors import UserError
    from afrieval.api import Comparison, Run, compare, load_run, write_report
    from afrieval.api_evaluate import evaluate
    from afrieval.config.settings import ModelConfig
    from afrieval.report.table import Table, Tables
    from afrieval.tasks.declaration.spec import load_task, task_names

# torch.distributed takes its level from there, and knows only names in capitals.
if "LOGLEVEL" in os.environ and os.environ["LOGLEVEL"] not in logging.getLevelNamesMapping():
    _level = os.environ.pop("LOGLEVEL").upper()
    os.environ |= {"LOGLEVEL": _level} if _level in logging.getLevelNamesMapping() else {}

__all__ = [
    "Comparison",
    "ModelConfig",
    "Run",
    "Table",
    "Tables",
    "UserError",
    "__version__",
    "compare",
    "evaluate",
    "load_run",
    "load_task",
    "task_names",
    "write_report",
]
_PLACES = {
    "Comparison": "api",
    "ModelConfig": "config.settings",
    "Run": "api",
    "Table": "report.table",
    "Tables": "report.table",
    "UserError": "_util.errors",
    "compare": "api",
    "evaluate": "api_evaluate",
    "load_run": "api",
    "load_task": "tasks.declaration.spec",
    "task_names": "tasks.declaration.spec",
    "write_report": "api",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'afrieval' has no attribute {name!r}")
    return getattr(importlib.import_module(f"afrieval.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
