"""Checkers in Swahili and Yoruba: each point in which the authors' own, made for English, would be wrong."""

import unicodedata
from typing import Any

import pytest

from afrieval._util.errors import UserError
from afrieval.scoring.ifeval.instructions import build_checkers, followed
from afrieval.scoring.ifeval.other_languages import count_sentences, count_words

AT_LEAST, LESS = "at least", "less than"


def row(language: str, instruction: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"key": 7, "instruction_id_list": [instruction], "kwargs": [kwargs], "language": language}


# language, instruction, its arguments, a response that follows it, one that does not
POINTS: list[tuple[str, str, dict[str, Any], str, str]] = [
    # a keyword may be part of a word, but not end within a letter: ọkọ (husband) is not in ọkọ̀ (boat)
    ("yor", "keywords:existence", {"keywords": ["ọkọ"]}, "Ọkọ mi.", "Ọkọ̀ mi."),
    ("yor", "keywords:existence", {"keywords": ["ìwé"]}, "Ilé-ìwé.", "Iwe."),
    ("swa", "keywords:existence", {"keywords": ["yanayohusiana", " kupitia"]}, "Kupitia yanayohusiana.", "Kupitia."),
    ("swa", "keywords:existence", {"keywords": ["ng'ombe"]}, "NG’OMBE wengi.", "Ngombe wengi."),
    ("yor", "keywords:frequency", {"keyword": "ọkọ", "frequency": 2, "relation": LESS}, "Ọkọ, ọkọ̀.", "Ọkọ, ọkọ."),
    # a forbidden word is a whole word, also one that ends in a mark
    ("yor", "keywords:forbidden_words", {"forbidden_words": ["ilé-ifẹ̀"]}, "Ìlú Ifẹ̀.", "Mo wá láti Ilé-Ifẹ̀ ní àná."),
    ("yor", "keywords:forbidden_words", {"forbidden_words": ["àjọ"]}, "Àjọ̀dún.", "Àjọ dára."),
    ("swa", "keywords:forbidden_words", {"forbidden_words": ["ombe"]}, "Ng'ombe.", "Ombe."),
    ("swa", "keywords:forbidden_words", {"forbidden_words": ["mwana wa"]}, "Mwana, njoo.", "MWANA WA mfalme."),
    # a letter with another mark is another letter, as for the authors
    ("yor", "keywords:letter_frequency", {"letter": "o", "let_frequency": 1, "let_relation": LESS}, "Ọ̀ò ọ́", "ọo"),
    ("yor", "keywords:letter_frequency", {"letter": "ọ̀", "let_frequency": 2, "let_relation": AT_LEAST}, "Ọ̀rọ̀", "Ọ̀rọ"),
    ("yor", "keywords:letter_frequency", {"letter": "ṣ", "let_frequency": 2, "let_relation": AT_LEAST}, "Ṣ, ṣ", "S, ṣ"),
    # langdetect knows no Yoruba; text without letters has no language
    ("yor", "language:response_language", {"language": "yo"}, "Mo fẹ́ lọ sí ọjà láti ra ẹja.", "Ninaenda sokoni leo."),
    ("yor", "language:response_language", {"language": "sw"}, "Ninaenda sokoni kununua samaki.", "Mo fẹ́ lọ sí ọjà."),
    ("swa", "language:response_language", {"language": "sw"}, "12 34", "The fish is fresh."),
    ("yor", "language:response_language", {"language": "hi"}, "मैं बाज़ार जाना चाहता हूँ।", "Mo fẹ́ lọ sí ọjà."),
    # words: neither a mark nor an apostrophe divides them, a hyphen does
    ("yor", "length_constraints:number_words", {"num_words": 3, "relation": LESS}, "Ọ̀rọ̀ ọ̀pọ̀lọpọ̀.", "Mo ń lọ."),
    ("swa", "length_constraints:number_words", {"num_words": 2, "relation": LESS}, "Ng'ombe!", "Ng'ombe, mbuzi."),
    (
        "swa", "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "mwishoni mwa wiki"},
        "Leo.\n\n“Mwishoni mwa wiki”, kesho.", "Leo.\n\nMwishoni mwa mwezi.",
    ),
    (
        "yor", "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "ó"}, "Ó lọ.", "Òun lọ.",
    ),
    (
        "swa", "length_constraints:number_sentences", {"num_sentences": 2, "relation": LESS},
        "Bw. Juma alimwona Dk. Asha.", "Juma alimwona. Asha alilala.",
    ),
    ("swa", "detectable_format:constrained_response", {}, "Jibu langu ni labda.", "My answer is maybe."),
    ("swa", "detectable_format:constrained_response", {}, "**Jibu langu linaweza kuwa.**", "Labda."),
    ("yor", "detectable_format:constrained_response", {}, "Ìdáhùn mi ni bẹ́ẹ̀kọ́.", "Idahun mi ni beeko."),
    ("hau", "detectable_format:constrained_response", {}, "My answer is no.", "A'a."),
    # no sentence model is needed, and marks have no case
    (
        "yor", "change_case:capital_word_frequency", {"capital_frequency": 2, "capital_relation": LESS},
        "Ọ̀RỌ̀ kan.", "Ọ̀RỌ̀ ÌJÌNLẸ̀.",
    ),
    (
        "swa", "change_case:capital_word_frequency", {"capital_frequency": 1, "capital_relation": AT_LEAST},
        "NG'OMBE", "Ng'ombe",
    ),
    ("swa", "punctuation:no_comma", {}, "Mbuzi na kuku.", "Mbuzi، kuku."),
    ("yor", "startend:quotation", {}, "“Ó dára.”", "“Ó dára” ni."),
    ("yor", "startend:quotation", {}, '"Ó dára."', '"'),
    ("yor", "startend:end_checker", {"end_phrase": "Ó dára."}, "“Mo lọ. Ó DÁRA.”", "Ó dára. Mo lọ."),
    # the authors' own, which fit, if texts are in one form
    ("yor", "combination:repeat_prompt", {"prompt_to_repeat": "Kọ orin."}, "Kọ orin. Ẹ gbọ́.", "Ẹ gbọ́. Kọ orin."),
    (
        "yor", "detectable_format:multiple_sections", {"section_spliter": "ÌPÍN", "num_sections": 2},
        "ÌPÍN 1\nỌ̀kan\nÌPÍN 2\nÈjì", "ÌPÍN 1\nỌ̀kan",
    ),
    ("swa", "detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Kwaheri.\nP.P.S Njoo.", "Kwaheri."),
]  # fmt: skip


