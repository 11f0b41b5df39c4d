"""The contract over every task, language and prompt there is: a new task is covered by being there."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest
from tests.conftest import TEMPLATED
from tests.tasks import contract, contract_files, contract_numbers
from tests.tasks.contract import Case, Complaints, Splits

from afrieval.languages import ENGLISH
from afrieval.tasks.data.documents import Document
from afrieval.tasks.data.sampling import order_of_documents
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, prompt_languages

# Rows whose answer is not that of the other languages: (task, split, language) to row numbers.
DIFFERING_SAMPLES = {
    ("afrimmlu", "test", "hau"): {7},  # left without an answer, so that the samples show a row that cannot be scored
}
DIFFERING_DATA = {
    ("afrimmlu", "test", "lug"): {200, 201, 202, 203, 204, 205, *range(207, 214)},
    ("afrimmlu", "test", "hau"): {375, 376},
    ("afrimmlu", "validation", "xho"): {32},  # empty answer
}

DATA = os.environ.get("AFRIEVAL_DATA", "")
FIRST = 10  # of each language; make test-data has all
SOURCES: dict[str, list[pytest.MarkDecorator]] = {
    "samples": [],
    "first": [pytest.mark.data],
    "all": [pytest.mark.alldata],
}

spec_of = cache(load_task)


@cache
def prompts_of(task: str, file: str) -> dict[int, Prompt]:
    return load_prompts(spec_of(task), file)


@cache
def samples(task: str, language: str) -> Splits:
    return contract.sample_splits(spec_of(task), language)


@cache
def data(task: str, language: str) -> Splits:
    return contract.data_splits(spec_of(task), language, spec_of(task).data.files, DATA)


def documents(task: str, language: str, source: str) -> list[Document]:
    if source == "samples":
        near = next(code for code in (language, ENGLISH, *languages(task, source)) if samples(task, code))
        return contract.flat(samples(task, near))
    splits = data(task, language)
    return contract.flat(splits) if source == "all" else splits[spec_of(task).data.evaluate][:FIRST]


class Cell(NamedTuple):
    """What a test is about, light enough to be collected in thousands: the prompts of a file, asked in a language."""

    task: str
    language: str
    file: str
    source: str

    @property
    def name(self) -> str:
        return "-".join(self)

    @property
    def prompts(self) -> dict[int, Prompt]:
        return prompts_of(self.task, self.file)

    @property
    def english(self) -> dict[int, Prompt]:
        return prompts_of(self.task, ENGLISH)

    @property
    def cases(self) -> list[Case]:
        rows = documents(self.task, self.language, self.source)
        return [Case(spec_of(self.task), prompt, self.language, rows) for prompt in self.prompts.values()]


def files(task: str) -> list[str]:
    return prompt_languages(spec_of(task))


def languages(task: str, source: str) -> list[str]:
    """Languages of which the source has rows; all where there is no folder, for pytest to skip them by name."""
    spec = spec_of(task)
    if source == "samples":
        return [code for code in spec.languages if (spec.samples_folder / f"{code}.jsonl").is_file()]
    return [code for code in spec.languages if not DATA or contract.has_data(spec, code, DATA)]


def each_language(*sources: str) -> Iterator[object]:
    for source in sources:
        for task in TEMPLATED:
            for language in languages(task, source):
                yield pytest.param(task, language, source, id=f"{task}-{language}-{source}", marks=SOURCES[source])


def each_file(native: bool = False) -> Iterator[object]:
    for task in TEMPLATED:
        yield from (pytest.param(task, f, id=f"{task}-{f}") for f in files(task) if not (native and f == ENGLISH))


def each_cell(*sources: str) -> Iterator[Any]:
    """Every language with the English prompts and its own, on each source's documents."""
    for source in sources:
        for task in TEMPLATED:
            there = languages(task, source)
            own = files(task) if source == "samples" else there  # native prompts may have no rows but others' samples
            pairs = [(code, ENGLISH) for code in there] + [(code, code) for code in own if code in files(task)]
            for language, file in dict.fromkeys(pairs):
                cell = Cell(task, language, file, source)
                yield pytest.param(cell, id=cell.name, marks=SOURCES[source])


