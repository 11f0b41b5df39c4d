"""The demo model: a tiny random Llama with byte tokens, which scores at chance level."""

import shutil
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.user_cache import cached_folder

VERSION = 2
SEED = 42
CHAT_TEMPLATE = "{% for turn in messages %}{{ turn.role }}: {{ turn.content }}\n{% endfor %}assistant:"
END = -6.0  # what the end-of-text token is multiplied with, for answers of a few tokens


def demo_folder() -> Path:
    """Returns the demo model's folder in the user's cache; builds it on first use."""
    return cached_folder(f"demo-{VERSION}", build_demo)


def write_chat_demo(folder: str) -> None:
    """Writes a copy of the demo model with a chat template, for a server to load.

    Raises:
        UserError: if the folder is there already.
    """
    path = user_path(folder)
    if path.exists():
        raise UserError(f"{path} is there already", "name a new folder")
    shutil.copytree(demo_folder(), path)
    (path / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")


def build_demo(folder: Path) -> None:
    """Writes the model and its tokenizer, reproducibly."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_tokenizer()
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    special = {name: getattr(tokenizer, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    config = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=32768, **sizes, **special)
    with torch.random.fork_rng(devices=[]):  # GPUs, which it would look for, draw nothing here
        torch.default_generator.manual_seed(SEED)
        model = LlamaForCausalLM(config)
    with torch.no_grad():  # most answers of a random model would never end
        model.lm_head.weight[tokenizer.eos_token_id] *= END
    model.save_pretrained(folder)


def byte_tokenizer() -> Any:
    """Returns a fast tokenizer whose tokens are the 256 bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<pad>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([*special, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.add_special_tokens(special)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
