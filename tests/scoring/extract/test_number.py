"""Numbers are read from answers in every language, script and way to write them; nothing is guessed."""

import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.base import ExtractionContext, Question
from afrieval.scoring.extract.number import number, parse_number, read_number, stored
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts

COT = load_task("afrimgsm_cot")

# By hand, for each language: what a model may write, and the number that its author would say it gives.
WRITTEN = {
    "amh": ("16 - 3 - 4 = 9 እንቁላል ቀረ። 9 * 2 = 18። መልሱ 18 ነው።\n\nጥያቄ: 5 ብርቱካን", 18),
    "eng": ("She has 16 - 7 = 9 eggs left, at $2 each.\n**The answer is: $18.00.** That is 2 times 9.\n", 18),
    "ewe": ("Ekpe 2,000 kple 125. Ŋuɖoɖoae nye 2,125.\n\nBiabia: 7", 2125),
    "fra": ("Elle gagne 1 500 € puis 625 €.\nLa réponse est 2 125 €.\nQuestion : 12", 2125),
    "hau": ("Ya sayi ƙwai 16, ya ci 3. Amsar ita ce ₦114,200.\nTambaya: 9", 114200),
    "ibo": ("Ọ nwere 5 + 6 = 11.\nAzịza ya bụ 11.\nAjụjụ: 8", 11),
    "kin": ("Amafaranga 276.000.000 ... oya. Igisubizo ni 276,000 Frw.", 276000),
    "lin": ("Eyano ezali 12 to 13? Te.\nEyano ezali: 14,0.\n3 + 4", 14),
    "lug": ("Alina emiyembe 24. Ekyokuddamu kiri 18.\nEkibuuzo: 100", 18),
    "orm": ("Deebiin isaa hin beekamu. 20-2=18 ta'a.\nDeebiin 18 dha.\n4", 18),
    "sna": ("Mhinduro ndeyekuti: 64%.\nMubvunzo 3", 64),
    "sot": ("Karabo ke R5 600.\n\nPotso: 1", 5600),
    "swa": ("Kuku 20-5 wanabaki 15. JIBU NI sh. 15.\nSwali: 9", 15),
    "twi": ("Nnipa 10 bɛkaa ho. Mmuaeɛ no ne 25.\nAsɛmmisa: 1", 25),
    "wol": ("Tontu bi mooy ٢٥.\nLaaj: 3", 25),
    "xho": ("Impendulo ithi ngama-24.\nUmbuzo: 5", 24),
    "yor": ("Ìdáhùn náà ni:\n\n**70,000**\n\nÌbéèrè: 3", 70000),
    "zul": ("Impendulo ithi ngu-18.\nUmbuzo: 5", 18),
}


