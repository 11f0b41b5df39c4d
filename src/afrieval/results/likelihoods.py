"""Where a run's likelihoods come from: they differ a little from one way to another."""

from typing import Any

from afrieval.results.schema import RunRecord

BACKENDS = {"vllm": "vLLM", "recorded": "the answer file"}


def source_of_likelihoods(record: RunRecord) -> str:
    """Returns what computed likelihoods, as run.yaml says: all engines that visits used, or a backend."""
    model: dict[str, Any] = dict(record["identity"]["model"])
    kind = model.get("model_type", "hf")
    if kind == "hf":
        engines = dict.fromkeys(dict(visit).get("engine") for visit in record["visits"])
        return " and ".join(f"the {engine} engine" for engine in engines if engine)
    if kind == "openai":
        echoes = model.get("api", {}).get("endpoint") == "completions"
        return "prompts that the server repeats" if echoes else "the most likely first tokens that the server states"
    return BACKENDS.get(kind, f"the backend {kind}")
