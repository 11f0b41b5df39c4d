"""The model of a judge: any model of the suite, whose answers are kept in the run folder as a run's own are."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.stamps import digest
from afrieval._util.terminal import dollars, note
from afrieval.config.files import model_settings, run_config
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.answer_file import GENERATED, AnswerFile
from afrieval.models.base import MAX_COST, LanguageModel, most_tokens
from afrieval.models.model_identity import identity_of_model
from afrieval.models.openai.parsing import Usage
from afrieval.models.registry import backend_of, load_model
from afrieval.models.response_cache import CachedLM
from afrieval.results.run_folder import RunFolder
from afrieval.run.manifest import answer_path
from afrieval.run.progress import Requests, RunProgress
from afrieval.scoring.responses import thinking_and_answer
from afrieval.tasks.cells.limits import BLANK_LINE, THOUGHTS

TOKENS = 512  # of a reply, which has a reason of one or two sentences


@dataclass
class JudgeModel:
    """The model of a judge, which can be asked once it is loaded, while it is opened for a run.

    Attributes:
        model: its settings.
        evaluation: seeds and batch size.
        max_tokens: of a reply.
        max_cost_option: the option that limits the cost of replies, for messages.
        lm: the loaded model.
    """

    model: ModelConfig
    evaluation: EvalConfig
    max_tokens: int
    max_cost_option: str
    lm: LanguageModel = field(init=False)

    def load(self) -> None:
        """Loads it.

        Raises:
            UserError: if it cannot be loaded, or its context has no room for a reply.
        """
        backend_of(self.model.model_type).check_key(self.model)
        self.lm = load_model(self.model, self.evaluation)
        if self.max_tokens >= self.lm.max_length:
            problem = f"a reply may have {self.max_tokens} tokens, but the judge's context has {self.lm.max_length}"
            raise UserError(problem, "give a smaller --judge.max_tokens")

    def most_cost(self, questions: Sequence[str]) -> str:
        """Returns the words on the cost of replies to some questions; empty for a model on this machine."""
        if not backend_of(self.model.model_type).served:
            return ""
        usage = Usage(sum(map(most_tokens, questions)), self.max_tokens * len(questions))
        cost = usage.cost(self.model.api.prices)
        price = (
            "whose cost is unknown without model.api.prices" if cost is None else f"which cost {dollars(cost)} at most"
        )
        return f", {len(questions):,} requests, {price}"

    @property
    def identity(self) -> dict[str, Any]:
        """All that its replies depend on but for the questions."""
        reply_settings = {"fingerprint": self.lm.fingerprint(), "judges": True, "max_tokens": self.max_tokens}
        return {**identity_of_model(self.model), **reply_settings}

    @property
    def signature(self) -> str:
        """The model and its settings in one line, without paths of this machine."""
        of_files = ("model_name", "size_and_time_of_files", "fingerprint")
        settings = {name: value for name, value in self.identity.items() if name not in of_files}
        fingerprint, settings_hash = self.lm.fingerprint(), digest(json.dumps(settings, sort_keys=True))
        return f"{self.model.revision}|model:{fingerprint}|settings:{settings_hash}|temperature:0"

    @contextmanager
    def opened(self, run: RunFolder, check: Callable[[], None]) -> Iterator[None]:
        """Opens the file of replies in the folder of a run, which is locked; `check` checks that it is still there."""
        with AnswerFile(answer_path(run.path, self.identity)) as self._answers:
            self._check = check
            self.lm.resume(self._answers.details(), self.max_cost_option)  # a budget is of all runs together
            try:
                yield
            finally:
                if spent := self.lm.spending():
                    note(f"{run.path}: the judge's replies have taken {spent} so far")

    def replies(self, questions: Sequence[str]) -> list[str | None]:
        """Returns the reply to each question; None if there is no room for it."""
        from lm_eval.api.instance import Instance

        fits = [self._fits(question) for question in questions]
        options = {
            "until": [] if self._chats else [BLANK_LINE],
            "max_gen_toks": self.max_tokens,
            "do_sample": False,
        }
        texts = [self._text(question) for question, fit in zip(questions, fits, strict=True) if fit]
        requests = [Instance(GENERATED, {}, (text, options), i) for i, text in enumerate(texts)]
        work, end = Requests("judging", len(requests), [GENERATED]), self.model.thinking_end or ""
        with RunProgress([work], spending=self.lm.spending, check=self._check) as progress:
            progress.begin(work)
            model = CachedLM(self.lm, self._answers, progress.tick, thinking_end=end)
            replies = iter(model.generate_until(requests) if requests else [])
        return [thinking_and_answer(next(replies), end)[1] if fit else None for fit in fits]

    @property
    def _chats(self) -> bool:
        """Whether questions are sent as a chat: wherever the model has a template."""
        can = self.lm.can
        return self.model.chat_template or bool(can.count_tokens and getattr(self.lm.tokenizer, "chat_template", None))

    def _text(self, question: str) -> str:
        if self._chats:
            return str(self.lm.apply_chat_template([{"role": "user", "content": question}]))
        return f"{question}\n"

    def _fits(self, question: str) -> bool:
        room = self.lm.max_length - self.max_tokens
        if self.lm.can.chat == "messages":  # the server applies its template
            return bool(most_tokens(question) <= room)
        text = self._text(question)
        return bool(most_tokens(text) <= room or self.lm.count_tokens(text) <= room)


def judge_model(word: str, max_cost: float | None = None, max_tokens: int | None = None) -> JudgeModel:
    """Returns the model of a judge, which is not loaded yet.

    Args:
        word: names it, as MODEL of `afrieval run`.
        max_cost: most that its replies may cost, by --judge.max_cost; None for the limit of its settings.
        max_tokens: of a reply; None for the usual number.

    Raises:
        UserError: if it cannot judge, or its temperature is not 0.
    """
    config = run_config(model_settings(word), needs_model=True, needs_task=False)
    model, backend = config.model, backend_of(config.model.model_type)
    if max_cost is not None:
        if not backend.served:
            problem = f"--judge.max_cost is for servers, but {word} has model.model_type {model.model_type}"
            raise UserError(problem, "leave it out, or name a model behind a server")
        if None in (model.api.prices.input, model.api.prices.output):
            hint = "give model.api.prices.input and model.api.prices.output"
            raise UserError("--judge.max_cost needs the prices per million tokens", hint)
        model = replace(model, api=replace(model.api, max_cost=max_cost))
    if backend.served and model.api.temperature:
        problem = f"model.api.temperature of the judge is {model.api.temperature:g}, but judges are asked at 0"
        raise UserError(problem, f"leave it out of {word}")
    can = backend.capabilities(model)
    if not can.generate or can.recorded:
        raise UserError(f"{word} cannot judge: model.model_type {model.model_type} asks no model", "name another one")
    if can.chat == "messages":
        model = replace(model, chat_template=True)
    max_cost_option = MAX_COST if max_cost is None else "--judge.max_cost"
    return JudgeModel(model, config.eval, max_tokens or (THOUGHTS if model.thinks else TOKENS), max_cost_option)
