"""A loaded model is asked once before it is used: what is wrong with it would come out in the middle, or never."""

from typing import Any

from afrieval.errors import UserError

PROBE = "Kínni iyì p nínú 24 = 2p? ጥያቄ Ŋuɖoɖo ƙarya 0123456789\n\n"
SEES_AHEAD = {4: 1e-3, 2: 0.05}  # of the logits' standard deviation, by bytes per number; rounding is far below
REPAIR = "fetch the model again, or check that tokenizer, config.json and weights belong to each other"
NOT_NUMBERS = "give --model.dtype bfloat16 or float32; if that does not help, the checkpoint is damaged"


def try_model(name: str, lm: Any) -> None:
    """Refuses a model that cannot be asked.

    Args:
        name: the model's.
        lm: any model of the harness. Where a backend keeps the weights to itself, it is asked for one likelihood.

    Raises:
        UserError: if its tokenizer makes nothing of a text or numbers that the model does not know, a weight or an
            answer is not a number, it takes no tokens, or a token's probability depends on later ones.
    """
    import torch

    tokens = _tokens(name, lm)
    if not isinstance(lm.max_length, int) or lm.max_length < 1:
        hint = "check max_position_embeddings in its config.json, or give model.backend_args.max_length"
        raise UserError(f"{name} takes prompts of {lm.max_length} tokens", hint)
    if not isinstance(lm.model, torch.nn.Module):
        return
    _check_vocabulary(name, lm)
    _check_weights(name, lm.model)
    logits = _logits(lm, tokens)
    if not (logits < float("inf")).all():  # false of NaN too
        raise UserError(f"what {name} computes is not a number (NaN or infinite)", NOT_NUMBERS)
    if lm.backend == "causal":
        _check_order(name, lm, tokens, logits)


def try_writing(name: str, lm: Any) -> None:
    """Refuses a model whose own settings do not let it write; models that are asked for likelihoods do not need to.

    Args:
        name: the model's.
        lm: a model of our hf backend.

    Raises:
        UserError: with the library's own words.
    """
    import torch

    if lm.eot_token_id is None:
        hint = "name its eos_token in tokenizer_config.json"
        raise UserError(f"the tokenizer of {name} has no token that ends a text", hint)
    ids = torch.tensor([_tokens(name, lm)[:1]], device=lm.device)
    try:
        lm._model_generate(ids, max_length=2, stop=[], attention_mask=torch.ones_like(ids), do_sample=False)
    except UserError:
        raise
    except Exception as e:
        said = " ".join(f"{type(e).__name__}: {e}".split())[:300]
        hint = "check its generation_config.json; --debug shows where it fails"
        raise UserError(f"{name} cannot write an answer: {said}", hint) from e


def _tokens(name: str, lm: Any) -> list[int]:
    tokens = [int(token) for token in lm.tok_encode(PROBE)]
    if not tokens or set(tokens) <= {lm.tokenizer.unk_token_id, lm.tokenizer.bos_token_id}:
        raise UserError(f"the tokenizer of {name} makes no tokens of {PROBE[:25]!r}", REPAIR)
    return tokens[-min(len(tokens), lm.max_length) :]


def _check_vocabulary(name: str, lm: Any) -> None:
    """Refuses tokens without an embedding.

    Special tokens that no run writes may have none: libraries add some of their own to a tokenizer that lacks them.
    """
    rows, tokenizer = lm.model.get_input_embeddings().weight.shape[0], lm.tokenizer
    idle = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    idle -= {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
    known = max(number for number in tokenizer.get_vocab().values() if number not in idle)
    if known >= rows:
        raise UserError(
            f"the tokenizer of {name} has tokens up to number {known}, the model only {rows} tokens", REPAIR
        )
    if lm.prefix_token_id is not None and not 0 <= lm.prefix_token_id < rows:
        hint = "leave it out, or give the number of a token"
        raise UserError(f"backend_args.prefix_token_id is {lm.prefix_token_id}, the model has {rows} tokens", hint)


def _check_weights(name: str, model: Any) -> None:
    for key, weight in model.named_parameters():
        if weight.is_meta or not weight.is_floating_point() or weight.element_size() < 2 or not weight.numel():
            continue  # offloaded by accelerate, or packed numbers
        low, high = (float(value) for value in weight.detach().aminmax())
        if not (float("-inf") <= low and high < float("inf")) or (low == float("-inf") and weight.dim() > 1):
            # a bias of -inf keeps a token from being chosen, and is meant
            raise UserError(f"{key} of {name} has values that are not numbers (NaN or infinite)", NOT_NUMBERS)


def _logits(lm: Any, tokens: list[int]) -> Any:
    import torch

    ids = torch.tensor([tokens], device=lm.device)
    if lm.backend == "seq2seq":
        return lm._model_call(ids, attn_mask=torch.ones_like(ids), labels=ids)[0].float()
    return lm._model_call(ids)[0].float()


def _check_order(name: str, lm: Any, tokens: list[int], logits: Any) -> None:
    """Refuses encoders such as BERT: with another last token, what a model says of those before stays the same."""
    if len(tokens) < 3:
        return
    other = next((token for token in tokens if token != tokens[-1]), tokens[-1])
    moved = (_logits(lm, [*tokens[:-1], other])[:-1] - logits[:-1]).abs().max()
    if moved > SEES_AHEAD[4 if lm.model.dtype.itemsize >= 4 else 2] * logits.std():
        raise UserError(
            f"{name} does not write from left to right: what it says of a token depends on those after it",
            "give a model that generates text, such as Llama, Gemma or T5; encoders such as BERT do not",
        )
