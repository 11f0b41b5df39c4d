"""Puts an adapter of PEFT on a model."""

from typing import Any

from afrieval.models.engine.requests import EngineError


def adapted(model: Any, name: str, revision: str | None) -> Any:
    """Returns a model with an adapter; it gets as many tokens as the adapter was saved with, and else keeps its own.

    Raises:
        EngineError: if the adapter has more tokens than the model, but not all of their weights.
    """
    from peft import PeftModel
    from peft.utils import load_peft_weights

    tables = [model.get_input_embeddings(), model.get_output_embeddings()]
    names = {f".{key}." for key, module in model.named_modules() if any(module is table for table in tables)}
    weights = load_peft_weights(name, device="cpu", revision=revision)
    saved = {
        (part, len(weight))
        for key, weight in weights.items()
        for part in names
        if part in key and key.endswith(".weight") and "lora" not in key
    }
    rows, size = max((n for _, n in saved), default=0), len(tables[0].weight)
    if rows and rows != size:
        tied = tables[1] is None or tables[1].weight is tables[0].weight
        if rows > size and len(saved) < len(names) and not tied:
            message = (
                f"the adapter {name} has {rows} tokens, {rows - size} more than the model, but lacks weights of them"
            )
            raise EngineError(message, "save both embeddings with it: give PEFT modules_to_save, or use its base model")
        model.resize_token_embeddings(rows)
    whole = PeftModel.from_pretrained(model, name, revision=revision)
    whole.tie_weights = lambda: None  # lm_eval calls it, and would lose a head of the adapter's own
    return whole
