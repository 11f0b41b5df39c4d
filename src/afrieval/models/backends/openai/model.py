"""A model behind an OpenAI-compatible server."""

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.model import LM

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.grouping import grouped
from afrieval.models.backends.openai.answer import generated
from afrieval.models.backends.openai.asking import Asking, Job, Parse
from afrieval.models.backends.openai.dialect import LIMITS, Dialect
from afrieval.models.backends.openai.key import address, is_openai
from afrieval.models.backends.openai.letters import likelihoods, scored
from afrieval.models.backends.openai.thread import in_thread
from afrieval.models.backends.openai.usage import most
from afrieval.models.backends.other import Named
from afrieval.models.capabilities import capabilities
from afrieval.scoring.detailed import Details, detailed, details_of

CHAT, COMPLETIONS = "/chat/completions", "/completions"
DEFAULT_TOKENS = 256  # of an answer, for tasks of the harness that do not say; as in the harness' own backends


class OpenAI(Named, LM):
    """A model behind an OpenAI-compatible server; a chat is represented by the JSON text of its messages.

    Args:
        config: the model's settings.
        evaluation: its seed is sent.
    """

    max_length = math.inf
    tokenizer_name = ""

    def __init__(self, config: ModelConfig, evaluation: EvalConfig):
        super().__init__()
        self.can, self._api = capabilities(config), config.api
        self.names = (config.model_type, str(config.model_name), address(config.api))
        self._chats = config.api.endpoint == "chat"
        self._always = {"model": config.model_name, "temperature": config.api.temperature}
        self._always |= {"seed": evaluation.torch_random_seed}
        if config.api.reasoning_effort:
            self._always |= {"reasoning_effort": config.api.reasoning_effort}
        dialect = Dialect(LIMITS[is_openai(config.api) and self._chats])
        self._asking = Asking(config.api, dialect, random.Random())

    def resume(self, stored: Iterable[Details]) -> None:
        """Counts the details of stored answers, which were paid for in earlier visits."""
        self._asking.budget.resume(stored)

    def spending(self) -> str:
        """Returns the tokens and cost so far, for people."""
        return str(self._asking.budget)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Returns a chat as JSON; the server applies the template."""
        return json.dumps(chat_history, ensure_ascii=False)

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns the text generated for each request, in order; each is handed to the cache hook as it comes."""
        return self._answers("generate_until", requests, [self._generation(request) for request in requests])

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, in order.

        One request to the server is enough for the letters of a question.
        """
        of_prompt = list(grouped(requests, lambda request: request.args[0]).values())
        return self._answers("loglikelihood", requests, [self._letters(asked) for asked in of_prompt])

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Not supported."""
        raise NotImplementedError

    def _generation(self, request: Any) -> Job:
        options = request.args[1]
        stop = [text for text in options.get("until") or [] if text]
        room = int(options.get("max_gen_toks", DEFAULT_TOKENS))
        payload = {LIMITS[0]: room, **({"stop": stop} if stop else {})}
        return self._job([request], payload, room, lambda response: [generated(response, stop)])

    def _letters(self, requests: list[Any]) -> Job:
        """Returns a request for the first token of an answer."""
        payload = {LIMITS[0]: 1, "logprobs": True, "top_logprobs": self._api.top_logprobs}
        names = [request.args[1].strip() for request in requests]
        return self._job(requests, payload, 1, lambda response: scored(likelihoods(response, names)))

    def _job(self, requests: list[Any], payload: Mapping[str, Any], room: int, parse: Parse) -> Job:
        """Returns a request of the server for requests of the harness with the same prompt.

        Args:
            requests: of the harness.
            payload: what is sent apart from the prompt.
            room: the most tokens of an answer.
            parse: converts the response to an answer for each request.
        """
        prompt = requests[0].args[0]
        asked = {"messages": json.loads(prompt)} if self._chats else {"prompt": prompt}
        whole = {**self._always, **asked, **payload, **self._api.extra_body}
        return Job(requests, CHAT if self._chats else COMPLETIONS, whole, most(prompt, room), parse)

    def _answers(self, method: str, requests: Sequence[Any], jobs: list[Job]) -> list[Any]:
        answers: dict[int, Any] = {}

        def keep(job: Job, given: Sequence[Any], details: Details) -> None:
            """Stores the answers of a response; the first has the details."""
            for request, answer in zip(job.requests, given, strict=True):
                known = {**details_of(answer), **(details if request is job.requests[0] else {})}
                answers[id(request)] = detailed(answer, known)
                self.cache_hook.add_partial(method, request.args, answers[id(request)])

        in_thread(lambda: self._asking.ask(jobs, keep))
        return [answers[id(request)] for request in requests]
