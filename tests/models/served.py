"""`transformers serve` on this machine, with the demo model: an OpenAI-compatible server that is not ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afrieval.config.settings import ModelConfig
from afrieval.tools.sweep.server import served

SPEC = "transformers serve {model} --device cpu --host 127.0.0.1 --port {port}"


@contextmanager
def transformers_serve(model: Path, log: Path) -> Iterator[str]:
    """Serves a model as a sweep does until the block ends, and yields the address."""
    with served(SPEC, ModelConfig(model_name=str(model), model_type="openai"), log) as url:
        yield url
