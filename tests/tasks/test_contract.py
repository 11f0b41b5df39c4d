"""The contract over every task, language and prompt there is: a new task is covered by being there."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import pytest
from tests.conftest import TEMPLATED, spec_of
from tests.tasks import contract, contract_files
from tests.tasks.contract import Case, Complaints, Splits

from afrieval.languages import ENGLISH
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.sampling import order_of_documents
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import Prompt, PromptFiles, prompt_languages
from afrieval.tasks.prompts.vocabulary import prompt_strings

# Rows whose answer is not that of the other languages: (task, split, language) to row numbers.
DIFFERING_SAMPLES = {
    ("afrimmlu", "test", "hau"): {7}  # left without an answer, so that the samples show a row that cannot be scored
}
DIFFERING_DATA = {
    ("afrimmlu", "test", "lug"): {200, 201, 202, 203, 204, 205, *range(207, 214)},
    ("afrimmlu", "test", "hau"): {375, 376},
    ("afrimmlu", "validation", "xho"): {32},  # empty answer
}

DATA = os.environ.get("AFRIEVAL_DATA", "")
SHOWN = 20  # complaints of a failed test


@pytest.fixture(params=TEMPLATED, scope="module")  # all tests of a task follow each other, and read its rows once
def task(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param
    split.cache_clear()


@pytest.fixture(
    params=["samples", pytest.param("first", marks=pytest.mark.data), pytest.param("all", marks=pytest.mark.alldata)]
)
def source(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@cache
def prompt_files(task: str) -> PromptFiles:
    return PromptFiles(spec_of(task))


@cache
def samples(task: str, language: str) -> Splits:
    return contract.sample_splits(spec_of(task), language)


@cache
def split(task: str, language: str, name: str) -> list[Document]:
    """Rows of the real data; none where a language lacks the split."""
    found = load_split(spec_of(task), language, name, DATA)
    return found.documents if found else []


def data(task: str, language: str) -> Splits:
    return {name: rows for name in spec_of(task).data.files if (rows := split(task, language, name))}


def documents(task: str, language: str, source: str) -> list[Document]:
    if source == "samples":
        near = next(code for code in (language, ENGLISH, *languages(task, source)) if samples(task, code))
        return contract.flat(samples(task, near))
    return contract.flat(data(task, language)) if source == "all" else contract.first_rows(task, language, DATA)


def evaluated(task: str, language: str) -> list[Document]:
    return split(task, language, spec_of(task).data.evaluate)


def cases(task: str, language: str, file: str, source: str) -> list[Case]:
    rows = documents(task, language, source)
    read = prompt_files(task)
    return [Case(spec_of(task), prompt, language, rows, read) for prompt in read.load(file).values()]


def files(task: str) -> list[str]:
    return prompt_languages(spec_of(task))


@cache
def languages(task: str, source: str) -> list[str]:
    """Languages of which the source has rows."""
    spec = spec_of(task)
    if source == "samples":
        return [code for code in spec.languages if (spec.samples_folder / f"{code}.jsonl").is_file()]
    return [code for code in spec.languages if contract.has_data(spec, code, DATA)]


def cells(task: str, source: str) -> Iterator[list[Case]]:
    """Every language with the English prompts and its own."""
    there = languages(task, source)
    own = files(task) if source == "samples" else there  # native prompts may have no rows but others' samples
    pairs = [(code, ENGLISH) for code in there] + [(code, code) for code in own if code in files(task)]
    for language, file in dict.fromkeys(pairs):
        yield cases(task, language, file, source)


def none(complaints: Complaints) -> None:
    if complaints:
        pytest.fail("\n".join([f"{len(complaints)} complaints, of which", *complaints[:SHOWN]]), pytrace=False)


def on_rows(case: Case, source: str, few_shot: bool) -> Iterator[Complaints]:
    if source != "all":  # other checks render all rows, too
        yield contract.renders(case)
        yield contract.answers_look_scored(case)
    if few_shot:
        yield contract.few_shot_prompts_look_scored(case)
    yield contract.uses_every_field(case)
    yield contract.tells_documents_apart(case)
    yield contract.names_what_is_scored(case)
    if case.spec.kind == "number":
        yield contract_files.examples_are_read_as_their_gold(case)
        yield contract_files.headings_are_cut(case, samples(case.spec.name, case.language).get("train", []))


def test_prompts_on_rows(task: str, source: str) -> None:
    """Each renders, says all of a row and what is scored; examples look as they are scored; the gold is a choice."""
    rows = {language: documents(task, language, source) for language in languages(task, source)}
    found = [c for at, of in rows.items() for c in contract_files.gold_is_a_choice(f"{task}, {at}", of)]
    for n, cell in enumerate(cells(task, source)):
        for at, case in enumerate(cell):
            if n and at and case.prompt.language == ENGLISH and source != "all":
                continue  # English prompts are alike in all languages
            # All prompts of a file are composed alike, and all rows.
            native = at == 0 and case.prompt.language != ENGLISH
            few_shot = n == 0 or native if source == "samples" else n == at == 0 and source == "first"
            found += [c for of in on_rows(case, source, few_shot) for c in of]
    none(found)


def on_prompt(case: Case, file: dict[int, Prompt], english: dict[int, Prompt]) -> Iterator[Complaints]:
    yield contract.labels_differ(case, file)
    yield contract.names_nothing_else(case, file, english)
    yield contract.clean(case)
    yield contract_files.right_script(case)
    if case.prompt.language != ENGLISH:
        yield contract_files.no_english_words(case, english)
        yield contract_files.same_layout(case, english)
        yield contract_files.same_system(case, english)
    yield contract_files.closing_words_are_the_languages(case)
    yield contract_files.asks(case)
    if case.spec.kind == "number":
        yield contract_files.lead_ins_are_read(case)
        yield contract_files.lead_in_is_named(case)
        yield contract_files.has_a_question_label(case)


def strings_of(spec: TaskSpec, file: str) -> dict[str, str]:
    return {string.id: string.text for string in prompt_strings(spec.name, spec.prompts_folder / f"{file}.yaml")}


def test_prompts(task: str) -> None:
    """Each file in its own language: clean, in its script, nothing left in English, labels that differ.

    It says what English says, and who wrote it, has no prompt twice, and has words for the values of the samples.
    """
    spec, prompts = spec_of(task), prompt_files(task)
    english, in_english = prompts.load(ENGLISH), strings_of(spec, ENGLISH)
    rows = [d for language in languages(task, "samples") for d in contract.flat(samples(task, language))]
    found = contract_files.same_values_in_all_files(spec, prompts)
    for file in files(task):
        if spec.direction or not spec.shares_prompts:  # others are checked with the task that they share them with
            of_prompts = (on_prompt(case, prompts.load(file), english) for case in cases(task, file, file, "samples"))
            found += [c for each in of_prompts for of in each for c in of]
        found += [] if spec.shares_prompts else contract_files.says_who_wrote_it(spec, file)
        found += contract_files.prompts_differ(spec, prompts, file)
        found += contract_files.says_what_english_says(task, strings_of(spec, file), in_english)
        found += contract_files.values_have_words(spec, prompts, file, rows) if file != ENGLISH else []
    none(found)


@pytest.mark.alldata
def test_values_of_data_have_words(task: str) -> None:
    native = [
        file for file in files(task) if file != ENGLISH and next(iter(prompt_files(task).load(file).values())).values
    ]
    rows = [d for language in (languages(task, "all") if native else []) for d in contract.flat(data(task, language))]
    none([c for at in native for c in contract_files.values_have_words(spec_of(task), prompt_files(task), at, rows)])


def test_samples(task: str) -> None:
    """They are good, there are some of each split, and rows in all languages are translations of one another.

    Files are named after languages of the task, or of a task that shares them.
    """
    spec = spec_of(task)
    rows = {language: samples(task, language) for language in languages(task, "samples")}
    none([c for language, of in rows.items() if of for c in contract_files.good_samples(spec, language)])
    first = rows[ENGLISH if ENGLISH in spec.languages else next(iter(rows))]
    assert {*first} >= {spec.data.evaluate, spec.data.fewshot} - {None}
    groups = {split: [list(rows)] for splits in rows.values() for split in splits}
    _check_parallel(task, groups, lambda language, name: rows[language].get(name, []), DIFFERING_SAMPLES)
    for folder, shared in ((spec.prompts_folder, {ENGLISH}), (spec.samples_folder, set())):
        assert {path.stem for path in folder.iterdir()} <= shared | languages_in(folder.resolve())


@cache
def languages_in(folder: Path) -> set[str]:
    """Languages of the tasks that share a folder of prompts or samples."""
    specs = map(spec_of, TEMPLATED)
    return {
        code
        for s in specs
        if folder in (s.prompts_folder.resolve(), s.samples_folder.resolve())
        for code in s.languages
    }


def _is_compared(task: str) -> bool:
    """Whether rows of a task are compared; of tasks that share data and what rows are compared by, one's are."""

    def compared(name: str) -> tuple[object, ...]:
        spec = spec_of(name)
        files = [of["text"] if isinstance(of, dict) and spec.direction else of for of in spec.data.files.values()]
        return spec.data.hub, files, spec.breakdowns, spec.key, spec.labels, spec.kind

    alike = [other for other in TEMPLATED if compared(other) == compared(task)]
    return max(alike, key=lambda other: sum(map(len, spec_of(other).parallel.get("test", [])))) == task


