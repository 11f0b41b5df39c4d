"""A task that gains nothing from the engine costs nothing: the model sees no more tokens than with lm_eval's `hf`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lm_eval.models.huggingface import HFLM
from tests.models.engine.both_ways import evaluated, saved

from afrieval.models.engine.tree_lm import TreeLM

ALONE = {  # tasks whose prompts share less than they have of their own
    "texts": ["wikitext/wikitext.yaml", "lambada/lambada_openai.yaml"],
    "letters": ["mmlu/default/mmlu_astronomy.yaml", "belebele/belebele_hau_Latn.yaml"],
    "written": ["triviaqa/default.yaml", "bigbench/generate_until/swahili_english_proverbs.yaml"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("llama"))


@contextmanager
def counted(lm: Any) -> Iterator[list[int]]:
    """Collects the numbers of tokens of a model's passes."""
    seen: list[int] = []
    layer = lm.model.get_input_embeddings()
    hook = layer.register_forward_hook(lambda module, given, found: seen.append(given[0].numel()))
    yield seen
    hook.remove()


@pytest.mark.parametrize("paths", ALONE.values(), ids=[*ALONE])
def test_no_more_tokens_than_without_the_engine(paths: list[str], folder: Path) -> None:
    """lm_eval's batches are of one request, without padding."""
    passed = []
    for kind, words in ((HFLM, {}), (TreeLM, {"engine": "tree"})):
        lm = kind(str(folder), device="cpu", dtype="float32", batch_size=1, **words)
        with counted(lm) as seen:
            evaluated(lm, folder, paths, batch_size=1, rows=2)
        passed.append(sum(seen))
    theirs, ours = passed
    assert 0 < ours <= theirs
