"""What a user can set: frozen dataclasses whose field strings are the command line's help.

Ranges are checked here; types and names are checked where files and flags are read (`arguments.py`).
"""

import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.files.schema import CLOSED

DEMO = "demo"
AnswerForm = Literal["text", "letter", "generate"]
PromptLanguage = Literal["eng", "native", "both"]


@dataclass(frozen=True)
class ModelConfig:
    """Model"""

    model_name: str | None = None
    """Hub id or folder of the model; `demo` is a tiny random model built on the spot."""
    model_type: str = "hf"
    """Backend of the harness: hf, vllm (GPUs, decoder-only models), or another by its name, such as local-completions
    or local-chat-completions for a model behind a server; see docs/models.md."""
    revision: str = "main"
    """Branch, tag or commit on the hub."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Number format of the weights; auto takes the model's own."""
    device: str | None = None
    """cuda, cuda:1, mps or cpu; the best there is if not given."""
    trust_remote_code: bool = False
    """Run Python code that comes with the model."""
    parallelize: bool = False
    """Spread one model over all GPUs."""
    add_bos_token: bool | None = None
    """Put the beginning-of-sequence token first; null is the tokenizer's own way."""
    chat_template: bool = False
    """Wrap prompts in the tokenizer's chat template; for a server that takes chats only, send them as messages."""
    thinking_end: str | None = None
    """What ends the thinking of a model that thinks first, such as </think>; only what follows it is read."""
    languages_supported: list[str] = field(default_factory=list)
    """Languages the model's authors name, ISO 639-3; shown in tables."""
    backend_args: dict[str, Any] = field(default_factory=dict)
    """More arguments, handed to the backend as they are."""
    engine: Literal["auto", "tree", "plain"] = "auto"
    """How the hf backend computes: tree runs what prompts share once, plain is the harness' own way, auto takes tree
    wherever its answers are the same."""


@dataclass(frozen=True)
class TaskConfig:
    """Task"""

    task_name: str | list[str] | None = None
    """A task of tasks/, or a list of them."""
    languages: list[str] | None = None
    """ISO 639-3 codes; all of the task's if not given."""
    prompts: list[int] | None = None
    """Prompt numbers; all of the task's if not given."""
    prompt_language: PromptLanguage = "eng"
    """eng, native (the language evaluated) or both."""
    answer_form: AnswerForm | None = None
    """Score option texts (text), letters (letter) or a generated answer; the task's first if not given."""
    variant: Literal["direct", "translate"] = "direct"
    """direct, or translate: the test set translated to English by machine, with English prompts."""
    evals_dataset: str | None = None
    """Of Meta's Llama tasks: the data set with their prompts; that of the model if not given."""
    folder: str | None = None
    """Folder of task declarations; the suite's own tasks/ if not given."""
    task_template: str | None = None
    """Names of harness tasks, separated by commas, with {{language}} in them for each of task.languages."""
    harness_tasks: str | list[str] | None = None
    """Tasks, groups or tags of lm-evaluation-harness, by name."""
    clean_prompts: bool = False
    """Take stray blanks out of the prompts of harness tasks: indentation, runs of blanks, blanks at line ends."""
    wandb_project: str | None = None
    """Weights & Biases project (not yet)."""
    wandb_job_type: str | None = None
    """Weights & Biases job type (not yet)."""


@dataclass(frozen=True)
class EvalConfig:
    """Evaluation"""

    __pydantic_config__ = CLOSED

    num_fewshot: int | None = None
    """Worked examples before each question. If not given, 0; tasks of the harness then take their own number."""
    fewshot_selection: Literal["fixed", "per_document"] = "fixed"
    """The same examples for all documents of a cell, or others for each; harness tasks have their own way."""
    limit: int | None = None
    """Only the first so many documents of each cell."""
    max_gen_toks: int | None = None
    """How many tokens a generated answer may have; found from the lengths of answers if not given."""
    batch_size: int | str = "auto"
    """Answers generated side by side, and with the plain engine requests per forward pass; auto finds a number on a GPU
    and is 8 on a CPU; auto:N finds it N times."""
    max_batch_size: int = 64
    """Where the search for a batch size begins; not for vllm, which finds its own."""
    random_seed: int = 42
    """Seed of Python's random numbers in the libraries used."""
    numpy_random_seed: int = 42
    """Seed of the bootstrap."""
    torch_random_seed: int = 42
    """Seed of torch."""
    fewshot_random_seed: int = 42
    """Seed of the choice of few-shot examples."""
    use_cache: bool = True
    """Keep each answer of the model in the run folder as it comes, so that a stopped run loses nothing."""
    log_samples: bool = True
    """Keep prompts and documents in the sample files; false keeps scores and ids only."""
    write_out: bool = False
    """Print the first document under each prompt as the model sees it, and what the model says of the choices."""
    split_tasks: bool = True
    """Accepted for old configs; cells are always separate."""

    @property
    def shots(self) -> int:
        """Worked examples before each question of our own tasks."""
        return self.num_fewshot or 0


@dataclass(frozen=True)
class DataConfig:
    """Data"""

    source: str = field(default_factory=lambda: os.environ.get("AFRIEVAL_DATA") or "hub")
    """hub, samples, or a folder laid out ORG/NAME as on the hub; AFRIEVAL_DATA names such a folder too."""


