"""An order that is not arbitrary is seen without a model, in one language for all that have the same rows."""

import random
import string
from dataclasses import replace

import pytest
from tests.conftest import REAL_DATA

from afrieval.addons.contamination.rows import Unit, alike, sorted_by, units
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task

TOPICS = load_task("sib200")
ALONE = replace(TOPICS, parallel={})
N = 150


def rows(texts: list[str]) -> list[Unit]:
    return units(TOPICS, [Document(i, {"text": text}, ("a", "b"), 0) for i, text in enumerate(texts)])


def word(drawn: random.Random, n: int = 6) -> str:
    return "".join(drawn.choices(string.ascii_lowercase, k=n))


def arbitrary(seed: int) -> list[str]:
    drawn = random.Random(seed)
    common = [word(drawn) for _ in range(40)]
    return [" ".join(drawn.choices(common, k=drawn.randint(4, 12))) for _ in range(N)]


def test_an_arbitrary_order_is_said_to_be_another_one_at_the_rate_of_the_level() -> None:
    found = [alike(TOPICS, {"yor": rows(arbitrary(seed)), "hau": rows(arbitrary(-seed - 1))}) for seed in range(10)]
    assert sum(each["yor"] < 0.2 for each in found) <= 5  # of 10, at a level of 20 %


def test_neighbours_that_share_words_or_parts_of_words_are_seen() -> None:
    drawn = random.Random(0)
    stems = [word(drawn) for _ in range(N)]
    same = [f"{stems[i // 2]} {word(drawn)}" for i in range(N)]
    inflected = [f"{word(drawn, 2)}{stems[i // 2]}{word(drawn, 2)} {word(drawn)}" for i in range(N)]
    assert alike(TOPICS, {"yor": rows(same)})["yor"] < 0.01
    assert alike(TOPICS, {"yor": rows(inflected)})["yor"] < 0.01


@pytest.mark.parametrize("shape", ["{0} {0} {0} {0}", "12 345 678", "?! {0} !?", "{0} A B C D"])
def test_neighbours_that_share_nothing_but_their_shape_are_seen(shape: str) -> None:
    drawn = random.Random(1)
    shapes = ["{0}", shape]
    texts = [drawn.choice(shapes) if i % 3 == 0 else "" for i in range(N)]
    texts = [texts[i - i % 3].format(word(drawn)) + f" {word(drawn)}" for i in range(N)]
    assert alike(TOPICS, {"yor": rows(texts)})["yor"] < 0.05


def test_what_is_seen_in_one_language_counts_in_translations() -> None:
    drawn = random.Random(2)
    stems = [word(drawn) for _ in range(N)]
    sorted_rows = rows([f"{stems[i // 2]} {word(drawn)}" for i in range(N)])
    other = rows(arbitrary(3))
    assert alike(TOPICS, {"hau": other})["hau"] > 0.2
    assert alike(TOPICS, {"hau": other, "yor": sorted_rows})["hau"] < 0.01
    assert alike(ALONE, {"hau": other, "yor": sorted_rows})["hau"] > 0.2


def test_rows_that_a_translation_lacks_do_not_matter() -> None:
    drawn = random.Random(4)
    found = rows([f"{i // 2} {word(drawn)}" for i in range(N)])
    assert alike(TOPICS, {"hau": found[:7] + found[30:], "yor": found, "swa": []})["hau"] < 0.01


def test_where_nothing_changes_places_nothing_is_known() -> None:
    assert alike(TOPICS, {"yor": [], "hau": rows(["one"])}) == {"yor": 1.0, "hau": 1.0}


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "languages", "by", "verdict"),
    [
        ("afrixnli", ["yor", "hau"], [], True),
        ("sib200", ["yor", "eng"], ["answer"], True),
        ("afrimmlu", ["ibo", "zul"], ["subject"], False),  # which Igbo alone does not show
    ],
)
def test_the_published_order_of_real_data(task: str, languages: list[str], by: list[str], verdict: bool) -> None:
    spec = load_task(task)
    splits = {code: load_split(spec, code, spec.data.evaluate, str(REAL_DATA)) for code in languages}
    found = {code: units(spec, data.documents) for code, data in splits.items() if data}
    assert [sorted_by(spec, each) for each in found.values()] == [by for _ in languages]
    assert [p >= 0.2 for p in alike(spec, found).values()] == [verdict for _ in languages]
