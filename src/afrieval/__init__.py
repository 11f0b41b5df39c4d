"""Evaluates language models on African languages; docs/python.md shows how.

The names are imported when they are used, so that `import afrieval` is fast.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from afrieval.api.comparison import Comparison, compare
    from afrieval.api.evaluate import evaluate
    from afrieval.api.report import write_report
    from afrieval.api.run import Run, load_run
    from afrieval.config.settings import ModelConfig
    from afrieval.errors import UserError
    from afrieval.report.table import Table
    from afrieval.report.tables import Tables
    from afrieval.tasks.spec import load_task, task_names

    __version__: str

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
    "Comparison": "api.comparison",
    "ModelConfig": "config.settings",
    "Run": "api.run",
    "Table": "report.table",
    "Tables": "report.tables",
    "UserError": "errors",
    "compare": "api.comparison",
    "evaluate": "api.evaluate",
    "load_run": "api.run",
    "load_task": "tasks.spec",
    "task_names": "tasks.spec",
    "write_report": "api.report",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("afrieval")
    if name not in _PLACES:
        raise AttributeError(f"module 'afrieval' has no attribute {name!r}")
    return getattr(importlib.import_module(f"afrieval.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
