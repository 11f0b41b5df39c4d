"""Metrics and extractors in files of Python next to the user's own `task.yaml`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from afrieval._util.registry import source_of
from afrieval._util.stamps import digest
from afrieval.scoring.extract import EXTRACTORS, Extractors
from afrieval.scoring.metrics import METRICS, Metrics
from afrieval.scoring.registry import Spec, name_of

METRICS_FILE, EXTRACTORS_FILE = FILES = ("metrics.py", "extractors.py")


@dataclass(frozen=True)
class UserCode:
    """The metrics and extractors that a task may name: the suite's, and those of the user's files.

    Attributes:
        metrics: by name.
        extractors: by name.
        digests: hashes of the user's files, by which a run knows whether they have changed.
    """

    metrics: Metrics = METRICS
    extractors: Extractors = EXTRACTORS
    digests: Mapping[str, str] = field(default_factory=dict)

    def has_metric(self, spec: Spec) -> bool:
        """Returns whether a metric that a task file declares is in the user's file."""
        return name_of(spec) in self.metrics.of_file

    def digest(self, metrics: Iterable[Spec], extractor: Spec) -> str:
        """Returns the hashes of the user's files that a task uses, joined; empty for none."""
        used = {
            METRICS_FILE: any(map(self.has_metric, metrics)),
            EXTRACTORS_FILE: name_of(extractor) in self.extractors.of_file,
        }
        return "-".join(self.digests[name] for name, is_used in used.items() if is_used)


NO_CODE = UserCode()


def user_code(folder: Path) -> UserCode:
    """Returns the metrics and extractors in a task's folder, which the user has named; their code is run.

    Raises:
        UserError: if a file cannot be run, or defines none.
    """
    paths = [folder / name for name in FILES]
    digests = {path.name: digest(source_of(path)) for path in paths if path.is_file()}
    hint = "write a function with `-> {}`, as in docs/adding-a-metric.md"
    return UserCode(
        METRICS.with_file(paths[0], hint.format("Metric")) if METRICS_FILE in digests else METRICS,
        EXTRACTORS.with_file(paths[1], hint.format("Extractor")) if EXTRACTORS_FILE in digests else EXTRACTORS,
        digests,
    )
