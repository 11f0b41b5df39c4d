"""A model behind an OpenAI-compatible server."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lm_eval.api.model import LM

from afrieval._util.grouping import grouped
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.base import MAX_COST, Capabilities, NamedModel, most_tokens
from afrieval.models.openai.failure import LIMITS, Dialect
from afrieval.models.openai.parsing import (
    PAYLOAD,
    Usage,
    generated,
    likelihood,
    of_letters,
    prompt_tokens,
    split,
)
from afrieval.models.openai.schedule import Asking, Parse, QueuedRequest, in_thread
from afrieval.models.openai.settings import address, is_openai
from afrieval.scoring.responses import Details, Scored, detailed, details_of, together

DEFAULT_TOKENS = 256  # of an answer, for tasks of the harness that do not say; as in the harness' own backends


class OpenAI(NamedModel, LM):
    """A model behind an OpenAI-compatible server; a chat is represented by the JSON text of its messages."""

    max_length = math.inf
    tokenizer_name = ""

    def __init__(self, config: ModelConfig, evaluation: EvalConfig, can: Capabilities):
        super().__init__()
        self.can, self._api = can, config.api
        # a server that is started for the run has another port each time
        self.names = (config.model_type, str(config.model_name), config.api.server or address(config.api))
        self._chats = config.api.endpoint == "chat"
        self._always = {"model": config.model_name, "temperature": config.api.temperature}
        self._always |= {"seed": evaluation.torch_random_seed}
        if config.api.reasoning_effort:
            self._always |= {"reasoning_effort": config.api.reasoning_effort}
        dialect = Dialect(LIMITS[is_openai(config.api) and self._chats])
        self._asking = Asking(config.api, dialect)

    def resume(self, stored: Iterable[Details], max_cost_option: str = MAX_COST) -> None:
        """Counts the details of stored answers, which were paid for in earlier sessions."""
        self._asking.budget.max_cost_option = max_cost_option
        self._asking.budget.resume(stored)

    def spending(self) -> str:
        """Returns the tokens and the cost of all answers so far, in words."""
        return str(self._asking.budget)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Returns a chat as JSON; the server applies the template."""
        return json.dumps(chat_history, ensure_ascii=False)

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns the text generated for each request, in order; each is handed to the cache hook as it comes."""
        return self._answers("generate_until", requests, [self._generation(request) for request in requests])

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, in order.

        One request is enough for the letters of a question. Completions take one for each whole text, and one for
        each context.
        """
        of_prompt = list(grouped(requests, lambda request: request.args[0]).values())
        first = self._letters if self._chats else self._context
        return self._answers("loglikelihood", requests, [first(asked) for asked in of_prompt])

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Not supported."""
        raise NotImplementedError

    def _generation(self, request: Any) -> QueuedRequest:
        options = request.args[1]
        # A server would end a chat in its thinking at such a text; what follows the text is cut off later.
        stop = [text for text in options.get("until") or [] if text and self.can.stops]
        room = int(options.get("max_gen_toks", DEFAULT_TOKENS))
        payload = {LIMITS[0]: room, **({"stop": stop} if stop else {})}
        if options.get("do_sample") and "temperature" in options:  # as tasks of the harness may demand
            payload |= {"temperature": options["temperature"], "seed": None}  # with it, all samples would be the same
        return self._job([request], request.args[0], payload, room, lambda response: [generated(response)])

    def _letters(self, requests: list[Any]) -> QueuedRequest:
        """Returns a request for the first token of an answer."""
        payload = {LIMITS[0]: 1, "logprobs": True, "top_logprobs": self._api.top_logprobs}
        letters = [request.args[1].strip() for request in requests]
        return self._job(requests, requests[0].args[0], payload, 1, partial(of_letters, letters=letters))

    def _context(self, requests: list[Any]) -> QueuedRequest:
        """Returns a request that counts the tokens of a context; those for the whole texts follow."""
        context = split(*requests[0].args)[0]

        def follow(counts: Sequence[int], details: Details) -> list[QueuedRequest]:
            return [
                self._whole(request, counts[0], {} if number else details) for number, request in enumerate(requests)
            ]

        job = self._job([], context, PAYLOAD, 1, lambda response: [len(prompt_tokens(response))])
        return replace(job, follow=follow)

    def _whole(self, request: Any, n_context: int, details: Details) -> QueuedRequest:
        """Returns a request for the likelihood of a text after its context, whose request took `details`."""
        whole = split(*request.args)[1]
        job = self._job([request], whole, PAYLOAD, 1, lambda response: [Scored(likelihood(response, n_context), {})])
        return replace(job, before=details)

    def _job(
        self, requests: list[Any], prompt: str, payload: Mapping[str, Any], room: int, parse: Parse
    ) -> QueuedRequest:
        content = {"messages": json.loads(prompt)} if self._chats else {"prompt": prompt}
        named = {name: value for name, value in {**self._always, **content, **payload}.items() if value is not None}
        whole, worst = {**named, **self._api.extra_body}, Usage(most_tokens(prompt), room)
        path = "/chat/completions" if self._chats else "/completions"
        return QueuedRequest(requests, path, whole, worst, parse)

    def _answers(self, method: str, requests: Sequence[Any], jobs: list[QueuedRequest]) -> list[Any]:
        answers: dict[int, Any] = {}

        def keep(job: QueuedRequest, parsed: Sequence[Any], details: Details) -> Sequence[QueuedRequest]:
            """Stores the answers of a response; the first has the details."""
            spent = together([job.before, details])
            for request, answer in zip(job.requests, parsed, strict=False):
                all_details = {**details_of(answer), **(spent if request is job.requests[0] else {})}
                answers[id(request)] = detailed(answer, all_details)
                self.cache_hook.add_partial(method, request.args, answers[id(request)])
            return job.follow(parsed, spent)

        in_thread(lambda: self._asking.ask(jobs, keep))
        return [answers[id(request)] for request in requests]
