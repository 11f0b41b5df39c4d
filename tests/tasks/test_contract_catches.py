"""The contract's checks fail where they must: faults that were found in published task definitions, and their like."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.tasks import contract
from tests.tasks import contract_files as files
from tests.tasks.contract import Case, Complaints

from afrieval.tasks.cells import harness_tasks as build
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import TASKS, TaskSpec, load_task
from afrieval.tasks.prompts.prompts import Prompt, PromptFiles, load_prompts, render

Rows = list[dict[str, Any]]

MMLU, NLI, BELEBELE = load_task("afrimmlu"), load_task("afrixnli"), load_task("belebele")
DIRECT, WORKED, SENTIMENT = load_task("afrimgsm"), load_task("afrimgsm_cot"), load_task("afrisenti")


def a_case(spec: TaskSpec, number: int = 1, file: str = "eng", **changes: Any) -> Case:
    prompt = load_prompts(spec, file)[number]
    rows = contract.flat(contract.sample_splits(spec, file))
    return Case(spec, replace(prompt, **changes), file, rows)


def with_template(case: Case, old: str, new: str) -> Case:
    assert old in case.prompt.template
    return replace(case, prompt=replace(case.prompt, template=case.prompt.template.replace(old, new)))


def eng(spec: TaskSpec) -> dict[int, Prompt]:
    return load_prompts(spec, "eng")


def caught(complaints: Complaints, *words: str) -> bool:
    return any(all(word in complaint for word in words) for complaint in complaints)


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], Path]:
    """Returns a function that copies a task's folder to where it may be broken."""
    return lambda task: Path(shutil.copytree(TASKS / task, tmp_path / task))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def edit_rows(path: Path, change: Callable[[Rows], Rows]) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in change(rows)), encoding="utf-8")


Check = Callable[..., Complaints]


def complaints_of(check: Check, case: Case) -> Complaints:
    """What a check says of a case; some also get the English prompts, or those of the file."""
    return check(case, *[eng(case.spec)] * (len(signature(check).parameters) - 1))


def changed(at: tuple[Any, ...], change: tuple[str, str] | dict[str, Any]) -> Case:
    """A case with another text in its template, other words for some labels, or another value of a field."""
    case = a_case(*at)
    if isinstance(change, tuple):
        return with_template(case, *change)
    labels = {**case.prompt.labels, **change.get("labels", {})}
    return replace(case, prompt=replace(case.prompt, **(change | {"labels": labels})))


