"""The contract's checks fail where they must: faults that were found in published task definitions, and their like."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.tasks import contract, contract_files
from tests.tasks.contract import Case, Complaints

from afrieval.tasks.cells import harness_tasks as build
from afrieval.tasks.data.documents import Document
from afrieval.tasks.declaration.spec import TASKS, TaskSpec, load_task
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, render

Rows = list[dict[str, Any]]

MMLU, NLI, BELEBELE = load_task("afrimmlu"), load_task("afrixnli"), load_task("belebele")


def a_case(spec: TaskSpec, number: int = 1, file: str = "eng", **changes: Any) -> Case:
    prompt = load_prompts(spec, file)[number]
    rows = contract.flat(contract.sample_splits(spec, file))
    return Case(spec, replace(prompt, **changes), file, rows)


def with_template(case: Case, old: str, new: str) -> Case:
    assert old in case.prompt.template
    return replace(case, prompt=replace(case.prompt, template=case.prompt.template.replace(old, new)))


def with_labels(case: Case, **labels: str) -> Case:
    return replace(case, prompt=replace(case.prompt, labels={**case.prompt.labels, **labels}))


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


# Prompts on documents


def test_unknown_placeholder() -> None:
    complaints = contract.renders(with_template(a_case(NLI), "{{ premise }}", "{{ premisse }}"))
    assert caught(complaints, "premisse", "eng 1", "document 0")


def test_constant_word_in_place_of_a_field() -> None:
    case = with_template(a_case(MMLU), "{{ question }}", "question")
    assert caught(contract.uses_every_field(case), "does not use 'question'")
    assert caught(contract.uses_every_field(case), "change of question")


@pytest.mark.parametrize("cut", ["{{ question[:60] }}", "{{ question | lower }}"])
def test_field_that_is_cut_or_changed(cut: str) -> None:
    assert contract.uses_every_field(with_template(a_case(MMLU), "{{ question }}", cut))


def test_choice_left_out() -> None:
    case = with_template(a_case(MMLU), "choices | lettered", "choices[:3] | lettered")
    assert caught(contract.uses_every_field(case), "choice 3")
    assert caught(contract.names_what_is_scored(case), "are scored")


def test_subject_left_out() -> None:
    """Only where subjects form groups, as in MMLU, may a prompt leave them out."""
    assert caught(
        contract.uses_every_field(with_template(a_case(MMLU), "{{ subject }}", "x")), "does not use 'subject'"
    )
    assert not contract.uses_every_field(a_case(load_task("mmlu"), 2))


def test_same_prompt_for_different_documents() -> None:
    case = with_template(a_case(NLI), "{{ premise }}", "")
    first = case.documents[0]
    other = replace(first, id=9, fields={**first.fields, "premise": "Another."})
    assert caught(contract.tells_documents_apart(replace(case, documents=[first, other])), "document 9", "document 0")


# Labels and letters


@pytest.mark.parametrize(("old", "new"), [('(": ")', '(": ") | lower'), ("(A, B, or C)", "(A, B, C, or D)")])
def test_letters_that_are_not_scored(old: str, new: str) -> None:
    case = a_case(NLI, 6)
    assert not contract.names_what_is_scored(case)
    assert caught(contract.names_what_is_scored(with_template(case, old, new)), "are scored")


def test_letters_in_one_language_only() -> None:
    assert caught(contract_files.same_layout(a_case(NLI, 6, lettered=False), eng(NLI)), "lettered is False")


def test_label_missing_from_the_list() -> None:
    case = with_template(a_case(NLI, 1), "{{ labels.contradiction }}", "wrong")
    assert caught(contract.names_what_is_scored(case), case.prompt.labels["contradiction"])


def test_list_that_names_another_class() -> None:
    case = with_template(a_case(NLI, 3), "{{ labels.neutral }}", "Neither")
    assert caught(contract.names_what_is_scored(case), "'Not known' is scored")
    assert caught(contract.names_nothing_else(case, eng(NLI), eng(NLI)), "'Neither' of prompt 1")


def test_system_text_that_names_labels_of_one_prompt() -> None:
    case = a_case(NLI, 3, system="Reply with Yes, No or Unknown only.")
    assert caught(contract.names_nothing_else(case, eng(NLI), eng(NLI)), "'Unknown' of prompt 2")


def test_shown_capitalised_but_scored_in_lower_case() -> None:
    case = with_template(a_case(NLI, 4), "{{ labels.neutral }}", "{{ labels.neutral | capitalize }}")
    assert caught(contract.names_what_is_scored(case), "'neutral' is scored")


def test_swapped_labels() -> None:
    case = with_labels(a_case(NLI, 3), neutral="False", contradiction="Not known")
    assert caught(contract.labels_differ(case, eng(NLI)), "'False' is neutral, but contradiction in prompt 1")


def test_labels_that_begin_alike() -> None:
    assert caught(contract.labels_differ(with_labels(a_case(NLI, 2), neutral="not known"), eng(NLI)), "begin alike")


def test_options_numbered_while_letters_are_scored() -> None:
    numbered = "{% for c in choices %}{{ loop.index }}: {{ c }}\n{% endfor %}"
    case = with_template(a_case(MMLU), '{{ choices | lettered(": ") }}', numbered)
    assert caught(contract.names_what_is_scored(case), "['1', '2', '3', '4']", "['A', 'B', 'C', 'D'] are scored")


def test_text_that_names_other_letters() -> None:
    case = with_template(a_case(MMLU), "Answer:", "Answer with A, B or C:")
    assert caught(contract.names_what_is_scored(case), "['B', 'C']")
    case = with_template(a_case(MMLU), "Answer:", "Answer with A, B, C or D:")
    assert not contract.names_what_is_scored(case)


# Few-shot examples


def test_two_blanks_before_an_examples_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.tasks.cells.questions.render", lambda *given: render(*given) + " ")
    assert caught(contract.few_shot_answers_look_scored(a_case(MMLU)), "asked is")


def test_numbers_asked_for_where_letters_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "answers", lambda *_: ["1", "2", "3", "4"])
    assert caught(contract.few_shot_answers_look_scored(a_case(MMLU)), "scored are [' 1'", "[' A'")


# Clean texts


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Answer:", "Answer: ", "line's end"),
        ("Question:", "    Question:", "leading blank"),
        ("Question: ", "Question:  ", "run of blanks"),
        ("Question: {{ question }}\n", "Question: {{ question }}\n\n", "two empty lines"),
        ("Answer:", "\nAnswer:\n\n", "empty line at an end"),
        ("Question: ", "Question:\u00a0", "a blank that is none"),
        ("Answer:", "\\nAnswer:", "backslash"),
        ("Question:", "Que\u0301stion:", "NFC"),
        ("{{ question }}", "{{ '{{ question }}' }}", "template code"),
        ("Question:", "Be brief.Question:", "no blank follows"),
        ("Question:", 'Question":', "not closed"),
    ],
)
def test_unclean_template(old: str, new: str, fault: str) -> None:
    assert caught(contract.clean(with_template(a_case(MMLU), old, new)), fault)


def test_unclean_label_and_system_text() -> None:
    assert caught(contract.clean(with_labels(a_case(NLI), neutral="Neither ")), "label neutral", "line's end")
    assert caught(contract.clean(a_case(NLI, system="Two  blanks.")), "system text", "run of blanks")
    assert caught(contract.clean(a_case(MMLU, file="hau", values={"subject": {"x": " a"}})), "words for x")


# Native prompts


def test_english_left_in_a_native_prompt() -> None:
    case = with_template(a_case(NLI, 1, "swa"), "Swali:", "question")
    assert caught(contract_files.no_english_words(case, eng(NLI)), "English words")


def test_english_label_in_a_native_prompt() -> None:
    assert caught(
        contract_files.no_english_words(with_labels(a_case(NLI, 1, "yor"), neutral="Neither"), eng(NLI)), "neither"
    )


def test_another_layout_than_the_english_prompt() -> None:
    case = with_template(a_case(MMLU, 1, "swa"), "{{ question }}\n\n", "{{ question }}\n")
    assert contract_files.same_layout(case, eng(MMLU))


def test_number_that_english_lacks() -> None:
    case = a_case(MMLU, 1, "swa")
    assert caught(
        contract_files.same_layout(replace(case, prompt=replace(case.prompt, number=7)), eng(MMLU)), "no prompt 7"
    )


@pytest.mark.parametrize(("file", "old", "new"), [("amh", "መልስ", "Amsa"), ("swa", "Swali", "Sw\u0430li")])
def test_another_script(file: str, old: str, new: str) -> None:
    assert caught(contract_files.right_script(with_template(a_case(MMLU, 1, file), old, new)), "not in")


def test_loan_word_and_letters_are_of_any_script() -> None:
    assert not contract_files.right_script(with_template(a_case(MMLU, 1, "amh"), "መልስ", "መልስ (AI) A, B"))


# Documents and files


@pytest.mark.parametrize("gold", [None, 4, -1])
def test_gold_that_is_no_choice(gold: int | None) -> None:
    assert caught(contract_files.gold_is_a_choice("here", [Document(3, {}, ("a", "b"), gold)]), "here, document 3")


def test_coding_of_the_answer_that_is_not_understood() -> None:
    rows = [Document(i, {}, ("a", "b"), None if i < 4 else 0, "no gold") for i in range(12)]
    assert caught(contract_files.gold_is_a_choice("here", rows), "4 of 12")


def test_subject_without_words(copy: Callable[[str], Path]) -> None:
    folder = copy("afrimmlu")
    edit(folder / "prompts/swa.yaml", "    global_facts: maarifa ya jumla ya dunia\n", "")
    spec = load_task("afrimmlu", folder.parent)
    rows = contract.flat(contract.sample_splits(spec, "swa"))
    assert caught(contract_files.values_have_words(spec, "swa", rows), "swa.yaml", "'global_facts'")
    assert caught(contract_files.same_values_in_all_files(spec), "swa.yaml", "'global_facts'")


def test_values_for_what_is_no_field(copy: Callable[[str], Path]) -> None:
    folder = copy("afrimmlu")
    for path in (folder / "prompts").glob("*.yaml"):
        path.write_text(path.read_text(encoding="utf-8").replace("  subject:\n", "  topic:\n"), encoding="utf-8")
    assert caught(contract_files.same_values_in_all_files(load_task("afrimmlu", folder.parent)), "'topic'")


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
    assert contract_files.says_who_wrote_it(load_task("afrixnli", folder.parent), "zul")


def test_prompt_that_repeats_another(copy: Callable[[str], Path]) -> None:
    path = copy("afrimmlu") / "prompts/swa.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["prompts"][3] = content["prompts"][2]
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    assert caught(contract_files.prompts_differ(load_task("afrimmlu", path.parents[2]), "swa"), "two prompts")


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
    assert caught(contract_files.good_samples(load_task("afrixnli", folder.parent), "yor"), complaint)


ENGLISH_PREMISE = "Amina bought tomatoes and onions at the market this morning."


def test_rows_that_are_not_parallel() -> None:
    group = {file: contract.sample_splits(MMLU, file)["dev"] for file in ("eng", "swa", "yor", "zul")}
    assert contract_files.differing_rows(MMLU, group) == {}
    swa, yor, zul = group["swa"], group["yor"], group["zul"]
    group["swa"] = [replace(swa[0], gold=0), *swa[1:]]
    group["yor"] = [*yor[:2], replace(yor[2], fields={**yor[2].fields, "subject": "international_law"}), yor[3]]
    group["zul"] = zul[:3]
    assert contract_files.differing_rows(MMLU, group) == {"swa": {0}, "yor": {2}, "zul": {3}}


def test_rows_with_a_key_are_parallel_in_any_order_and_each_has_its_own() -> None:
    group = {file: contract.sample_splits(BELEBELE, file)["test"] for file in ("eng", "swa", "yor", "zul")}
    group["yor"] = group["yor"][::-1]
    assert contract_files.differing_rows(BELEBELE, group) == {}
    group["swa"] = [replace(group["swa"][0], gold=3), replace(group["swa"][1], key=""), *group["swa"][2:]]
    keys = {group["eng"][0].key, group["eng"][1].key, "row 1 has no key of its own"}
    assert contract_files.differing_rows(BELEBELE, group) == {"swa": keys}


DIRECT, WORKED = load_task("afrimgsm"), load_task("afrimgsm_cot")


def train(case: Case) -> list[Document]:
    return contract.sample_splits(case.spec, case.language)["train"]


def test_the_tasks_pass() -> None:
    for spec in (DIRECT, WORKED):
        for file in ("eng", "amh", "zul"):
            case = a_case(spec, 2, file)
            assert contract_files.lead_ins_are_read(case) == contract_files.lead_in_is_named(case) == []
            assert contract_files.examples_are_read_as_their_gold(replace(case, documents=train(case))) == []
            assert contract_files.headings_are_cut(case, train(case)) == []


def test_a_heading_cut_by_the_length_of_the_english_one() -> None:
    """21 characters, whatever the language: a translated heading loses too little, or the solution its beginning."""
    case = a_case(WORKED, 1, "swa")
    heading = "Jibu la hatua kwa hatua: "
    short = [replace(d, worked=f"{heading}{d.worked}"[3:]) for d in train(case)]
    assert caught(contract_files.headings_are_cut(case, short), "begins with a heading")


@pytest.mark.parametrize("lead_in", ["", "Thou shalt find"])
def test_an_answer_sentence_that_no_language_has(lead_in: str) -> None:
    case = a_case(WORKED, 2, "yor", lead_ins=(lead_in,) if lead_in else ())
    named = contract_files.lead_in_is_named(case)
    assert caught(contract_files.lead_ins_are_read(case), "no lead_in") if not lead_in else caught(named, "other words")


def test_an_english_answer_sentence_in_every_language() -> None:
    case = a_case(WORKED, 2, "yor", lead_ins=("The answer is",))
    assert caught(contract_files.lead_in_is_named(case), "template asks for other words")


def test_a_worked_solution_whose_last_number_is_not_the_answer() -> None:
    case = a_case(WORKED, 1, "eng")
    wrong = [replace(d, worked=f"{d.worked} That took 5 steps.") for d in train(case)]
    without_lead_in = replace(case, documents=wrong, prompt=replace(case.prompt, lead_ins=("Thus",)))
    assert caught(contract_files.examples_are_read_as_their_gold(without_lead_in), "is not read as")


def test_a_prompt_in_which_nothing_stands_before_the_question() -> None:
    """A model without chat template could not be stopped at its next question, whose last number would be read."""
    case = with_template(a_case(DIRECT, 1), "Question: {{ question }}", "{{ question }}")
    assert caught(contract_files.has_a_question_label(case), "no words stand before the question")


def test_line_ends_that_are_two_characters() -> None:
    case = with_template(a_case(WORKED, 1), "Question:", "\\nQuestion:")
    assert caught(contract.clean(case), "a backslash")
