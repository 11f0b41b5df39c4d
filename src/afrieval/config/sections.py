"""Settings of chats, of API models and of the task memorisation, and texts that settings may have."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Gt, Le

from afrieval._util.errors import UserError
from afrieval._util.schema import CLOSED, Positive
from afrieval.config.options import Metavar

if TYPE_CHECKING:
    from afrieval.config.settings import RunConfig, TaskConfig


OPENAI = "openai"  # the model_type that these settings are for
ADDRESS = "https://api.openai.com/v1"
Amount = Annotated[float, Ge(0)]


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens, in the currency of max_cost."""

    __pydantic_config__ = CLOSED

    input: Amount | None = None
    """Price of a million tokens of prompts. Default: unknown."""
    output: Amount | None = None
    """Price of a million tokens of answers, thinking included. Default: unknown."""
    cached_input: Amount | None = None
    """Price of a million tokens of prompts that the server has cached. Default: that of other prompts."""


@dataclass(frozen=True)
class APIConfig:
    """Server of model_type openai."""

    __pydantic_config__ = CLOSED

    base_url: Annotated[str, Metavar("URL")] | None = None
    """Address of the server up to /chat/completions, such as http://localhost:8000/v1. Default: OpenAI's own."""
    server: Annotated[str, Metavar("COMMAND")] | None = None
    """Server that afrieval sweep starts on a free port, in place of base_url: vllm, sglang, or a command with {model}
    and {port}. Options of vllm and sglang may follow. Default: none; the server runs already."""
    key_env: Annotated[str, Metavar("NAME")] | None = None
    """Name of the environment variable that holds the key. Default: OPENAI_API_KEY for OpenAI's own server; a server
    on this machine or network needs none."""
    endpoint: Literal["chat", "completions"] = "chat"
    """What the server is asked for: chat sends messages to /chat/completions; completions sends plain prompts to
    /completions, and computes likelihoods if the server returns those of prompts, as vLLM does."""
    max_cost: Annotated[float, Gt(0)] | None = None
    """Most that all answers in the run folder may cost. A request is sent only if its highest possible cost fits.
    Needs prices. Default: no limit."""
    max_requests: Positive | None = None
    """Most requests that a run folder may take, repeated ones included. Default: no limit."""
    prices: Prices = field(default_factory=Prices)
    """Prices per million tokens."""
    max_concurrency: Positive = 16
    """Most requests at a time. A run starts with a few, and adapts to what the server accepts."""
    timeout: Annotated[float, Gt(0)] = 300.0
    """Seconds after which a request without an answer is repeated."""
    max_retries: Annotated[int, Ge(0)] = 8
    """How often a failed request is repeated before the run stops."""
    reasoning_effort: str | None = None
    """How much a reasoning model thinks, such as low, medium or high. Default: the server's."""
    top_logprobs: Annotated[int, Ge(1), Le(20)] | None = None
    """Number of most likely first tokens that the server returns, with which a chat model can be scored in the answer
    form letter. Default: null; the model only generates answers."""
    temperature: Amount = 0.0
    """Temperature of generated answers; it is left out where the server refuses it."""
    extra_body: dict[str, Any] = field(default_factory=dict)
    """Further keys of each request, such as provider preferences of OpenRouter."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", float(self.temperature))  # 0 and 0.0 are the same model

    def applies_template(self, backend: str) -> bool:
        """Returns whether models of a backend are sent chats, to which the server applies its template."""
        return backend == OPENAI and self.endpoint == "chat"


DATE_FORM = "%d %b %Y"


@dataclass(frozen=True)
class ChatTags:
    """Literal texts around the turns of a chat."""

    __pydantic_config__ = CLOSED

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


def check_chat(chat_template: bool, system: str | None, date: str | None) -> None:
    """Refuses settings of chats without a chat template, and dates that templates do not write.

    Raises:
        UserError: names the setting.
    """
    for name, given in (("chat_system", system), ("chat_date", date)):
        if given and not chat_template:
            raise UserError(f"model.{name} has no effect without a chat template", "give --model.chat_template true")
    try:
        if date is not None:
            datetime.strptime(date, DATE_FORM)
    except ValueError:
        raise UserError(f"model.chat_date is {date!r}", "give a date such as 26 Jul 2024") from None


MEMORISATION = "memorisation"
ITS_OWN = ("of", "unseen")
OF_PROMPTS = ("prompts", "prompt_language", "prompt_set", "answer_form", "extract", "evals_dataset")


def check_memorisation(config: "RunConfig", plain: "TaskConfig") -> None:
    """Rejects settings that the task lacks, or that have no effect.

    Args:
        config: the merged config.
        plain: the defaults.

    Raises:
        UserError: for the first such setting.
    """
    task, name = config.task, MEMORISATION
    if not config.asks_memorisation:
        if given := [key for key in ITS_OWN if getattr(task, key) is not None]:
            raise UserError(
                f"task.{given[0]} has no effect without the task {name}",
                f"give --task.task_name {name}, or leave task.{given[0]} out",
            )
        return
    if len(config.task_names) > 1 or config.wants_harness or task.suite:
        raise UserError(f"the task {name} is run by itself", "run the other tasks with another command")
    if not task.of:
        raise UserError(f"{name} needs the tasks that it is about", "give --of with their names, as in --of afrixnli")
    for key in OF_PROMPTS:
        if getattr(task, key) != getattr(plain, key):
            raise UserError(f"task.{key} has no effect on {name}, which uses no prompts", "leave it out")
    if config.eval.shots:
        raise UserError(f"eval.num_fewshot is {config.eval.shots}, but {name} uses no prompts", "leave it out")


NOWHERE = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")  # other surrogates are bytes of a path
IN_NO_NAME = re.compile(r"[\x01-\x1f\x7f-\x9f\u2028\u2029]")  # they may be in a path, and in what a model reads
# Paths, and texts for models and servers; model_name may be a folder.
FREE = (
    *("run_dir", "reference", "data.source", "task.folder", "task.unseen", "model.model_name", "model.chat_tags"),
    *("model.chat_system", "model.thinking_end", "model.backend_args", "model.api.extra_body", "model.api.server"),
)
MEANT = ("model.chat_tags", "model.backend_args", "model.api.extra_body")  # where an empty text has a meaning


def check_text(settings: Mapping[str, Any]) -> None:
    """Rejects empty texts, characters that no name or path can contain, and control characters in names and addresses.

    Args:
        settings: nested maps of all settings.

    Raises:
        UserError: for the first such setting.
    """
    for name, text in _texts(settings):
        if found := NOWHERE.search(text):
            raise UserError(f"{name} is {text!r}", f"remove {found[0]!r}, which no name or path can contain")
        if not f"{name}.".startswith(tuple(f"{free}." for free in FREE)) and (found := IN_NO_NAME.search(text)):
            raise UserError(f"{name} is {text!r}", f"remove the control character {found[0]!r}")
        if not (text.strip() or name.startswith(MEANT)):
            raise UserError(f"{name} is empty", "give a text, or leave it out")


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
