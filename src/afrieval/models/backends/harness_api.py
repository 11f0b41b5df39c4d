"""The harness' API models: responses are validated, errors explained, and secret keys never stored."""

import json
import logging
import math
import os
from typing import Any

from lm_eval.models.openai_completions import LocalCompletionsAPI

from afrieval._util.errors import UserError
from afrieval._util.terminal import shortened
from afrieval.models.base import NamedModel
from afrieval.models.chat_template import KeepsSystemText, Turns
from afrieval.models.credentials import quiet, with_basic_header
from afrieval.models.load_errors import server_fault
from afrieval.models.openai.parsing import is_logprob

log = logging.getLogger("afrieval")


class API(KeepsSystemText, NamedModel):
    """Mixin for the harness' API models.

    A chat that is sent as messages is represented by their JSON text.
    """

    base_url: str | None
    tokenized_requests: bool
    _max_gen_toks: int
    _batch_size: int
    _empty = 0

    def __init__(self, **arguments: Any):
        super().__init__(**arguments)
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it logs each request that ends with the first error
        if not self.can.count_tokens:
            self.tokenized_requests = False
            if self.can.max_length is None:
                self.max_length = math.inf

    @property
    def batch_size(self) -> int:
        """Number of prompts per request."""
        return self._batch_size

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the text generated for each request, in order.

        Raises:
            UserError: if answers leave no room for prompts, which the harness would truncate.
        """
        if self.tokenized_requests:
            new = [r.args[1].get("max_gen_toks", self._max_gen_toks) for r in requests]
            if (most := max(new, default=0)) >= self.max_length:
                hint = "give the model's context length as --model.backend_args.max_length"
                raise UserError(f"answers may have {most} tokens, but the assumed context has {self.max_length}", hint)
            lengths = [self.count_tokens(r.args[0]) + n for r, n in zip(requests, new, strict=True)]
            self.too_long += sum(length > self.max_length for length in lengths)
        answers: list[str] = self._answers("generate_until", requests)
        if self._empty:
            log.warning("%d of %d answers of the server are null and count as empty", self._empty, len(requests))
        self._empty = 0
        return answers

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Returns (log-likelihood, is greedy) per request, in order."""
        return self._answers("loglikelihood", requests)

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Returns the log-likelihood of each whole text."""
        return self._answers("loglikelihood_rolling", requests)

    def _answers(self, method: str, requests: list[Any]) -> list[Any]:
        try:
            with quiet():
                return list(getattr(super(), method)(requests))
        except Exception as e:
            if (fault := server_fault(e, self.names[0], self.base_url or "")) is None:
                raise
            raise fault from e

    def _loglikelihood_tokens(self, requests: list[Any], **kwargs: Any) -> list[tuple[float, bool]]:
        self.too_long += sum(len(context) + len(answer) > self.max_length for _, context, answer in requests)
        answers: list[tuple[float, bool]] = super()._loglikelihood_tokens(requests, **kwargs)  # type: ignore[misc]
        return answers

    def apply_chat_template(self, chat_history: Turns, add_generation_prompt: bool = True) -> str:
        """Returns a chat as one text: by the tokenizer's template, or as JSON if the server has it."""
        if self.can.chat == "messages":
            return json.dumps(chat_history, ensure_ascii=False)
        return super().apply_chat_template(chat_history, add_generation_prompt)

    def create_message(self, messages: Any, generate: bool = False) -> Any:
        """Returns prompts as they are sent."""
        if self.can.chat == "messages":
            return json.loads(messages[0])
        return super().create_message(messages, generate)  # type: ignore[misc]

    def _create_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._create_payload(*args, **kwargs)  # type: ignore[misc]
        return {k: v for k, v in payload.items() if (k, v) != ("stop", [])}  # some servers reject it

    def parse_generations(self, outputs: Any, **kwargs: Any) -> list[str | None]:
        """Returns the texts in a response.

        Raises:
            ValueError: if there are none, or what is not text; the harness would treat it as an empty answer.
        """
        if isinstance(self, LocalCompletionsAPI):
            for output in outputs if isinstance(outputs, list) else [outputs]:
                _check_choices(output["choices"])
        answers: list[str | None] = super().parse_generations(outputs=outputs, **kwargs)  # type: ignore[misc]
        for answer in answers:
            if not isinstance(answer, str | None):
                raise ValueError(f"an answer is not text: {shortened(repr(answer))}")
        self._empty += answers.count(None)
        return answers

    def parse_logprobs(self, outputs: Any, tokens: Any = None, ctxlens: Any = None, **kwargs: Any) -> list[Any]:
        """Returns the likelihoods in a response.

        Raises:
            UserError: if there are more or fewer than the prompts' tokens; the harness would
                assign them to other tokens, and treat missing ones as certain.
            ValueError: if one is not the logarithm of a probability.
        """
        parse = super().parse_logprobs  # type: ignore[misc]
        if parse is LocalCompletionsAPI.parse_logprobs:
            outs = outputs if isinstance(outputs, list) else [outputs]
            choices = [c for out in outs for c in sorted(out["choices"], key=lambda choice: choice["index"])]
            counts = [len((choice["logprobs"] or {}).get("token_logprobs") or ()) for choice in choices]
            if counts != [len(asked) + 1 for asked in tokens]:  # one token is generated
                raise UserError(
                    f"{self.names[0]} returned {counts} likelihoods for prompts of "
                    f"{[len(asked) for asked in tokens]} tokens, instead of one more than sent",
                    "use a server that supports echo with logprobs, such as vLLM, and --model.backend_args.tokenizer",
                )
            for choice in choices:
                stated = choice["logprobs"]["token_logprobs"]
                if wrong := [value for value in stated[1:] if not is_logprob(value)]:
                    raise ValueError(f"a log-probability is {shortened(repr(wrong[0]))}")
        parsed: list[Any] = parse(outputs=outputs, tokens=tokens, ctxlens=ctxlens, **kwargs)
        return parsed


