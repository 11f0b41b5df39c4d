"""Sentences on the method name what a reader needs to repeat it."""

import numpy as np
from tests.analysis.cells import scored

from afrieval.report.citing import method


def test_models_programs_tasks_prompts_and_documents_are_named() -> None:
    declared = {"title": "AfriXNLI", "unreviewed": {"yor": True, "hau": False}}
    may = {"versions": {"afrieval": "0.1.0", "torch": "2.13", "python": "3.11"}}
    cells = [
        scored(
            [1, 0],
            language=language,
            prompt_language=written,
            prompt=prompt,
            declared=declared,
            recorded_settings=may,
            model=model,
        )
        for model in ("a", "b")
        for language in ("yor", "hau")
        for written in ("eng", "native")
        for prompt in (1, 2)
    ]
    first, of_task, intervals = method(cells)
    assert first == "We evaluated a and b with afrieval 0.1.0 and torch 2.13."
    assert of_task == (
        "AfriXNLI (task afrixnli, version 1) is scored by accuracy, choosing the answer whose text is the most likely, "
        "0-shot, with prompts 1-2 in English and prompts 1-2 in the language evaluated, on 2 documents in each of 2 "
        "languages: Hausa and Yoruba. The native prompts in Yoruba are machine-written, and not yet reviewed by two "
        "speakers."
    )
    assert "95% confidence intervals" in intervals


def test_one_language_and_generated_answers() -> None:
    _, of_task, _ = method([scored([1, 0], answer_form="generate", shots=5, prompt="paper3")])
    assert of_task == (
        "afrixnli (task afrixnli, version 1) is scored by accuracy, with generated answers, 5-shot, with prompt paper3 "
        "in English, on 2 documents in Yoruba."
    )


def test_measured_texts_are_not_answers() -> None:
    _, of_task, _ = method([scored([1, 0], n_choices=np.zeros(2, dtype=np.int64))])
    assert "from the likelihood of texts" in of_task


def test_sources_of_likelihoods_are_named() -> None:
    cells = [
        scored([1, 0], model=model, recorded_settings={"likelihoods": source})
        for model, source in (("a", "the tree engine"), ("b", "vLLM"), ("c", None), ("d", "vLLM"))
    ]
    assert "Likelihoods are from the tree engine and vLLM." in method(cells)


def test_no_runs_of_ours_have_no_method() -> None:
    assert method([]) == []
