"""What run.yaml and the files of a run hold; keys of later versions are kept."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, Required

from annotated_types import Ge, MinLen

from afrieval._util.schema import OpenLine, OpenMap

Index = Annotated[int, Ge(0)]


class ModelIdentity(OpenMap):
    """The model and the settings that change its identity."""

    model_name: str
    model_type: NotRequired[str]
    backend_args: NotRequired[str]
    api: NotRequired[dict[str, Any]]


class FewshotIdentity(OpenMap):
    """How the examples of the suite's own tasks were chosen."""

    num_fewshot: Index
    selection: str
    seed: Index


class TaskIdentity(OpenMap):
    """A task: its version, prompts as hashes by language and number, and data as hashes by language and split."""

    version: int
    answer_form: str
    prompts: dict[str, dict[int | str, str]]
    data: dict[str, Annotated[dict[str, str], MinLen(1)]]
    evaluate: NotRequired[str]
    fewshot: NotRequired[str]
    shots: NotRequired[Index]  # of tasks that have all rows as examples
    no_examples: NotRequired[dict[str, list[int]]]
    code: NotRequired[str]  # hash of the file of the user's own metrics
    extract: NotRequired[dict[str, bool]]
    options: NotRequired[dict[str, str]]


class SelectionIdentity(OpenMap):
    """How the rows of a run were selected from the test sets, unless all rows were run."""

    by: str
    seed: NotRequired[Index]


class Identity(OpenMap):
    """Everything that touches prompt, data, shots or model."""

    model: ModelIdentity
    variant: NotRequired[str]
    fewshot: NotRequired[FewshotIdentity]
    tasks: NotRequired[dict[str, TaskIdentity]]
    max_gen_toks: NotRequired[int | None]
    selection: NotRequired[SelectionIdentity]
    harness_tasks: NotRequired[dict[str, dict[str, Any]]]


class PublishedEntry(OpenMap):
    """A published score of a task; numbers in percent."""

    score: float
    average: str | None
    setting: str
    source: str


class DerivedFrom(OpenMap):
    """How a derived metric is computed, as in a task file."""

    how: str
    of: str | list[str]
    reference: NotRequired[str | None]


class Groups(OpenMap):
    """A field whose values are groups of another field's values, as in a task file."""

    of: str
    groups: dict[str, list[str]]


class Remembered(OpenMap):
    """What a cell of the task memorisation asks: about a task, in one of three parts.

    For each language, `sorted_by` is what rows are sorted by, and `alike` the p-value of what adjacent rows have in
    common.
    """

    of: str
    part: Literal["completion", "membership", "order"]
    sorted_by: dict[str, list[str]]
    alike: dict[str, float]


class StoredRubric(OpenMap):
    """The rubric by which stored answers of a task were judged or rated, with a hash of its text."""

    version: int
    levels: Annotated[dict[str, str], MinLen(2)]
    hash: str


class Declared(OpenMap, total=False):
    """What a reader of the samples has to know of a task.

    `metrics` are as in a task file, the main one first; `contrast` is the one that compares prompt languages.
    `signatures` are the settings and versions of libraries that compute metrics.
    `extract` are options of its extractor that the user changed; `options` are the task's own, with their values.
    `unreviewed` are languages whose native prompts nobody has reviewed, with how these were made; true in older runs.
    `defective` are languages whose whole split has a known defect. `baselines` are what a model gets that does not read
    the text: language to baseline to metric to score, from 0 to 1.
    `english_system` are languages whose native prompts had the English system text.
    `test_set` is the number of rows in each language, run or not. `averaged` is false for tasks that no average has.
    `sample_rows` are languages whose rows are the suite's own, written by hand. `rescorable` is false for tasks whose
    samples do not store all that their scores need.
    """

    title: str
    data: str
    labels: list[str]
    breakdowns: list[str]
    parallel: list[list[str]]
    unreviewed: dict[str, bool | str]
    english_system: dict[str, bool]
    defective: dict[str, str]
    baselines: dict[str, dict[str, dict[str, float]]]
    test_set: dict[str, Index]
    sample_rows: dict[str, bool]
    rescorable: bool
    metrics: list[str | dict[str, Any]]
    contrast: str
    extract: dict[str, bool]
    options: dict[str, str]
    signatures: dict[str, str]
    derived: dict[str, DerivedFrom]
    groups: dict[str, dict[str, list[str]]]
    grouped_fields: dict[str, Groups]
    probabilities: str
    published: list[PublishedEntry]
    evals: str
    macro: str | None
    rows: int | None
    samples: bool
    averaged: bool
    memorisation: Remembered
    rubric: StoredRubric


