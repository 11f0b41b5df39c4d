"""ROUGE, token F1 and restored diacritics against other libraries, an independent SQuAD F1, and by hand."""

import string
import unicodedata
from collections import Counter
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric
from afrieval.scoring.metrics.translation import spbleu
from afrieval.scoring.texts import without_marks, words, words_without_punctuation

ROUGE = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
ASCII = st.text("ab c1'.-_\n", max_size=24)
AMHARIC, YORUBA, ARABIC = "ሙሳ ወደ ገበያ ሄደ።", "Ó lọ sí ọjà ní Kánò.", "ذهب موسى إلى السوق"


def of(name: str, given: str | None, gold: Any) -> float:
    measure = metric(name).measure(Response(given), Question(gold))
    assert measure is not None
    return float(measure[0])


@pytest.mark.parametrize("name", ROUGE)
@given(given=ASCII, golds=st.lists(ASCII, min_size=1, max_size=3))
def test_rouge_of_ascii_is_the_librarys(name: str, given: str, golds: list[str]) -> None:
    """Where its tokenizer finds words."""
    golds = [gold if words(gold) else "a" for gold in golds]
    theirs = RougeScorer([ROUGE[name]]).score_multi(golds, given)[ROUGE[name]].fmeasure
    assert of(name, given, golds) == theirs


@pytest.mark.parametrize("text", [AMHARIC, YORUBA, ARABIC, "።!"])
@pytest.mark.parametrize("name", [*ROUGE, "token_f1", "exact_match"])
def test_equal_texts_of_any_script_are_equal(name: str, text: str) -> None:
    assert of(name, text, text) == of(name, f" {text}\n", ["x y", text]) == 1.0
    assert of(name, None, text) == of(name, "", text) == of(name, "😀", text) == 0.0


def test_words_of_any_script() -> None:
    expected = ["ọjà", "náà", "ẹ\u0301", "ሰላም", "ነው", "ng", "ombe", "34", "x"]
    assert words("Ọjà-náà, e\u0301\u0323 ሰላም፡ነው። ng'ombe ٣٤_x") == expected
    assert words_without_punctuation("ng'ombe ሰላም፡ነው። $1,000 ٣٤!") == ["ngombe", "ሰላም", "ነው", "1000", "34"]
    assert words("क\u200dष") == words_without_punctuation("क\u200dष\u200b") == ["कष"]
    assert words("") == words_without_punctuation("«…»") == []


def squad_f1(given: str, gold: str) -> float:
    """Returns what the script of SQuAD 1.1 returns, without its removal of English articles."""

    def tokens(text: str) -> list[str]:
        return "".join(c for c in text.lower() if c not in set(string.punctuation)).split()

    common = Counter(tokens(given)) & Counter(tokens(gold))
    n = sum(common.values())
    if n == 0:
        return 0.0
    precision, recall = n / len(tokens(given)), n / len(tokens(gold))
    return 2 * precision * recall / (precision + recall)


@given(given=ASCII, golds=st.lists(ASCII, min_size=1, max_size=3))
def test_token_f1_of_ascii_is_squads(given: str, golds: list[str]) -> None:
    golds = [gold if words(gold) else "a" for gold in golds]
    assert of("token_f1", given, golds) == pytest.approx(max(squad_f1(given, gold) for gold in golds))


def test_articles_count_and_case_and_digits_do_not() -> None:
    """`a` is a word of many African languages."""
    assert of("token_f1", "a lọ", "lọ") == pytest.approx(2 / 3)
    assert of("token_f1", "MWAKA WA ١٩٩٤", "mwaka wa 1994!") == 1.0
    assert of("token_f1", "Kano", ["Lagos", "Kano state"]) == pytest.approx(2 / 3)


@pytest.mark.usefixtures("flores200")
def test_spbleu_is_sacrebleus() -> None:
    given, gold = ["Musa went to Kano.", "ሙሳ ሄደ።", ""], ["Musa went to the market.", "ሙሳ ወደ ገበያ ሄደ።", YORUBA]
    measures = [metric("spbleu").measure(Response(a), Question(b)) for a, b in zip(given, gold, strict=True)]
    theirs = BLEU(tokenize="flores200")
    expected = theirs.corpus_score(given, [gold])
    assert spbleu().score(np.array(measures), np.ones((1, 3)))[0] == pytest.approx(expected.score) and expected.score
    assert spbleu().signature.format(nrefs=1) == theirs.get_signature().format()


