"""Which published scores stand next to a run's, and what is said to differ."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import scored
from tests.results.test_derived import DECLARED

from afrieval._util.errors import UserError
from afrieval.analysis.published import check_published, differing, published_for
from afrieval.analysis.subgroups import ScoreTree, trees
from afrieval.results.cell_scores import CellScores, Labels
from afrieval.results.derived import with_groups
from afrieval.tasks.declaration.known_facts import published_scores

LLAMA, PHI = published_scores("mmlu")["Llama-3-8B"], published_scores("mmlu")["Phi-3-3.8B-4K"]


def cell(**changes: Any) -> CellScores:
    fields = with_groups({"subject": Labels(np.array([0, 1]), ("maths", "music"))}, DECLARED, None)
    given = {"task": "mmlu", "language": "eng", "shots": 5, "answer_form": "letter", "prompt": 1, **changes}
    return scored([1.0, 0.0], declared=DECLARED, fields=fields, **given)


def tree(**changes: Any) -> ScoreTree:
    (found,) = trees([cell(**changes)], "subject")
    return found


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("meta-llama/Meta-Llama-3-8B", ["Llama-3-8B"]),
        ("Meta-Llama-3-8B (runs/a)", ["Llama-3-8B"]),
        ("/models/Meta-Llama-3-8B/", ["Llama-3-8B"]),
        ("meta-llama/Meta-Llama-3-8B-Instruct", []),
        ("demo", []),
    ],
)
def test_a_model_has_its_own_published_scores_but_for_doubtful_ones(model: str, names: list[str]) -> None:
    assert list(published_for(tree(model=model), [])) == names


def test_others_are_shown_if_they_are_asked_for() -> None:
    found = published_for(tree(model="demo"), ["Phi-3-3.8B-4K", "Llama-3-8B-deepeval"])
    assert found["Phi-3-3.8B-4K"] is PHI and found["Llama-3-8B-deepeval"].doubt
    check_published([cell()], ["Phi-3-3.8B-4K"])
    with pytest.raises(UserError) as caught:
        check_published([cell()], ["Phi-3"])
    assert "'Phi-3'" in caught.value.message and "did you mean Phi-3" in caught.value.hint
    with pytest.raises(UserError, match="--published"):
        check_published([scored([1.0])], ["Phi-3"])


def test_another_metric_and_another_task_have_none() -> None:
    assert published_for(tree(of="acc_norm"), ["Llama-3-8B"]) == {}
    assert published_for(tree(task="afrimmlu"), ["Llama-3-8B"]) == {}


def test_what_differs_is_named() -> None:
    as_published = replace(LLAMA, n=2)
    assert differing(tree(), as_published) == []
    other = tree(shots=0, answer_form="generate", prompt=2, recorded_settings={"chat_template": True})
    assert differing(other, LLAMA) == [
        "0-shot", "answers by generate", "prompt 2", "a chat template", "2 of 14,042 questions",
    ]  # fmt: skip
    assert differing(tree(shots=3, answer_form="generate"), published_scores("mmlu")["Llama-3-8B-deepeval"]) == []


def test_options_of_the_extractor_that_differ_are_named() -> None:
    scores = replace(published_scores("mmlu")["Llama-3-8B"], extract={"lone": True, "guess": True})
    known = tree()
    other = [replace(c, declared={**c.declared, "extract": {"lone": True, "bare": True}}) for c in known.cells]
    words = differing(replace(known, cells=other), scores)
    assert {"without guess", "with bare"} <= {*words} and not {"with lone", "without lone"} & {*words}


def test_scores_of_groups() -> None:
    assert LLAMA.score({}) == 0.65 and LLAMA.score({"category": "STEM"}) == 0.558
    assert LLAMA.score({"category": "STEM", "subcategory": "math"}) == 0.444
    assert published_scores("mmlu")["Llama-2-7B"].score({"subcategory": "math"}) is None