FEWER = ("choices | lettered", "choices[:3] | lettered")
NUMBERED = ('{{ choices | lettered(": ") }}', "{% for c in choices %}{{ loop.index }}: {{ c }}\n{% endfor %}")
CAPITALISED = ("{{ labels.neutral }}", "{{ labels.neutral | capitalize }}")
CAUGHT: list[tuple[Check, tuple[Any, ...], tuple[str, str] | dict[str, Any], str]] = [
    (contract.renders, (NLI,), ("{{ premise }}", "{{ premisse }}"), "premisse"),
    # a constant word in the place of a field, a field that is cut or changed, and a choice or subject left out
    (contract.uses_every_field, (MMLU,), ("{{ question }}", "question"), "does not use 'question'"),
    (contract.uses_every_field, (MMLU,), ("{{ question }}", "{{ question[:60] }}"), "change of question"),
    (contract.uses_every_field, (MMLU,), ("{{ question }}", "{{ question | lower }}"), "lacks or changes question"),
    (contract.uses_every_field, (MMLU,), FEWER, "choice 3"),
    (contract.uses_every_field, (MMLU,), ("{{ subject }}", "x"), "does not use 'subject'"),
    # labels and letters that are scored and not shown, or shown and not scored
    (contract.names_what_is_scored, (MMLU,), FEWER, "are scored"),
    (contract.names_what_is_scored, (NLI, 6), ('(": ")', '(": ") | lower'), "are scored"),
    (contract.names_what_is_scored, (NLI, 6), ("(A, B, or C)", "(A, B, C, or D)"), "are scored"),
    (contract.names_what_is_scored, (NLI, 3), ("{{ labels.neutral }}", "Neither"), "'Not known' is scored"),
    (contract.names_what_is_scored, (NLI, 4), CAPITALISED, "'neutral' is scored"),
    (contract.names_what_is_scored, (MMLU,), NUMBERED, "headed by ['1', '2', '3', '4'], but ['A', 'B', 'C', 'D']"),
    (contract.names_what_is_scored, (MMLU,), ("Answer:", "Answer with A, B or C:"), "['B', 'C']"),
    (contract.names_nothing_else, (NLI, 3), ("{{ labels.neutral }}", "Neither"), "'Neither' of prompt 1"),
    (contract.names_nothing_else, (NLI, 3), {"system": "Reply with Yes, No or Unknown only."}, "'Unknown' of prompt 2"),
    (
        contract.labels_differ,
        (NLI, 3),
        {"labels": {"neutral": "False", "contradiction": "Not known"}},
        "'False' is neutral, but contradiction in prompt 1",
    ),
    (contract.labels_differ, (NLI, 2), {"labels": {"neutral": "not known"}}, "begin alike"),
    # unclean texts
    (contract.clean, (MMLU,), ("Answer:", "Answer: "), "line's end"),
    (contract.clean, (MMLU,), ("Question:", "    Question:"), "leading blank"),
    (contract.clean, (MMLU,), ("Question: ", "Question:  "), "run of blanks"),
    (contract.clean, (MMLU,), ("Question: {{ question }}\n", "Question: {{ question }}\n\n"), "two empty lines"),
    (contract.clean, (MMLU,), ("Answer:", "\nAnswer:\n\n"), "empty line at an end"),
    (contract.clean, (MMLU,), ("Question: ", "Question:\u00a0"), "a blank that is none"),
    (contract.clean, (MMLU,), ("Answer:", "\\nAnswer:"), "backslash"),
    (contract.clean, (MMLU,), ("Question:", "Que\u0301stion:"), "NFC"),
    (contract.clean, (MMLU,), ("{{ question }}", "{{ '{{ question }}' }}"), "template code"),
    (contract.clean, (MMLU,), ("Question:", "Be brief.Question:"), "no blank follows"),
    (contract.clean, (MMLU,), ("Question:", 'Question":'), "not closed"),
    (contract.clean, (NLI,), {"labels": {"neutral": "Neither "}}, "label neutral: a blank at a line's end"),
    (contract.clean, (NLI,), {"system": "Two  blanks."}, "system text: a run of blanks"),
    (contract.clean, (MMLU, 1, "hau"), {"values": {"subject": {"x": " a"}}}, "words for x"),
    # native prompts
    (files.no_english_words, (NLI, 1, "swa"), ("Swali:", "question"), "English words"),
    (files.no_english_words, (NLI, 1, "yor"), {"labels": {"neutral": "Neither"}}, "neither"),
    (files.same_layout, (NLI, 6), {"lettered": False}, "lettered is False"),
    (files.same_layout, (MMLU, 1, "swa"), ("{{ question }}\n\n", "{{ question }}\n"), "lines are"),
    (files.same_layout, (MMLU, 1, "swa"), {"number": 7}, "no prompt 7"),
    (files.same_layout, (load_task("masakhaner"), 1, "hau"), ("Halima Yusuf", "Musa Bello"), "not PER: Halima Yusuf"),
    # one side names the language, has a system text, or tells to close with words that examples do not close with
    (files.same_layout, (SENTIMENT, 2, "hau"), (" (Hausa)", ""), "'language'"),
    (files.same_layout, (load_task("afriqa"), 2, "zul"), (" (isiZulu)", ""), "'language'"),
    (files.same_layout, (SENTIMENT, 1, "por"), ("Texto:", "Texto em português:"), "'language'"),
    (files.same_system, (load_task("flores_from_eng"), 1, "wol"), {"system": ""}, "no system text"),
    (files.closing_words_are_the_languages, (WORKED, 2), ("{{ answer_is }}", "The answer is"), "all languages"),
    (files.closing_words_are_the_languages, (WORKED, 1), {"system": 'End with "The answer is".'}, "all languages"),
    (files.asks, (NLI, 3), ("Question: If sentence 1 is true, is sentence 2 also true?\n", ""), "asks nothing"),
    (files.asks, (load_task("masakhaner"), 3), ("Write each", "Each"), "asks nothing"),
    (files.right_script, (MMLU, 1, "amh"), ("መልስ", "Amsa"), "not in"),
    (files.right_script, (MMLU, 1, "swa"), ("Swali", "Sw\u0430li"), "not in"),
    # a model without chat template could not be stopped at its next question, whose last number would be read
    (files.has_a_question_label, (DIRECT,), ("Question: {{ question }}", "{{ question }}"), "no words stand"),
    (files.lead_ins_are_read, (WORKED, 2, "yor"), {"lead_ins": ()}, "no lead_in"),
    (files.lead_in_is_named, (WORKED, 2, "yor"), {"lead_ins": ("The answer is",)}, "asks for other words"),
]


