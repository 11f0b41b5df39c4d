"""Names of a suite's metrics in the files of other programs: `open_unlearning.yaml` in the folder of its tasks."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal

from afrieval.files.schema import AT_LEAST_ONE, CLOSED
from afrieval.files.yaml import read_as
from afrieval.tasks.spec import TASKS

FILE = "open_unlearning.yaml"


@dataclass(frozen=True)
class Place:
    """Where a metric of documents stands in a file.

    Attributes:
        of: the result.
        value: its value by document; of `among`, the losses of the correct text and of wrong ones.
        part: the part of the result, where it has several.
        form: what makes our number of it: the number itself; `probability`, exp(-loss); or `among`, the probability of
            the correct text divided by the sum of all.
        loss: the name of -log(value) next to it, in files that we write; empty for none.
    """

    __pydantic_config__ = CLOSED

    of: str
    value: str | list[str]
    part: str = ""
    form: Literal["number", "probability", "among"] = "number"
    loss: str = ""


@dataclass(frozen=True)
class Elsewhere:
    """The content of the file.

    Attributes:
        suites: names of the suites; the first is the one that is computed from files.
        evaluator: what open-unlearning's files begin with, as in TOFU_EVAL.json.
        metrics: TASK.METRIC to its place in them.
        derived: derived metric of the suite to its name in them.
        logs: TASK.METRIC to its place in an aggregated log of TOFU's own code.
    """

    __pydantic_config__ = CLOSED

    suites: Annotated[list[str], AT_LEAST_ONE]
    evaluator: str
    metrics: dict[str, Place]
    derived: dict[str, str]
    logs: dict[str, Place] = field(default_factory=dict)

    def places(self, results: Collection[str]) -> dict[str, Place]:
        """Returns the metrics whose results are among those of a file."""
        return {name: of for places in (self.logs, self.metrics) for name, of in places.items() if of.of in results}


@cache
def all_elsewhere() -> list[Elsewhere]:
    """Returns the content of all such files."""
    return [read_as(Elsewhere, path) for path in sorted(TASKS.glob(f"*/{FILE}"))]


def of_suite(suite: str) -> Elsewhere | None:
    """Returns the names for a suite; None if it has none."""
    return next((known for known in all_elsewhere() if suite in known.suites), None)
