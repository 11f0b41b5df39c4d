"""Citations are those of the task files; sentences on the method name what a reader needs to repeat it."""

import numpy as np
import pytest
from tests.analysis.cells import scored

from afrieval.report.citing import bibtex, method, references
from afrieval.tasks.declaration.spec import load_task, task_names


def test_authors_title_year_and_place_are_told_apart() -> None:
    citation = "Adelani et al. 2024, SIB-200: A Simple, Inclusive, and Big Dataset, EACL 2024, arXiv:2309.07445"
    assert bibtex(citation) == "\n".join(
        [
            "@misc{adelani2024sib200,",
            "  author = {Adelani and others},",
            "  title = {{SIB-200: A Simple, Inclusive, and Big Dataset}},",
            "  year = {2024},",
            "  eprint = {2309.07445},",
            "  archiveprefix = {arXiv},",
            "  howpublished = {EACL 2024},",
            "}",
        ]
    )


@pytest.mark.parametrize(
    ("citation", "line"),
    [
        ("Federmann, Kocmi and Xin 2022, NTREX, ACL 2022.sumeval-1.4", "author = {Federmann and Kocmi and Xin}"),
        ("NLLB Team et al. 2022, No Language, arXiv:1", "author = {{NLLB Team} and others}"),
        ("Rein et al. 2023, Q&A_1 100% #, arXiv:1", r"title = {{Q\&A\_1 100\% \#}}"),
        ("Clark et al. 2020, TyDi QA: A Benchmark, TACL, arXiv:1", "title = {{TyDi QA: A Benchmark}}"),
    ],
)
def test_names_and_signs(citation: str, line: str) -> None:
    assert line in bibtex(citation)


@pytest.mark.parametrize("citation", ["", "a web page", "A 2024, One, x; a web page"])
def test_what_is_no_citation_has_no_bibtex(citation: str) -> None:
    assert bibtex(citation) == ""


def test_several_citations_are_as_many_entries() -> None:
    first, second = bibtex("A 2024, One, x; B et al. 2021, arXiv:2103.00001").split("\n\n")
    assert first == bibtex("A 2024, One, x") and second.startswith("@misc{b2021,\n  author = {B and others},\n  year")
    assert "eprint = {2103.00001}" in second and "title" not in second


def test_all_tasks_have_bibtex_with_a_title_of_several_words() -> None:
    citations = {load_task(name).citation for name in task_names()}
    found = {citation: bibtex(citation) for citation in citations}
    assert all(found.values())
    titles = [line for of in found.values() for line in of.splitlines() if line.startswith("  title")]
    assert all(len(title.split()) > 4 for title in titles)
    keys = [entry.splitlines()[0] for entry in {entry for of in found.values() for entry in of.split("\n\n")}]
    assert len(set(keys)) == len(keys)


def test_tasks_with_one_publication_are_together_and_unknown_ones_apart() -> None:
    found = references(["afrixnli", "afrimmlu", "afrixnli (lm_eval)", "afrixnli_translate", "x", "afrixnli"])
    assert [[one.title for one in benchmarks] for benchmarks in found.values()] == [["AfriXNLI", "AfriMMLU"], ["x"]]
    (irokobench, (afrixnli, _)), (unknown, _) = found.items()
    assert afrixnli.tasks == ["afrixnli", "afrixnli (lm_eval)", "afrixnli_translate"]
    assert "IrokoBench" in irokobench and unknown == bibtex(unknown) == ""


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
