"""Evaluates tasks of lm_eval with its own model `hf` and with `hf-tree`, and says where the two differ."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from lm_eval.models.huggingface import HFLM
from tests.models.engine.lm_eval_rows import FACTS
from tests.models.engine.lm_eval_tasks import task
from tests.models.shapes import decoder, encoder_decoder
from tests.models.trained import byte_pairs

from afrieval.models.engine.__main__ import NAME, register

SCORES = ("results", "higher_is_better", "n-shot", "n-samples", "versions", "configs")
MOST = 8  # tokens of an answer, where a task does not say
TURNS = "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant]"
EXACT, CLOSE = 1e-6, 1e-4  # of a likelihood, and of what is computed from it


def saved(folder: Path, kind: str = "llama", length: int = 4096) -> Path:
    """Writes a random model, whose tokenizer merges letters, and returns its folder."""
    said = [text for f in FACTS for text in (f.passage, f.question, f.english, *f.options)]
    tokenizer = byte_pairs([*said, "Question: Answer: Choices: category entailment"])
    tokenizer.chat_template = TURNS
    tokenizer.save_pretrained(folder)
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer)}
    model = encoder_decoder(kind, **sizes) if "T5" in kind else decoder(kind, **sizes, max_position_embeddings=length)
    model.save_pretrained(folder)
    return folder


def evaluated(model: Any, folder: Path, paths: Sequence[str], rows: int = 3, **options: Any) -> dict[str, Any]:
    """Returns what lm_eval says of a folder, by the name of a kind of model, or of a model that is loaded.

    Options are those of `simple_evaluate`; `changed` are settings of the tasks.
    """
    from lm_eval import evaluator
    from lm_eval.tasks import TaskManager

    register()
    arguments = {"pretrained": str(folder), "device": "cpu", "dtype": "float32"} | options.pop("model_args", {})
    changed = options.pop("changed", {})
    given = {"num_fewshot": 0, "batch_size": 4, "bootstrap_iters": 0, "gen_kwargs": {"max_gen_toks": MOST}} | options
    index, tasks = TaskManager(include_defaults=False), [task(path, rows, **changed) for path in paths]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "add_env_info", lambda results: None)  # which asks pip what is installed
        patch.setattr(HFLM, "max_gen_toks", MOST)
        return dict(evaluator.simple_evaluate(model, arguments, tasks=tasks, task_manager=index, **given) or {})


def both(folder: Path, paths: Sequence[str], **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns what `hf` and what `hf-tree` gives, which must not fall back to lm_eval's own way."""
    theirs = evaluated("hf", folder, paths, **options)
    engine = {"model_args": options.pop("model_args", {}) | {"engine": "tree"}}
    return theirs, evaluated(NAME, folder, paths, **options, **engine)


def differences(theirs: Any, ours: Any, near: float = EXACT, at: str = "") -> Iterator[str]:
    """Yields where two results differ by more than rounding."""
    if isinstance(theirs, dict):
        if [*theirs] != [*ours]:
            yield f"{at}: {[*theirs]} != {[*ours]}"
        for key in theirs.keys() & ours.keys():
            yield from differences(theirs[key], ours[key], near, f"{at}/{key}")
    elif isinstance(theirs, list | tuple):
        if (type(theirs), len(theirs)) != (type(ours), len(ours)):
            yield f"{at}: {theirs} != {ours}"
        for i, pair in enumerate(zip(theirs, ours, strict=False)):
            yield from differences(*pair, near, f"{at}/{i}")
    elif isinstance(theirs, float) and isinstance(ours, float):
        if str(theirs) != str(ours) and not math.isclose(theirs, ours, rel_tol=near, abs_tol=CLOSE):
            yield f"{at}: {theirs} != {ours}"
    elif theirs != ours and repr(theirs) != repr(ours):  # a partial function equals itself only
        yield f"{at}: {theirs!r} != {ours!r}"


def apart(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Returns where requests, answers, samples or scores are not the same."""
    found = [*differences(theirs["samples"], ours["samples"])]
    return found + [text for name in SCORES for text in differences(theirs[name], ours[name], CLOSE, name)]