@pytest.mark.alldata
def test_data_rows_are_parallel_as_declared(task: str) -> None:
    if _is_compared(task):
        _check_parallel(task, spec_of(task).parallel, partial(split, task), DIFFERING_DATA)


@pytest.mark.alldata
def test_samples_of_parallel_data_have_the_same_questions(task: str) -> None:
    spec = spec_of(task)
    for group in spec.parallel.get(spec.data.evaluate, []) if _is_compared(task) else []:
        found = {code: evaluated(task, code) for code in group}
        orders = {
            code: [of[at].key or at for at in order_of_documents(spec, of, 42)] for code, of in found.items() if of
        }
        assert len({*map(tuple, orders.values())}) < 2, f"the order of {task} differs between {[*orders]}"


def _check_parallel(
    task: str,
    groups: dict[str, list[list[str]]],
    rows_of: Callable[[str, str], list[Document]],
    known: Mapping[tuple[str, str, str], set[int]],
) -> None:
    found: dict[tuple[str, str, str], set[int | str]] = {}
    read = set()
    for name, group in [(split, group) for split in groups for group in groups[split]]:
        rows = {language: of for language in group if (of := rows_of(language, name))}
        read |= {(task, name, language) for language in rows}
        for language, numbers in contract_files.differing_rows(spec_of(task), rows).items():
            found[task, name, language] = numbers
    assert found == {key: numbers for key, numbers in known.items() if key in read}