def _check_choices(choices: list[dict[str, Any]]) -> None:
    """Refuses choices that the harness would read as empty answers: without text, or not numbered in order."""
    for choice in choices:
        content = choice["message"]["content"] if "message" in choice else choice["text"]
        if not isinstance(content, str | None):
            raise ValueError(f"an answer is not text: {shortened(repr(content))}")
    numbers = [choice["index"] for choice in choices]
    if not choices or any(type(number) is not int for number in numbers) or sorted(numbers) != [*range(len(choices))]:
        raise ValueError("the response has no choices that are numbered from 0")


def load_api(kind: Any, members: dict[str, Any], arguments: dict[str, Any]) -> Any:
    """Returns an API model, without sending a request.

    Raises:
        UserError: if the tokenizer cannot be loaded, or the key is missing in the environment.
    """
    tokenizer = arguments.get("tokenizer") or arguments.get("model")
    if issubclass(kind, LocalCompletionsAPI) and (key := os.environ.get("OPENAI_API_KEY")):
        arguments = {**arguments, "auth_token": key}  # for the server's tokenizer
    if url := arguments.get("base_url"):
        address, header = with_basic_header(url)
        arguments = {**arguments, "base_url": address, **({"header": header} if header else {})}
    try:
        with quiet():
            lm = type(kind.__name__, (API, kind), members)(**arguments)
    except Exception as e:
        message = " ".join(f"{type(e).__name__}: {e}".split())[:200]
        hint = "give --model.backend_args.tokenizer with a hub id or folder"
        raise UserError(f"the tokenizer {tokenizer} cannot be loaded: {message}", hint) from e
    try:
        assert lm.header
    except ValueError as e:  # the key is missing
        raise UserError(f"the key of {members['names'][0]} is missing: {e}", "set it in the environment") from None
    return lm