@pytest.mark.parametrize("language", COT.languages)
def test_answers_in_every_language(language: str) -> None:
    text, number = WRITTEN[language]
    assert read_number(text, load_prompts(COT, language)[1].lead_ins) == number


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("amh", "መልሱን ለማግኘት 5 እና 8 እንደምራለን። መልሱ 13 ነው። 2"), ("fra", "La réponse finale est 13. Il reste 2 jours."),
        ("ibo", "Azịza bụ naịra 13. Ego 2 fọdụrụ."), ("kin", "Igisubizo ni amafaranga 13. Abantu 2."),
        ("lug", "Eky’okuddamu kiri nti 13. Abantu 2."), ("orm", "Deebiin isaa 13 dha. Namoota 2."),
        ("orm", "Deebiin isaa 13. Namoota 2."),
        ("orm", "Deebiin isaanii 5 fi 8. Deebiin 13 dha. Namoota 2."),
        ("sna", "Mhinduro ndi madhora 13. Vanhu 2."), ("sna", "Mhinduro ndi13. Vanhu 2."),
        ("sna", "Mhinduro ndeye 13. Vanhu 2."),
        ("sna", "Mhinduro inowanikwa nekusanganisa 5 ne8. Mhinduro i13. Vanhu 2."),
        ("sot", "Karabo ke R13. Batho ba 2."), ("twi", "Mmuaeɛ no yɛ sidi 13. Nnipa 2."),
        ("wol", "Tontu li mooy 13. Nit 2."), ("xho", "Impendulo yi-R13. Abantu 2."),
        ("yor", "Ìdáhùn náà jẹ́ 13. Ènìyàn 2."), ("yor", "Idahun naa ni 13. Eniyan 2."),
        ("zul", "Impendulo ingu-13. Abantu 2."),
    ],
)  # fmt: skip
def test_the_language_s_own_words_before_the_number(language: str, text: str) -> None:
    assert read_number(text, load_prompts(COT, language)[1].lead_ins) == 13


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("18", 18), ("18.", 18), ("= 18 eggs", 18), ("first 5, then 18", 18), ("$70,000.00", 70000),
        ("70 000 $", 70000), ("70\u00a0000", 70000), ("70\u202f000", 70000), ("1,234,567", 1234567),
        ("1.234.567", 1234567), ("1.234,50", Decimal("1234.5")), ("3,5", Decimal("3.5")), ("3.5", Decimal("3.5")),
        ("0,125", 125),  # a comma before exactly three digits is a thousands mark
        ("0.125", Decimal("0.125")),
        ("70.000 F", 70000),  # no right answer has decimals, so three digits after a point are thousands too
        ("70'000", 70000), ("70_000", 70000), ("70{,}000", 70000), ("70\\,000", 70000), ("70,\\!000", 70000),
        ("12,34,567", 1234567), (".75", Decimal("0.75")), ("-\\$5", -5), ("18 m^2", 18), ("5:00 PM", 5),
        ("#### 18\n(9 x 2)", 18), ("9 * 2 = 18\n\\boxed{18}\nNote: 2 dollars each", 18),
        ("1. 3 eggs\n2. so 18\n3. done", 18), ("18. That is all", 18), ("2,1250", Decimal("2.125")),
        ("in 2020 500 people", 500),  # no number has a group of four digits before a blank
        ("150 %", 150), ("-5", -5), ("\u22125", -5), ("= -5", -5), ("-$5", -5), ("$-5", -5), ("ngu-18", 18),
        ("20-18", 2),
        ("- 18 eggs", 18),  # an item of a list
        ("R500", 500), ("\\boxed{18}", 18), ("٢٬١٢٥", 2125), ("१८", 18), ("߁߈", 18), ("𞥑𞥘", 18), ("፲፰", 18),
        ("፪ሺህ", 2), ("፳፻፲፮", 2016), ("፻፳፫", 123), ("፩፼", 10000), ("፲፪፼፻", 120100), ("", None), ("eighteen", None),
        ("½", Decimal("0.5")),
    ],
)  # fmt: skip
def test_ways_to_write_a_number(text: str, number: Decimal | int | None) -> None:
    assert read_number(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The answer is 63/7.", 9), ("63-63+9", 9), ("The answer is 63-63+9.", 9), ("\\frac{63}{7}", 9),
        ("\\dfrac{63}{7}", 9), ("5+4=9", 9), ("5 + 4 = 9", 9), ("63 divided by 7", 9), ("63 over 7", 9),
        ("5 plus 4", 9), ("9 + (1x0)", 9), ("3 x (1x3)", 9), ("5 + (2 x 2)", 9),
        ("5 apples + 4 oranges = 9 fruits", 9), ("\\boxed{\\frac{63}{7}}", 9),
        ("16 \u2013 3 \u2013 4 = 9", 9), ("The answer is 18/7.", None), ("The answer is 18-27.", None), ("1/3", None),
        ("10-12", None), ("10 to 12", None), ("10 \u2013 12", None), ("12/05/2024", None), ("2024-05-12", None),
        ("7:30", None), ("3:4", None), ("3x", None), ("3x + 2", None), ("2(9)", None), ("√16", None),
        ("\\sqrt{16}", None), ("18 + x", None), ("x + 2", None), ("70k", None), ("50% of 36", None),
        ("18 eggs - 2 dollars each", None), ("\\boxed{18", None), ("±18", None), ("0712-345-678", None),
        ("1-2-3", None), ("12.05.2024", None), ("10 or 12", None), ("x^2", None), ("x^2 + 3", None), ("5 6/3", None),
        ("2^100000000", None), ("9^9^9^9", None), ("1/0", None), ("18 ÷ 0", None), ("The answer is 3 × price", None),
        ("5 x 3y", None), ("10~12", None), ("10...12", None), ("10%-12%", None), ("$10-$12", None),
        ("$10 - $12", None), ("10 km to 12 km", None), ("The answer is \u201318.", -18), ("\u201418", -18),
        ("\u201218", -18), ("\u221218", -18), ("\uff0d18", -18), ("minus 18", -18), ("-18", -18), ("= -18", -18),
        ("= - 18", -18), ("The answer is 0.018e3.", 18), ("0.018 × 10^3", 18), ("1.8 \\times 10^{1}", 18),
        ("1,8·10¹", 18), ("1.8 x 10^1", 18), ("1.8*10^1", 18), ("18 km", 18), ("18km", 18), ("KSh 18", 18),
        ("₦18", 18), ("18/=", 18), ("18/-", 18), ("Sh 18/= only", 18), ("18-year", 18), ("ngu-18", 18),
        ("ngu\u201318", 18), ("x = 18", 18), ("x=18", 18), ("(5+4)*2", 18), ("(18", 18), ("18)", 18), ("(18)", 18),
        ("9 times 2", 18), ("20 minus 2", 18), ("50% of 36 = 18", 18),
        ("The answer is 9 eggs * 2 dollars = 18 dollars", 18), ("The answer is 18 km/h", 18), ("**18**", 18),
        ("**Answer:** 18", 18), ("* 18 eggs", 18), ("$18$", 18), ("$$18$$", 18), ("\\boxed{18}", 18),
        ("The answer is \\boxed{18}.", 18), ("The answer is \\(18\\).", 18), ("18.", 18), ("18 (9 x 2)", 18),
        ("The answer is 18 (9 x 2).", 18), ("- 18", 18), ("+18", 18), ("-5 + 23", 18), ("18%", 18),
        ("18 percent", 18), ("18°", 18), ("18 cm²", 18), ("18m^2", 18), ("18 m^2", 18), ("9 x 2", 18), ("9x2", 18),
        ("9×2", 18), ("9 * 2", 18), ("36÷2", 18), ("36 / 2", 18), ("100 - 82 = 18 eggs left", 18),
        ("He had 100 - 82 eggs", 18), ("R18", 18), ("R 18,00", 18), ("18F", 18), ("18th", 18),
        ("The answer is about 18", 18), ("≈ 18", 18), ("18 = 9*2", 18), ("9 * 2 =", 18),
        ("The answer is 9*2 = sh. 18", 18), ("1.234 × 10^3", 1234), ("3/4", Decimal("0.75")),
        ("2 1/2", Decimal("2.5")), ("2½", Decimal("2.5")), ("2\\frac{1}{2}", Decimal("2.5")), ("2^3", 8), ("2**3", 8),
        ("10²", 100), ("10^2", 100), ("50%", 50), ("1,500/=", 1500), ("5:00 PM", 5), ("20 km / 4 hours = 5 km/h", 5),
        ("70 thousand", 70000), ("1.5 million", 1500000), ("-2^2", -4), ("2^-1", Decimal("0.5")), ("5 * -2", -10),
        ("-3/4", Decimal("-0.75")), ("3 3/4 hours", Decimal("3.75")), ("The answer is 1/2 + 1/2.", 1),
        ("1e99", Decimal("1E+99")), ("12:00", 12), ("between 10 and 12", None),
        ("The answer is 16 - 3 - 4", 9), ("16-3-4", None), ("0,018 \u00d7 10\u00b3", 18),
        ("1.8E+1", 18), ("-(18)", -18),
        ("The answer is\u201418", 18), ("6\u00b3", 216), ("18,-", 18), ("18 out of 20", None), ("3/0", None),
    ],
)  # fmt: skip
def test_expressions_are_what_they_come_to_or_nothing(text: str, number: Decimal | int | None) -> None:
    assert read_number(text, ["The answer is"]) == number


