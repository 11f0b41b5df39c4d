"""Rows of test sets: what stays together, what changes places, and an order that is not arbitrary, without a model."""

import random
import string
from collections import Counter
from dataclasses import replace

import pytest
from tests.conftest import REAL_DATA

from afrieval.addons.contamination.rows import (
    BYTES,
    FEWEST,
    SHUFFLES,
    UNITS,
    Unit,
    alike,
    question_text,
    shards,
    sorted_by,
    unit_text,
    units,
)
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task

PAIRS, SUBJECTS, PASSAGES, TOPICS = (load_task(name) for name in ("afrixnli", "afrimmlu", "belebele", "sib200"))


def pair(number: int, premise: str, gold: int = 0) -> Document:
    return Document(number, {"premise": premise, "hypothesis": f"hypothesis {number}"}, ("yes", "maybe", "no"), gold)


def question(number: int, subject: str) -> Document:
    return Document(number, {"subject": subject, "question": f"question {number}"}, ("a", "b"), number % 2)


def sentences(golds: list[int]) -> list[Document]:
    rows = [(f"sentence {i} has words such as w{i}", gold) for i, gold in enumerate(golds)]
    return [Document(i, {"text": text}, tuple(TOPICS.labels), gold) for i, (text, gold) in enumerate(rows)]


def test_rows_on_one_premise_are_one_unit_that_has_the_premise_once() -> None:
    found = units(PAIRS, [pair(0, "p", 2), pair(1, "p"), pair(2, "q"), pair(3, "p")])
    assert [[row.id for row in unit] for unit in found] == [[0, 1], [2], [3]]
    assert unit_text(PAIRS, found[0]) == "p\n\nhypothesis 0\nno\n\nhypothesis 1\nyes"
    assert unit_text(PAIRS, found[1]) == "q\nhypothesis 2\nyes"
    assert question_text(PAIRS, found[1][0]) == "q\nhypothesis 2"


def test_passages_are_units_and_subjects_are_no_texts() -> None:
    rows = [Document(i, {"passage": p, "question": f"q{i}"}, ("a", "b"), 1) for i, p in enumerate("aab")]
    assert [len(unit) for unit in units(PASSAGES, rows)] == [2, 1]
    assert question_text(SUBJECTS, question(0, "physics")) == "question 0"
    assert (
        units(PASSAGES, []) == [] and units(SUBJECTS, [Document(0, {"subject": "s", "question": ""}, (), None)]) == []
    )


def test_rows_of_another_subject_do_not_change_places() -> None:
    rows = units(SUBJECTS, [question(i, "abc"[i // 12]) for i in range(36)])
    assert sorted_by(SUBJECTS, rows) == ["subject"]
    for shard in shards(SUBJECTS, rows, ["subject"], "x"):
        kinds = ["abc"[row // 12] for row in shard.rows]
        assert all([kinds[at] for at in order] == kinds for order in shard.orders)
        assert shard.orders[0] == sorted(shard.orders[0]) and len(shard.orders) == len(shard.texts) == 1 + SHUFFLES


def test_what_is_sorted_is_seen_and_what_is_not_is_not() -> None:
    golds = [i // 20 for i in range(100)]
    assert sorted_by(TOPICS, units(TOPICS, sentences(golds))) == ["answer"]
    found = []
    for seed in range(40):
        random.Random(seed).shuffle(golds)
        found += sorted_by(TOPICS, units(TOPICS, sentences(golds)))
    assert len(found) <= 3  # of 40, at a level of 1 %


def test_every_order_is_equally_likely() -> None:
    rows = units(TOPICS, sentences([0, 0, 0]))
    orders = [tuple(o) for seed in range(400) for s in shards(TOPICS, rows, [], str(seed)) for o in s.orders[1:]]
    times = Counter(orders)
    assert len(times) == 6 and max(times.values()) < 1.15 * len(orders) / 6  # the published order is one of them


def test_orders_depend_on_the_seed_and_the_shard_alone() -> None:
    def orders(seed: str, n: int) -> list[list[list[int]]]:
        return [shard.orders for shard in shards(TOPICS, units(TOPICS, sentences([0] * n)), [], seed)]

    assert orders("1", 60)[:4] == orders("1", 40) and orders("1", 40) != orders("2", 40)
    assert orders("1", 40)[0] != orders("1", 40)[1]


def test_shards_have_ten_units_or_fewer_long_ones() -> None:
    found = shards(TOPICS, units(TOPICS, sentences([0] * 32)), [], "x")
    assert [len(shard.rows) for shard in found] == [UNITS, UNITS, UNITS + 2] and sum(map(len, found[0].parts)) < BYTES
    long = [Document(i, {"text": f"{i} " * BYTES}, tuple(TOPICS.labels), 0) for i in range(7)]
    assert [len(shard.rows) for shard in shards(TOPICS, units(TOPICS, long), [], "x")] == [FEWEST, FEWEST + 1]


def test_rows_that_cannot_change_places_are_in_no_shard() -> None:
    rows = units(TOPICS, sentences([0, 1, 2, 3, 4]))
    assert shards(TOPICS, rows, ["answer"], "x") == [] and len(shards(TOPICS, rows, [], "x")) == 1


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
