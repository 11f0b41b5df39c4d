"""Metrics and extractors in files of Python next to the user's own `task.yaml`."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from afrieval.scoring.extract import EXTRACTORS, Extractors
from afrieval.scoring.metrics import METRICS, Metrics
from afrieval.scoring.registry import Spec, name_of

FILES = ("metrics.py", "extractors.py")


@dataclass(frozen=True)
class UserCode:
    """The metrics and extractors that a task may name: the suite's, and those of the user's files."""

    metrics: Metrics = METRICS
    extractors: Extractors = EXTRACTORS

    def has_metric(self, spec: Spec) -> bool:
        """Returns whether a metric that a task file declares is in the user's file."""
        return name_of(spec) in self.metrics.of_file

    def digest(self, metrics: Iterable[Spec], extractor: Spec) -> str:
        """Returns the hashes of the user's files that a task uses, joined; empty for none."""
        stamps = [self.metrics.stamp] if any(map(self.has_metric, metrics)) else []
        stamps += [self.extractors.stamp] if name_of(extractor) in self.extractors.of_file else []
        return "-".join(stamps)


NO_CODE = UserCode()


def user_code(folder: Path) -> UserCode:
    """Returns the metrics and extractors in a task's folder, which the user has named; their code is run.

    Raises:
        UserError: if a file cannot be run, or defines none.
    """
    metrics, extractors = (folder / name for name in FILES)
    hint = "write a function with `-> {}`, as in docs/adding-a-metric.md"
    return UserCode(
        METRICS.with_file(metrics, hint.format("Metric")), EXTRACTORS.with_file(extractors, hint.format("Extractor"))
    )
