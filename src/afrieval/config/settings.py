"""What a user can set: frozen dataclasses whose field docstrings are the help of the command line.

`files.py` checks names, types and ranges when it parses files and flags; `checks.py` checks what no type can say.
"""

import os
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Gt, Le

from afrieval._util.calls import checked_call
from afrieval._util.registry import Registry
from afrieval._util.schema import AT_LEAST_ONE, NotNegative, Positive, Seed
from afrieval.config.api_settings import APIConfig
from afrieval.config.options import DerivedConfig, Folder, Metavar, Options, References, Repeated
from afrieval.languages import codes_of

DEMO = "demo"
# Tasks about other tasks, which `of` names, and which no task.yaml declares: modules with a description, ABOUT, and
# `plan`, which makes the cells of a config, given whether the model returns the likelihoods of single tokens.
CODED_TASKS: Registry[Any] = Registry("task", "afrieval.tasks", {}, needs=["plan", "ABOUT"], where="afrieval list")
Source = Annotated[str, Metavar("hub|samples|FOLDER")]
Points = Annotated[float, Gt(0), Le(100), Metavar("POINTS")]
AnswerForm = Literal["text", "letter", "generate"]
PromptLanguage = Literal["eng", "native", "both"]
PromptSet = Literal["suite", "paper"]
DATE_FORM = "%d %b %Y"


@dataclass(frozen=True)
class ChatTags(Options):
    """Literal texts around the turns of a chat."""

    user_start: str = ""
    """Text before each turn of the user, such as "[INST] "."""
    user_end: str = ""
    """Text after each turn of the user, such as " [/INST]"."""
    assistant_start: str = ""
    """Text before each answer, such as "Answer: "."""
    assistant_end: str = ""
    """Text after each answer of an example. The model's own answer ends with its end-of-text token."""
    system_start: str = ""
    """Text before the system text. Default: without it and system_end, the system text begins the user's first turn."""
    system_end: str = ""
    """Text after the system text."""


