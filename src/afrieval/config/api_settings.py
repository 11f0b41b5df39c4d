"""Settings of models behind an API, and what they cost."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le

from afrieval._util.schema import Positive
from afrieval.config.options import Metavar, Options

OPENAI = "openai"  # the model_type that these settings are for
ADDRESS = "https://api.openai.com/v1"
Amount = Annotated[float, Ge(0)]


@dataclass(frozen=True)
class Prices(Options):
    """Prices per million tokens, in the currency of max_cost."""

    input: Amount | None = None
    """Price of a million tokens of prompts. Default: unknown."""
    output: Amount | None = None
    """Price of a million tokens of answers, thinking included. Default: unknown."""
    cached_input: Amount | None = None
    """Price of a million tokens of prompts that the server has cached. Default: the price of other prompts."""


@dataclass(frozen=True)
class APIConfig(Options):
    """Server of model_type openai."""

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
    /completions, and computes likelihoods if the server returns them for prompts, as vLLM does."""
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
