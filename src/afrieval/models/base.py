"""The interface of models to the suite, for all backends."""

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from afrieval.scoring.responses import Details

PROBE = "Kínni iyì p nínú 24 = 2p? ጥያቄ Ŋuɖoɖo ƙarya 0123456789\n\n"  # a text in several scripts
MAX_COST = "model.api.max_cost"  # the option, unless a command has another one for it
NOT_THE_MODEL = ("_name_or_path", "transformers_version", "_commit_hash")  # settings


@dataclass(frozen=True)
class Capabilities:
    """A model's capabilities, as far as they are known before it is loaded.

    Attributes:
        loglikelihood: whether it returns the likelihood of an answer after a prompt.
        rolling: whether it returns the likelihood of a whole text.
        generate: whether it generates answers.
        chat: how it accepts chats: as `text`, by its tokenizer's template; as `messages`, and then
            it accepts only chats; None if it does not support chats.
        count_tokens: whether its tokenizer is available.
        max_length: context length in tokens; None if unknown before the model is loaded.
        assumed: whether that length is a default of the backend rather than the model's.
        recorded: whether its answers were recorded for the documents of one cell; prompts do not matter.
        only_letters: whether it returns only likelihoods of letters, from the most likely first tokens.
        tokens: whether it returns the likelihood of each token, and gradients.
        stops: whether it is given stop texts; chats of servers end by themselves.
    """

    loglikelihood: bool = True
    rolling: bool = True
    generate: bool = True
    chat: Literal["text", "messages"] | None = "text"
    count_tokens: bool = True
    max_length: int | None = None
    assumed: bool = False
    only_letters: bool = False
    recorded: bool = False
    tokens: bool = False
    stops: bool = True


class LanguageModel:
    """What the suite uses of a model of any backend: a mixin for the harness' models, which have what answers requests.

    Attributes:
        can: the model's capabilities.
        model: of transformers, if it is loaded here.
        max_length: context length in tokens; infinite if unknown.
        tokenizer: its tokenizer; only if `can.count_tokens`.
        tok_encode: returns the ids of a text's tokens; only if `can.count_tokens`.
        too_long: number of truncated requests since the last reset.
        thinks: whether answers may begin with thinking.
        cache_hook: of the harness; receives each answer as soon as it is known.
        set_cache_hook: takes that.
        apply_chat_template: returns a chat as one text.
        loglikelihood: returns (log-likelihood, is greedy, and maybe the number of tokens) of each request, in order.
        loglikelihood_rolling: returns the log-likelihood of each whole text, in order.
        generate_until: returns the text generated for each request, in order.
    """

    can = Capabilities()
    model: Any
    max_length: Any
    tokenizer: Any
    tok_encode: Any
    too_long = 0
    thinks = True
    cache_hook: Any
    set_cache_hook: Any
    apply_chat_template: Any
    loglikelihood: Any
    loglikelihood_rolling: Any
    generate_until: Any

    @property
    def longest_scored(self) -> int:
        """The most tokens that a prompt and an answer may have together if the answer's likelihood is asked for."""
        return int(self.max_length)

    def count_tokens(self, text: str) -> int:
        """Returns a text's number of tokens; an upper bound if the tokenizer is unknown."""
        return len(self.tok_encode(text)) if self.can.count_tokens else most_tokens(text)

    def choose_engine(self, engine: str) -> None:
        """Sets the engine, which only the hf backend has; UserError if it does not support the model."""

    def resume(self, stored: Iterable[Details], max_cost_option: str = MAX_COST) -> None:
        """Receives the details of stored answers, such as their cost, and the option that limits it, for messages."""

    def spending(self) -> str:
        """Returns the tokens and the cost of all answers so far, in words; empty for models that cost nothing."""
        return ""

    def fingerprint(self) -> str:
        """Returns a hash that identifies the loaded weights and the tokenizer.

        It covers 256 values of each parameter, its name and shape, the model's settings, the tokens of
        `PROBE`, the chat template, its system text and date, so checkpoints of the same name differ.
        vLLM keeps the parameters in separate processes; there the hub's commit distinguishes checkpoints.
        """
        digest = hashlib.sha256()
        model, settings = self.model, model_settings(self)
        has_weights = hasattr(model, "named_parameters")
        for name, parameter in model.named_parameters() if has_weights else ():
            digest.update(f"{name}{tuple(parameter.shape)}{parameter.dtype}".encode())
            if parameter.is_meta:
                continue  # offloaded to a disk by accelerate: not in memory
            values = parameter.detach().flatten()
            sample = values[:: max(1, values.numel() // 256)][:256].float().cpu()
            digest.update(sample.numpy().tobytes())
        telling = {k: v for k, v in settings.to_dict().items() if k not in NOT_THE_MODEL}
        commit = None if has_weights else getattr(settings, "_commit_hash", None)
        chats = [text for name in ("chat_system", "chat_date") if (text := getattr(self, name, None))]
        parts = [telling, *([commit] if commit else []), self.tok_encode(PROBE), self.tokenizer.chat_template, *chats]
        digest.update(json.dumps(parts, default=str).encode())
        return digest.hexdigest()[:16]


class NamedModel(LanguageModel):
    """Mixin for models whose weights are not accessible, identified by backend, name and URL.

    Attributes:
        names: backend, model, and URL without user and password, if any.
    """

    names: tuple[str, ...] = ()

    def fingerprint(self) -> str:
        """Returns a hash of `names`."""
        return hashlib.sha256(json.dumps(self.names).encode()).hexdigest()[:16]


class UnknownTokenizer(LanguageModel):
    """Estimates text lengths for a model that is not known yet."""

    can = Capabilities(count_tokens=False)
    max_length = math.inf


def model_settings(lm: Any) -> Any:
    """Returns the configuration of a loaded model, as transformers has it."""
    return lm.config if hasattr(lm, "config") else lm._config


def most_tokens(text: str) -> int:
    """Returns an upper bound of a text's number of tokens: one per byte, and a BOS token."""
    return len(text.encode()) + 1
