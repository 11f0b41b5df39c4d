"""What a speaker wrote is validated before anything is changed, and errors name row, column and cure."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tools.review.conftest import Filled, copied

from afrieval._util.errors import UserError
from afrieval.tasks.prompts.vocabulary import String, strings
from afrieval.tools.review import read as reading
from afrieval.tools.review.check import clean, decisions, text_faults
from afrieval.tools.review.generated import INDEX
from afrieval.tools.review.read import read
from afrieval.tools.review.sheet import Sheet, SheetRow, read_sheet, sheet_bytes

TEMPLATE, NEITHER, LEAD_IN = "afrimmlu/1/template", "words/neither", "words/answer_is"
DAY = "2026-01-31"
# What no cell of a workbook can contain.
UNTYPED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that no test here changes."""
    root = copied(tmp_path_factory.mktemp("review") / "checkout")
    (root / INDEX).unlink()  # without it, no pages are written, which take most of the time
    return root


def with_row(sheet: Sheet, of: str, /, **values: Any) -> Sheet:
    return replace(sheet, rows=[replace(row, **values) if row.id == of else row for row in sheet.rows])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"verdict": "yes"}, "column verdict: 'yes' is not a verdict"),
        ({"verdict": "change"}, "column new text: it is empty, but the verdict is change"),
        ({"new": "x"}, "column verdict: it is empty, but the row has a new text"),
        ({"comment": "x"}, "column verdict: it is empty, but the row has a comment"),
        ({"verdict": "ok", "new": "x"}, "column new text: it is filled in, but the verdict is ok"),
        ({"verdict": "ok", "native": "x"}, "column native: the text was changed after"),
        ({"verdict": "change", "new": "y", "native": "x"}, "column native: the text was changed after"),
        ({"verdict": "ok", "id": "afrimmlu/1/templat"}, "column id: unknown string 'afrimmlu/1/templat'"),
        ({"verdict": "ok", "id": NEITHER}, f"column id: {NEITHER} occurs in 2 rows"),
        ({"verdict": "ok", "id": "afrixnli/1/labels/neutral"}, "is the shared word words/neither"),
        ({"verdict": "change", "new": "x"}, "column new text: it has 1 lines, and the native text has "),
    ],
)
def test_rows_that_cannot_be_used(values: dict[str, str], expected: str, checkout: Path, filled: Filled) -> None:
    sheet = filled({}, [])
    number = next(row.number for row in sheet.rows if row.id == TEMPLATE)
    changes, errors = read(checkout, with_row(sheet, TEMPLATE, **values), "sheet.csv", DAY)
    assert not changes and errors
    assert errors[0].message.startswith(f"sheet.csv, row {number}, ") and expected in errors[0].message


def test_a_sheet_without_a_name(checkout: Path, filled: Filled) -> None:
    with pytest.raises(UserError, match="names no reviewer"):
        read(checkout, filled({}, [TEMPLATE], reviewer=""), "sheet.csv", DAY)


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("Q: {{ question }}\nA:", "Q: {{ question }}\nB:", None),
        ("Q: {{ question }} of {{ subject }}", "{{ subject }}: {{ question }}?", None),
        ("Q: {{ question }}\nA:", "Q:\nA: {{ question }}", "line 1 differs in {{ question }}"),
        ("Q: {{ question }}", "Q: {{question}}", "line 1 differs in {{ question }}, {{question}}"),
        ("Q: {{ question }}", "Q: {{ question }} {{ question }}", "line 1 differs in {{ question }}"),
        ("Q: {{ question }}", "Q: {{ question }} {x}", "line 1 has braces"),
        ("Q: {{ question }}", "Q: {{ question }} }", "line 1 has braces"),
        ("a\n\nb", "a\nb\n\nc", "it has 4 lines"),
        ("a\n\nb\nc", "a\nb\n\nc", "its empty lines are not where"),
        ("a", "b\u200bc", "it contains an invisible character, b\\u200bc"),
        ("a", "\u202eb", "it contains an invisible character"),
        ("a", "b {answer}", "line 1 has braces"),
    ],
)
def test_texts_that_cannot_take_the_place_of_another(text: str, new: str, expected: str | None) -> None:
    faults = [problem for problem, _ in text_faults(String("afrimmlu/1/template", Path("x"), (), text), new)]
    assert not faults if expected is None else faults and faults[0].startswith(expected)


