"""A server on this machine that speaks OpenAI's APIs: the demo model behind it, or faults on demand."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from tests.models.servers import QuietHandler, running

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.demo import demo_folder
from afrieval.models.registry import load_model

Answer = tuple[int, bytes]


@cache
def _loaded() -> Any:
    return load_model(ModelConfig(model_name="demo"), EvalConfig())


def _demo() -> Any:
    return _loaded().model


class Loopback:
    """What the server was asked, and what it is to answer.

    Attributes:
        asked: the payloads, with the path as `path` and the headers as `headers`.
        fails: status and body by the number of a request; -1 is for all.
        text: what it writes.
        reply: what it writes in answer to the text of a chat's last message; if given, in place of `text`.
        usage: the tokens that it states.
        message: further keys of each message.
        choice: further keys of each choice.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.fails: dict[int, Answer] = {}
        self.text: str | None = "A"
        self.reply: Callable[[str], str] | None = None
        self.usage: dict[str, Any] | None = None
        self.message: dict[str, Any] = {}
        self.choice: dict[str, Any] = {}
        self.url = ""

    @property
    def options(self) -> list[str]:
        """Options of `afrieval run` for completions of this server."""
        _demo()  # it is loaded in this thread: Python 3.11 cannot parse code in two at a time
        return [
            "--model.model_name=served", "--model.model_type=local-completions", "--model.add_bos_token",
            f"--model.backend_args.base_url={self.url}/v1/completions",
            f"--model.backend_args.tokenizer={demo_folder()}",
            "--model.backend_args.max_length=32768", "--model.backend_args.max_retries=1",
        ]  # fmt: skip

    @property
    def chat_options(self) -> list[str]:
        """Options of `afrieval run` for chats of this server."""
        return [
            "--model.model_name=served", "--model.model_type=local-chat-completions", "--model.chat_template",
            f"--model.backend_args.base_url={self.url}/v1/chat/completions", "--model.backend_args.max_retries=1",
        ]  # fmt: skip

    @property
    def api_options(self) -> list[str]:
        """Options of `afrieval run` for this server as one that is compatible with OpenAI's."""
        return [
            "--model.model_name=served", "--model.model_type=openai", f"--model.api.base_url={self.url}/v1",
            "--model.api.max_retries=0",
        ]  # fmt: skip

    def answer(self, path: str, payload: dict[str, Any], headers: dict[str, str]) -> Answer:
        number = len(self.asked)
        self.asked.append({**payload, "path": path, "headers": headers})
        if fault := self.fails.get(number) or self.fails.get(-1):
            return fault
        if path == "/v1/chat/completions":
            text = self.reply(payload["messages"][-1]["content"]) if self.reply else self.text
            message = {"role": "assistant", "content": text, **self.message}
            choices: list[dict[str, Any]] = [{"index": 0, "message": message, **self.choice}]
        else:
            prompts = payload["prompt"]
            prompts = [prompts] if isinstance(prompts, str) or isinstance(prompts[0], int) else prompts
            choices = [{"index": i, **self._completion(prompt, payload)} for i, prompt in enumerate(prompts)]
        usage = {"usage": self.usage} if self.usage else {}
        return 200, json.dumps({"choices": choices, **usage}).encode()

    def _completion(self, prompt: Any, payload: dict[str, Any]) -> dict[str, Any]:
        if not payload.get("echo"):
            return {"text": self.text}
        tokens = _loaded().tok_encode(prompt) if isinstance(prompt, str) else prompt
        return {"text": "x", "logprobs": self._likelihoods(tokens)}

    def _likelihoods(self, tokens: list[int]) -> dict[str, Any]:
        import torch

        with torch.no_grad():
            logs = torch.log_softmax(_demo()(torch.tensor([tokens])).logits[0].float(), -1)
        best = [float(row.max()) for row in logs]
        given = [float(row[token]) for row, token in zip(logs, tokens[1:], strict=False)]
        return {"token_logprobs": [None, *given, best[-1]], "top_logprobs": [None, *({"t": value} for value in best)]}


@contextmanager
def serving() -> Iterator[Loopback]:
    """Runs a server until the block ends."""
    loopback = Loopback()

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.0"

        def do_POST(self) -> None:
            self.send(*loopback.answer(self.path.partition("?")[0], json.loads(self.body()), dict(self.headers)))

    with running(Handler) as loopback.url:
        yield loopback
