"""The checkers of IFEval's 541 rows against the harness' own scores; what they need of the machine."""

import json
import os
import random
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from tests.scoring.ifeval.sentence_model import accuracy, sentence_model

from afrieval.scoring.ifeval import checkers
from afrieval.scoring.ifeval.instructions import build_checkers, followed

ROWS = "wis-k/instruction-following-eval/instruction_following_eval.jsonl"
LONG = """<<Rain>>
Sure! Here is what you asked for, my friend:

SECTION 1
* **The rain** fell on the old house all day, and *the children* stayed inside. Why not?
* They read [books], drew [maps] and waited for [somebody] until evening came at last!
***
SECTION 2
My answer is yes. "GOOD NEWS" came late: 12 letters, 3 cards. Call me! #tea #sun #sea #sky
******
P.S. Write soon. P.P.S. Is there anything else I can help with?"""
GERMAN = "Der Regen fiel den ganzen Tag auf das alte Haus, und die Kinder lasen ihre Bücher.\n\nDann kam der Abend."
RESPONSES = ["", LONG, LONG.upper(), f'"{LONG.lower()}"', GERMAN, '```json\n{"rain": ["fell"]}\n```']


@pytest.fixture(scope="module")
def _nltks_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For the harness; the suite needs none."""
    with sentence_model(tmp_path_factory.mktemp("nltk_data")):
        yield


@cache
def rows() -> list[dict[str, Any]]:
    path = Path(os.environ["AFRIEVAL_DATA"]) / ROWS
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.data
def test_each_of_the_541_rows_can_be_checked_and_none_draws_at_random() -> None:
    before = random.getstate()
    assert sum(len(build_checkers(row)) for row in rows()) == 834
    assert len(rows()) == 541 and random.getstate() == before


@pytest.mark.data
@pytest.mark.usefixtures("_nltks_model")
@pytest.mark.parametrize("response", [*RESPONSES, None], ids=[*map(str, range(len(RESPONSES))), "prompt"])
def test_equals_the_harness(response: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a quarter of the rows, without two in which the harness counts a random letter; detection is seeded here."""
    import langdetect

    monkeypatch.setattr(langdetect.DetectorFactory, "seed", 0)
    monkeypatch.setattr(langdetect, "detect", cache(langdetect.detect))  # slow, and asked of each row
    checkers._registry()
    from lm_eval.tasks.ifeval.utils import agg_inst_level_acc, process_results

    quarter = rows()[[*RESPONSES, None].index(response) % 4 :: 4]
    compared = [row for row in quarter if row["key"] not in (1122, 1129)]
    texts = [f"{row['prompt']}\n{LONG}" if response is None else response for row in compared]
    ours = [followed(row, text) for row, text in zip(compared, texts, strict=True)]
    harness = [process_results(row, [text]) for row, text in zip(compared, texts, strict=True)]
    assert [f["strict"] for f in ours] == [h["inst_level_strict_acc"] for h in harness]
    assert [f["loose"] for f in ours] == [h["inst_level_loose_acc"] for h in harness]
    for way in ("strict", "loose"):
        whole, each = f"prompt_level_{way}_acc", f"inst_level_{way}_acc"
        assert accuracy(whole, ours) == pytest.approx(sum(h[whole] for h in harness) / len(harness))
        assert accuracy(each, ours) == pytest.approx(agg_inst_level_acc([h[each] for h in harness]))


TEXTS = [
    "", "Dr. Smith met Mrs. Jones.", "He met her. She left.", "It rose 3.5 p.c. in Jan. and fell. THE U.S. IS: no.",
    "J. P. Morgan & Co. of N.Y. paid. i.e. NOTHING. Wait... What?! \"NO.\" OK (A.B.) END", LONG, LONG.upper(), GERMAN,
]  # fmt: skip


@pytest.mark.usefixtures("_nltks_model")
@pytest.mark.parametrize("text", TEXTS)
def test_sentences_and_capital_words_are_nltks(text: str) -> None:
    import nltk

    counts = {
        "length_constraints:number_sentences": ("num_sentences", "relation", len(nltk.sent_tokenize(text))),
        "change_case:capital_word_frequency": (
            "capital_frequency", "capital_relation", sum(map(str.isupper, nltk.word_tokenize(text)))
        ),
    }  # fmt: skip
    for instruction, (name, relation, n) in counts.items():
        for how, number in (("at least", n), ("less than", n + 1)):
            check = partial(checkers.build_checker, instruction, row="row 7")
            assert check({name: number, relation: how})(text)
            assert not check({name: number + (1 if how == "at least" else -1), relation: how})(text)


def test_abbreviations_end_no_sentence() -> None:
    follows = checkers.build_checker(
        "length_constraints:number_sentences", {"num_sentences": 2, "relation": "less than"}, "row 7"
    )
    assert follows("Dr. Smith met Mrs. Jones.") and not follows("He met her. She left.")


def test_the_harness_is_imported_without_a_download(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setattr(nltk, "download", lambda *_, **__: pytest.fail("a download"))
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    for name in [name for name in sys.modules if name.startswith("lm_eval.tasks.ifeval")]:
        monkeypatch.delitem(sys.modules, name)
    assert len(checkers._registry.__wrapped__()) == 25
    assert "LOCAL_RANK" not in os.environ