@pytest.mark.parametrize("id", ["afrimgsm/lead_in/1", "words/answer_is"])
@pytest.mark.parametrize(("new", "right"), [("ne {answer}", True), ("{answer} {answer}", False), ("{antwort}", False)])
def test_words_before_an_answer_may_mark_its_place(id: str, new: str, right: bool) -> None:
    string = String(id, Path("x"), (), "ni {answer}")
    assert [*text_faults(string, new)] == [] or not right


@pytest.mark.parametrize(("new", "told"), [("Irọ́", "'Irọ́' is"), ("Irọ́ ni", "'Irọ́ ni' begins like 'Irọ́'")])
def test_label_words_must_stay_different(new: str, told: str, checkout: Path, filled: Filled) -> None:
    """`neither` would be the word for `false`, or begin with it."""
    sheet = filled({NEITHER: new}, [])
    number = next(row.number for row in sheet.rows if row.id == NEITHER)
    changes, errors = read(checkout, sheet, "sheet.csv", DAY)
    assert not changes and any(told in e.message and f"row {number}, column new text" in e.message for e in errors)


def test_decomposed_letters_and_blanks_are_put_right() -> None:
    assert clean(" o\u0323\u0300  a \n\n b\t") == "ọ̀ a\n\nb"


WORD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=15)
AWKWARD = st.sampled_from(["=1+1", "'=x", "-a", "@b", "'", '"', "No", "5", "a: b # c", "{{ question }}", ",;\t"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(template=st.tuples(WORD | AWKWARD, WORD | AWKWARD), word=WORD | AWKWARD, form=st.sampled_from([".csv", ".xlsx"]))
def test_what_is_accepted_survives(
    template: tuple[str, str], word: str, form: str, own_checkout: Path, empty: Sheet, tmp_path: Path
) -> None:
    """From the sheet through a file into YAML and back; other strings stay as they are."""
    wanted = {"afrimgsm/1/template": f"{template[0]}{{{{ question }}}}\n{template[1]}", "words/step_by_step": word}
    known = strings(own_checkout, "yor")
    accepted = {
        id: clean(text)
        for id, text in wanted.items()
        if clean(text) and not [*text_faults(known[id], clean(text))] and not UNTYPED.search(text)
    }
    sheet, path = empty, tmp_path / f"sheet{form}"
    for id in accepted:
        sheet = with_row(sheet, id, verdict="change", new=wanted[id], native=known[id].text)
    path.write_bytes(sheet_bytes(sheet, path))
    found, errors = decisions(read_sheet(path), known, str(path))
    assert not errors and {row.id: row.new for row in found} == accepted
    for row in found:
        reading._edit(own_checkout / known[row.id].path, known[row.id], row.new)
    after = {id: string.text for id, string in strings(own_checkout, "yor").items()}
    assert after == {id: string.text for id, string in known.items()} | accepted


@pytest.fixture
def own_checkout(tmp_path: Path) -> Path:
    return copied(tmp_path / "checkout")


@pytest.fixture
def empty(filled: Filled) -> Sheet:
    """A sheet of the rows that are changed, which is faster than a whole one."""
    sheet = filled({}, [])
    rows = [row for row in sheet.rows if row.id in ("afrimgsm/1/template", "words/step_by_step")]
    return replace(sheet, rows=rows)


def test_a_row_needs_no_more_than_four_columns(checkout: Path, filled: Filled, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(
        "afrieval review;yor\nyour name;Ade\nverdict;new text;id;native\nok;;words/question;Ìbéèrè\n", encoding="utf-8"
    )
    sheet = read_sheet(path)
    assert sheet == Sheet("yor", [SheetRow("words/question", native="Ìbéèrè", verdict="ok", number=4)], "Ade")
    assert read(checkout, sheet, str(path), DAY)[0].keys() >= {Path("reviews/yor.yaml")}
