"""A tiny model that takes a given time for each pass, and notes what it was asked."""

import json
from pathlib import Path

from tests.models.tiny import tiny_llama

CODE = """
import hashlib
import time
from pathlib import Path

from transformers import LlamaForCausalLM


class Slow(LlamaForCausalLM):
    def forward(self, input_ids=None, **options):
        time.sleep({seconds})
        if input_ids is not None:
            with Path("{asked}").open("a") as file:
                for row in input_ids.tolist():
                    file.write(hashlib.sha256(str(row).encode()).hexdigest() + "\\n")
        return super().forward(input_ids=input_ids, **options)
"""


def slow_llama(folder: Path, seconds: float, asked: Path) -> Path:
    """Writes a model with code of its own.

    Args:
        folder: of the model.
        seconds: for each pass.
        asked: file that gets a line for each sequence, once its pass begins to compute.
    """
    tiny_llama(folder)
    (folder / "slow.py").write_text(CODE.format(seconds=seconds, asked=asked))
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "slow.Slow"}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
