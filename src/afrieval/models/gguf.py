"""Models in GGUF files. Transformers takes a minute to read one, so each is converted once, into the user's cache."""

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import opened
from afrieval._util.terminal import note
from afrieval._util.user_cache import cached_folder
from afrieval.models.credentials import quiet

SUFFIX, MAGIC = ".gguf", b"GGUF"
VERSION = 1  # of the conversion
AGAIN = "fetch the model again"


def check_gguf(file: Path) -> None:
    """Rejects a file that is not GGUF, and any if the package that reads them is missing.

    Raises:
        UserError: names the file, or the package.
    """
    with opened(file, AGAIN) as content:
        if content.read(len(MAGIC)) != MAGIC:
            hint = f"{AGAIN}; a file of Git LFS is a pointer, not the model"
            raise UserError(f"{file} is not a GGUF file: it does not begin with GGUF", hint)
    if find_spec("gguf") is None:
        raise UserError("models in GGUF files need the package gguf", "run `pip install 'afrieval[gguf]'`")


@cache  # a file of many gigabytes is not read again for its hash
def converted(file: Path) -> Path:
    """Returns a folder with the weights of a GGUF file in float32, its tokenizer and its chat template.

    The folder is found by the file's content, wherever the file is. Weights that were rounded to a few bits are what
    they were rounded to, so that scores are the quantized model's.

    Raises:
        UserError: if `check_gguf` rejects the file.
    """
    check_gguf(file)
    with opened(file, AGAIN) as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()[:16]

    def convert_gguf(folder: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        note(f"converting {file.name}, which is done once")
        source = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(**source)
            model = AutoModelForCausalLM.from_pretrained(**source, dtype="float32")
            # its weights are ordinary numbers now, which transformers writes only if nothing says otherwise
            model.hf_quantizer = None
            del model.config.quantization_config
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)

    return cached_folder(f"gguf-{VERSION}-{digest}", convert_gguf)