@pytest.mark.parametrize(("language", "instruction", "kwargs", "follows", "does_not"), POINTS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_each_point_in_both_forms_of_marks(
    language: str, instruction: str, kwargs: dict[str, Any], follows: str, does_not: str, form: Any
) -> None:
    other = {"NFC": "NFD", "NFD": "NFC"}[form]
    asked = {name: _in_form(value, other) for name, value in kwargs.items()}
    of = row(language, instruction, asked)
    assert followed(of, unicodedata.normalize(form, follows)) == {"strict": [True], "loose": [True]}
    assert followed(of, unicodedata.normalize(form, does_not)) == {"strict": [False], "loose": [False]}


def _in_form(value: Any, form: Any) -> Any:
    if isinstance(value, list):
        return [_in_form(entry, form) for entry in value]
    return unicodedata.normalize(form, value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("swa", "Habari? Nzuri! Karibu.", 3),
        ("swa", "Bw. na Bi. Juma wana watoto 3. Wanakaa uk. 5, Na. 12.", 2),
        ("swa", "Alizaliwa mwaka 1990. Sasa ana mbuzi, kuku n.k. na shamba la ekari 2.5.", 2),
        ("swa", "Tuna embe n.k. Kesho tutauza.", 2),
        ("swa", "“Njoo!” alisema mama. “Nakuja…” nikajibu.", 2),
        ("swa", "habari ya leo. mimi ni mzima. asante sana!", 3),
        ("swa", "J. K. Nyerere alikuwa mwalimu.", 1),
        ("swa", "1. Pika wali.\n2. Kula.", 2),
        ("swa", "**Soko.** Lina watu. Wengi", 3),
        ("swa", "# Kichwa cha habari\n\nLeo ni siku njema.", 1),
        ("yor", "Mo rí ẹ. Ṣé o rí mi? Ó dára!", 3),
        ("yor", "Ọ̀gb. Adé àti Dr. Òjó dé.", 1),
        ("yor", "Ó ní: “Wá!” Mo sì lọ.", 2),
        ("amh", "ሰላም ነው። ደህና ነህ፧", 2),
        ("yor", "", 0),
        ("yor", "...", 1),
    ],
)
def test_sentences(language: str, text: str, sentences: int) -> None:
    assert count_sentences(unicodedata.normalize("NFC", text), language) == sentences


def test_words() -> None:
    assert count_words("Ọ̀rọ̀ wọ̀nyí, n’ílé-ìwé: ng'ombe 2.") == 6


def test_english_answers_to_other_prompts_are_checked_as_english() -> None:
    asked = {
        "key": 7, "language": "yor", "instruction_id_list": ["startend:quotation", "language:response_language"],
        "kwargs": [{"language": None}, {"language": "en"}],
    }  # fmt: skip
    assert followed(asked, "“The rain fell on the old house all day.”")["strict"] == [False, True]
    asked["instruction_id_list"] = ["length_constraints:number_sentences", "language:response_language"]
    asked["kwargs"] = [{"num_sentences": 2, "relation": LESS}, {"language": "en"}]
    assert followed(asked, "The children met her. She left in the morning.")["strict"] == [False, True]


@pytest.mark.parametrize(
    ("instruction", "kwargs"),
    [
        ("keywords:letter_frequency", {"letter": "ọr", "let_frequency": 1, "let_relation": AT_LEAST}),
        ("keywords:letter_frequency", {"letter": "ọ", "let_frequency": 1, "let_relation": "about"}),
        ("keywords:existence", {"keywords": [" "]}),
        ("length_constraints:number_sentences", {"num_sentences": 1, "relation": "about"}),
        ("language:response_language", {"language": "xx"}),
    ],
)
def test_rows_that_cannot_be_checked_are_named(instruction: str, kwargs: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"row 7: .*{instruction}"):
        build_checkers(row("yor", instruction, kwargs))