Valued = tuple[str, Fraction | None]
OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction | None]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "\u00d7": operator.mul, "x": operator.mul,
    "/": lambda a, b: a / b if b else None, "\u00f7": lambda a, b: a / b if b else None,
    "^": lambda a, b: a ** int(b) if b.denominator == 1 and (a or b >= 0) and abs(b) < 99 else None,
}  # fmt: skip


def _joined(parts: tuple[Valued, str, str, Valued]) -> Valued:
    (left, a), sign, blank, (right, b) = parts
    return f"({left}{blank}{sign}{blank}{right})", None if a is None or b is None else OPERATORS[sign](a, b)


NUMERALS = st.integers(0, 200).map(lambda n: (str(n), Fraction(n)))
NUMERALS |= st.integers(1, 9999).map(lambda n: (f"{n / 100:.2f}", Fraction(n, 100)))
EXPRESSIONS: st.SearchStrategy[Valued] = st.recursive(
    NUMERALS,
    lambda of: st.tuples(of, st.sampled_from([*OPERATORS]), st.sampled_from(["", " "]), of).map(_joined),
    max_leaves=6,
)


@given(
    EXPRESSIONS, st.sampled_from(["{}", "The answer is {}.", "So {} eggs", "= {}", "**{}**", "x = {}", "\\boxed{{{}}}"])
)
def test_any_expression_comes_to_its_value_or_to_nothing(expression: Valued, sentence: str) -> None:
    text, value = expression
    for shown in (text, text.removeprefix("(").removesuffix(")") if text.startswith("(") else text):
        read = read_number(sentence.format(shown), ["The answer is"])
        assert read is None or Fraction(read) == value


