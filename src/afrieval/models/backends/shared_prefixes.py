"""Likelihoods from vLLM and SGLang, which reuse what their caches have of a context if they are asked so.

The harness' classes ask for the log-probabilities of whole prompts. Both programs then compute a prompt again for each
of its answers, whatever they have cached.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from afrieval.models.checks import check_lengths
from afrieval.models.engine.requests import TokenRequest
from afrieval.models.engine.tree import common

Tokens = tuple[int, ...]
Pair = tuple[Tokens, Tokens]  # a context and its answer
Likelihood = tuple[float, bool]  # log-likelihood, and whether no token is more likely
Scored = tuple[Tokens, Tokens, dict[int, Likelihood]]  # a pair, and what is known of the answer's tokens, by index

BLOCK = 16  # tokens that vLLM caches together, unless it is set up otherwise
MOST = 128  # tokens whose log-probabilities vLLM returns after a prompt
SHARE = 0.5  # of vLLM's cache


class SharedPrefixes:
    """Mixin for the harness' classes: asks for each pair once, and for those with a common beginning in succession."""

    @property
    def shares(self) -> bool:
        """Whether the program can do that."""
        return True

    def _loglikelihood_tokens(self: Any, requests: list[TokenRequest], disable_tqdm: bool = False) -> list[Any]:
        """Returns the likelihood of each request, in order."""
        longest = self.longest_scored
        check_lengths(requests, longest - 1)  # the first token of an answer follows another one
        self.too_long += sum(len(context) + len(answer) > longest for _, context, answer in requests)
        if not self.shares:
            slowly = super()._loglikelihood_tokens(requests, disable_tqdm=disable_tqdm)  # type: ignore[misc]
            return list(slowly)
        numbers = defaultdict(list)
        for number, (_, context, answer) in enumerate(requests):
            surplus = max(0, len(context) + len(answer) - longest)
            numbers[tuple(context[surplus:]), tuple(answer)].append(number)
        size = len(numbers) if self.batch_size == "auto" else int(self.batch_size)
        likelihoods: dict[int, Likelihood] = {}
        for pairs in _portions(numbers, size, self.cached_tokens):
            for pair, likelihood in zip(pairs, self.scored(pairs), strict=True):
                for number in numbers[pair]:
                    likelihoods[number] = likelihood
                    if (text := requests[number][0]) is not None:  # None is a window, which the harness stores
                        self.cache_hook.add_partial("loglikelihood", text, likelihood)
        return [likelihoods[number] for number in range(len(requests))]


class SGLangLikelihoods(SharedPrefixes):
    """Mixin for the harness' class of SGLang, which uses its cache up to where log-probabilities begin."""

    cached_tokens = math.inf  # each prompt is asked for once, so that what is evicted is not missed

    @property
    def max_length(self: Any) -> int:
        """One token less than the context: SGLang refuses prompts that fill it."""
        return int(super().max_length) - 1  # type: ignore[misc]

    def scored(self: Any, pairs: list[Pair]) -> list[Likelihood]:
        """Returns the likelihoods of pairs, in order."""
        outputs = self._model_generate(
            requests=[[*context, *answer] for context, answer in pairs],
            return_logprob=True,
            top_logprobs_num=2,
            logprob_start_len=[len(context) - 1 for context, _ in pairs],  # the token there has none itself
        )
        likelihoods = []
        for (_, answer), output in zip(pairs, outputs, strict=True):
            scored, highest = (output["meta_info"][name][1:] for name in ("input_token_logprobs", "input_top_logprobs"))
            likeliest = [max(entries, key=lambda entry: entry[0])[1] for entries in highest]
            tokens = zip(scored, likeliest, answer, strict=True)
            likelihoods.append(_in_all((entry[0], top == token) for entry, top, token in tokens))
        return likelihoods


