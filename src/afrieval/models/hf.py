"""The harness' hf backend, with the few things it leaves out."""

import logging
from typing import Any

from jinja2 import TemplateError
from lm_eval.models.huggingface import HFLM

from afrieval.errors import UserError

harness_log = logging.getLogger("lm_eval.models.huggingface")

TokenRequest = tuple[tuple[str, str], list[int], list[int]]


class HF(HFLM):
    """HFLM that refuses incomplete checkpoints, counts the tokens it scores and truncates, and keeps system texts."""

    cache_hook: Any
    too_long = 0  # requests so far that lost their beginning
    _model: Any

    def _create_model(self, pretrained: str, **kwargs: Any) -> None:
        """Loads the model, and refuses one whose checkpoint lacks weights: the library would draw them at random."""
        if kwargs.get("peft") or kwargs.get("delta") or kwargs.get("autogptq") or kwargs.get("gptqmodel"):
            super()._create_model(pretrained, **kwargs)
            return
        super()._create_model(pretrained, **kwargs, output_loading_info=True)
        self._model, found = self._model
        if missing := sorted(found["missing_keys"]):
            raise UserError(
                f"the checkpoint of {pretrained} lacks {len(missing)} weights: {', '.join(missing[:2])} ...",
                "fetch it again, or check that config.json belongs to it",
            )

    def _loglikelihood_tokens(self, requests: list[TokenRequest], **kwargs: Any) -> list[tuple[float, bool, int]]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, in order."""
        self.too_long += self._count_too_long(requests)
        lengths = {texts: len(continuation) for texts, _, continuation in requests}
        hook = self.cache_hook
        self.cache_hook = _WithLengths(hook, lengths)
        level = harness_log.level
        harness_log.setLevel(logging.ERROR)  # it says once per request what is counted above
        try:
            answers = super()._loglikelihood_tokens(requests, **kwargs)
        finally:
            self.cache_hook = hook
            harness_log.setLevel(level)
        return [(*answer, lengths[texts]) for answer, (texts, _, _) in zip(answers, requests, strict=True)]

    def _count_too_long(self, requests: list[TokenRequest]) -> int:
        room = self.max_length + 1 if self.backend == "causal" else self.max_length
        used = [len(context) + (len(answer) if self.backend == "causal" else 0) for _, context, answer in requests]
        return sum(length > room for length in used)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Returns the chat as one text; a template that takes no system turn gets its text in the user's."""
        try:
            text = self._chat(chat_history, add_generation_prompt)
        except TemplateError:
            system = [turn["content"] for turn in chat_history if turn["role"] == "system"]
            turns = [dict(turn) for turn in chat_history if turn["role"] != "system"]
            turns[0]["content"] = "\n\n".join([*system, turns[0]["content"]])
            text = self._chat(turns, add_generation_prompt)
        return text

    def _chat(self, turns: list[dict[str, str]], add_generation_prompt: bool) -> str:
        text: str = self.tokenizer.apply_chat_template(
            turns,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=not add_generation_prompt,
            **self.chat_template_args,
        )
        return text


class _WithLengths:
    """Passes answers on to a cache hook with their number of tokens."""

    def __init__(self, hook: Any, lengths: dict[tuple[str, str], int]):
        self._hook, self._lengths = hook, lengths

    def add_partial(self, attr: str, texts: tuple[str, str], answer: tuple[float, bool]) -> None:
        """Takes one answer as soon as the model has given it."""
        self._hook.add_partial(attr, texts, (*answer, self._lengths[texts]))