@pytest.mark.parametrize(("check", "at", "change", "words"), CAUGHT)
def test_a_fault_is_caught(
    check: Check, at: tuple[Any, ...], change: tuple[str, str] | dict[str, Any], words: str
) -> None:
    complaints = complaints_of(check, changed(at, change))
    assert caught(complaints, words), complaints


@pytest.mark.parametrize(
    ("check", "at", "change"),
    [
        (contract.uses_every_field, (load_task("mmlu"), 2), {}),  # subjects form groups: a prompt may leave them out
        (contract.names_what_is_scored, (NLI, 6), {}),
        (contract.names_what_is_scored, (MMLU,), ("Answer:", "Answer with A, B, C or D:")),
        # a loan word and letters may be of any script
        (files.right_script, (MMLU, 1, "amh"), ("መልስ", "መልስ (AI) A, B")),
    ],
)
def test_no_fault_is_none(check: Check, at: tuple[Any, ...], change: tuple[str, str] | dict[str, Any]) -> None:
    assert complaints_of(check, changed(at, change)) == []


@pytest.mark.parametrize(
    ("name", "native", "english"),
    [
        ("sib200/1/template", "{{ words.passage }}: {{ text }}\n{{ words.topic }}:", "Text: {{ text }}\nTopic:"),
        ("t/1/template", "{{ words.text }}: {{ text }}\n{{ words.answer }}:", "Text: {{ text }}\nTopic:"),
        ("t/2/template", "{{ words.text }} ({{ languages.hau }}): {{ text }}", "{{ language }} review: {{ text }}"),
        ("t/3/template", "{{ words.text }} : {{ text }}", "Texts: {{ text }}"),
        ("t/1/labels/neutral", "{{ words.neither }}", "Not known"),
    ],
)
def test_a_heading_or_label_that_says_something_else(name: str, native: str, english: str) -> None:
    assert len(files.says_what_english_says("t", {name: native}, {name: english})) == 1


def test_english_prompts_name_the_words_that_the_rows_close_with() -> None:
    prompt = eng(WORKED)[2]
    shown = {code: render(prompt, Document(0, {"question": "?"}, (), 6), code) for code in ("eng", "hau", "amh")}
    words = {"eng": "The answer is", "hau": "Amsar ita ce", "amh": "መልሱ ... ነው"}
    assert [f'"{words[code]}"' in text for code, text in shown.items()] == [True] * 3


def test_same_prompt_for_different_documents() -> None:
    case = with_template(a_case(NLI), "{{ premise }}", "")
    first = case.documents[0]
    other = replace(first, id=9, fields={**first.fields, "premise": "Another."})
    assert caught(contract.tells_documents_apart(replace(case, documents=[first, other])), "document 9", "document 0")


# Few-shot examples


def test_two_blanks_before_an_examples_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.tasks.cells.questions.render", lambda *given: render(*given) + " ")
    assert caught(contract.few_shot_prompts_look_scored(a_case(MMLU)), "asked is")


def test_numbers_asked_for_where_letters_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "answers", lambda *_: ["1", "2", "3", "4"])
    assert caught(contract.few_shot_prompts_look_scored(a_case(MMLU)), "scored are [' 1'", "[' A'")


def test_an_example_with_another_answer_than_the_one_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "example_answer", lambda *_: "1")
    assert caught(contract.answers_look_scored(a_case(MMLU)), "its answer as an example is '1'")


# Documents and files


@pytest.mark.parametrize("gold", [None, 4, -1])
def test_gold_that_is_no_choice(gold: int | None) -> None:
    assert caught(files.gold_is_a_choice("here", [Document(3, {}, ("a", "b"), gold)]), "here, document 3")


def test_coding_of_the_answer_that_is_not_understood() -> None:
    rows = [Document(i, {}, ("a", "b"), None if i < 4 else 0, "no gold") for i in range(12)]
    assert caught(files.gold_is_a_choice("here", rows), "4 of 12")


