"""Keeps a tokenizer from appending tokens, such as EOS, to each text."""

import copy
import logging
from typing import Any

from afrieval.models.engine.requests import EngineError

log = logging.getLogger("afrieval")
Tokens = list[int]


def leave_texts_open(lm: Any) -> None:
    """Gives a model of lm_eval a tokenizer that appends nothing to a text; an encoder keeps the end that it expects.

    A prompt that ends in EOS is over for the model, and lm_eval scores that token instead of the answer's first.

    Raises:
        EngineError: if the tokenizer's code appends tokens whatever its settings are.
    """
    tokenizer = vars(lm).get("tokenizer")  # some classes fetch one when it is looked at
    if not hasattr(tokenizer, "get_vocab"):
        return  # there is none, or it is a server's
    if getattr(lm, "backend", "causal") == "causal" and getattr(lm, "add_bos_token", None) is not False:
        lm.tokenizer = unended(tokenizer)


def unended(tokenizer: Any) -> Any:
    """Returns the tokenizer if it appends nothing to a text, or else a copy that does not."""
    begin, end = added_tokens(tokenizer, {}) or ([], [])
    if not end:
        return tokenizer
    shown, changed = tokenizer.decode(end), copy.deepcopy(tokenizer)
    if changed.is_fast:
        from tokenizers.processors import TemplateProcessing  # here, since models behind servers do without it

        names = [str(i) for i in range(len(begin))]
        special = list(zip(names, begin, strict=True))
        changed.backend_tokenizer.post_processor = TemplateProcessing([*names, "$A"], special_tokens=special)
    else:
        changed.build_inputs_with_special_tokens = lambda text, pair=None: [*begin, *text, *(pair or ())]
    if added_tokens(changed, {}) != (begin, []):
        hint = "give --model.add_bos_token false, or another tokenizer"
        raise EngineError(f"the tokenizer ends each text with {shown}, and cannot be kept from it", hint)
    log.warning("the tokenizer ends each text with %s, which is left out: lm_eval would score and continue it", shown)
    return changed


def added_tokens(tokenizer: Any, special: dict[str, bool]) -> tuple[Tokens, Tokens] | None:
    """Returns the tokens that are put before and after a text; None if they cannot be told from the text's own."""
    whole, bare = (list(tokenizer("a", **given)["input_ids"]) for given in (special, {"add_special_tokens": False}))
    start = next((i for i in range(len(whole)) if whole[i : i + len(bare)] == bare), None)
    return None if start is None or not bare else (whole[:start], whole[start + len(bare) :])
