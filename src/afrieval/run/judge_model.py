"""The model of a judge: any model of the suite, whose answers are kept in the run folder as a run's own are."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.stamps import digest
from afrieval._util.terminal import dollars, note
from afrieval.config.files import run_config
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.config.short_form import model_settings
from afrieval.models.answer_file import GENERATED, AnswerFile
from afrieval.models.base import LanguageModel, most_tokens
from afrieval.models.load import load_model
from afrieval.models.model_identity import identity_of_model
from afrieval.models.openai.parsing import Usage
from afrieval.models.registry import backend_of
from afrieval.models.response_cache import CachedLM
from afrieval.results.run_folder import RunFolder
from afrieval.run.manifest import answer_path
from afrieval.run.progress import RunProgress
from afrieval.scoring.responses import thinking_and_answer
from afrieval.tasks.cells.limits import BLANK_LINE, THOUGHTS

TOKENS = 512  # of a reply, which has a reason of one or two sentences

Ask = Callable[[Sequence[str]], list[str | None]]


class Judgements(NamedTuple):
    """The judge's requests, as the display of progress shows them."""

    n_requests: int
    title: str = "judging"
    asks: Sequence[str] = (GENERATED,)


@dataclass(frozen=True)
class JudgeModel:
    """A loaded judge.

    Attributes:
        config: the model's settings.
        lm: the model.
        max_tokens: of a reply.
    """

    config: ModelConfig
    lm: LanguageModel
    max_tokens: int

    @property
    def identity(self) -> dict[str, Any]:
        """All that its replies depend on but for the questions."""
        reply_settings = {"fingerprint": self.lm.fingerprint(), "judges": True, "max_tokens": self.max_tokens}
        return {**identity_of_model(self.config), **reply_settings}

    @property
    def signature(self) -> str:
        """The model and its settings in one line, without paths of this machine."""
        of_files = ("model_name", "size_and_time_of_files", "fingerprint")
        settings = {name: value for name, value in self.identity.items() if name not in of_files}
        fingerprint, settings_hash = self.lm.fingerprint(), digest(json.dumps(settings, sort_keys=True))
        return f"{self.config.revision}|model:{fingerprint}|settings:{settings_hash}|temperature:0"

    @contextmanager
    def asking(self, run: RunFolder, check: Callable[[], None]) -> Iterator[Ask]:
        """Provides a function from questions to the judge's replies, which are kept in the folder of a run.

        Args:
            run: the run, locked.
            check: checks that its folder is still there.
        """
        with AnswerFile(answer_path(run.path, self.identity)) as answers:
            self.lm.resume(answers.details())
            try:
                yield lambda questions: self._replies(answers, check, questions)
            finally:
                if spent := self.lm.spending():
                    note(f"{run.path}: the judge's replies have taken {spent} so far")

    def _replies(self, answers: AnswerFile, check: Callable[[], None], questions: Sequence[str]) -> list[str | None]:
        """Returns the reply to each question; None if there is no room for it."""
        from lm_eval.api.instance import Instance

        fits = [self._fits(asked) for asked in questions]
        options = {"until": [] if self._chats else [BLANK_LINE], "max_gen_toks": self.max_tokens, "do_sample": False}
        texts = [self._text(asked) for asked, there in zip(questions, fits, strict=True) if there]
        requests = [Instance(GENERATED, {}, (text, options), i) for i, text in enumerate(texts)]
        work = Judgements(len(requests))
        with RunProgress([work], spending=self.lm.spending, check=check) as progress:
            progress.begin(work)
            model = CachedLM(self.lm, answers, progress.tick, thinking_end=self.config.thinking_end or "")
            replies = iter(model.generate_until(requests) if requests else [])
        end = self.config.thinking_end or ""
        return [thinking_and_answer(next(replies), end)[1] if there else None for there in fits]

    @property
    def _chats(self) -> bool:
        """Whether questions are sent as a chat: wherever the model has a template."""
        can = self.lm.can
        return self.config.chat_template or bool(can.count_tokens and getattr(self.lm.tokenizer, "chat_template", None))

    def _text(self, question: str) -> str:
        if self._chats:
            return self.lm.apply_chat_template([{"role": "user", "content": question}])
        return f"{question}\n"

    def _fits(self, question: str) -> bool:
        room = self.lm.max_length - self.max_tokens
        if self.lm.can.chat == "messages":  # the server applies its template
            return bool(most_tokens(question) <= room)
        text = self._text(question)
        return bool(most_tokens(text) <= room or self.lm.count_tokens(text) <= room)


def judge_settings(word: str, max_cost: float | None = None) -> tuple[ModelConfig, EvalConfig]:
    """Returns the settings of a judge.

    Args:
        word: names it, as MODEL of `afrieval run`.
        max_cost: most that its replies may cost; None for what its settings say.

    Raises:
        UserError: if it cannot judge, or its temperature is not 0.
    """
    ceiling = {} if max_cost is None else {"model.api.max_cost": max_cost}
    config = run_config(model_settings(word) | ceiling, needs_model=True, needs_task=False)
    model = config.model
    if ceiling and not backend_of(model.model_type).served:
        problem = f"--judge.max_cost is for servers, but {word} has model.model_type {model.model_type}"
        raise UserError(problem, "leave it out, or name a model behind a server")
    if backend_of(model.model_type).served and model.api.temperature:
        problem = f"model.api.temperature of the judge is {model.api.temperature:g}, but judges are asked at 0"
        raise UserError(problem, f"leave it out of {word}")
    can = backend_of(model.model_type).capabilities(model)
    if not can.generate or can.recorded:
        raise UserError(f"{word} cannot judge: model.model_type {model.model_type} asks no model", "name another one")
    return (replace(model, chat_template=True) if can.chat == "messages" else model), config.eval


def most_of_reply(config: ModelConfig, max_tokens: int | None) -> int:
    """Returns how many tokens a reply may have, if the user does not say it."""
    return max_tokens or (THOUGHTS if config.thinks else TOKENS)


def most_cost(config: ModelConfig, max_tokens: int | None, questions: Sequence[str]) -> str:
    """Returns the words on the cost of replies to some questions; empty for a model on this machine."""
    if not backend_of(config.model_type).served:
        return ""
    room = most_of_reply(config, max_tokens) * len(questions)
    cost = Usage(sum(map(most_tokens, questions)), room).cost(config.api.prices)
    price = "whose cost is unknown without model.api.prices" if cost is None else f"which cost {dollars(cost)} at most"
    return f", {len(questions):,} requests, {price}"


def load_judge(settings: tuple[ModelConfig, EvalConfig], max_tokens: int | None) -> JudgeModel:
    """Returns the loaded judge.

    Raises:
        UserError: if it cannot be loaded, or its context has no room for a reply.
    """
    config, evaluation = settings
    backend_of(config.model_type).check_key(config)
    lm = load_model(config, evaluation)
    most = most_of_reply(config, max_tokens)
    if most >= lm.max_length:
        problem = f"a reply may have {most} tokens, but the judge's context has {lm.max_length}"
        raise UserError(problem, "give a smaller --judge.max_tokens")
    return JudgeModel(config, lm, most)
