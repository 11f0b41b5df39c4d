"""What is asked of a model about rows of a test set, as a task of the harness."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

Measures = dict[str, list[float]]
Method = Literal["loglikelihood", "loglikelihood_rolling"]


@dataclass(frozen=True)
class Asked:
    """A sample: a row, or a shard of rows.

    Attributes:
        doc: what is stored of it.
        roles: what the text of each request is.
        requests: the arguments of each request.
        measure: the answers, in the same order, to the numbers of each metric.
    """

    doc: dict[str, Any]
    roles: Sequence[str]
    requests: Sequence[tuple[Any, ...]]
    measure: Callable[[Sequence[Any]], Measures]


class _Rows(list[dict[str, Any]]):
    """Replaces the data set that the harness expects."""

    features: ClassVar[dict[str, Any]] = {}


class MemorisationTask(ConfigurableTask):
    """A harness task that asks for likelihoods.

    Args:
        name: the cell's.
        method: the type of its requests.
        asked: its samples.

    Attributes:
        measures: number of each sample to what was measured.
    """

    def __init__(self, name: str, method: Method, asked: Sequence[Asked]):
        self._asked, self._method = asked, method
        self.measures: dict[int, Measures] = {}
        super().__init__(
            config={
                "task": name,
                "output_type": method,
                "test_split": "test",
                "doc_to_text": lambda row: "",
                "doc_to_target": lambda row: "",
                "metric_list": [{"metric": "bypass", "aggregation": "bypass", "higher_is_better": True}],
            }
        )

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Provides the samples as the data set, instead of downloading one."""
        rows = ({"number": i, "roles": each.roles, **each.doc} for i, each in enumerate(self._asked))
        self.dataset = {"test": _Rows(rows)}

    def build_all_requests(self, *, limit: int | None = None, samples: list[int] | None = None, **kwargs: Any) -> None:
        """Builds the requests of all samples; chat templates do not apply to them."""
        self._instances = [
            Instance(self._method, row, arguments, idx, metadata=(self.config.task, doc_id, 1))
            for doc_id, row in self.doc_iterator(limit=limit, samples=samples)
            for idx, arguments in enumerate(self._asked[row["number"]].requests)
        ]

    def process_results(self, doc: dict[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Measures a sample; the harness gets no scores of it."""
        self.measures[doc["number"]] = self._asked[doc["number"]].measure(results)
        return {}