def each_prompt_file(native: bool = False) -> Iterator[Any]:
    """Every file of prompts, in its own language; one that tasks share is of the first."""
    for task in TEMPLATED:
        if spec_of(task).shares_prompts and not spec_of(task).direction:
            continue
        for file in [f for f in files(task) if not (native and f == ENGLISH)]:
            cell = Cell(task, file, file, "samples")
            yield pytest.param(cell, id=cell.name)


def each(check: Callable[[Case], Complaints], cell: Cell) -> None:
    none([complaint for case in cell.cases for complaint in check(case)])


def none(complaints: Complaints) -> None:
    if complaints:
        pytest.fail("\n".join([f"{len(complaints)} complaints, of which", *complaints[:5]]), pytrace=False)


on_documents = pytest.mark.parametrize("cell", list(each_cell("samples", "first", "all")))
on_prompts = pytest.mark.parametrize("cell", list(each_prompt_file()))
on_native_prompts = pytest.mark.parametrize("cell", list(each_prompt_file(native=True)))
on_native_files = pytest.mark.parametrize(("task", "file"), list(each_file(native=True)))


@pytest.mark.parametrize("cell", list(each_cell("samples", "first")))  # the next test renders all rows
def test_renders(cell: Cell) -> None:
    each(contract.renders, cell)


@on_documents
def test_every_field_reaches_the_prompt(cell: Cell) -> None:
    each(contract.uses_every_field, cell)


@on_documents
def test_different_documents_give_different_prompts(cell: Cell) -> None:
    each(contract.tells_documents_apart, cell)


@pytest.mark.parametrize(("task", "language", "source"), list(each_language("samples", "first", "all")))
def test_gold_is_a_choice(task: str, language: str, source: str) -> None:
    none(contract_files.gold_is_a_choice(f"{task}, {language}", documents(task, language, source)))


@on_prompts
def test_labels_differ(cell: Cell) -> None:
    each(lambda case: contract.labels_differ(case, cell.prompts), cell)


@on_documents
def test_prompt_names_what_is_scored(cell: Cell) -> None:
    each(contract.names_what_is_scored, cell)


@on_prompts
def test_prompt_names_nothing_else(cell: Cell) -> None:
    each(lambda case: contract.names_nothing_else(case, cell.prompts, cell.english), cell)


@pytest.mark.parametrize("cell", list(each_cell("samples", "first")))
def test_few_shot_answers_look_scored(cell: Cell) -> None:
    each(lambda case: contract.few_shot_answers_look_scored(case), cell)


@on_prompts
def test_prompt_is_clean(cell: Cell) -> None:
    each(contract.clean, cell)


@pytest.mark.parametrize(("task", "file"), list(each_file()))
def test_prompts_of_a_file_differ(task: str, file: str) -> None:
    none(contract_files.prompts_differ(spec_of(task), file))


@on_native_prompts
def test_native_prompt_holds_no_english_words(cell: Cell) -> None:
    each(lambda case: contract.no_english_words(case, cell.english), cell)


@on_native_prompts
def test_native_prompt_has_the_english_layout(cell: Cell) -> None:
    each(lambda case: contract.same_layout(case, cell.english), cell)


@pytest.mark.parametrize("task", TEMPLATED)
def test_native_files_put_the_same_values_into_words(task: str) -> None:
    none(contract_files.same_values_in_all_files(spec_of(task)))


@on_native_files
def test_values_of_samples_have_words(task: str, file: str) -> None:
    rows = [d for language in languages(task, "samples") for d in contract.flat(samples(task, language))]
    none(contract_files.values_have_words(spec_of(task), file, rows))


@pytest.mark.data
@on_native_files
def test_values_of_data_have_words(task: str, file: str) -> None:
    rows = [d for language in languages(task, "all") for d in contract.flat(data(task, language))]
    none(contract_files.values_have_words(spec_of(task), file, rows))


on_number_prompts = pytest.mark.parametrize(
    "cell", [p for p in each_prompt_file() if spec_of(p.values[0].task).kind == "number"]
)