class VLLMLikelihoods(SharedPrefixes):
    """Mixin for the harness' class of vLLM, which returns log-probabilities of those tokens that it computes.

    A context is computed once, for the first tokens of its answers. Then whole prompts are asked for, whose beginning
    vLLM has in its cache. Where this reaches into the answer, its tokens are asked for one by one.
    """

    @property
    def shares(self: Any) -> bool:
        """Whether vLLM caches prefixes and has what is asked for here; several copies start anew with each call."""
        from vllm import SamplingParams

        if self.data_parallel_size > 1 or not hasattr(SamplingParams, "logprob_token_ids"):
            return False
        config = self.model.llm_engine.vllm_config
        return bool(getattr(config, "use_v2_model_runner", False) and config.cache_config.enable_prefix_caching)

    @property
    def cached_tokens(self: Any) -> float:
        """The most tokens of prompts at a time: they have to stay in the cache until they are asked for again."""
        cache = self.model.llm_engine.vllm_config.cache_config
        return SHARE * cache.num_gpu_blocks * cache.block_size if cache.num_gpu_blocks else math.inf

    def scored(self: Any, pairs: list[Pair]) -> list[Likelihood]:
        """Returns the likelihoods of pairs, in order."""
        scored: list[Scored] = [(context, answer, {}) for context, answer in pairs]
        self._score_tokens([(each, 0) for each in scored])
        self._score_prompts([each for each in scored if len(each[1]) > 1])
        hidden = [each for each in scored if len(each[1]) - len(each[2]) > BLOCK]  # too many to go one by one
        self._score_prompts(hidden, cached=False)
        self._score_tokens([(each, i) for each in scored for i in range(len(each[1])) if i not in each[2]])
        return [_in_all(tokens[i] for i in range(len(answer))) for _, answer, tokens in scored]

    def _score_prompts(self: Any, scored: list[Scored], cached: bool = True) -> None:
        """Scores the tokens of answers that vLLM has not cached, or all of them."""
        options = [{"prompt_logprobs": 1, "skip_reading_prefix_cache": not cached}] * len(scored)
        outputs = self._outputs([context + answer for context, answer, _ in scored], options)
        for (_, answer, tokens), output in zip(scored, outputs, strict=True):
            computed = output.prompt_logprobs[1:]  # of the last tokens; the first one that is computed has none
            for i in range(-1, -1 - min(len(answer), len(computed)), -1):
                tokens[len(answer) + i] = _from_vllm(computed[i], answer[i])

    def _score_tokens(self: Any, missing: list[tuple[Scored, int]]) -> None:
        """Scores single tokens of answers; a prefix is asked for once for all that follow it."""
        followers = defaultdict(list)
        for (context, answer, tokens), i in missing:
            followers[context + answer[:i]].append((answer[i], i, tokens))
        prompts, options = [], []
        for prefix, following in followers.items():
            ids = sorted({token for token, *_ in following})
            parts = [ids[begin : begin + MOST] for begin in range(0, len(ids), MOST)]
            prompts += [prefix] * len(parts)
            options += [{"logprob_token_ids": part} for part in parts]
        rows: dict[Tokens, dict[int, Any]] = defaultdict(dict)
        for prefix, output in zip(prompts, self._outputs(prompts, options), strict=True):
            rows[prefix] |= output.outputs[0].logprobs[0]  # with the most likely token, which vLLM writes
        for prefix, row in rows.items():
            for token, i, tokens in followers[prefix]:
                tokens[i] = _from_vllm(row, token)

    def _outputs(self: Any, prompts: list[Tokens], options: list[dict[str, Any]]) -> Sequence[Any]:
        from vllm import SamplingParams

        params = [SamplingParams(temperature=0, max_tokens=1, detokenize=False, **each) for each in options]
        return self._model_generate([*map(list, prompts)], generate=True, sampling_params=params) if prompts else []


def _portions(pairs: Iterable[Pair], size: int, room: float) -> Iterator[list[Pair]]:
    """Yields pairs, those with a common beginning together, in portions that have room.

    A portion has at most `size` pairs, whose tokens, common beginnings counted once, are at most `room`.
    """
    prompts = [(np.array(context + answer, np.int32), (context, answer)) for context, answer in pairs]
    portion: list[Pair] = []
    used, last = 0, np.zeros(0, np.int32)
    for prompt, pair in sorted(prompts, key=lambda entry: entry[0].tobytes()):  # faster than by tokens
        new = len(prompt) - common(last, prompt)
        if portion and (len(portion) == size or used + new > room):
            yield portion
            portion, used, new = [], 0, len(prompt)
        portion.append(pair)
        used, last = used + new, prompt
    if portion:
        yield portion


def _in_all(tokens: Iterable[Likelihood]) -> Likelihood:
    likelihoods, likeliest = zip(*tokens, strict=True)
    return sum(likelihoods), all(likeliest)


def _from_vllm(row: dict[int, Any], token: int) -> Likelihood:
    """Returns the likelihood of a token; the harness, too, takes the answer's among several that are most likely."""
    return row[token].logprob, row[token].logprob >= max(entry.logprob for entry in row.values())
