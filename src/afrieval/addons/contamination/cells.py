"""Cells that ask what a model remembers of the test set of a task in a language."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval.api.instance import Instance

from afrieval._util.errors import UserError
from afrieval._util.stamps import WHOLE, digest
from afrieval.addons.contamination.asking import AskingMethod, Measures, MemorisationRequest, Method
from afrieval.config.settings import EvalConfig
from afrieval.languages import LANGUAGES
from afrieval.models.base import LanguageModel, UnknownTokenizer
from afrieval.results.cell_key import CellKey
from afrieval.results.samples import Sample
from afrieval.scoring.metrics import metric
from afrieval.scoring.tokens import Need
from afrieval.tasks.cells.cell import NOT_KEPT, Cell, CellResult, Preview, RunPart
from afrieval.tasks.cells.harness_tasks import answered, ask
from afrieval.tasks.cells.sample_lines import sample_line
from afrieval.tasks.data.splits import Split
from afrieval.tasks.declaration.spec import TaskSpec

MEMORISATION = "memorisation"  # the task
VERSION = 2  # of what is asked and measured
PROMPT, PROMPT_LANGUAGE, FORM = 0, "eng", "likelihoods"  # there is no prompt


@dataclass(frozen=True)
class Source:
    """The test set that cells are about.

    Attributes:
        unseen: texts to compare its rows with.
        alike: p-value of what adjacent rows have in common.
    """

    spec: TaskSpec
    language: str
    data: Split
    unseen: Sequence[str]
    sorted_by: Sequence[str]
    alike: float
    evaluation: EvalConfig


@dataclass(frozen=True)
class MemorisationCell(Cell):
    """A way to ask about a test set."""

    about: Source
    part: AskingMethod

    @property
    def key(self) -> CellKey:
        """What names it: each way to ask is a task."""
        task = f"{MEMORISATION}_{self.about.spec.name}_{self.part.name}"
        return CellKey(task, self.about.language, PROMPT, PROMPT_LANGUAGE, 0, FORM)

    @property
    def title(self) -> str:
        """Its display name."""
        return f"{MEMORISATION} of {self.about.spec.name} {LANGUAGES[self.about.language].name}, {self.part.title}"

    @property
    def asks(self) -> frozenset[str]:
        """The type of its requests."""
        return frozenset({self.part.method})

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.part.rows.indices)

    @property
    def n_requests(self) -> int:
        """Number of requests."""
        return self.part.n_requests

    @property
    def needs(self) -> frozenset[Need]:
        """What it needs of each token."""
        return self.part.needs

    @property
    def commits(self) -> dict[str, str]:
        """Data set to commit, for rows from the hub."""
        return self.about.data.commits

    @property
    def identity(self) -> RunPart:
        """Everything except the model that scores depend on."""
        source, evaluation = self.about, self.about.evaluation
        seed = evaluation.fewshot_random_seed
        fewshot = {"num_fewshot": 0, "selection": evaluation.fewshot_selection, "seed": seed}
        hashes = {source.spec.data.evaluate: source.data.sha256}
        if source.unseen:
            hashes["unseen"] = digest(json.dumps(source.unseen), WHOLE)
        task = {
            "version": VERSION,
            "task_version": source.spec.version,
            "declaration": source.spec.declaration,
            "answer_form": FORM,
            "prompts": {PROMPT_LANGUAGE: {PROMPT: ""}},
            "data": {source.language: hashes},
            "order_seed": evaluation.random_seed,
        }
        return {"fewshot": fewshot, "tasks": {self.key.task: task}, **self.part.rows.identity}

    @property
    def facts(self) -> RunPart:
        """What it asks about, as run.yaml declares tasks."""
        source, part = self.about, self.part
        declared = {
            "title": source.spec.title,
            "data": source.spec.data.hub,
            "labels": [],
            "breakdowns": [],
            "parallel": [],
            "unreviewed": {},
            "test_set": {source.language: part.rows.total},
            "metrics": list(part.metrics),
            "derived": dict(part.derived),
            "averaged": False,
            "rescorable": False,
            MEMORISATION: {
                "of": source.spec.name,
                "part": part.name,
                "sorted_by": {source.language: list(source.sorted_by)},
                "alike": {source.language: source.alike},
            },
        }
        return {"declared": {self.key.task: declared}}

    def requests(self, model: LanguageModel) -> Iterator[Instance]:
        """Yields the harness' requests of its samples, in the order in which a model is asked."""
        for number, each in enumerate(self.part.ask(model)):
            yield from self._requests(number, each)

    def run(self, model: LanguageModel) -> CellResult:
        """Asks a loaded model, measures its answers, and returns the line of each sample."""
        samples = self.part.ask(model)
        of_samples = [self._requests(number, each) for number, each in enumerate(samples)]
        ask(model, [request for requests in of_samples for request in requests])
        lines = []
        for number, (each, requests) in enumerate(zip(samples, of_samples, strict=True)):
            measures = each.measure([request.resps[0] for request in requests])
            lines.append(self._line(answered(number, requests, "", {}), measures))
        return CellResult(lines)

    def _requests(self, number: int, each: MemorisationRequest) -> list[Instance]:
        """Returns the requests of a sample; chat templates do not apply to them."""
        row, metadata = {"number": number, "roles": each.roles, **each.doc}, (self.name, number, 1)
        return [Instance(self.part.method, row, args, i, metadata=metadata) for i, args in enumerate(each.requests)]

    def _line(self, sample: Sample, measures: Measures) -> Sample:
        """Returns a line of the sample file; the many orders of a shard are not kept as texts."""
        keeps_texts = self.about.evaluation.log_samples and self.part.name != "order"
        stored = {
            **{key: sample[key] for key in ("target", "doc_hash", "prompt_hash", "target_hash", "filter")},
            "doc": {key: value for key, value in sample["doc"].items() if key not in ("number", "roles")},
            **({"arguments": [_pair(self.part.method, each) for each in sample["arguments"]]} if keeps_texts else {}),
            "resps": [
                [list(a) if isinstance(a, tuple | list) else [a] for a in answers] for answers in sample["resps"]
            ],
        }
        return sample_line(
            self.key,
            self.part.rows,
            stored,
            doc_id=self.part.rows.indices[sample["doc_id"]],
            n_choices=None,
            roles=list(sample["doc"]["roles"]),
            metrics=list(measures),
            measures=measures,
            **{name: metric(name).to_sample(None, measure) for name, measure in measures.items()},
        )

    def preview(self, number: int) -> Preview:
        """Returns a sample with its first requests: of a shard, the published order and one other."""
        samples = self.part.ask(UnknownTokenizer())
        if number >= len(samples):
            raise UserError(f"{self.title}: there is no sample {number}", f"give 0 to {len(samples) - 1}")
        heading = f"{self.title}, sample {number}, {_origin(samples[number].doc)}"
        pairs = [_pair(self.part.method, arguments) for arguments in samples[number].requests[:2]]
        return Preview(heading, {before or text: [f"  {text!r}"] if before else [] for before, text in pairs})

    def preview_stored(self, samples: Iterator[Sample]) -> Preview:
        """Returns the first sample with its likelihoods."""
        sample = next(samples)
        heading = f"{self.title}, sample 0, {_origin(sample['doc'])}"
        likelihoods = [f"{answer[0]:12.4f}" for (answer,) in sample["resps"]]
        if "arguments" not in sample:
            named = [f"{value}  {name}" for value, name in zip(likelihoods, sample["roles"], strict=True)]
            return Preview("\n".join([heading, *(named if "rows" in sample["doc"] else [NOT_KEPT])]))
        ((before, text),) = sample["arguments"]
        return Preview(heading, {before or text: [f"{likelihoods[0]}  {text!r}" if before else likelihoods[0]]})


def _pair(method: Method, arguments: Sequence[Any]) -> list[str]:
    """Returns (context, continuation); the context is empty for whole texts."""
    return [*arguments[:2]] if method == "loglikelihood" else ["", arguments[0]]


def _origin(doc: dict[str, Any]) -> str:
    return f"rows {' '.join(map(str, doc['rows']))}" if "rows" in doc else f"{doc['origin']}, row {doc['row']}"