@on_number_prompts
def test_number_prompt_leads_to_a_number(cell: Cell) -> None:
    each(contract_numbers.lead_ins_are_read, cell)
    each(contract_numbers.lead_in_is_named, cell)
    each(contract_numbers.has_a_question_label, cell)


@pytest.mark.parametrize(
    "cell", [c for c in each_cell("samples", "first", "all") if spec_of(c.values[0].task).kind == "number"]
)
def test_number_examples_are_read_as_their_gold(cell: Cell) -> None:
    each(contract_numbers.examples_are_read_as_their_gold, cell)
    train = samples(cell.task, cell.language).get("train", [])
    each(lambda case: contract_numbers.headings_are_cut(case, train), cell)


@on_prompts
def test_right_script(cell: Cell) -> None:
    each(contract.right_script, cell)


@pytest.mark.parametrize(("task", "file"), list(each_file()))
def test_file_says_who_wrote_it(task: str, file: str) -> None:
    none(contract_files.says_who_wrote_it(spec_of(task), file))


@pytest.mark.parametrize("task", TEMPLATED)
def test_sample_rows_are_parallel(task: str) -> None:
    """Sample rows in all languages are translations of one another, whatever the real data are."""
    rows = {language: samples(task, language) for language in languages(task, "samples")}
    groups = {split: [list(rows)] for splits in rows.values() for split in splits}
    _check_parallel(task, groups, lambda language: rows[language], DIFFERING_SAMPLES)


@pytest.mark.data
@pytest.mark.parametrize("task", TEMPLATED)
def test_data_rows_are_parallel_as_declared(task: str) -> None:
    _check_parallel(task, spec_of(task).parallel, lambda language: data(task, language), DIFFERING_DATA)


@pytest.mark.data
@pytest.mark.parametrize("task", TEMPLATED)
def test_samples_of_parallel_data_have_the_same_questions(task: str) -> None:
    spec = spec_of(task)
    split = spec.data.evaluate
    for group in spec.parallel.get(split, []):
        found = {code: data(task, code).get(split) for code in group}
        orders = {
            code: [of[at].key or at for at in order_of_documents(spec, of, 42)] for code, of in found.items() if of
        }
        assert len({*map(tuple, orders.values())}) < 2, f"the order of {task} differs between {[*orders]}"


def _check_parallel(
    task: str,
    groups: dict[str, list[list[str]]],
    splits_of: Callable[[str], Splits],
    known: Mapping[tuple[str, str, str], set[int]],
) -> None:
    found: dict[tuple[str, str, str], set[int | str]] = {}
    read = set()
    for split, group in [(name, group) for name in groups for group in groups[name]]:
        rows = {language: splits_of(language)[split] for language in group if split in splits_of(language)}
        read |= {(task, split, language) for language in rows}
        for language, numbers in contract_files.differing_rows(spec_of(task), rows).items():
            found[task, split, language] = numbers
    assert found == {key: numbers for key, numbers in known.items() if key in read}


@pytest.mark.parametrize("task", TEMPLATED)
def test_there_are_english_prompts_and_samples(task: str) -> None:
    assert ENGLISH in files(task)
    spec = spec_of(task)
    first = ENGLISH if ENGLISH in spec.languages else languages(task, "samples")[0]
    assert set(samples(task, first)) >= {spec.data.evaluate, spec.data.fewshot} - {None}


@pytest.mark.parametrize("task", TEMPLATED)
def test_files_are_named_after_languages_of_the_task(task: str) -> None:
    """Or of a task that shares them."""
    spec, specs = spec_of(task), [spec_of(other) for other in TEMPLATED]
    prompts = {code for s in specs if s.prompts_folder == spec.prompts_folder for code in s.languages}
    samples = {code for s in specs if s.samples_folder.samefile(spec.samples_folder) for code in s.languages}
    assert {path.stem for path in spec.prompts_folder.iterdir()} <= {ENGLISH, *prompts}
    assert {path.stem for path in spec.samples_folder.iterdir()} <= samples


@pytest.mark.parametrize(
    ("task", "language"), [(t, s) for t in TEMPLATED for s in languages(t, "samples") if samples(t, s)]
)
def test_samples_are_good(task: str, language: str) -> None:
    none(contract_files.good_samples(spec_of(task), language))
