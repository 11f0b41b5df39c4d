"""The published scores of the Llama tasks are well formed, and some are what their sources print."""

from pathlib import Path
from typing import Any

import pytest
import yaml

FILE = Path(__file__).parents[2] / "tasks" / "llama" / "published.yaml"
INSTRUCT = {"meta_mmlu_pro_instruct", "meta_gpqa_cot", "meta_gpqa", "meta_mmlu_instruct"}
INSTRUCT |= {"meta_math_hard", "meta_math", "meta_ifeval"}
PRETRAIN = {"meta_bbh", "meta_mmlu_pro_pretrain", "meta_mmlu"}
SIZES = ("3.1-8B", "3.1-70B", "3.1-405B", "3.2-1B", "3.2-3B")
MODELS = {f"Llama-{size}{kind}" for size in SIZES for kind in ("", "-Instruct")}

RECIPE, CARD = "llama-cookbook README before 2024-10-01", "model card of Llama 3.1"
PRINTED = [  # model, task, source, (score, average) of each entry, as the source prints them
    ("3.1-8B-Instruct", "meta_math_hard", RECIPE, [(25.4, "micro"), (24.24, "micro")]),
    ("3.1-70B-Instruct", "meta_gpqa_cot", RECIPE, [(46.7, "micro"), (47.99, "micro")]),
    ("3.1-8B-Instruct", "meta_ifeval", RECIPE, [(80.4, "micro"), (77.82, "micro")]),
    ("3.1-70B", "meta_bbh", RECIPE, [(81.6, "micro"), (81.91, "micro")]),
    ("3.1-8B-Instruct", "meta_mmlu_pro_instruct", CARD, [(48.3, "macro")]),
    ("3.1-405B", "meta_mmlu_pro_pretrain", CARD, [(61.6, "macro")]),
    ("3.1-70B", "meta_mmlu", "eval_details.md of Llama 3.1", [(79.0, "micro")]),
    ("3.2-1B", "meta_mmlu", "llama-cookbook pull request 801", [(31.46, "micro")]),
    ("3.2-3B-Instruct", "meta_mmlu_instruct", "llama-cookbook pull request 862", [(63.68, "micro")]),
    ("3.2-1B-Instruct", "meta_gpqa", "tt-inference-server issue 139", [(27.01, "micro")]),
]


@pytest.fixture(scope="module")
def published() -> dict[str, dict[str, list[dict[str, Any]]]]:
    scores: dict[str, dict[str, list[dict[str, Any]]]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return scores


def test_each_model_has_scores_of_tasks_of_its_kind(published: dict[str, Any]) -> None:
    assert set(published) == MODELS
    for model, tasks in published.items():
        assert set(tasks) and set(tasks) <= (INSTRUCT if model.endswith("-Instruct") else PRETRAIN), model


def test_all_ten_tasks_have_scores(published: dict[str, Any]) -> None:
    assert {task for tasks in published.values() for task in tasks} == INSTRUCT | PRETRAIN


def test_each_score_is_in_percent_and_says_where_it_is_from(published: dict[str, Any]) -> None:
    for model, tasks in published.items():
        for task, entries in tasks.items():
            assert entries and len({tuple(entry.items()) for entry in entries}) == len(entries), (model, task)
            for entry in entries:
                assert set(entry) == {"score", "average", "setting", "source"}, (model, task)
                assert 1 < entry["score"] <= 100 and isinstance(entry["score"], float), "not a fraction of 1"
                assert entry["average"] in ("micro", "macro", None)
                assert entry["setting"] and entry["source"]


def test_each_score_of_ifeval_says_of_which_accuracies(published: dict[str, Any]) -> None:
    entries = [entry for tasks in published.values() for entry in tasks.get("meta_ifeval", [])]
    assert len(entries) == 9
    for entry in entries:
        accuracies = "mean of the four accuracies" if "Meta's own" in entry["setting"] else "the two strict accuracies"
        assert accuracies in entry["setting"]


@pytest.mark.parametrize(("model", "task", "source", "scores"), PRINTED)
def test_scores_as_printed(
    published: dict[str, Any], model: str, task: str, source: str, scores: list[tuple[float, str]]
) -> None:
    entries = published[f"Llama-{model}"][task]
    assert [(e["score"], e["average"]) for e in entries if e["source"] == source] == scores