@pytest.mark.parametrize(
    ("name", "given", "share"),
    [
        ("word_acc", YORUBA, 6 / 6), ("word_acc", "O lo si oja ni Kano.", 0 / 6),
        ("word_acc", "Ó lọ ọjà ní Kánò.", 5 / 6), ("word_acc", "Ó lọ sí sí ọjà ní Kánò.", 6 / 7),
        ("tone_acc", "Ó lo sí ojà ní Kánò.", 5 / 5), ("dot_acc", "Ó lo sí ojà ní Kánò.", 0 / 2),
        ("tone_acc", "O lọ si ọja ni Kano.", 0 / 5), ("dot_acc", "O lọ si ọja ni Kano.", 2 / 2),
        ("tone_acc", "Ó lọ sì ọjà ní Kánọ̀.", 4 / 5), ("dot_acc", "Ọ́ lọ́ sí ojà ní Kánò.", 1 / 2),
    ],
)  # fmt: skip
def test_words_with_their_marks(name: str, given: str, share: float) -> None:
    measure = metric(name).measure(Response(given), Question(YORUBA))
    assert measure and measure[0] / measure[1] == pytest.approx(share)


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("empty", "", 1.0), ("empty", None, 1.0), ("empty", "x", 0.0), ("copied", "she WENT home!", 1.0),
        ("copied", "She went", 0.0), ("copied", "", 0.0),
        ("output_language", "Òjò rọ̀ ní gbogbo òru náà, a kò sì lè sùn.", 1.0),
        ("output_language", "The rain fell all night long, and we could not sleep.", 0.0),
        ("output_language", "", 0.0),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_translation(name: str, given: str | None, value: float) -> None:
    question = Question("Ó ti lọ sí ilé.", fields={"source": "She went home.", "other": "x"}, language="yor")
    assert metric(name).measure(Response(given), question) == [value]


def test_languages_that_the_library_does_not_know_are_left_out() -> None:
    found = metric("output_language")
    assert found.measure(Response("x"), Question("x", language="bbj")) is None
    assert found.missing("bbj") and not found.missing("yor") and not found.missing("")


@pytest.mark.parametrize("name", ["token_f1", "exact_match", "rouge_1", "rouge_l"])
@pytest.mark.parametrize("apostrophe", ["’", "‘", "ʼ", "ʻ"])
def test_all_apostrophes_are_alike(name: str, apostrophe: str) -> None:
    gold = "n'ime ụlọ ng'ombe"
    assert metric(name).measure(Response(gold.replace("'", apostrophe)), Question([gold])) == [1.0]


ENGLISH = [
    ("Adaora was born in Nsukka.", "She was born in 1961 in Nsukka, Nigeria."),
    ("The bakers are baking cakes", "A baker bakes a cake; the cakes are baked."),
    ("the the the", "the end"),
    ("nothing alike", "something else"),
    ("a b c d e", "e d c b a"),
]
RECALLS: dict[str, tuple[str, Literal["recall", "fmeasure"]]] = {
    "rouge_1_recall": ("rouge1", "recall"),
    "rouge_l_recall": ("rougeL", "recall"),
    "rouge_l": ("rougeL", "fmeasure"),
}


@pytest.mark.parametrize("stem", [True, False])
@pytest.mark.parametrize("name", RECALLS)
@pytest.mark.parametrize(("given", "gold"), ENGLISH)
def test_scores_are_those_of_rouge_score(name: str, stem: bool, given: str, gold: str) -> None:
    kind, part = RECALLS[name]
    expected = getattr(RougeScorer([kind], use_stemmer=stem).score(gold, given)[kind], part)
    found = metric({"name": name, "stem": stem}).measure(Response(given, given), Question(gold))
    assert found == pytest.approx([expected])


def test_recall_does_not_punish_length_and_stems_match() -> None:
    long = "Well, as far as I know, she was born in Nsukka, which is a town."
    gold = Question("born in Nsukka")
    assert metric("rouge_l_recall").measure(Response(long), gold) == [1.0]
    assert metric("rouge_1_recall").measure(Response(""), gold) == [0.0]
    baker = Response("bakers"), Question("baker")
    assert metric("rouge_1_recall").measure(*baker) == [0.0]
    assert metric({"name": "rouge_1_recall", "stem": True}).measure(*baker) == [1.0]
    assert "stemmer" in metric({"name": "rouge_l", "stem": True}).signature and not metric("rouge_l").signature


