"""The prompts of the paper: cleaned, corrected as declared, refused where they cannot be."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from tests.conftest import PAPERS, spec_of
from tests.tasks import contract, contract_files
from tests.tasks.contract import Case, Complaints
from tests.tasks.test_contract import documents, languages, prompt_files

from afrieval._util.errors import UserError
from afrieval.config.settings import TaskConfig
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import Correction, PaperPromptSpec, PaperSpec
from afrieval.tasks.declaration.spec import TaskSpec, load_task, translated
from afrieval.tasks.prompts.paper import chosen_paper_prompts, harness_file, left_out_of_paper, paper_prompts
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, render

# Languages for which the harness has no prompts, by task.
LACKING = {"belebele": {"nso"}, "sib200": {"arb", "knc_Arab", "nqo", "taq_Tfng", "tsn"}}
ITEM = Document(
    0,
    {"subject": "s", "question": "Which?", "passage": "p", "premise": "It rains.", "hypothesis": "It is wet."},
    ("a", "b", "c", "d"),
    0,
)


def wanted(**chosen: object) -> TaskConfig:
    return replace(TaskConfig(prompt_set="paper"), **chosen)  # type: ignore[arg-type]


def declared(spec: TaskSpec, number: int, prompt: PaperPromptSpec) -> TaskSpec:
    assert spec.paper
    return replace(spec, paper=replace(spec.paper, prompts={**spec.paper.prompts, number: prompt}))


@pytest.mark.parametrize("task", PAPERS)
def test_every_language_has_all_prompts(task: str) -> None:
    spec = spec_of(task)
    assert spec.paper
    lacking = {code for code in spec.languages if set(prompts(task, code)) != set(spec.paper.prompts)}
    assert lacking == LACKING.get(task, set())


def test_the_first_prompt_of_afrimmlu_is_the_one_that_the_suite_has() -> None:
    spec = load_task("afrimmlu")
    ours, theirs = load_prompts(spec, "eng")[1], paper_prompts(spec, "yor")[1]
    assert render(theirs, ITEM, "yor") == render(ours, ITEM, "yor")
    assert (ours.id, theirs.id) == (1, "paper1")


def test_swapped_labels_of_afrixnli_are_swapped_back() -> None:
    """The harness scores `false` for neutral sentences in prompt 5 alone."""
    spec = load_task("afrixnli")
    assert paper_prompts(spec, "yor", uncleaned=True)[5].labels["neutral"] == "false"
    cleaned = paper_prompts(spec, "yor")
    assert cleaned[5].labels == {"entailment": "true", "neutral": "inconclusive", "contradiction": "false"}
    assert cleaned[2].labels == {"entailment": "True", "neutral": "Neither", "contradiction": "False"}


@pytest.mark.parametrize("number", [1, 3])
def test_sentences_of_afrimmlu_are_in_one_line(number: int) -> None:
    spec = load_task("afrimmlu")
    first = render(paper_prompts(spec, "yor")[number], ITEM, "yor").partition("\n\nQuestion:")[0]
    assert all(line.startswith(("You", "Utilizing")) for line in first.split("\n\n")) and "\n" not in first[-60:]


def test_prompts_name_the_language_of_their_texts() -> None:
    """Those of the harness for translated test sets say that English texts are in the other language."""
    spec = load_task("afrixnli")
    assert "in Yoruba" in paper_prompts(spec, "yor")[3].template
    direct, translation = (chosen_paper_prompts(s, wanted(), "yor")[2] for s in (spec, translated(spec)))
    assert "in Yoruba" in direct.template and "in English" in translation.template
    with pytest.raises(UserError, match=r"task.uncleaned is not supported for translated test sets"):
        chosen_paper_prompts(translated(spec), wanted(uncleaned=True), "yor")


def test_hashes_differ_by_language_and_cleaning() -> None:
    spec = load_task("afrixnli")
    hashes = {paper_prompts(spec, code, as_is)[3].hash for code in ("yor", "hau") for as_is in (True, False)}
    assert len(hashes) == 4


def test_a_correction_that_changes_nothing_is_an_error() -> None:
    """The installed harness has another text then."""
    spec = load_task("afrixnli")
    of_text = PaperPromptSpec([Correction("spelling", replace={"no such words": "others"})])
    with pytest.raises(UserError, match=r"prompt_4.afrixnli_yor.yaml.*spelling: the text has no 'no such words'"):
        paper_prompts(declared(spec, 4, of_text), "yor")
    of_label = PaperPromptSpec([Correction("label", labels={"neutral": "neutral"})])
    with pytest.raises(UserError, match=r"label: the answer for neutral is 'neutral'"):
        paper_prompts(declared(spec, 4, of_label), "yor")
    of_nothing = PaperPromptSpec([Correction("nothing")])
    with pytest.raises(UserError, match="nothing: it has neither replace nor labels"):
        paper_prompts(declared(spec, 4, of_nothing), "yor")


def test_refused_prompts_are_left_out_and_run_uncleaned() -> None:
    spec = declared(load_task("afrixnli"), 4, PaperPromptSpec(refused="it names no label"))
    assert list(paper_prompts(spec, "yor")) == [1, 2, 3, 5]
    assert list(paper_prompts(spec, "yor", uncleaned=True)) == [1, 2, 3, 4, 5]
    assert left_out_of_paper(spec, wanted(), ["nso"]) == [
        "afrixnli: no prompts of IrokoBench for nso",
        "afrixnli: prompt 4 of IrokoBench, it names no label",
    ]
    assert left_out_of_paper(spec, wanted(uncleaned=True), []) == []
    with pytest.raises(UserError, match="prompt 4 of IrokoBench is not supported for afrixnli: it names no label"):
        chosen_paper_prompts(spec, wanted(prompts=[1, 4]), "yor")
    assert [p.id for p in chosen_paper_prompts(spec, wanted(prompts=[4], uncleaned=True), "yor")] == [
        "paper4_uncleaned"
    ]


def test_wrong_numbers_languages_and_tasks_are_errors() -> None:
    spec = load_task("belebele")
    with pytest.raises(UserError, match=r"belebele has no prompt 6 of AfroBench"):
        chosen_paper_prompts(spec, wanted(prompts=[6]), "yor")
    with pytest.raises(UserError, match=r"AfroBench has no prompts of belebele for nso"):
        chosen_paper_prompts(spec, wanted(languages=["nso"]), "nso")
    with pytest.raises(UserError, match=r"belebele has no prompts of a paper"):
        chosen_paper_prompts(replace(spec, paper=None), wanted(), "yor")


def test_a_path_out_of_the_harness_is_refused() -> None:
    """Its Python code would be run."""
    spec = load_task("afrixnli")
    outside = replace(spec, paper=PaperSpec("Other", "../../../{language}.yaml", {1: PaperPromptSpec()}))
    with pytest.raises(UserError, match="leads out of the harness"):
        harness_file(outside, "yor", 1)


def test_a_file_that_is_no_task_is_refused() -> None:
    spec = load_task("afrixnli")
    other = replace(spec, paper=PaperSpec("Other", "afrimmlu/direct/prompt_{number}/afrimmlu_direct_{language}.yaml",
                                          {1: PaperPromptSpec()}))  # fmt: skip
    with pytest.raises(UserError, match="cannot be read as a prompt of afrixnli"):
        paper_prompts(other, "yor")


# What is left as the paper has it: (check, task, number) to the part of the complaint that is expected.
KEPT = {
    ("uses_every_field", "afrimmlu", 4): "subject",  # the prompt speaks of "the subject matter" only
    ("names_what_is_scored", "naijarc", 3): "choices are headed by ['Option A: ', ",
    ("names_what_is_scored", "belebele", 3): "choices are headed by ['Option A: ', ",  # the letters follow a word
    ("names_what_is_scored", "mmmlu", 3): "choices are headed by ['Option A: ', ",
    # the choices are scored and not shown
    ("uses_every_field", "global_piqa", 1): "choice",
    ("names_what_is_scored", "global_piqa", 1): "scored",
    ("uses_every_field", "xstorycloze", 1): "choice",
    ("names_what_is_scored", "xstorycloze", 1): "scored",
    **{("labels_differ", "injongo_intent", n): "label time 'time' and label timezone" for n in range(1, 6)},
}


@cache
def prompts(task: str, language: str) -> dict[int, Prompt]:
    return paper_prompts(spec_of(task), language)


def cases(task: str, language: str = "yor", source: str = "samples") -> list[Case]:
    rows = documents(task, language, source)[: 2 * contract.FIRST]
    return [Case(spec_of(task), p, language, rows, prompt_files(task)) for p in prompts(task, language).values()]


def check(of: Callable[[Case], Complaints], each: Case) -> None:
    kept = KEPT.get((of.__name__, each.spec.name, each.prompt.number))
    complaints = of(each)
    assert bool(kept) <= bool(complaints), f"{each.at()} is no longer an exception"
    if unexpected := [c for c in complaints if not kept or kept not in c]:
        pytest.fail("\n".join(unexpected[:5]), pytrace=False)


def labels_differ(each: Case) -> Complaints:
    return contract.labels_differ(each, prompts(each.spec.name, each.language))


CHECKS = (contract.renders, contract.uses_every_field, contract.tells_documents_apart, contract.names_what_is_scored)


@pytest.mark.parametrize("source", ["samples", pytest.param("first", marks=pytest.mark.data)])
@pytest.mark.parametrize("task", PAPERS)
def test_prompts_of_the_paper_keep_the_contract(task: str, source: str) -> None:
    on_samples = source == "samples"
    there = [code for code in spec_of(task).languages if prompts(task, code)]
    there = there if on_samples else [code for code in there if code in languages(task, source)]
    for language in there:
        shown = cases(task, language, source)
        for each in shown if on_samples or language == there[0] else shown[:1]:  # all are asked of samples
            for of in (*CHECKS, contract.clean) if on_samples else CHECKS:
                check(of, each)


@pytest.mark.parametrize("task", PAPERS)
def test_examples_look_as_they_are_scored_and_labels_differ(task: str) -> None:
    for each in cases(task):
        check(contract.answers_look_scored, each)
        check(contract.few_shot_prompts_look_scored, each)
        check(labels_differ, each)
        if each.spec.kind == "number":  # a model is stopped where it begins another question
            check(contract_files.has_a_question_label, each)
    texts = [each.prompt.template for each in cases(task)]
    assert len(set(texts)) == len(texts)
