"""Words that the prompts in a language share: each stands once, and is referred to exactly."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import ROOT, TEMPLATED

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts import vocabulary
from afrieval.tasks.prompts.prompts import Prompt, load_prompts
from afrieval.tasks.prompts.vocabulary import VOCABULARY, load_vocabulary, strings

ENGLISH_WORDS = load_vocabulary(VOCABULARY / f"{ENGLISH}.yaml").words
CODES = sorted(path.stem for path in VOCABULARY.glob("*.yaml"))
FILES = sorted(path for task in TEMPLATED for path in (ROOT / "tasks" / task / "prompts").glob("*.yaml"))
Write = Callable[[dict[str, Any]], dict[int, Prompt]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Returns a function that loads a user's own prompt file in Yoruba."""

    def load(changes: dict[str, Any]) -> dict[int, Prompt]:
        path = tmp_path / "tasks/mine/prompts/yor.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"origin": "human", "prompts": {1: {"template": "{{ words.question }}: {{ question }}"}}, **changes}
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return load_prompts(replace(load_task("afrimgsm"), folder=path.parents[1], root=path.parents[2]), "yor")

    return load


def test_words_are_filled_in_wherever_a_prompt_file_has_text(write: Write) -> None:
    prompt = write({"system": "{{words.answer}}!", "lead_in": ["{{ words.answer_is }}", "a{answer}"]})[1]
    assert (prompt.template, prompt.system) == ("Ìbéèrè: {{ question }}", "Ìdáhùn!")
    assert prompt.lead_ins == ("Ìdáhùn náà ni", "a{answer}")


def test_a_name_of_a_language_is_filled_in(write: Write) -> None:
    assert write({"system": "{{ languages.yor }}, {{ languages.eng }}"})[1].system == "Yorùbá, Gẹ̀ẹ́sì"


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"system": "{{ words.questoin }}"}, "yor.yaml, line 5: system: vocabulary/yor.yaml has no words.questoin",
         "did you mean question?"),
        ({"lead_in": ["a", "{{ words.answers }}"]}, "line 7: lead_in.1: vocabulary/yor.yaml has no words.answers",
         "did you mean answer or answer_is?"),
        ({"system": "{{ languages.elf }}"}, "has no languages.elf", ""),
        ({"prompts": {2: {"template": "{{ words.question | upper }}"}}}, "prompt 2: unknown key 'words'", ""),
    ],
)  # fmt: skip
def test_an_unknown_word_is_refused(write: Write, changes: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        write(changes)
    assert message in caught.value.message and hint in caught.value.hint


def test_a_language_without_a_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch, write: Write) -> None:
    monkeypatch.setattr(vocabulary, "VOCABULARY", ROOT / "docs")
    with pytest.raises(UserError, match="no vocabulary has the words of 'yor'"):
        write({})


def test_a_vocabulary_next_to_the_tasks_takes_the_place_of_the_suites(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary/yor.yaml"
    path.parent.mkdir()
    for word in ("Q", "R"):  # written anew, it is read anew
        path.write_text(f"origin: human\nwritten_by: me\nwords: {{question: {word}}}\n")
        assert write({})[1].template == f"{word}: {{{{ question }}}}"
    path.write_text("origin: human\nwritten_by: me\nwords: {question: 5}\n")
    with pytest.raises(UserError, match=r"words\.question must be text, not 5"):
        write({})


def test_lead_ins_may_be_one_or_several(write: Write) -> None:
    one, listed = write({"lead_in": " a "})[1], write({"lead_in": ["a"]})[1]
    assert one.lead_ins == listed.lead_ins == ("a",) and one.hash == listed.hash
    assert write({"lead_in": ["a", "b", ""]})[1].lead_ins == ("a", "b")
    assert write({})[1].lead_ins == ()
    with pytest.raises(UserError, match="lead_in must be text or a list, not 5"):
        write({"lead_in": 5})


@pytest.mark.parametrize("code", CODES)
def test_a_vocabulary_is_complete_clean_and_of_a_known_language(code: str) -> None:
    found = load_vocabulary(VOCABULARY / f"{code}.yaml")
    assert code in LANGUAGES and set(found.languages) <= set(LANGUAGES)
    assert set(found.words) <= set(ENGLISH_WORDS)
    for text in [*found.words.values(), *found.languages.values()]:
        assert text and text == text.strip() == unicodedata.normalize("NFC", text) and "  " not in text


def test_each_word_is_used() -> None:
    used = {word for path in FILES for word in re.findall(r"{{ words\.(\w+) }}", path.read_text(encoding="utf-8"))}
    assert used == set(ENGLISH_WORDS)


@pytest.mark.parametrize("code", CODES)
def test_notes_are_about_strings_that_exist(code: str) -> None:
    """Each note says something about a string of the language's prompt files or of its vocabulary."""
    notes = load_vocabulary(VOCABULARY / f"{code}.yaml").notes
    assert set(notes) <= set(strings(ROOT, code))
    assert all(note.back or note.evidence or note.doubt for note in notes.values())
