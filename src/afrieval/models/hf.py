"""The harness' hf backend, with the few things it leaves out."""

import logging
from typing import Any

from lm_eval.models.huggingface import HFLM

from afrieval.errors import UserError
from afrieval.models.chat import KeepsSystemText

harness_log = logging.getLogger("lm_eval.models.huggingface")

TokenRequest = tuple[tuple[str, str], list[int], list[int]]


class HF(KeepsSystemText, HFLM):
    """HFLM that refuses incomplete checkpoints, counts the tokens it scores and truncates, and keeps system texts."""

    cache_hook: Any
    too_long = 0  # requests that lost their beginning since somebody asked
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

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the text generated for each request, in order."""
        room = [
            self.max_length - (r.args[1].get("max_gen_toks", self.max_gen_toks) if self.backend == "causal" else 0)
            for r in requests
        ]
        lengths = [len(self.tok_encode(r.args[0])) for r in requests]
        self.too_long += sum(length > most for length, most in zip(lengths, room, strict=True))
        answers: list[str] = super().generate_until(requests, disable_tqdm)
        return answers

    def _model_generate(self, context: Any, max_length: int, stop: list[str], **kwargs: Any) -> Any:
        """Generates; of an encoder-decoder the limit is its answer's, not that of the padded prompt beside it."""
        if self.backend == "seq2seq":
            max_length -= context.shape[1] - 1  # the decoder begins with a token of its own
        return super()._model_generate(context, max_length, stop, **kwargs)

    def _count_too_long(self, requests: list[TokenRequest]) -> int:
        room = self.max_length + 1 if self.backend == "causal" else self.max_length
        used = [len(context) + (len(answer) if self.backend == "causal" else 0) for _, context, answer in requests]
        return sum(length > room for length in used)


class _WithLengths:
    """Passes answers on to a cache hook with their number of tokens."""

    def __init__(self, hook: Any, lengths: dict[tuple[str, str], int]):
        self._hook, self._lengths = hook, lengths

    def add_partial(self, attr: str, texts: tuple[str, str], answer: tuple[float, bool]) -> None:
        """Takes one answer as soon as the model has given it."""
        self._hook.add_partial(attr, texts, (*answer, self._lengths[texts]))
