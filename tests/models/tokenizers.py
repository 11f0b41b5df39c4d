"""A tokenizer whose tokens may begin in a prompt and end in the answer."""

from typing import Any


def merging() -> Any:
    """Returns a byte-pair tokenizer that merges across words and lines."""
    from tokenizers import Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    letters = sorted(set("abcdefghijklmnopqrstuvwxyzAQ: ?\n"))
    merges = [("A", ":"), (":", " "), ("Q", ":"), ("w", "h"), ("wh", "o"), ("?", "\n"), ("A:", " "), (" ", "A")]
    vocabulary = {token: i for i, token in enumerate(["<s>", "</s>", *letters, *("".join(m) for m in merges)])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
