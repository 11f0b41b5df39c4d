"""The data, prompts and settings of a run of lm_eval, and the declaration of an exported task."""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from afrieval.harness.folder_files import ForeignTask
from afrieval.harness.folder_names import Named
from afrieval.results.schema import Declared
from afrieval.tasks.spec import load_task

ADDRESS = re.compile(r"0x[0-9a-f]+")  # of a function that the harness could not write out
Sample = dict[str, Any]


def must(task: ForeignTask, samples: list[Sample]) -> dict[str, object]:
    """Returns the settings that must match, by the names that our runs have for them.

    The template of exported tasks is told as a function, the same for all prompts: their version has to stand for it.
    """
    config, shots = task.told("configs"), task.told("n-shot")
    prompt = ADDRESS.sub("", "\0".join(str(config.get(key)) for key in ("doc_to_text", "description")))
    return {
        "task version": task.told("versions"),
        "data": digest(s["doc_hash"] for s in samples),
        "few-shot seed": (task.results.get("config") or {}).get("fewshot_seed") if shots else None,
        "prompt text": digest([prompt]),
        "limit of answers": (config.get("generation_kwargs") or {}).get("max_gen_toks"),
    }


def may(task: ForeignTask) -> dict[str, object]:
    """Returns the settings that may differ, by the names that our runs have for them."""
    config, results = task.results.get("config") or {}, task.results
    return {
        "dtype": config.get("model_dtype"),
        "device": config.get("device"),
        "batch_size": int(batch) if (batch := str(config.get("batch_size"))).isdecimal() else batch,
        "versions": {"lm-eval": results.get("lm_eval_version"), "transformers": results.get("transformers_version")},
        "limit": config.get("limit"),
        "gen_kwargs": config.get("gen_kwargs") or None,
        "chat template": results.get("chat_template_sha"),
        "system text": results.get("system_instruction_sha"),
    }


def declared(name: Named) -> Declared:
    """Returns the declaration of our task, without labels, as the harness does not store picked choices."""
    spec = load_task(name.task.removesuffix("_translate"))
    translated = spec.name != name.task
    parallel = [] if translated else spec.parallel.get(spec.data.evaluate, [])
    return {"title": spec.title, "labels": [], "breakdowns": spec.breakdowns, "parallel": parallel}


def digest(texts: Iterable[str]) -> str:
    """Returns a hash of texts, in order."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