GOLD = "Ọjọ́ náà dára, ó sì tutù bí omi"  # eight words: seven with tone marks, one of them with dots too


def score(name: str, given: str | None, gold: str = GOLD, language: str = "yor") -> float:
    known = metric(name)
    assert not known.missing(language)
    measured = known.measure(Response(given), Question(gold, language=language))
    assert measured is not None
    return float(known.score(np.array([measured]), np.ones((1, 1)))[0])


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Ọjọ́ náà dára", "Ojo naa dara"),
        ("ɛ́ ɔ̀ ŋ ɖ ƙ ɓ ɗ Ɛ̌", "ɛ ɔ ŋ ɖ ƙ ɓ ɗ Ɛ"),
        ("ẹ ṣ ñ ë ç ǧ ṅ", "e s n e c g n"),
        ("l'eau, 3 km – ok", "l'eau, 3 km – ok"),
        ("ọ̀", "o"),
    ],
)
def test_marks_are_removed_and_letters_stay(text: str, bare: str) -> None:
    assert without_marks(text) == bare == without_marks(unicodedata.normalize("NFD", text))


@pytest.mark.parametrize("name", ["word_acc", "tone_acc", "dot_acc"])
def test_the_right_answer_scores_1_and_none_0(name: str) -> None:
    assert score(name, GOLD) == score(name, unicodedata.normalize("NFD", GOLD)) == 1
    assert score(name, None) == score(name, "") == 0


def test_the_input_itself_scores_0_but_for_words_without_marks() -> None:
    bare = without_marks(GOLD)
    assert [score(name, bare) for name in ("tone_acc", "dot_acc")] == [0, 0]
    assert score("word_acc", bare) == 1 / 8


def test_tone_and_dots_are_separate() -> None:
    no_dots, no_tones = GOLD.replace("Ọjọ́", "Ojó"), "Ọjọ naa dara, o si tutu bi omi"
    assert (score("tone_acc", no_dots), score("dot_acc", no_dots)) == (1, 0)
    assert (score("tone_acc", no_tones), score("dot_acc", no_tones)) == (0, 1)
    assert score("word_acc", no_dots) == 7 / 8


def test_marks_too_many_are_wrong() -> None:
    assert score("tone_acc", GOLD.replace("omi", "òmí")) == 7 / 8
    assert score("dot_acc", GOLD.replace("omi", "ọmi")) == 1 / 2
    assert score("tone_acc", "á", "omi") == 0 and score("tone_acc", "omi", "omi") == 1


def test_languages_without_such_marks() -> None:
    assert metric("dot_acc").missing("fon") and not metric("dot_acc").missing("ibo")
    assert metric("tone_acc").missing("ibo") and not metric("tone_acc").missing("fon")


TEA = {"Tea": 1.0, "milk tea": 0.5, "ሻይ በዳቦ": 0.5, "ƙwallon ƙafa": 0.25, "07:00": 0.25, "?!": 0.25}


@pytest.mark.parametrize(
    ("given", "weight"),
    [
        ("tea.", 1.0), ("A cup of TEA, in the morning", 1.0), ("Milk-tea", 1.0),  # the heaviest of two
        ("steak", 0.0), ("teas", 0.0), ("milk", 0.0), ("በዳቦ፣ ሻይ።", 0.5), ("ሻይ", 0.0), ("Ƙwallon ƙafa", 0.25),
        ("kwallon kafa", 0.0), ("at 07:00", 0.25), ("٠٧:٠٠", 0.25), ("7:00", 0.0), ("", 0.0), (None, 0.0),
        ("...", 0.0), ("?!", 0.25),
    ],
)  # fmt: skip
def test_an_answer_contains_a_right_one_if_it_has_all_its_words(given: str | None, weight: float) -> None:
    for name, expected in (("weighted_match", weight), ("any_match", float(weight > 0))):
        assert metric(name).measure(Response(given), Question(TEA)) == [expected]


@pytest.mark.parametrize("gold", [["tea"], "tea", 1, {}, {"tea": "much"}])
def test_answers_without_weights_are_not_measured(gold: object) -> None:
    assert metric("any_match").measure(Response("tea"), Question(gold)) is None
    assert metric("weighted_match").measure(Response("tea"), Question(gold)) is None
