"""Makes cells of other programs' runs, with scores per document, and translates names of tasks and metrics."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from afrieval._util.stamps import digest
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.languages import names as language_names
from afrieval.results.cell_key import PAPER, SUITE, CellKey, prompt_number, prompt_set
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import short_name
from afrieval.results.derived import USUAL
from afrieval.results.identity import Kind, Selection
from afrieval.scoring.base import Metric, not_measured
from afrieval.scoring.metrics import METRICS
from afrieval.tasks.data.published_files import UNKNOWN
from afrieval.tasks.declaration.spec import load_task, task_names

K = TypeVar("K")
# yor or yor_Latn, but not part of a pair of languages, nor agieval_lsat_ar (analytical reasoning) and blimp_nl's om_te.
LANGUAGE = r"(?<=_)(?<!_lsat_)(?!om_te)({code})(?:_[A-Z][a-z]{{3}})?+(?=_|$)"
WRITTEN = re.compile(r"_(en|eng|native)(?=_)")


@dataclass(frozen=True)
class TaskName(CellKey):
    """A parsed name; its language is blank if the suite does not have it, and its prompt 0 if the name has none.

    Attributes:
        ours: whether it has the form of our exported tasks.
    """

    ours: bool = False

    @property
    def is_namesake(self) -> bool:
        """Whether one of our tasks has its name, so that a harness task must be marked."""
        return self.task.removesuffix("_translate") in task_names()

    @property
    def problem(self) -> str:
        """Why scores under this name are left out; empty if they are not."""
        if not self.language:
            return "its name has no language of the suite"
        if self.language == ENGLISH and self.prompt_language == "native":
            return "for English, native prompts are the English ones"
        return ""


def named(name: str) -> TaskName:
    """Parses a task's name; the rest, without language and prompt, is the task."""
    if name in _complete():
        return TaskName(name, ENGLISH, 1, "eng", ours=True)
    key = CellKey.parse(name)
    if key and key.language in LANGUAGES and key.task.removesuffix("_translate") in task_names():
        return TaskName(**vars(key), ours=True)
    task, _, end = name.partition("_prompt_")
    prompt = int(end) if end.isdecimal() else 0
    task = task if prompt else name
    matches = list(re.finditer(LANGUAGE.format(code="|".join(_codes())), task))
    if not matches:
        return TaskName(name, "", 0, "eng")
    last = matches[-1]
    task = task[: last.start() - 1] + task[last.end() :]
    written = WRITTEN.search(task)
    task = WRITTEN.sub("", task, count=1)
    return TaskName(task, _codes()[last[1]], prompt, "native" if written and written[1] == "native" else "eng")


@cache
def _complete() -> set[str]:
    """Returns the tasks with complete prompts, which are exported by their names."""
    return {name for name in task_names() if load_task(name).prompt}


@cache
def _codes() -> dict[str, str]:
    """Returns all names of languages to the suite's codes: the data sets' own, and the codes and names of standards."""
    theirs = {code: ours for name in task_names() for ours, code in load_task(name).languages.items()}
    theirs = {code: ours for code, ours in theirs.items() if "-" not in code}  # en-yor is a pair of languages
    short = {code.split("_")[0]: ours for code, ours in theirs.items()}
    return short | {name.replace(" ", "_"): code for name, code in language_names().items()} | {c: c for c in LANGUAGES}


def short_names(names: Mapping[K, str]) -> dict[K, str]:
    """Returns names of models in short: the last part of a path, unless two are the same."""
    short = {key: short_name(name) for key, name in names.items()}
    again = Counter(short.values())
    return {key: names[key] if again[name] > 1 else name for key, name in short.items()}


def scored_form(continuations: Iterable[object]) -> str:
    """Returns `letter` if all continuations are single letters, else `text`."""
    parts = {str(part).strip(" ().:\n") for part in continuations}
    return "letter" if all(len(part) == 1 and part.isalpha() for part in parts) else "text"


class Answered(NamedTuple):
    """A document as a program scored it.

    Attributes:
        id: the same for the same document in every run.
        score: from 0 to 1.
        gold: the right choice; -1 if it is not known.
        n_choices: 0 if the answer was not chosen.
        data: the question's own content, such as its choices.
        prompt: what was sent to the model, as far as the program says, without worked examples.
    """

    id: int
    score: float
    gold: int
    n_choices: int
    data: str
    prompt: str


@dataclass(frozen=True)
class Evaluated:
    """A task as a program evaluated it.

    Attributes:
        program: it marks the model, and tasks that are called as one of ours but have other prompts.
        comparable_on: what has to match in a comparison, next to documents and prompts.
        recorded_settings: what may differ.
        limited: which rows of the test set were run, if not all: the `first` ones, or a `sample` of them.
    """

    program: str
    task: str
    model: str
    shots: int
    answer_form: str
    metric: str
    documents: Sequence[Answered]
    comparable_on: Mapping[str, object]
    recorded_settings: Mapping[str, object]
    path: Path
    limited: Kind = "all"


