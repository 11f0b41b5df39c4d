"""Defects of published African translation tasks, looked for in ours; numbered as found.

Those that could be in any task, such as articles before vowels (24), are looked for in test_every_task.py.
"""

from pathlib import Path

import pytest
from tests.conftest import spec_of
from tests.tasks.findings.test_every_task import asked, built
from tests.tasks.small_task import cell_of

from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.models.base import UnknownTokenizer
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.splits import in_language, load_split, with_columns
from afrieval.tasks.declaration.spec import TASKS, task_names
from afrieval.tasks.prompts.prompts import load_prompts

SPECS = {name: spec for name in task_names() if (spec := spec_of(name)).direction}
PROMPTS = [(task, number) for task in SPECS for number in load_prompts(SPECS[task], ENGLISH)]
# Languages of published "African" sets that are not: Achinese, Balinese, Banjar, Malay, Sundanese, Tamil and the like.
STRANGERS = {"ace", "acq", "ban", "msa", "sun", "tam", "tel", "ton", "urd"}
each_task = pytest.mark.parametrize("task", SPECS)
each_of_sentences = pytest.mark.parametrize("task", [name for name in SPECS if not name.startswith("afridocmt")])


@pytest.mark.parametrize(("task", "number"), PROMPTS)
def test_finding_15_every_prompt_asks_for_the_target_in_text(task: str, number: int) -> None:
    """Half of MAFAND's published prompts are not text and crash; one is another prompt under its number."""
    questions = asked(task, "generate", number)
    contexts = [request.args[0] for request in built(questions).instances]
    target = LANGUAGES[SPECS[task].direction.get("to", questions.language)].name
    assert len(set(contexts)) == len(contexts) == len(questions.scorable)
    assert all(isinstance(text, str) and target in text.splitlines()[-1] for text in contexts)


@each_task
def test_finding_15_the_other_direction_has_the_same_prompts_in_reverse(task: str) -> None:
    end, code = next(iter(SPECS[task].direction.items()))
    twin = task.replace("_from_", "_to_") if end == "from" else task.replace("_to_", "_from_")
    assert SPECS[twin].direction == {"to" if end == "from" else "from": code}
    assert SPECS[twin].languages == SPECS[task].languages
    for number, prompt in load_prompts(SPECS[task], ENGLISH).items():
        assert load_prompts(SPECS[twin], ENGLISH)[number].template == prompt.template
        document = asked(task, "generate").scorable[0]
        assert asked(twin, "generate").scorable[0].gold == document.fields["source"]


@pytest.mark.parametrize(("task", "code"), [("flores_from_eng", "eng"), ("flores_from_fra", "fra")])
def test_finding_17_flores_is_in_a_copy_with_a_column_for_each_language(task: str, code: str) -> None:
    rows = [{f"{code}_Latn": "a", "gaz_Latn": "b", "amh_Ethi": "c"}]
    for name in (task, task.replace("_from_", "_to_")):
        of_language = in_language(SPECS[name], "orm")
        (found,) = documents(of_language, with_columns(of_language, rows), "a test", "test")
        assert (found.fields["source"], found.gold) == (("a", "b") if name == task else ("b", "a"))


@pytest.mark.parametrize("task", [name for name, spec in SPECS.items() if spec.data.fewshot == spec.data.evaluate])
def test_finding_19_no_prompt_has_the_translation_that_it_asks_for(task: str) -> None:
    """NTREX has no other split for its examples than the test set."""
    questions = asked(task, "generate", shots=2)
    for request in built(questions).instances:
        document = next(d for d in questions.scorable if d.id == request.doc_id)
        assert document.gold not in request.args[0] and document.fields["source"] in request.args[0]


@each_task
def test_finding_27_a_chat_model_stops_where_it_likes(task: str) -> None:
    questions = asked(task, "generate")
    chat = cell_of(SPECS[task], questions.scorable, "generate", questions.language, chat_template=True)
    assert generation(chat, UnknownTokenizer()).stop == ()


def test_finding_27_the_limit_follows_the_references_and_cuts_no_amharic() -> None:
    """100 tokens, the limit of the published tasks, are a third of a sentence in bytes."""
    to, of = (samples(f"flores_{end}_eng", "amh") for end in ("from", "to"))
    longest = max(len(str(d.gold).encode()) for d in to)
    of_amharic, of_english = (
        generation(cell_of(SPECS[f"flores_{end}_eng"], rows, "generate", "amh"), UnknownTokenizer()).max_tokens
        for end, rows in (("from", to), ("to", of))
    )
    assert longest > 100 and 2 * longest <= of_amharic <= 3 * longest and of_english < of_amharic


def samples(task: str, language: str) -> list[Document]:
    found = load_split(SPECS[task], language, "test", "samples")
    assert found
    return found.documents


def test_finding_29_all_data_sets_are_there_in_both_directions() -> None:
    """The published group of all tasks holds only some of them."""
    sets = {name.rsplit("_", 2)[0] for name in SPECS}
    assert sets >= {"flores", "flores_corrected", "ntrex", "mafand", "salt"}
    assert {*SPECS} == {f"{of}_{end}_eng" for of in sets for end in ("from", "to")} | {
        f"{of}_{end}_fra" for of in ("flores", "mafand") for end in ("from", "to")
    }


def test_finding_32_no_task_hides_another_of_its_name() -> None:
    """Published tags that occur in two folders replace each other."""
    files: list[Path] = [*TASKS.glob("*/task.yaml"), *TASKS.glob("*/*/task.yaml")]
    assert sorted(path.parent.name for path in files) == task_names()


@each_task
def test_finding_33_languages_of_other_continents_are_marked_and_in_no_african_mean(task: str) -> None:
    elsewhere = {code for code in SPECS[task].languages if not LANGUAGES[code].african}
    assert elsewhere <= {"arb", "fra", "por"} and not STRANGERS & set(SPECS[task].languages)
    assert LANGUAGES["orm"].script == "Latn", "NTREX's code of Oromo says Ethiopic"


def test_finding_33_no_african_language_of_the_data_is_missing() -> None:
    african = [code for code in SPECS["flores_from_eng"].languages if LANGUAGES[code].african]
    assert len(african) == 56 and african == [c for c in SPECS["flores_to_fra"].languages if LANGUAGES[c].african]
    assert [len(SPECS[f"mafand_from_{code}"].languages) for code in (ENGLISH, "fra")] == [15, 6]
    assert len(SPECS["ntrex_from_eng"].languages) == 27 and len(SPECS["salt_to_eng"].languages) == 7


@each_of_sentences
def test_finding_34_the_main_metric_is_chrf_with_words(task: str) -> None:
    """chrF++ counts pairs of words; the published tasks compute plain chrF under its name."""
    main, bleu = SPECS[task].scoring.metrics[:2]
    assert main.name == "chrf++" and "nw:2" in main.signature and bleu.name == "bleu" and "tok:13a" in bleu.signature


@each_task
def test_finding_35_the_citation_is_the_data_set_s(task: str) -> None:
    """The published SALT names the paper of a sentiment data set."""
    known = {
        "flores": "NLLB", "flores_corrected": "Abdulmumin", "ntrex": "Federmann", "mafand": "Adelani",
        "salt": "Akera", "afridocmt": "Alabi",
    }  # fmt: skip
    assert SPECS[task].citation.startswith(known[task.rsplit("_", 2)[0]])
