"""Cells that ask what a model remembers of the test set of a task in a language."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from afrieval._util.errors import UserError
from afrieval.config.sections import MEMORISATION
from afrieval.config.settings import RunConfig
from afrieval.languages import LANGUAGES
from afrieval.results.samples import Sample
from afrieval.scoring.metrics import metric
from afrieval.tasks.cells.cell import NOT_KEPT, Block, Cell, Coordinates, HarnessCall, Outcome, RunPart, Shown
from afrieval.tasks.data.splits import Split
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tools.contamination.requests import AskingMethod, Measures, MemorisationRequest, MemorisationTask, Method

VERSION = 2  # of what is asked and measured
PROMPT, PROMPT_LANGUAGE, FORM = 0, "eng", "likelihoods"  # there is no prompt
UNLOADED = 3  # characters per token, where the requests are built to be shown


@dataclass(frozen=True)
class Source:
    """The test set that cells are about.

    Attributes:
        unseen: hash of the unseen texts; empty if there are none.
        sorted_by: what the rows are sorted by.
        alike: p-value of what adjacent rows have in common.
    """

    spec: TaskSpec
    language: str
    data: Split
    unseen: str
    sorted_by: Sequence[str]
    alike: float
    config: RunConfig


class _NoModel:
    """Stands for a model that is not loaded, where requests are built to be shown."""

    def count_tokens(self, text: str) -> int:
        return len(text) // UNLOADED


def memorisation_cell(source: Source, part: AskingMethod) -> Cell:
    """Returns the cell of a way to ask about a test set."""
    name = f"{MEMORISATION}_{source.spec.name}_{part.name}"
    place = Coordinates(name, source.language, PROMPT, PROMPT_LANGUAGE, 0, FORM)
    cell = f"{name}_{source.language}_{PROMPT_LANGUAGE}_{PROMPT}"
    title = f"{MEMORISATION} of {source.spec.name} {LANGUAGES[source.language].name}, {part.title}"
    return Cell(
        cell,
        title,
        place,
        list(part.metrics),
        asks=frozenset({part.method}),
        n=part.n,
        n_requests=part.n_requests,
        identity=_identity(source, place) | part.rows.identity,
        build=partial(_build, source, part, place, cell),
        preview=partial(_preview, part, title),
        recall=partial(_recalled, title),
        facts={"declared": {name: _declared(source, part)}},
        commits=source.data.commits,
        needs=part.needs,
    )


def _identity(source: Source, place: Coordinates) -> RunPart:
    evaluation = source.config.eval
    hashes = {source.spec.data.evaluate: source.data.sha256} | ({"unseen": source.unseen} if source.unseen else {})
    return {
        "fewshot": {
            "num_fewshot": 0,
            "selection": evaluation.fewshot_selection,
            "seed": evaluation.fewshot_random_seed,
        },
        "tasks": {
            place.task: {
                "version": VERSION,
                "task_version": source.spec.version,
                "declaration": source.spec.declaration,
                "answer_form": FORM,
                "prompts": {PROMPT_LANGUAGE: {PROMPT: ""}},
                "data": {source.language: hashes},
                "order_seed": evaluation.random_seed,
            }
        },
    }


def _declared(source: Source, part: AskingMethod) -> RunPart:
    return {
        "title": source.spec.title,
        "data": source.spec.data.hub,
        "labels": [],
        "breakdowns": [],
        "parallel": [],
        "unreviewed": {},
        "test_set": {source.language: part.rows.of},
        "metrics": list(part.metrics),
        "derived": dict(part.derived),
        MEMORISATION: {
            "of": source.spec.name,
            "part": part.name,
            "sorted_by": {source.language: list(source.sorted_by)},
            "alike": {source.language: source.alike},
        },
    }


def _build(source: Source, part: AskingMethod, place: Coordinates, cell: str, model: Any) -> HarnessCall:
    asked = part.ask(model)
    task = MemorisationTask(cell, part.method, asked)
    return HarnessCall(task, model, partial(_collect, source.config, place, cell, part, task.measures), chat=False)


def _collect(
    config: RunConfig,
    place: Coordinates,
    cell: str,
    part: AskingMethod,
    measures: dict[int, Measures],
    results: dict[str, Any],
) -> Outcome:
    samples = sorted(results["samples"][cell], key=lambda sample: sample["doc_id"])
    return Outcome([_line(config, place, part, sample, measures[sample["doc_id"]]) for sample in samples])


def _line(config: RunConfig, place: Coordinates, part: AskingMethod, sample: Sample, measures: Measures) -> Sample:
    """Returns a line of the sample file; the many orders of a shard are not kept as texts."""
    kept = config.eval.log_samples and part.name != "order"
    doc = {key: value for key, value in sample["doc"].items() if key not in ("number", "roles")}
    given = {key: sample[key] for key in ("target", "doc_hash", "prompt_hash", "target_hash", "filter")}
    number, ranks = part.rows.places[sample["doc_id"]], part.rows.ranks
    return {
        "doc_id": number,
        **({"sample_rank": ranks[number]} if ranks else {}),
        **given,
        "doc": doc,
        **({"arguments": [_pair(part.method, arguments) for arguments in sample["arguments"]]} if kept else {}),
        "resps": [[_listed(answer) for answer in answers] for answers in sample["resps"]],
        "task": place.task,
        "language": place.language,
        "prompt": PROMPT,
        "prompt_language": PROMPT_LANGUAGE,
        "fewshot_ids": [],
        "defect": "",
        "n_choices": None,
        "roles": list(sample["doc"]["roles"]),
        "metrics": list(measures),
        "measures": measures,
        **{name: metric(name).to_sample(None, measure) for name, measure in measures.items()},
    }


def _pair(method: Method, arguments: Sequence[Any]) -> list[str]:
    """Returns (context, continuation); the context is empty for whole texts."""
    return [*arguments[:2]] if method == "loglikelihood" else ["", arguments[0]]


def _listed(answer: Any) -> list[Any]:
    """Returns a likelihood as a list; that of a whole text may be a number alone."""
    return list(answer) if isinstance(answer, tuple | list) else [answer]


def _preview(part: AskingMethod, title: str, number: int) -> Shown:
    asked = part.ask(_NoModel())
    if number >= len(asked):
        raise UserError(f"{title}: there is no sample {number}", f"give 0 to {len(asked) - 1}")
    heading = f"{title}, sample {number}, {_origin(asked[number].doc)}"
    return Shown(heading, [_block(part.method, arguments) for arguments in _first(asked[number])])


def _first(asked: MemorisationRequest) -> list[tuple[Any, ...]]:
    """Returns the first requests of a sample: of a shard, the published order and one other."""
    return list(asked.requests[:2])


def _block(method: Method, arguments: tuple[Any, ...]) -> Block:
    before, text = _pair(method, arguments)
    return Block(before, [f"  {text!r}"]) if before else Block(text)


def _origin(doc: dict[str, Any]) -> str:
    return f"rows {' '.join(map(str, doc['rows']))}" if "rows" in doc else f"{doc['origin']}, row {doc['row']}"


def _recalled(title: str, samples: Iterator[Sample]) -> Shown:
    """Returns the first sample with its likelihoods."""
    sample = next(samples)
    heading = f"{title}, sample 0, {_origin(sample['doc'])}"
    likelihoods = [f"{answer[0]:12.4f}" for (answer,) in sample["resps"]]
    if "arguments" not in sample:
        named = [f"{value}  {name}" for value, name in zip(likelihoods, sample["roles"], strict=True)]
        return Shown("\n".join([heading, *(named if "rows" in sample["doc"] else [NOT_KEPT])]))
    ((before, text),) = sample["arguments"]
    return Shown(heading, [Block(before or text, [f"{likelihoods[0]}  {text!r}" if before else likelihoods[0]])])