@given(
    st.integers(-999, 999),
    st.integers(-999, 999),
    st.sampled_from(["{} + ({}) = {}", "{}+({})={} eggs.", "{} km + ({}) km = {} km"]),
)
def test_an_equation_comes_to_its_right_side(a: int, b: int, shape: str) -> None:
    assert read_number(shape.format(a, b, a + b)) == a + b


LEADS = ["Answer:", "The answer is", "Jibu:", "Jibu sahihi:", "Jibu ni", "መልስ:", "ትክክለኛው መልስ:", "መልሱ {answer} ነው"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Answer: 18\n\nShe sells 9 eggs at $2 each.", 18), ("Answer: 18 (95% sure)", 18), ("Answer:-18\n3", -18),
        ('{"answer": 18, "steps": 3}', 18), ('{"answer": "18", "steps": 3}', 18), ("answer=18\n3", 18),
        ("The final answer is 18. There are 2 left.", 18), ("**Answer:** about 18 eggs\n2 each", 18),
        ("Jibu sahihi ni 18. Kuna 2", 18), ("መልስ፦ 18\n2", 18), ("ትክክለኛው መልስ 18 ነው። 2 ቀረ", 18), ("Answer - 18\n3", 18),
        ("Answer: 16 - 3 - 4 = 9. 9 * 2 = 18", 18), ("Answer: 16 eggs are laid. 9 are sold for 18", 18),
        ("Answer: Janet has 16 - 3 - 4 = 9 eggs.\nShe sells 9 x 2 = 18.", 18), ("The answer is 18!", 18),
        ("The answer is not 63 but 64", 64), ("If the answer is 63, then 9 is left.", None),
        ("The answer is 63?", None),
        ("I don't think the answer is 63. The answer is 64.", 64), ("The answer is 18, not 19.", 18),
        ("\\boxed{\\frac12}", Decimal("0.5")), ("1\u20442", Decimal("0.5")), ("1,000 1/2", None),
        ("\\boxed{18, 19}", None),
        ("\\boxed{18 \\text{ or } 19}", None), ("The answer is 63, 64", None), ("The answer is 63 and 64", None),
        ("18 or maybe 19", None), ("6 3", None), ("Answer: 18 or 19", None), ("The answer is 2 hours 30 minutes", None),
        ("The answer is 5 dollars and 50 cents", None), ("The answer is May 12, 2024", None), ("2 dozen", None),
        ("3 thousand 5 hundred", None), ("1.5M", None), ("1.5m", Decimal("1.5")), ("18 m2", 18), ("18cm3", 18),
        ("18 km²", 18), ("18፡00", 18), ("Step 1: 9+9=18\nStep 2: done", 18), ("Hatua ya 1: 18\nHatua ya 2: mwisho", 18),
        ("(1) 18\n(2) done", 18), ("18 [1]", 18), ("> 18", None), ("≠ 18", None), ("more than 63", None),
        ("The answer is more than 63", None), ("at least 18", None), ("5!", None), ("5! = 120", 120),
        ("18 mod 5", None),
        ("log 18", None), ("The answer isn't 18.", None),
        ("መልሱ 18 አይደለም", None), ("Answer:\n1. Janet has 16 eggs\n2. so 18", 18), ("9 x 2 = 18 apples (2 each)", 18),
        ("2 * (3 + 4)", 14), ("The answer is between 10 and 12.", None), ("<answer>18</answer>", 18),
        ("<<9+9=18>>18", 18),
        ("Jibu ni 18, kwa sababu ana mayai 9.", 18), ("The answer is 18 for 2 people", 18),
    ],
)  # fmt: skip
def test_what_is_announced_is_one_number(text: str, number: Decimal | int | None) -> None:
    assert read_number(text, LEADS) == number