def test_subject_without_words(copy: Callable[[str], Path]) -> None:
    folder = copy("afrimmlu")
    edit(folder / "prompts/swa.yaml", "    global_facts: maarifa ya jumla ya dunia\n", "")
    spec = load_task("afrimmlu", folder.parent)
    rows, prompts = contract.flat(contract.sample_splits(spec, "swa")), PromptFiles(spec)
    assert caught(files.values_have_words(spec, prompts, "swa", rows), "swa.yaml", "'global_facts'")
    assert caught(files.same_values_in_all_files(spec, prompts), "swa.yaml", "'global_facts'")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("origin: machine", "origin: human"),
        ("system:", "reviewed_by: Somebody\nsystem:"),
        ("system:", "reviewed_on: 2026-01-31\nsystem:"),
        ("system:", "reviewed_by: Somebody\nreviewed_on: yesterday\nsystem:"),
        ("origin: machine\n", ""),
        ("written_by:", "# written_by:"),
    ],
)
def test_file_that_does_not_say_who_wrote_it(copy: Callable[[str], Path], old: str, new: str) -> None:
    folder = copy("afrixnli")
    edit(folder / "prompts/zul.yaml", old, new)
    assert files.says_who_wrote_it(load_task("afrixnli", folder.parent), "zul")


def test_prompt_that_repeats_another(copy: Callable[[str], Path]) -> None:
    path = copy("afrimmlu") / "prompts/swa.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["prompts"][3] = content["prompts"][2]
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    spec = load_task("afrimmlu", path.parents[2])
    assert caught(files.prompts_differ(spec, PromptFiles(spec), "swa"), "two prompts")


def test_prompt_that_repeats_another_up_to_the_blank(copy: Callable[[str], Path]) -> None:
    path = copy("idm_winogrande") / "prompts/afr.yaml"
    edit(
        path,
        "template: |\n      {{ words.question }}: _ = ?\n",
        "template: |\n      {{ words.sentence }}: {{ sentence }}\n",
    )
    spec = load_task("idm_winogrande", path.parents[2])
    assert caught(files.prompts_differ(spec, PromptFiles(spec), "afr"), "two prompts")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda rows: rows[:11], "11 rows"),
        (lambda rows: [row for row in rows if row["label"] != 2] * 2, "gold choice C"),
        (lambda rows: [{**rows[0], "premise": ENGLISH_PREMISE}, *rows[1:]], "is English"),
    ],
)
def test_bad_samples(copy: Callable[[str], Path], change: Callable[[Rows], Rows], complaint: str) -> None:
    folder = copy("afrixnli")
    edit_rows(folder / "sample/yor.jsonl", change)
    assert caught(files.good_samples(load_task("afrixnli", folder.parent), "yor"), complaint)


ENGLISH_PREMISE = "Amina bought tomatoes and onions at the market this morning."


def test_rows_that_are_not_parallel() -> None:
    group = {file: contract.sample_splits(MMLU, file)["dev"] for file in ("eng", "swa", "yor", "zul")}
    assert files.differing_rows(MMLU, group) == {}
    swa, yor, zul = group["swa"], group["yor"], group["zul"]
    group["swa"] = [replace(swa[0], gold=0), *swa[1:]]
    group["yor"] = [*yor[:2], replace(yor[2], fields={**yor[2].fields, "subject": "international_law"}), yor[3]]
    group["zul"] = zul[:3]
    assert files.differing_rows(MMLU, group) == {"swa": {0}, "yor": {2}, "zul": {3}}


def test_rows_with_a_key_are_parallel_in_any_order_and_each_has_its_own() -> None:
    group = {file: contract.sample_splits(BELEBELE, file)["test"] for file in ("eng", "swa", "yor", "zul")}
    group["yor"] = group["yor"][::-1]
    assert files.differing_rows(BELEBELE, group) == {}
    group["swa"] = [replace(group["swa"][0], gold=3), replace(group["swa"][1], key=""), *group["swa"][2:]]
    keys = {group["eng"][0].key, group["eng"][1].key, "row 1 has no key of its own"}
    assert files.differing_rows(BELEBELE, group) == {"swa": keys}


def train(case: Case) -> list[Document]:
    return contract.sample_splits(case.spec, case.language)["train"]


def test_a_heading_cut_by_the_length_of_the_english_one() -> None:
    """21 characters, whatever the language: a translated heading loses too little, or the solution its beginning."""
    case = a_case(WORKED, 1, "swa")
    heading = "Jibu la hatua kwa hatua: "
    short = [replace(d, worked=f"{heading}{d.worked}"[3:]) for d in train(case)]
    assert caught(files.headings_are_cut(case, short), "begins with a heading")


def test_a_worked_solution_whose_last_number_is_not_the_answer() -> None:
    case = a_case(WORKED, 1, "eng")
    wrong = [replace(d, worked=f"{d.worked.replace('The answer is', 'It is')} That took 5 steps.") for d in train(case)]
    without_lead_in = replace(case, documents=wrong, prompt=replace(case.prompt, lead_ins=("Thus",)))
    assert caught(files.examples_are_read_as_their_gold(without_lead_in), "is not read as")