@checked_call
@dataclass(frozen=True)
class ModelConfig(Options):
    """Model"""

    model_name: Annotated[str, Metavar("NAME")] | None = None
    """Hub id, folder or GGUF file of the model; demo is a tiny random model that is built locally. The environment
    variable AFRIEVAL_MODELS names a folder that has models of the hub as ORG/NAME. Default: none; commands that run a
    model require it."""
    model_type: Annotated[str, Metavar("BACKEND")] = "hf"
    """Backend that runs the model: hf, vllm (for GPUs and decoder-only models), openai (any OpenAI-compatible server),
    recorded (answers in a file), or any other backend of the harness, such as local-completions (see "Models" in the
    documentation)."""
    revision: str = "main"
    """Branch, tag or commit on the hub."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Data type of the weights. auto uses the type that the model was saved in."""
    device: str | None = None
    """cuda, cuda:1, mps or cpu. Default: the best device available."""
    trust_remote_code: bool = False
    """Run Python code that comes with the model."""
    parallelize: bool = False
    """Split one model across all GPUs."""
    add_bos_token: bool | None = None
    """Start each prompt with the beginning-of-sequence token. Default: null, which leaves it to the tokenizer."""
    chat_template: bool = False
    """Apply the tokenizer's chat template to prompts. For a server that accepts only chats, send prompts as
    messages."""
    chat_tags: ChatTags = field(default_factory=ChatTags)
    """Literal texts around the turns of a chat, in place of the tokenizer's chat template. They turn chat_template
    on."""
    chat_system: str | None = None
    """System text of chats whose prompts have none. Default: none."""
    chat_date: str | None = None
    """Date for chat templates that write one, such as 10 Apr 2025. Default: 26 Jul 2024, never today's, so that scores
    do not change from day to day."""
    thinking_end: str | None = None
    """Text that ends the thinking of a reasoning model, such as </think>. The answer is extracted from what follows it.
    Default: usual marks, such as </think>, are recognised."""
    languages_supported: list[str] = field(default_factory=list)
    """Languages that the model's authors say it supports, by name or code. Tables mark all other languages."""
    backend_args: dict[str, Any] = field(default_factory=dict)
    """Further arguments for the backend, passed on unchanged."""
    engine: Literal["auto", "tree", "plain"] = "auto"
    """How the hf backend computes likelihoods. tree computes the text that prompts share only once; plain is the
    harness' own method; auto uses tree wherever it gives the same results."""
    api: APIConfig = field(default_factory=APIConfig)
    """Server of model_type openai."""

    def __post_init__(self) -> None:
        if isinstance(self.languages_supported, list):
            object.__setattr__(self, "languages_supported", codes_of(self.languages_supported))
        if self.has_chat_tags:
            object.__setattr__(self, "chat_template", True)
        if self.api.applies_template(self.model_type):
            object.__setattr__(self, "chat_template", True)  # the server applies it

    @property
    def has_chat_tags(self) -> bool:
        """Whether `chat_tags` take the place of the tokenizer's chat template."""
        return self.chat_tags != ChatTags()

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers, and needs room for that."""
        return bool(self.thinking_end) or self.api.reasoning_effort not in (None, "none")


@dataclass(frozen=True)
class TaskConfig(Options):
    """Task"""

    task_name: str | list[str] | None = None
    """One or more tasks; afrieval list shows them. Default: the tasks of task.groups."""
    suite: Annotated[str, Metavar("NAME")] | None = None
    """Name of a suite of tasks, as in configs/suites/. Each task runs in the languages of task.languages that it
    has, and tasks and languages that the data source lacks are left out. Default: none."""
    groups: Annotated[dict[str, Annotated[list[str], AT_LEAST_ONE]], Metavar("MAP")] = field(default_factory=dict)
    """Tasks of a suite by group. All groups have the same weight in its average. Default: a group for each task."""
    derived: Annotated[dict[str, DerivedConfig], Metavar("MAP")] = field(default_factory=dict)
    """Metrics of a suite that are computed from its tasks' metrics, by name, as in configs/suites/tofu.yaml. Default:
    none."""
    languages: list[str] | None = None
    """Languages, by name or code, such as hausa,yor. Default: all languages of each task."""
    prompts: list[int] | None = None
    """Numbers of the prompts to use. Default: all prompts of each task."""
    prompt_set: PromptSet = "suite"
    """Whose prompts the numbers are of: suite are the prompts of this suite, paper those of the paper that published
    the task, such as IrokoBench, with their own numbers. Prompts of the paper are in English."""
    uncleaned: bool = False
    """With prompt_set paper: use the prompts exactly as the LM Evaluation Harness has them, with all their defects,
    to reproduce published scores."""
    prompt_language: PromptLanguage = "eng"
    """Language of the prompts: English, native (the language evaluated), or both in turn."""
    answer_form: AnswerForm | None = None
    """What counts as an answer: the likelihood of each option's text or letter, or a generated answer.
    Default: the first form that the task declares; generate for models that only chat."""
    extract: Annotated[dict[str, bool], Metavar("MAP")] = field(default_factory=dict)
    """Options of the task's extractor to switch, such as --task.extract.lone true for MMLU-Pro. Default: as the task
    declares them."""
    options: Annotated[dict[str, str], Metavar("MAP")] = field(default_factory=dict)
    """Options of tasks, such as --task.options.forget_split forget05 for TOFU; afrieval list TASK shows them. Each is
    given to the tasks that have it. Default: the first value of each."""
    variant: Literal["direct", "translate"] = "direct"
    """Test set: direct is the one in the language evaluated; translate is its machine translation into English, which
    is used with English prompts."""
    evals_dataset: str | None = None
    """For Meta's Llama tasks: the data set that holds their prompts. Default: the one published for the model."""
    of: list[str] | None = None
    """For the task memorisation: the tasks whose test sets the model may have seen. --of is short for it. Default:
    none."""
    unseen: Annotated[str, Metavar("FILE")] | None = None
    """For the task memorisation: a file with texts that the model cannot have seen: JSON lines, CSV or parquet with a
    column text, or one text per line (.txt). Default: the sample rows of each task."""
    folder: Folder | Repeated[Folder] | None = None
    """Folder of your own tasks, which are found next to those of the suite. Default: none."""
    task_template: str | None = None
    """Comma-separated names of harness tasks with {{language}} in them, which stands for each of task.languages.
    Default: none."""
    harness_tasks: str | list[str] | None = None
    """Names of tasks, groups or tags of the LM Evaluation Harness. Default: none."""
    clean_prompts: bool = False
    """Clean the prompts of harness tasks: remove indentation, repeated spaces and trailing spaces."""
    wandb_project: str | None = None
    """Project of W&B or Trackio to log to. Unless --log is given, it turns on --log wandb. Default: afrieval."""
    wandb_job_type: str | None = None
    """Job type of the run in W&B, such as eval. Default: none."""

    def __post_init__(self) -> None:
        if isinstance(self.languages, list) and not self.task_template:  # whose tasks have codes of their own
            object.__setattr__(self, "languages", codes_of(self.languages))

    @property
    def folders(self) -> list[str]:
        """The folders of the user's own tasks."""
        return [self.folder] if isinstance(self.folder, str) else self.folder or []

    @property
    def names(self) -> list[str]:
        """The declared tasks to run, in order."""
        grouped = [name for members in self.groups.values() for name in members]
        return [self.task_name] if isinstance(self.task_name, str) else list(dict.fromkeys(self.task_name or grouped))

    @property
    def coded(self) -> str:
        """The first task to run that no task.yaml declares; empty if there is none."""
        return next((name for name in self.names if name in CODED_TASKS), "")

    @property
    def harness_names(self) -> list[str]:
        """The harness tasks to run that are given by name, in order."""
        names = self.harness_tasks
        return [names] if isinstance(names, str) else list(dict.fromkeys(names or []))

    @property
    def wants_harness(self) -> bool:
        """Whether any task of the harness is to run."""
        return bool(self.harness_names or self.task_template)

    @property
    def demanded(self) -> list[str]:
        """Languages whose absence is an error; in a suite, they are left out."""
        return [] if self.suite else self.languages or []


