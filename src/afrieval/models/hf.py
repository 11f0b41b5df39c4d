"""The harness' hf backend, with the few things it leaves out, and the engine in place of its forward passes."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils_hf import stop_sequences_criteria

from afrieval.errors import UserError
from afrieval.models.chat import KeepsSystemText
from afrieval.models.encoding import EncodesAtOnce
from afrieval.models.engine.check import differences, probes
from afrieval.models.engine.encoder_decoder import encoder_decoder_loglikelihoods
from afrieval.models.engine.generation import Generator
from afrieval.models.engine.likelihood import Answer, loglikelihoods
from afrieval.models.engine.memory import Packs
from afrieval.models.engine.support import generation_obstacle, obstacle

log = logging.getLogger("afrieval")
harness_log = logging.getLogger("lm_eval.models.huggingface")

TokenRequest = tuple[tuple[str, str], list[int], list[int]]


class HF(KeepsSystemText, EncodesAtOnce, HFLM):
    """HFLM that refuses incomplete checkpoints, counts the tokens it scores and truncates, and keeps system texts.

    Attributes:
        engine: `tree` computes what prompts share once, `plain` is the harness' own way; `choose_engine` sets it.
    """

    cache_hook: Any
    batch_size_per_gpu: int | str
    engine = "plain"
    too_long = 0  # requests that lost their beginning since somebody asked
    _generator: Generator | None = None
    _model: Any
    _said = ""

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

    def choose_engine(self, wanted: str) -> None:
        """Takes the engine asked for: `tree`, `plain`, or `auto` for tree wherever it gives the harness' answers.

        Raises:
            UserError: if it is `tree` and the model cannot be run so.
        """
        if wanted == "plain":
            return
        self._packs = Packs()
        reason = obstacle(self.model) if self.backend == "causal" else None
        reason = reason or differences(self, self._plain(asked := probes(self), disable_tqdm=True), asked)
        if reason is None:
            self.engine = "tree"
        elif wanted == "tree":
            raise UserError(f"the tree engine cannot run this model: it {reason}", "give --model.engine auto or plain")
        else:
            log.warning("what prompts share is computed again for each of them: the model %s", reason)

    def _loglikelihood_tokens(self, requests: list[TokenRequest], **kwargs: Any) -> list[tuple[float, bool, int]]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, in order."""
        self.too_long += self._count_too_long(requests)
        answers = self._plain(requests, **kwargs) if self.engine == "plain" else self._tree(requests)
        return [(*answer, len(tokens)) for answer, (_, _, tokens) in zip(answers, requests, strict=True)]

    def _tree(self, requests: list[TokenRequest]) -> list[Answer]:
        def answered(i: int, answer: Answer) -> None:
            texts, _, tokens = requests[i]
            if texts is not None:  # windows of a longer text have no name of their own
                self.cache_hook.add_partial("loglikelihood", texts, (*answer, len(tokens)))

        score = loglikelihoods if self.backend == "causal" else encoder_decoder_loglikelihoods
        return score(self, requests, self._packs, answered)

    def _plain(self, requests: list[TokenRequest], **kwargs: Any) -> list[Answer]:
        hook, level = self.cache_hook, harness_log.level
        self.cache_hook = _WithLengths(hook, {texts: len(tokens) for texts, _, tokens in requests})
        harness_log.setLevel(logging.ERROR)  # it says once per request what is counted above
        try:
            answers: list[Answer] = super()._loglikelihood_tokens(requests, **kwargs)
        finally:
            self.cache_hook = hook
            harness_log.setLevel(level)
        return answers

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Returns (log-likelihood, is greedy, number of tokens) per request, in order."""
        pairs = [r.args for r in requests] if self.backend == "causal" else []
        with self.encoded_at_once([text for c, a in pairs for text in (c.rstrip(), c + a)]):
            answers: list[tuple[float, bool]] = super().loglikelihood(requests, disable_tqdm)
        return answers

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Returns the log-likelihood of each whole text."""
        with self._batches():
            answers: list[float] = super().loglikelihood_rolling(requests, disable_tqdm)
        return answers

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Returns the text generated for each request, in order."""
        new = [r.args[1].get("max_gen_toks", self.max_gen_toks) for r in requests]
        room = [self.max_length - (n if self.backend == "causal" else 0) for n in new]
        with self.encoded_at_once([r.args[0] for r in requests]):
            lengths = [len(self.tok_encode(r.args[0])) for r in requests]
            self.too_long += sum(length > most for length, most in zip(lengths, room, strict=True))
            with self._batches(max(map(int.__add__, lengths, new), default=0)):
                answers: list[str] = super().generate_until(requests, disable_tqdm)
        return answers

    @contextmanager
    def _batches(self, longest: int = 1) -> Iterator[None]:
        """Spares the engine the search for a batch size, which runs the model over batches of padding."""
        size = self.batch_size_per_gpu
        if self.engine == "tree":
            if size == "auto":
                self.batch_size_per_gpu = self._packs.rows(self, longest)
            if self.backend == "causal":
                self._generator = Generator(self, self._packs)
        try:
            yield
        finally:
            self.batch_size_per_gpu, self._generator = size, None

    def _model_generate(self, context: torch.Tensor, max_length: int, stop: list[str], **kwargs: Any) -> torch.Tensor:
        """Generates; of an encoder-decoder the limit is its answer's, not that of the padded prompt beside it."""
        if self.backend == "seq2seq":
            max_length -= context.shape[1] - 1  # the decoder begins with a token of its own
        options = {k: v for k, v in kwargs.items() if k != "attention_mask"}
        if self._generator is None or self._must_generate_plainly(options):
            written: torch.Tensor = super()._model_generate(context, max_length, stop, **kwargs)
            return written
        mask = kwargs["attention_mask"].bool()
        prompts = [row[there].tolist() for row, there in zip(context, mask, strict=True)]
        new = self._generator(prompts, max_length - context.shape[1], self._ends(len(prompts), stop))
        rows = [torch.tensor(tokens, device=context.device) for tokens in new]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        return torch.cat([context, padded], dim=1)

    def _must_generate_plainly(self, options: dict[str, Any]) -> bool:
        reason = generation_obstacle(self.model, options)
        if reason and reason != self._said:
            self._said = reason
            log.warning("answers are generated the harness' own way, since the engine knows no %s", reason)
        return bool(reason)

    def _ends(self, n: int, stop: list[str]) -> Any:
        """Returns what tells the end of each of n answers, as the harness does for a batch of one."""
        own = self.model.generation_config.eos_token_id
        last = {own} if isinstance(own, int) else set(own or ())
        criteria = [stop_sequences_criteria(self.tokenizer, stop, 0, 1) for _ in range(n)]

        def ends(i: int, tokens: list[int]) -> bool:
            for criterion in criteria[i]:
                criterion.done_tracker = [False]  # it remembers; an answer may be begun anew when memory is full
            return tokens[-1] in last or any(c(torch.tensor([tokens]), None) for c in criteria[i])

        return ends

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
