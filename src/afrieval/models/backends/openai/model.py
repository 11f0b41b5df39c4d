"""A model behind an OpenAI-compatible server."""

import json
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from lm_eval.api.model import LM

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backends.openai.answer import generated
from afrieval.models.backends.openai.asking import Asking, Job
from afrieval.models.backends.openai.dialect import LIMITS, Dialect
from afrieval.models.backends.openai.key import address, is_openai
from afrieval.models.backends.openai.thread import in_thread
from afrieval.models.backends.openai.usage import most
from afrieval.models.backends.other import Named
from afrieval.models.capabilities import capabilities
from afrieval.scoring.detailed import Details, Generated

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
        return self._answers("generate_until", requests, [self._generation(*r.args) for r in requests])

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        """Not supported."""
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Not supported."""
        raise NotImplementedError

    def _generation(self, prompt: str, options: Mapping[str, Any]) -> Job:
        stop = [text for text in options.get("until") or [] if text]
        room = int(options.get("max_gen_toks", DEFAULT_TOKENS))
        payload = {LIMITS[0]: room, **({"stop": stop} if stop else {})}
        return self._job(prompt, payload, room, partial(generated, stop=stop))

    def _job(self, prompt: str, payload: Mapping[str, Any], room: int, parse: Callable[..., Any]) -> Job:
        """Returns a request for a prompt, with an answer of a limited number of tokens."""
        asked = {"messages": json.loads(prompt)} if self._chats else {"prompt": prompt}
        whole = {**self._always, **asked, **payload, **self._api.extra_body}
        return Job(CHAT if self._chats else COMPLETIONS, whole, most(prompt, room), parse)

    def _answers(self, method: str, requests: Sequence[Any], jobs: list[Job]) -> list[Any]:
        answers: dict[int, Any] = {}
        place = {id(job): number for number, job in enumerate(jobs)}

        def keep(job: Job, answer: Generated, details: Details) -> None:
            number = place[id(job)]
            answers[number] = Generated(answer, {**answer.details, **details})
            self.cache_hook.add_partial(method, requests[number].args, answers[number])

        in_thread(lambda: self._asking.ask(jobs, keep))
        return [answers[number] for number in range(len(jobs))]
