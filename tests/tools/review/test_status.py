"""A prompt's star goes when two people reviewed every string of it, and comes back when one changes."""

from pathlib import Path

import pytest
from tests.tools.review.conftest import Filled

from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts
from afrieval.tasks.prompts.reviews import Review, Reviews, as_yaml, status, used, with_review
from afrieval.tasks.prompts.vocabulary import String
from afrieval.tools.review.generated import INDEX, coverage, page
from afrieval.tools.review.read import read, write_all

DAY = "2026-01-31"
WORD = String("words/question", Path("x"), (), "Ìbéèrè")


def review(checkout: Path, filled: Filled, reviewer: str, changed: dict[str, str], approved: list[str] | None) -> None:
    (checkout / INDEX).unlink(missing_ok=True)  # without it, no pages are written, which take most of the time
    changes, errors = read(checkout, filled(changed, approved, reviewer), "sheet.csv", DAY)
    assert not errors
    write_all(checkout, changes)


def reviewed(checkout: Path, task: str = "afrixnli") -> dict[int, str]:
    prompts = load_prompts(load_task(task, checkout / "tasks"), "yor")
    return {number: prompt.reviewed_by for number, prompt in prompts.items() if isinstance(number, int)}


def row_of(checkout: Path) -> str:
    return next(line for line in coverage(checkout).split("\n") if "`yor`" in line)


def test_two_reviewers_remove_the_star_and_a_change_brings_it_back(checkout: Path, filled: Filled) -> None:
    nobody = dict.fromkeys(reviewed(checkout), "")
    review(checkout, filled, "Ade Bello", {}, None)
    assert reviewed(checkout) == nobody and "* (0 %)" in row_of(checkout)
    review(checkout, filled, "Bola Ojo", {}, None)
    assert reviewed(checkout) == dict.fromkeys(nobody, "Ade Bello, Bola Ojo")
    assert "*" not in row_of(checkout) and "(100 %)" in row_of(checkout)
    review(checkout, filled, "Chike Obi", {"words/neither": "Kò sí ọ̀kankan"}, [])
    assert reviewed(checkout) == {**dict.fromkeys(nobody, "Ade Bello, Bola Ojo"), 1: ""}
    assert reviewed(checkout, "afrimmlu") == dict.fromkeys(reviewed(checkout, "afrimmlu"), "Ade Bello, Bola Ojo")
    review(checkout, filled, "Bola Ojo", {}, ["words/neither"])
    assert reviewed(checkout)[1] == "Ade Bello, Bola Ojo, Chike Obi"


def test_every_string_of_a_prompt_counts(checkout: Path) -> None:
    """Also a word of the vocabulary in its template or labels, and the text for chat models."""
    strings = used(checkout / "tasks/afrixnli/prompts/yor.yaml", 1)
    reviews = {s.id: [Review(s.hash, "ok", name, DAY) for name in ("Ade", "Bola")] for s in strings}
    assert "afrixnli/2/template" not in reviews
    path = checkout / "reviews/yor.yaml"
    path.write_text(as_yaml(reviews), encoding="utf-8")
    assert reviewed(checkout)[1] == "Ade, Bola"
    for missing in ("words/answer", "words/true", "afrixnli/system", "afrixnli/1/template"):
        path.write_text(as_yaml(reviews | {missing: reviews[missing][:1]}), encoding="utf-8")
        assert reviewed(checkout)[1] == "", missing


def said(*entries: tuple[str, str, str]) -> Reviews:
    """Returns reviews by reviewer, verdict and text."""
    reviews: Reviews = {}
    for reviewer, verdict, text in entries:
        hash = String("", Path("x"), (), text).hash
        reviews = with_review(reviews, WORD.id, Review(hash, verdict, reviewer, DAY))  # type: ignore[arg-type]
    return reviews


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], "unreviewed"),
        ([("Ade", "ok", WORD.text)], "one reviewer"),
        ([("Ade", "ok", WORD.text), (" ade ", "ok", WORD.text)], "one reviewer"),
        ([("Ade", "ok", WORD.text), ("Bola", "ok", WORD.text)], "reviewed"),
        ([("Ade", "change", WORD.text), ("Bola", "ok", WORD.text)], "reviewed"),
        ([("Ade", "ok", WORD.text), ("Bola", "ok", "Ibeere")], "one reviewer"),
        ([("Ade", "ok", "Ibeere"), ("Bola", "ok", "Ibeere")], "changed since"),
        ([("Ade", "ok", WORD.text), ("Bola", "ok", WORD.text), ("Chike", "unsure", WORD.text)], "disputed"),
        ([("Ade", "unsure", WORD.text), ("Bola", "ok", WORD.text), ("Ade", "ok", WORD.text)], "reviewed"),
        ([("Ade", "unsure", "Ibeere")], "changed since"),
    ],
)
def test_statuses(entries: list[tuple[str, str, str]], expected: str) -> None:
    assert status(WORD, said(*entries)) == expected


def test_a_note_on_an_earlier_text_is_not_shown(checkout: Path, filled: Filled) -> None:
    """Whoever changes a text need not correct its back-translation, which then is gone."""
    path = checkout / "vocabulary/yor.yaml"
    text = path.read_text(encoding="utf-8").partition("\nnotes:")[0]
    path.write_text(f"{text}\nnotes:\n  words/neither: {{back: none of the two, doubt: rare}}\n", encoding="utf-8")
    assert "none of the two" in page(checkout, "yor") and "## What is doubtful" in page(checkout, "yor")
    review(checkout, filled, "Ade", {"words/neither": "Kò sí ọ̀kankan"}, [])
    assert "none of the two" not in page(checkout, "yor") and "## What is doubtful" not in page(checkout, "yor")
