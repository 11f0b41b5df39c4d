"""Stores each answer of a model, and returns stored answers instead of repeating requests."""

import copy
import logging
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from typing import Any

from lm_eval.api.model import LM

from afrieval._util.errors import UserError
from afrieval.models.answer_file import GENERATED, AnswerFile, request_key
from afrieval.models.base import most_tokens
from afrieval.models.load_errors import device_errors
from afrieval.models.processes import ALONE, Processes
from afrieval.models.work import Work, total
from afrieval.scoring.labels import CUT
from afrieval.scoring.responses import (
    LOCAL,
    OPENED,
    Details,
    Scored,
    at_no_cost,
    before_stop,
    detailed,
    details_of,
    only_thinks,
    together,
)
from afrieval.scoring.thinking import opens

log = logging.getLogger("afrieval")


class CachedLM(LM):
    """A model that gets only the requests that its answer file lacks, and reports progress.

    Args:
        lm: any model of the harness.
        answers: the file of stored answers.
        tick: called with the number of requests answered since the last call.
        processes: share the requests. Each looks like the only one to the harness, whose own
            division changes the order of documents and fails if there are too few.
        thinking_end: what the model's thinking ends with; empty if that is not known.

    Attributes:
        work: what the answers of this process have taken.
        thinks: whether answers may begin with thinking.
    """

    def __init__(
        self,
        lm: Any,
        answers: AnswerFile,
        tick: Callable[[int], None] = lambda n: None,
        processes: Processes = ALONE,
        thinking_end: str = "",
    ):
        super().__init__()
        self._thinking_end = thinking_end
        self.thinks = True
        self._lm, self._stored, self.tick, self._processes = lm, answers, tick, processes
        self._returned: set[str] = set()  # keys of answers whose cost a sample has
        self.work = getattr(lm, "work", None) or Work()
        self._works: dict[int, Any] = {}  # of the other processes, after their latest requests

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lm, name)

    @property
    def tokenizer_name(self) -> str:
        """Name of the model's tokenizer."""
        return str(self._lm.tokenizer_name)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> Any:
        """Returns a chat in the model's format."""
        self._lm.thinks = self.thinks
        return self._lm.apply_chat_template(chat_history, add_generation_prompt)

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = True) -> list[Any]:
        """Returns (log-likelihood, is greedy, ...) per request.

        Raises:
            UserError: if the model would think, not answer, where the prompt ends.
        """
        if any(opens(r.args[0]) for r in requests):
            raise UserError(
                "the chat template begins the model's thinking, after which the likelihoods of answers mean nothing",
                "give --task.answer_form generate with --model.thinking_end, or a template that takes enable_thinking",
            )
        return self._ask("loglikelihood", requests)

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = True) -> list[Any]:
        """Returns the log-likelihood of each whole text."""
        return self._ask("loglikelihood_rolling", requests)

    def generate_until(self, requests: list[Any], disable_tqdm: bool = True) -> list[Any]:
        """Returns the text generated for each request, up to the first stop text after its thinking.

        Where a stop text ended an answer in its thinking, it is asked for again without stop texts.
        """
        answers = self._whole_texts(requests)
        if self._lm.can.recorded:  # as they were given, whatever their model was asked to stop at
            return answers
        stopped = [bool(self._lm.can.stops and request.args[1].get("until")) for request in requests]
        early = [i for i, answer in enumerate(answers) if stopped[i] and only_thinks(answer, self._thinking_end)]
        free = [copy.copy(requests[i]) for i in early]
        for request in free:
            request.arguments = (request.args[0], {**request.args[1], "until": []})
        for i, answer in zip(early, self._whole_texts(free), strict=True):
            answers[i] = detailed(answer, together([details_of(answers[i]), details_of(answer)]))
        stops = (r.args[1].get("until") or () for r in requests)
        return [before_stop(a, stop, self._thinking_end) for a, stop in zip(answers, stops, strict=True)]

    def _whole_texts(self, requests: list[Any]) -> list[Any]:
        answers = self._ask(GENERATED, requests) if requests else []
        return [self._with_ends(r.args[0], r.args[1], answer) for r, answer in zip(requests, answers, strict=True)]

    def _with_ends(self, prompt: Any, options: dict[str, Any], answer: Any) -> Any:
        """Returns a text with marks if its prompt began to think, and if it has as many tokens as it may have.

        Servers say themselves why an answer ended.
        """
        answer = detailed(answer, {**details_of(answer), OPENED: True}) if opens(prompt) else answer
        most = options.get("max_gen_toks", math.inf)
        if details_of(answer).keys() - LOCAL or not self._lm.can.count_tokens or most_tokens(answer) < most:
            return answer
        written = self._lm.count_tokens(answer) - self._lm.count_tokens("")  # which there may be of the beginning
        return detailed(answer, {**details_of(answer), CUT: True}) if written >= most else answer

    def work_so_far(self) -> dict[str, Any]:
        """Returns what the answers of all processes have taken, as run.yaml has it."""
        return total([self.work.stored(), *self._works.values()])

    def _ask(self, method: str, requests: list[Any]) -> list[Any]:
        by_document = self._lm.can.recorded  # whatever the prompt
        keys = _keys(method, [(*r.args, r.doc.document.id) if by_document else r.args for r in requests])
        stored = self._processes.run_on_rank_zero(lambda: {key: _apart(self._stored.get(key, method)) for key in keys})
        answers = {key: _whole(*parts) for key, parts in stored.items()}
        new = {key: r for key, r in zip(keys, requests, strict=True) if answers[key] is None}
        self.tick(len(requests) - len(new))
        for request in new.values():
            log.debug("request: %s %r", method, request.args)
        if new:
            answers |= self._ask_all(method, new)
        return [self._answer(key, answers[key]) for key in keys]

    def _answer(self, key: str, stored: Any) -> Any:
        """Returns an answer as the harness has it; only the first to equal requests has its cost."""
        answer = at_no_cost(stored) if key in self._returned else stored
        self._returned.add(key)
        return tuple(answer) if type(answer) is list else answer

    def _keep(self, key: str | None, answer: Any) -> None:
        """Stores an answer as soon as the model returns it; without a key it is only counted."""
        _check_number(answer)
        log.debug("answer: %r", answer)
        if key is not None:
            self._stored.put(key, answer)
        self.tick(self._processes.count)  # the others have made similar progress

    def _ask_all(self, method: str, new: dict[str, Any]) -> dict[str, Any]:
        rank, count = self._processes.rank, self._processes.count
        # contiguous, since the choices of a question share its text
        begin, end = (math.ceil(len(new) * r / count) for r in (rank, rank + 1))
        mine = list(new)[begin:end]
        computed: list[Any] = []
        self._lm.set_cache_hook(AnswerSink(method, {key: new[key].args for key in mine}, self._keep))
        with self._processes.barrier():
            if mine:
                with self.work.answering(method, len(mine), getattr(self._lm, "model", None)), device_errors():
                    computed = getattr(self._lm, method)([new[key] for key in mine], disable_tqdm=True)
            for answer in computed:
                _check_number(answer)
        sent = [(key, _apart(answer)) for key, answer in zip(mine, computed, strict=True)]
        parts = self._processes.gather((sent, self._lm.too_long, self.work.stored()))
        self._lm.too_long = 0
        self._works |= {other: work for other, (_, _, work) in enumerate(parts) if other != rank}
        answers = {key: _whole(*answer) for part, _, _ in parts for key, answer in part}
        for key, answer in answers.items():
            self._stored.put(key, answer)
        self.tick(len(new) - len(mine) * self._processes.count)
        if too_long := sum(n for _, n, _ in parts):
            text = "%d of %d requests are longer than the model's %d tokens and lose their beginning"
            log.warning(text, too_long, len(new), self._lm.max_length)
        return answers