@dataclass(frozen=True)
class RunConfig:
    """Run"""

    model: ModelConfig = field(default_factory=ModelConfig)
    """Model"""
    task: TaskConfig = field(default_factory=TaskConfig)
    """Task"""
    eval: EvalConfig = field(default_factory=EvalConfig)
    """Evaluation"""
    data: DataConfig = field(default_factory=DataConfig)
    """Data"""
    run_dir: str | None = None
    """Where results go; runs/<task>/<model>/<settings> if not given."""

    @property
    def task_names(self) -> list[str]:
        """The tasks asked for, in order."""
        names = self.task.task_name
        return [names] if isinstance(names, str) else list(dict.fromkeys(names or []))

    @property
    def harness_names(self) -> list[str]:
        """The harness tasks asked for by name, in order."""
        names = self.task.harness_tasks
        return [names] if isinstance(names, str) else list(dict.fromkeys(names or []))

    @property
    def wants_harness(self) -> bool:
        """Whether any task of the harness is asked for."""
        return bool(self.harness_names or self.task.task_template)


def check(config: RunConfig, *, needs_model: bool, needs_task: bool = True) -> None:
    """Refuses values that have the right type and make no sense.

    Args:
        config: what was merged from files and flags.
        needs_model: whether the command runs a model.
        needs_task: whether it makes no sense without a task.

    Raises:
        UserError: for the first such value.
    """
    _check_text(config)
    for path in (config.model.model_name, config.task.folder, config.data.source, config.run_dir):
        user_path(path or "")
    _check_presence(config, needs_model, needs_task)
    _check_not_yet(config)
    for code in config.model.languages_supported:
        if not re.fullmatch("[a-z]{3}", code):
            raise UserError(f"model.languages_supported has {code!r}", "write ISO 639-3 codes, such as yor for Yoruba")
    _check_names(config.model)
    if config.model.engine == "tree" and config.model.model_type != "hf":
        raise UserError(f"model.engine tree is no way of {config.model.model_type}", "leave it out, or take hf")
    _check_ranges(config.eval)


def _check_text(config: RunConfig) -> None:
    for name, text in _texts(asdict(config)):
        if found := re.search("[\0\ud800-\udc7f\udd00-\udfff]", text):  # other surrogates are bytes of a path
            raise UserError(f"{name} is {text!r}", f"take out {found[0]!r}, which no name and no path can have")


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields all texts of nested maps and lists, each with the name of its setting."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, name)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _texts(member, f"{name}.{key}" if name else str(key))


def _check_names(model: ModelConfig) -> None:
    """Refuses texts that nothing can be named by."""
    hints = {
        "model_name": "give a hub id or a folder",
        "revision": "give a branch, tag or commit, or leave it out",
        "device": "give cuda, cuda:1, mps or cpu, or leave it out",
        "thinking_end": "write what ends the thinking, such as </think>, or leave it out",
    }
    for name, hint in hints.items():
        if (value := getattr(model, name)) is not None and not value.strip():
            raise UserError(f"model.{name} is empty", hint)


def _check_ranges(evaluation: EvalConfig) -> None:
    if evaluation.limit is not None and evaluation.limit < 1:
        raise UserError(f"eval.limit is {evaluation.limit}", "give 1 or more, or leave it out to run every document")
    if evaluation.max_gen_toks is not None and evaluation.max_gen_toks < 1:
        raise UserError(f"eval.max_gen_toks is {evaluation.max_gen_toks}", "give 1 or more, or leave it out")
    if evaluation.shots < 0:
        raise UserError(f"eval.num_fewshot is {evaluation.num_fewshot}", "give 0 or more")
    for name in ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed"):
        if not 0 <= getattr(evaluation, name) < 2**32:
            raise UserError(f"eval.{name} is {getattr(evaluation, name)}", "give 0 to 4294967295")
    if not is_batch_size(evaluation.batch_size):
        raise UserError(f"eval.batch_size is {evaluation.batch_size}", "give 1 or more, auto or auto:N")
    if evaluation.max_batch_size < 1:
        raise UserError(f"eval.max_batch_size is {evaluation.max_batch_size}", "give 1 or more")


def is_batch_size(size: int | str) -> bool:
    """Tells whether a batch size is 1 or more, auto or auto:N."""
    return size >= 1 if isinstance(size, int) else bool(re.fullmatch(r"auto(:[1-9]\d*)?", size))


def _check_presence(config: RunConfig, needs_model: bool, needs_task: bool) -> None:
    if needs_model and not config.model.model_name:
        raise UserError(
            "no model is given",
            "add --model-config-yaml configs/models/demo.yaml, or --model.model_name with a hub id or folder",
        )
    if needs_task and not config.task_names and not config.wants_harness:
        raise UserError(
            "no task is given",
            "add --task-config-yaml configs/tasks/afrimmlu-direct.yaml, or --task.task_name afrimmlu",
        )
    for name in ("languages", "prompts"):
        used = config.task_names or (name == "languages" and config.task.task_template)
        if getattr(config.task, name) and not used:
            hint = "leave it out; task.task_template with {{language}} in it takes languages"
            raise UserError(f"task.{name} is given, and task.harness_tasks has no such setting", hint)
    for name in ("languages", "prompts"):
        if getattr(config.task, name) == []:
            raise UserError(f"task.{name} is an empty list", f"name some, or leave task.{name} out to run all")


def _check_not_yet(config: RunConfig) -> None:
    """Refuses what the design has and the code has not."""
    task = config.task
    waiting = {
        "task.wandb_project": task.wandb_project,
        "task.wandb_job_type": task.wandb_job_type,
    }
    for name, asked in waiting.items():
        if asked:
            raise UserError(f"{name} is not supported yet", "leave it out for now")