def test_headings_of_markdown_are_no_answers() -> None:
    assert read_number("#### Step 1: 5 eggs\nSo she has 18.") == read_number("18\n#### Done") == 18
    assert read_number("#### $18\n5") == 18


def test_lead_in_wins_over_later_numbers() -> None:
    text = "The answer is 5? No. The answer is 18.\nQuestion: 3 + 4"
    assert read_number(text, ["The answer is"]) == 18
    assert read_number(text, ["The answer is"], first=True) == 18
    assert read_number(text) == 7
    assert read_number("the ANSWER is clear.\n3 + 4 = 7", ["The answer is"]) == 7
    assert read_number("Ekyʼokuddamu kiri 5. 9", ["Eky'okuddamu kiri"]) == 5
    assert read_number("Jibu ni 18 (mayai 9 x $2).", ["The answer is", "Jibu ni"]) == 18


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("eng", "The answer is 9 * $2 = $18."),
        ("eng", "The answer is 16 + 2 = 18, since 2 x 10 = 20 less 2."),
        ("eng", "The answer is 18, since 2 x 10 = 20 less 2."),
        ("eng", "The answer isn't 5 but 18"),
        ("swa", "Jibu ni $9 \\times 2 = 18$."),
        ("swa", "Jibu nililopata kwanza 5, lakini sahihi ni 18"),
        ("amh", "መልሱ 9 * 2 = 18 ነው።"),
        ("amh", "መልሱን ለማግኘት 16 ከ 7 እንቀንሳለን። 9 * 2 = 18 ብር።"),
        ("amh", "ይመልሱ 16፣ መልሱ 18 ብር ነው። 7"),
        ("orm", "Deebiin argachuuf 16 irraa 7 hirʼisna. 9 * 2 = 18."),
        ("fra", "La réponse est-elle 5 ? Non. 9 × 2 = 18"),
        ("sot", "Karabo kenyelleditswe mohatong wa 2. 9 x 2 = 18"),
    ],
)
def test_lead_ins_are_words_of_their_own_and_equations_come_to_something(language: str, text: str) -> None:
    assert read_number(text, load_prompts(COT, language)[1].lead_ins) == 18


@given(st.integers(0, 10**9), st.sampled_from([",", " ", "\u00a0", "\u202f"]), st.sampled_from(list(COT.languages)))
def test_any_grouped_number_is_read_after_any_lead_in(number: int, mark: str, language: str) -> None:
    lead_ins = load_prompts(COT, language)[1].lead_ins
    shown = f"{number:,}".replace(",", mark)
    for lead_in in lead_ins:
        sentence = lead_in.replace("{answer}", shown) if "{answer}" in lead_in else f"{lead_in} {shown}"
        assert read_number(f"1 + 2. {sentence}.\n77 78", lead_ins) == number