@dataclass(frozen=True)
class EvalConfig(Options):
    """Evaluation"""

    num_fewshot: NotNegative | None = None
    """Number of few-shot examples before each question. Default: 0; harness tasks use the number that they declare."""
    fewshot_selection: Literal["fixed", "per_document"] = "fixed"
    """Use the same examples for all documents of a cell, or choose them anew for each document. Harness tasks use their
    own method."""
    limit: Positive | None = None
    """For debugging: evaluate only the first N documents of each cell. For estimates, use eval.sample: test sets are
    often sorted, so that the first documents are all alike. Default: all documents."""
    sample: Positive | None = None
    """For estimates: evaluate a representative sample of N documents of each cell. It is spread over right answers and
    subjects in proportion, and has the same questions in all languages of a parallel data set. A larger sample contains
    the smaller one, and continues its run; if you look at scores in between, give eval.looks. Default:
    all documents."""
    until: Points | None = None
    """Enlarge the sample until every 95% interval is plus or minus so many points or less. It has 50 questions, then
    100, 200 and so on, but no more than eval.sample. Intervals hold although the run stops then. Default: not used."""
    until_of: Literal["languages", "mean"] = "languages"
    """The scores that eval.until is about: of each language, or the mean over the languages of each task."""
    looks: Positive = 1
    """Number of times that you look at the scores while you raise eval.sample, such as 5 for 50, 100, 200, 400 and all.
    Intervals and differences then hold at all looks together, and are wider. eval.until sets it by itself."""
    max_gen_toks: Positive | None = None
    """Maximum number of tokens in a generated answer. Default: derived from the lengths of the task's answers."""
    batch_size: int | Annotated[str, Metavar("N|auto|auto:N")] = "auto"
    """Number of answers generated at once; with the plain engine, also of requests per forward pass. auto: as many as
    fit, up to 32 on a CPU; the plain engine searches on a GPU (auto:N: N times), and takes 8 on a CPU."""
    max_batch_size: Positive = 64
    """Largest batch size with auto, where the search starts. vllm ignores it."""
    random_seed: Seed = 42
    """Seed of eval.sample, of the orders that memorisation compares, and of Python's random module, for libraries."""
    numpy_random_seed: Seed = 42
    """Seed of the bootstrap."""
    torch_random_seed: Seed = 42
    """Seed of torch."""
    fewshot_random_seed: Seed = 42
    """Seed for the choice of few-shot examples."""
    use_cache: bool = True
    """Save each answer of the model in the run folder as soon as it arrives, so that a stopped run loses nothing."""
    log_samples: bool = True
    """Store prompts, documents and right answers in the sample files. If false, store only scores, ids and answers of
    the model."""
    write_out: bool = False
    """For each prompt, print the first document as the model sees it, and the model's answer or the log-likelihood of
    each choice."""
    split_tasks: bool = True
    """Has no effect; accepted for older config files."""

    @property
    def shots(self) -> int:
        """Few-shot examples before each question of our own tasks."""
        return self.num_fewshot or 0


@dataclass(frozen=True)
class DataConfig(Options):
    """Data"""

    source: Source = field(default_factory=lambda: os.environ.get("AFRIEVAL_DATA") or "hub")
    """Where the data comes from: the Hugging Face hub, the few samples that come with each task, or a folder laid out
    ORG/NAME as on the hub. The environment variable AFRIEVAL_DATA names a folder to use by default."""


@dataclass(frozen=True)
class RunConfig(Options):
    """Run"""

    model: ModelConfig = field(default_factory=ModelConfig)
    task: TaskConfig = field(default_factory=TaskConfig)
    eval: EvalConfig = field(default_factory=EvalConfig)
    data: DataConfig = field(default_factory=DataConfig)
    run_dir: Folder | None = None
    """Folder for the results. Default: runs/<task>/<model>/<settings>."""
    reference: References = field(default_factory=dict)
    """Stored run that derived metrics of a suite compare with, such as retain=runs/RETAIN: a run folder, or a file of
    results of open-unlearning or TOFU. May be repeated. Default: none; metrics that need it are left out."""
    log: list[Literal["wandb", "trackio"]] = field(default_factory=list)
    """Programs to log scores, some samples and all settings to, when the run is finished. Default: none."""

    @property
    def loggers(self) -> list[str]:
        """The programs to log to."""
        return list(self.log) or (["wandb"] if self.task.wandb_project else [])