class HarnessGroup(OpenMap):
    """A group of the harness: its members, and how its own score is made."""

    alias: str
    version: Any
    children: list[str]
    tasks: list[str]
    aggregate: list[dict[str, Any]]


class VisitData(OpenMap, total=False):
    """Where a session had its data from."""

    source: str


class VisitTask(OpenMap, total=False):
    """What a session asked."""

    suite: str | None
    task_name: str | list[str] | None


class VisitConfig(OpenMap, total=False):
    """The parts of a session's settings that are read again."""

    model: dict[str, Any]
    task: VisitTask
    eval: dict[str, Any]
    data: VisitData
    reference: dict[str, str] | None


class CheckedVisit(OpenMap, total=False):
    """The circumstances of a session, which are compared and shown, but not computed with."""

    date: str
    engine: str | None
    config: VisitConfig
    versions: dict[str, str | None]
    data_commits: dict[str, str] | None


if TYPE_CHECKING:
    Visit = dict[str, object]  # most of it is written and shown as it is
else:
    Visit = CheckedVisit


class StoredSuite(OpenMap):
    """The suite that was run last in a folder, its tasks by group, and metrics that are derived from theirs."""

    name: str
    groups: dict[str, list[str]]
    derived: NotRequired[dict[str, DerivedFrom]]


class Rescoring(OpenMap):
    """When answers were scored again, with what, and each task's version before and then.

    Until it is finished, some cells may have new scores and others old ones.
    """

    date: str
    versions: dict[str, str | None]
    tasks: dict[str, list[int]]
    finished: bool


class RunRecord(OpenMap, total=False):
    """run.yaml; empty before a run has begun."""

    identity: Required[Identity]
    fewshot_ids: dict[str, list[Index] | str]
    harness_groups: dict[str, HarnessGroup]
    declared: dict[str, Declared]
    cells: list[str]
    visits: Annotated[list[Visit], MinLen(1)]
    looks: Annotated[int, Ge(1)]  # at which each interval has a share of the level
    suite: StoredSuite
    rescored: list[Rescoring]


class HarnessMetric(OpenMap):
    """A score of a harness task, as the harness computes it."""

    metric: str
    filter: str
    value: float
    standard_error: float | None
    higher_is_better: bool | None


class HarnessResults(OpenMap):
    """What the harness says of a task in its own words."""

    results: dict[str, Any]


class HarnessRecord(OpenMap):
    """harness_<cell>.json."""

    task: str
    language: str
    n: Index
    test_set: NotRequired[Index]
    shots: int | None
    metrics: list[HarnessMetric]
    harness: HarnessResults


class Judgement(OpenLine):
    """What a judge said of an answer."""

    level: NotRequired[str | None]
    reason: NotRequired[str | None]


class SampleLine(OpenLine):
    """A line of a sample file; each name in `metrics` is a key too, and a key of `measures`."""

    doc_id: Index
    sample_rank: NotRequired[Index]
    task: str
    language: str
    prompt: Index | str
    prompt_language: Literal["eng", "native", ""]
    metrics: list[str]
    measures: NotRequired[dict[str, list[float]]]
    resps: list[Annotated[list[Any], MinLen(1)]]
    defect: NotRequired[str]
    filter: NotRequired[str]
    doc: NotRequired[Any]
    arguments: NotRequired[list[Annotated[list[Any], MinLen(1)]]]
    filtered_resps: NotRequired[list[Any]]
    doc_hash: NotRequired[str]
    prompt_hash: NotRequired[str]
    target_hash: NotRequired[str]
    fewshot_ids: NotRequired[list[Index]]
    n_choices: NotRequired[Index | None]
    roles: NotRequired[list[str]]
    gold: NotRequired[Any]
    picked: NotRequired[int | None]
    answer: NotRequired[Any]
    guess: NotRequired[str]
    thought: NotRequired[str]
    neutral: NotRequired[list[list[float]]]
    published_correct: NotRequired[bool]
    part: NotRequired[str]
    key: NotRequired[str]
    details: NotRequired[dict[str, Any]]
    fitted: NotRequired[dict[str, Annotated[list[Index], MinLen(2)]]]
    judged: NotRequired[dict[str, Judgement]]
    ratings: NotRequired[dict[str, str]]