def cell_of(evaluated: Evaluated) -> CellScores | str:
    """Returns the scores of a task, or the reason why it is left out.

    Task, language and prompt number are those that the task's name says, as for tasks of lm_eval.
    """
    name = named(evaluated.task)
    if name.problem:
        return name.problem
    documents = sorted(evaluated.documents)
    ids = np.array([d.id for d in documents], dtype=np.int64)
    if len(np.unique(ids)) < len(ids):
        return "several of its documents have the same id"
    return CellScores(
        name=evaluated.task,
        task=f"{name.task} ({evaluated.program})" if name.is_namesake else name.task,
        language=name.language,
        prompt_language=name.prompt_language,
        prompt=name.prompt,
        model=f"{evaluated.model} ({evaluated.program})",
        shots=evaluated.shots,
        answer_form=evaluated.answer_form,
        metrics={evaluated.metric: Metric(evaluated.metric, not_measured)},
        measures={evaluated.metric: np.array([[d.score] for d in documents], dtype=np.float64)},
        ids=ids,
        golds=np.array([d.gold for d in documents], dtype=np.int64),
        picked=np.full(len(ids), -1, dtype=np.int64),
        n_choices=np.array([d.n_choices for d in documents], dtype=np.int64),
        rows=len(ids),
        selection=Selection(evaluated.limited, len(ids)),
        request_hashes={
            "data": np.array([number(d.data) for d in documents], dtype=np.int64),
            "prompt text": np.array([number(d.prompt) for d in documents], dtype=np.int64),
        },
        comparable_on={
            "data": digest("\0".join(d.data for d in documents)),
            "prompt text": digest("\0".join(d.prompt for d in documents)),
            **evaluated.comparable_on,
        },
        recorded_settings=dict(evaluated.recorded_settings),
        path=evaluated.path,
    )


def id_number(identifier: int | str) -> int:
    """Returns an id as a number: itself if it is not negative and has at most 18 digits; else one for its text."""
    value = int(identifier) if re.fullmatch("0|[1-9][0-9]{0,17}", str(identifier)) else -1
    return value if value >= 0 else number(str(identifier))


def number(text: str) -> int:
    """Returns a hash of a text as a number."""
    return int.from_bytes(hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:8], "big") >> 1


def is_mean(stated: object, values: Sequence[object]) -> bool:
    """Returns whether a score is the mean of a number from 0 to 1 for each document."""
    shares = [value for value in values if isinstance(value, int | float) and 0 <= value <= 1]
    if not isinstance(stated, int | float) or not 0 < len(values) == len(shares):
        return False
    return math.isclose(float(np.mean(shares)), stated, abs_tol=1e-6)


SYNONYMS = {"accuracy": "acc", "exact-match": "exact_match", "exact match": "exact_match", "em": "exact_match"}
SCALES = {"proportion": 100.0, "percent": 1.0}  # unit to what makes percent of a score
MAXIMA = {1.0: 100.0, 100.0: 1.0}  # the same by highest score


def key_of(name: str, data: Mapping[str, Any]) -> CellKey | None:
    """Returns what an evaluation is of; None if the suite does not have the benchmark.

    Its language is blank if the suite does not have it; its prompt is as in a `PublishedRow`.

    Args:
        name: of the evaluation, as the suite or the harness names its tasks; or of a part of a data set.
        data: what the record says of the data set.
    """
    short = name.partition("/")[0]  # the rest is a filter of the harness
    whole = f"{data.get('dataset_name') or ''}_{short}"
    for parsed in (named(short), named(_plain(short)), named(_plain(whole))):
        if parsed.language and (task := _task(parsed.task)):
            return CellKey(task, parsed.language, _prompt(parsed), parsed.prompt_language)
    if task := _task(_plain(short)):
        languages = list(load_task(task.removesuffix("_translate")).languages)
        return CellKey(task, languages[0] if len(languages) == 1 else "", UNKNOWN, "eng")
    longest_first = sorted(
        task_names(), key=len, reverse=True
    )  # the rest of a name may be another language than the suite's
    begins = next((task for task in longest_first if _plain(short).startswith(f"{task}_")), "")
    task = _task(_plain(str(data.get("dataset_name") or ""))) or begins
    return CellKey(task, "", UNKNOWN, "eng") if task else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _task(name: str) -> str:
    """Returns the suite's task of a name; empty if it has none."""
    base = name.removesuffix("_translate")
    by_name = {**{task.replace("_", ""): task for task in task_names()}, **{task: task for task in task_names()}}
    task = by_name.get(base) or by_name.get(base.removesuffix("_direct")) or by_name.get(base.replace("_", ""))
    return f"{task}{name[len(base) :]}" if task else ""


def _prompt(parsed: TaskName) -> str:
    """Returns the prompt of a published row: the suite's prompts are not the papers' prompts."""
    if not parsed.prompt:
        return UNKNOWN
    if parsed.prompt_language == "native":
        return f"native {parsed.prompt}"
    if not parsed.ours or prompt_set(parsed.prompt) == PAPER:
        return str(prompt_number(parsed.prompt))
    return f"suite {parsed.prompt}" if prompt_set(parsed.prompt) == SUITE else str(parsed.prompt)


def named_metric(config: Mapping[str, Any]) -> str | None:
    """Returns the suite's name of a metric; None if it does not have it.

    Args:
        config: what the record says of it; the converter of lm_eval's results has the name in the description.
    """
    stated = [config.get(key) for key in ("metric_name", "metric_id", "evaluation_description", "metric_kind")]
    texts = [text.partition(" on ")[0] for text in stated if isinstance(text, str)]  # "Accuracy on IFEval"
    names = [SYNONYMS.get(text.lower(), text) for text in texts]
    return next((name for name in names if name in _metrics()), None)


@cache
def _metrics() -> set[str]:
    names = {*METRICS, *USUAL}
    for spec in map(load_task, task_names()):
        names |= {*(metric.name for metric in spec.scoring.metrics), *spec.derived}
    return names


def percent(score: float, config: Mapping[str, Any]) -> float | None:
    """Returns a score in percent; None if the record does not say what its scale is, or unit and maximum disagree."""
    unit, highest = str(config.get("metric_unit")).lower(), config.get("max_score")
    stated = SCALES.get(unit), MAXIMA.get(highest) if isinstance(highest, int | float) else None
    factors = {factor for factor in stated if factor}
    return score * factors.pop() if len(factors) == 1 else None
