"""Each check finds the defect that it is for, and nothing in rows without one."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.conftest import ROOT
from tests.tools.data_checks.rows import documents, group

from afrieval.tasks.data.document import Document
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.declaration.spec import load_task
from afrieval.tools.data_checks.check import CHECKS, check_data
from afrieval.tools.data_checks.groups import Finding, Group
from afrieval.tools.data_checks.language_checks import misidentified_languages, rows_in_other_languages
from afrieval.tools.data_checks.rows import (
    differing_golds,
    differing_numbers,
    odd_characters,
    odd_lengths,
    repeated_texts,
    unasked_words,
    untranslated_rows,
)

Rows = dict[str, list[Document]]


def changed(rows: Rows, language: str, row: int, **texts: str) -> Rows:
    """Returns rows with other texts in a row of a language."""
    of_language = list(rows[language])
    of_language[row] = replace(of_language[row], fields=of_language[row].fields | texts)
    return rows | {language: of_language}


def named(found: Sequence[Finding]) -> list[tuple[str, str, list[int]]]:
    return [(f.language, f.kind, list(f.rows)) for f in found]


@pytest.mark.parametrize("check", [c for c in CHECKS if c is not misidentified_languages], ids=lambda c: c.__name__)
def test_sound_rows_have_no_finding(check: object) -> None:
    for seed in range(3):
        assert callable(check) and not [*check(group(documents(120, seed)))]


def test_another_right_answer_than_most_languages() -> None:
    rows = documents()
    rows["hau"][7] = replace(rows["hau"][7], gold=0)
    assert named([*differing_golds(group(rows))]) == [("hau", "gold", [7])]
    two = {code: rows[code] for code in ("eng", "hau")}
    assert not [*differing_golds(group(two))], "nobody knows which of two is right"


def test_a_row_that_repeats_another_and_a_text_that_stands_twice() -> None:
    rows = documents()
    rows = changed(rows, "swa", 9, **{name: text.upper() for name, text in rows["swa"][4].fields.items()})
    rows = changed(rows, "yor", 5, hypothesis=rows["yor"][5].fields["premise"])
    rows = changed(rows, "fra", 3, premise="")
    found = [*repeated_texts(group(rows))]
    assert named(found) == [("swa", "duplicate", [9]), ("yor", "equal", [5]), ("fra", "empty", [3])]
    assert found[0].each == {9: "is 4"} and found[2].each == {3: "premise"}
    empty = dict.fromkeys(rows["eng"][0].fields, "")
    rows = changed(changed(documents(), "eng", 1, **empty), "eng", 2, **empty)
    assert named([*repeated_texts(group(rows))]) == [("eng", "empty", [1, 2])], "empty rows do not repeat each other"


def test_instructions_that_count_words_which_the_prompt_does_not_have() -> None:
    def row(at: int, prompt: str, **kwargs: object) -> Document:
        return Document(at, {"message": prompt}, (), {"kwargs": [{}, {**kwargs, "relation": "less than"}]})

    rows = [
        row(0, "Tumia maneno Mto na mtumbwi.", keywords=["mto", " mtumbwi"]),
        row(1, "Kọ ọ̀rọ̀ ilé.", keyword="ile"),
        row(2, "Pika wali.", forbidden_words=["rice"], end_phrase="The end."),
        row(3, "Pika.", postscript_marker="P.S."),
    ]
    (found,) = unasked_words(Group("test", {"swa": rows}, {}, ()))
    assert named([found]) == [("swa", "unasked", [1, 2])] and found.each == {1: "ile", 2: "rice, The end."}


def test_what_most_languages_repeat_comes_from_the_source() -> None:
    rows = documents()
    for code in rows:
        rows = changed(rows, code, 9, **rows[code][4].fields)
    assert not [*repeated_texts(group(rows))]


def test_invisible_characters_but_not_those_of_emoji() -> None:
    rows = documents()
    rows = changed(rows, "yor", 4, premise="p\u200c = 4")
    rows = changed(rows, "hau", 5, premise="\U0001f469\u200d\u2764\ufe0f\u200d\U0001f469")
    assert named([*odd_characters(group(rows))]) == [("yor", "invisible", [4])]
    own = {code: [replace(d, choices=(f"a {code}", f"b {d.id}")) for d in of] for code, of in documents().items()}
    own["yor"][2] = replace(own["yor"][2], choices=("a\u200c yor", "b 2"))
    assert named([*odd_characters(Group("test", own, {}))]) == [("yor", "invisible", [2])]


def test_choices_that_became_equal() -> None:
    own = {
        code: [replace(d, choices=("a b", "c d")) for d in of] if code != "hau" else of
        for code, of in documents().items()
    }
    own["hau"][2] = replace(own["hau"][2], choices=("same", "Same "))
    assert named([*repeated_texts(Group("test", own, {}))]) == [("hau", "choices", [2])]


def test_a_text_that_is_cut_off_is_short() -> None:
    rows = documents()
    cut = changed(rows, "eng", 11, premise=rows["eng"][11].fields["premise"][:8])
    assert named([*odd_lengths(group(cut))]) == [("eng", "length", [11])]
    longer = [replace(d, fields=d.fields | {"premise": d.fields["premise"] * 3}) for d in rows["swa"]]
    (finding,) = odd_lengths(group(rows | {"swa": longer}))
    assert finding.whole and finding.language == "swa"


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        ("anɔpa yi \u0511dan", "mixed", "Latin and Cyrillic letters in a word"),
        ("ο wolof", "", ""),  # a Greek letter alone may be a symbol
        ("caf\u00c3\u00a9 de Paris", "damaged", "bytes of UTF-8 as letters"),
        ("\u00e1\u0160\u00a0\u00e1\u02c6\u203a", "damaged", "bytes of UTF-8 as letters"),
        ("a <br/> b", "damaged", "markup"),
        ("3 < 4 and 5 > 2, AT&T", "", ""),
        ("R&amp;D", "damaged", "markup"),
        ("wa \ufffd", "damaged", "a replacement character"),
        ("wa \x07", "damaged", "a control character"),
        ("ሰላም ለዓለም ሕዝብ ሁሉ ይሁን ዛሬም ነገም ከነገ ወዲያም", "letters", "mostly Ethiopic letters"),
    ],
)
def test_characters(text: str, kind: str, detail: str) -> None:
    found = [*odd_characters(group(changed(documents(), "hau", 1, premise=text)))]
    assert [(f.language, f.kind, f.rows, f.detail) for f in found] == ([("hau", kind, [1], detail)] if kind else [])


def test_a_language_in_another_script() -> None:
    rows = documents(40)
    (finding,) = odd_characters(group({"amh" if code == "yor" else code: of for code, of in rows.items()}))
    assert (finding.language, finding.kind, finding.whole) == ("amh", "script", True)


def test_a_row_that_was_not_translated() -> None:
    rows = documents(120)
    english = " ".join(rows["eng"][at].fields["premise"] for at in (4, 5, 6))
    rows = changed(changed(rows, "eng", 4, premise=english), "hau", 4, premise=english)
    assert named([*untranslated_rows(group(rows))]) == [("hau", "copied", [4])]


def test_a_row_that_is_another_language_s_where_one_of_the_two_is_known() -> None:
    rows = documents(120)
    text = " ".join(rows["swa"][at].fields["premise"] for at in (4, 5, 6))
    rows = changed(changed(rows, "swa", 4, premise=text), "hau", 4, premise=text)
    assert named([*untranslated_rows(group(rows))]) == [("hau", "copied", [4]), ("swa", "copied", [4])]
    rows["hau"][4] = replace(rows["hau"][4], defect="the text is in Swahili")
    assert named([*untranslated_rows(group(rows))]) == [("hau", "copied", [4])]


def test_varieties_of_a_written_language_may_have_a_sentence_in_common() -> None:
    rows = documents(120)
    text = " ".join(rows["swa"][at].fields["premise"] for at in (4, 5, 6))
    rows = changed(changed(rows, "swa", 4, premise=text), "hau", 4, premise=text)
    for names in ({"hau": "ary", "swa": "arz"}, {"hau": "pcm", "swa": "eng", "eng": "zul"}):
        assert not [*untranslated_rows(group({names.get(code, code): of for code, of in rows.items()}))]


def test_a_row_in_another_language_than_its_translations_show() -> None:
    rows = documents(120)
    others = [rows["yor"][at].fields["premise"] for at in (50, 60, 70, 80)]
    strange = changed(rows, "swa", 8, premise=" ".join(others))
    assert named([*rows_in_other_languages(group(strange))]) == [("swa", "language", [8]), ("swa", "unlike", [8])]
    quoted = changed(strange, "yor", 8, premise=" ".join(others[:2]))
    found = named([*rows_in_other_languages(group(quoted))])
    assert ("swa", "language", [8]) not in found, "names and quotations that both translations have"


def test_a_row_unlike_all_languages_of_the_group() -> None:
    """Such as Kikuyu among Bambara, where no other language is Kikuyu."""
    rows = documents(120)
    strange = "ũndũ ũyũ wĩkagwo nĩguo " * 12
    found = [*rows_in_other_languages(group(changed(rows, "hau", 6, premise=strange)))]
    assert ("hau", "unlike", [6]) in named(found)


def test_numbers() -> None:
    rows = documents()
    for code in rows:
        rows = changed(rows, code, 0, premise="in 1,984 and 12.5")
    assert not [*differing_numbers(group(changed(rows, "fra", 0, premise="en 1 984 et 12,5")))]
    assert not [*differing_numbers(group(changed(rows, "yor", 0, premise="12.5 only")))]
    assert not [*differing_numbers(group(changed(rows, "yor", 0, premise="in \u1369\u1370, 1984 and 12.5")))]
    (finding,) = differing_numbers(group(changed(rows, "hau", 0, premise="a 1948 da 12.5")))
    assert (finding.language, finding.each) == ("hau", {0: "premise 1948 for 1984"})


def test_a_language_that_is_another_one() -> None:
    """Swahili is recognised in its sample rows; declared to be Hausa, it is a finding."""
    spec = load_task("afrixnli")
    rows = (ROOT / "tasks/afrixnli/sample/swa.jsonl").read_text(encoding="utf-8") * 20
    texts = [Document(n, {"text": line}, (), 0) for n, line in enumerate(rows.splitlines()[:40])]
    assert not [*misidentified_languages(Group("test", {"swa": texts}, {}, spec.labels))]
    (finding,) = misidentified_languages(Group("test", {"hau": texts}, {}, spec.labels))
    assert finding.whole and finding.kind == "language" and "like swa" in finding.detail


def test_rows_are_paired_by_key_and_short_languages_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert not [f for f in check_data(load_task("belebele"), "samples", DataLock()) if f.is_new]
    assert "too few to check their order" in capsys.readouterr().err