class AnswerSink:
    """Receives each answer of a model as soon as it has it, as the harness' cache hook, and finds its request.

    The harness tells a hook the arguments of a request, not its number, and some of its backends change the options
    first (vLLM, for generated texts). An answer is then of the only request with its text; one that may be of several
    is not stored before the model has answered all of them, when the order tells.

    Args:
        method: of the harness' models.
        requests: the requests' arguments by the keys under which their answers are looked up; equal ones form a queue.
        keep: called with the key, or None if the request is ambiguous, and the answer.
    """

    def __init__(self, method: str, requests: dict[str, Any], keep: Callable[[str | None, Any], None]):
        self._keep, self._queues = keep, defaultdict[Hashable, list[str]](list)
        self._of_text = defaultdict[str, set[Hashable]](set)
        for key, args in requests.items():
            name = _name(method, args)
            self._queues[name].append(key)
            self._of_text[args[0]].add(name)

    def add_partial(self, attr: str, args: Any, answer: Any) -> None:
        """Receives an answer as soon as the model returns it."""
        names = {_name(attr, args)} & self._queues.keys() or self._of_text.get(args[0], set())
        queue = self._queues[next(iter(names))] if len(names) == 1 else []
        self._keep(queue.pop(0) if queue else None, answer)


def _name(method: str, args: Any) -> Hashable:
    """Returns what a request and the answer to it have in common; texts need no hash for that."""
    return (method, *args) if all(isinstance(arg, str) for arg in args) else request_key(method, args)


class PairsLM(CachedLM):
    """The same model for tasks of the harness, which expect only log-likelihood and is-greedy."""

    def __init__(self, cached: Any):
        super().__init__(cached._lm, cached._stored, cached.tick, cached._processes, cached._thinking_end)
        self._returned, self.work, self._works = cached._returned, cached.work, cached._works
        self.thinks = cached.thinks

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = True) -> list[Any]:
        """Returns (log-likelihood, is greedy) per request."""
        return [Scored(answer[:2], details_of(answer)) for answer in super().loglikelihood(requests, disable_tqdm)]


def _keys(method: str, requests: list[Any]) -> list[str]:
    """Returns a key per request; equal requests share theirs, unless their answers are sampled."""
    keys, times = [], Counter[str]()
    for args in requests:
        key = request_key(method, args)
        options = args[1] if len(args) > 1 and isinstance(args[1], dict) else {}
        if options.get("do_sample") or options.get("temperature"):
            times[key] += 1
            key += f"-{times[key]}"
        keys.append(key)
    return keys


def _apart(answer: Any) -> tuple[Any, Details]:
    """Returns an answer and its details, which no other process would get with it."""
    return answer, details_of(answer)


def _whole(answer: Any, details: Details) -> Any:
    return detailed(answer, details) if details else answer


def _check_number(answer: Any) -> None:
    """Rejects NaN likelihoods, which would make the first choice the answer."""
    value = answer[0] if isinstance(answer, tuple) else answer
    if isinstance(value, float) and math.isnan(value):
        raise UserError("the model's log-likelihoods are not numbers (NaN)", "give --model.dtype bfloat16 or float32")