@given(st.integers(-(10**12), 10**12), st.sampled_from([0x30, 0x660, 0x966, 0x7C0, 0x1E950]))
def test_digits_of_any_script(number: int, zero: int) -> None:
    text = "".join(chr(zero + int(c)) if c.isdigit() else c for c in str(number))
    assert read_number(f"x = {text}.") == parse_number(text) == number


@given(st.text())
def test_any_text_is_read_or_not_and_never_an_error(text: str) -> None:
    read = read_number(text, ["The answer is"])
    assert read is None or any(c.isnumeric() for c in text)


@pytest.mark.parametrize("text", ["", "The 18", "18 eggs", "A", "1-2"])
def test_a_gold_answer_is_a_number_and_nothing_else(text: str) -> None:
    assert parse_number(text) is None


@pytest.mark.parametrize("digits", ["18", "18.0", "-3", "18.5", "0.1", "123456789012345678901234567890.5", "1" * 5000])
def test_a_stored_number_is_the_number(digits: str) -> None:
    kept = stored(Decimal(digits))
    assert kept is not None and Decimal(orjson.loads(orjson.dumps(kept))) == Decimal(digits)


def test_the_extractor_looks_where_the_answer_can_be() -> None:
    text, question = "18 eggs\nQuestion: 5 apples", Question(18)
    assert number()(text, question, ExtractionContext(runs_on=True)) == 18
    assert number()(f"\n\n{text} left", question, ExtractionContext(runs_on=True)) == 18
    assert number()(text, question, ExtractionContext()) == 5
    assert number()("none", question, ExtractionContext()) is None
    text = "9 x 2. The answer is 18.\nThe answer is 5."
    assert number()(text, question, ExtractionContext(["The answer is"], runs_on=True, reasoned=True)) == 18


NGU, NI = "Impendulo ngu-{answer}", "Mhinduro i{answer}"


@pytest.mark.parametrize(
    ("lead_in", "text", "number"),
    [
        (NGU, "Impendulo ngu-7.\nUmbuzo: 5", 7), (NGU, "Impendulo ngu7.\n5", 7), (NGU, "Impendulo ngu 7. 5", 7),
        (NGU, "IMPENDULO NGU: **R2,125**\n5", 2125), (NGU, "Impendulo ngu--7. 5 4", -7),
        (NGU, "Impendulo ngu\u20117\n5", 7), (NGU, "Impendulo ngu-9 x 2 = 18.\n5", 18),
        (NGU, "Impendulo ngumntwana ka-7.\n5", 5),  # "is the child of 7"
        (NGU, "Impendulo ngu\n7 na 5", 5), (NI, "Mhinduro i400\n5", 400), (NI, "Mhinduro i$400\n5", 400),
        (NI, "Mhinduro iri pa 7.\n5", 5), (NI, "Mhinduro i፲፰\n5", 18),
        ("Mhinduro ndi{answer}", "Mhinduro ndi 4\n5", 4),
        ("Deebiin {answer}dha", "Deebiin 18dha. Deebiin 4\n5", 18),
    ],
)  # fmt: skip
def test_a_prefix_may_be_joined_to_the_number(lead_in: str, text: str, number: int) -> None:
    assert read_number(text, [lead_in]) == number


@given(st.integers(0, 10**9), st.sampled_from(["", "-", " ", ": ", " **", "\u2011", " $"]), st.sampled_from([NGU, NI]))
def test_any_number_is_read_after_a_joined_prefix(number: int, between: str, lead_in: str) -> None:
    said = f"{lead_in.removesuffix('{answer}').rstrip('-')}{between}{number}"
    assert read_number(f"1 + 2. {said}.\n77 78", [lead_in]) == number


@given(st.text(alphabet=" ngu-i7x5.\n$"))
def test_another_lead_in_never_loses_what_one_finds(text: str) -> None:
    """With one more lead-in the answer is that of either; none is found only where neither finds one."""
    alone = {read_number(text, [words]) for words in ("i", "ngu-{answer}")}
    assert read_number(text, ["i", "ngu-{answer}"]) in alone
