"""What llama.cpp is asked and what it answers, whose process has neither torch nor our tokenizer."""

from pathlib import Path
from typing import Any

from gguf_model import gguf_file
from lm_eval.models.utils import handle_stop_sequences, normalize_gen_kwargs
from transformers import AutoTokenizer, GenerationConfig

Job = dict[str, Any]


def llamacpp_case(case: Job, lm: Any, work: Path) -> Job:
    """Returns a case of a job with tokens instead of texts.

    Args:
        case: folder, method and requests.
        lm: any of the harness' models with the tokenizer.
        work: where to write the model's GGUF file.
    """
    folder = Path(case["folder"])
    file = work / f"{folder.name}.gguf"
    common = {"method": case["method"], "gguf": str(file if file.exists() else gguf_file(folder, file))}
    if case["method"] == "loglikelihood":
        return common | {"tokens": [tokens_of(lm, *args) for args in case["requests"]]}
    tokenizer = AutoTokenizer.from_pretrained(folder)
    (most,) = {normalize_gen_kwargs(options, lm.max_gen_toks)["max_gen_toks"] for _, options in case["requests"]}
    (stops,) = {tuple(stops_of(tokenizer, options)) for _, options in case["requests"]}
    ends = GenerationConfig.from_pretrained(folder).eos_token_id
    return common | {
        "tokens": [[lm.prompt_tokens(text), []] for text, _ in case["requests"]],
        "most": most,
        "stops": stops,
        "ends": [tokenizer.eos_token_id, *([ends] if isinstance(ends, int) else ends or [])],
        "pieces": tokenizer.batch_decode([[i] for i in range(len(tokenizer))]),
    }


def tokens_of(lm: Any, context: str, answer: str) -> list[list[int]]:
    """Returns the tokens of a context and of what follows, as lm_eval gives them to a model."""
    return [*lm._encode_pair(context, answer)] if context else [[lm.prefix_token_id], lm.tok_encode(answer)]


def with_texts(case: Job, lm: Any, outcome: Job) -> Job:
    """Returns what a case gave with the texts of generated answers instead of their tokens, as lm_eval writes them."""
    if case["method"] == "loglikelihood" or "error" in outcome:
        return outcome
    tokenizer = AutoTokenizer.from_pretrained(case["folder"])
    pairs = zip(outcome["answers"], case["requests"], strict=True)
    return outcome | {"answers": [lm._written(tokens, stops_of(tokenizer, options)) for tokens, (_, options) in pairs]}


def stops_of(tokenizer: Any, options: Job) -> list[str]:
    return list(handle_stop_sequences(options["until"], eos=tokenizer.decode(tokenizer.eos_token_id)))
