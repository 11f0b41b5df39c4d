"""Rows of our own, with the fields that task files of lm_eval read."""

from typing import Any, NamedTuple

Row = dict[str, Any]


class Fact(NamedTuple):
    """What rows are made of."""

    passage: str
    question: str
    options: tuple[str, str, str, str]
    right: int
    english: str
    number: int

    @property
    def answer(self) -> str:
        return self.options[self.right]

    @property
    def letter(self) -> str:
        return "ABCD"[self.right]

    @property
    def wrong(self) -> str:
        return self.options[(self.right + 1) % 4]

    @property
    def label(self) -> int:
        return self.right % 2


FACTS = (
    Fact(
        "Musa ya tafi kasuwa a Kano. Ya sayi dawa kilo 12 da gishiri.",
        "Me Musa ya saya a kasuwa?",
        ("dawa da gishiri", "kifi", "ruwan sanyi", "littafi"),
        0,
        "Musa went to the market in Kano. He bought 12 kilos of millet, and salt.",
        12,
    ),
    Fact(
        "Bi Asha ana mbuzi 24. Aliuza mbuzi 7 sokoni Mombasa, akarudi nyumbani.",
        "Bi Asha amebaki na mbuzi wangapi?",
        ("24", "mbuzi saba", "31", "17"),
        3,
        "Asha has 24 goats. She sold 7 goats in Mombasa and went home.",
        17,
    ),
    Fact(
        "Adé gun òkè Olúmọ ní Abẹ́òkúta. Ó rí odò láti orí òkè náà.",
        "Òkè wo ni Adé gùn?",
        ("òkè Kilimanjaro", "òkè Kenya", "òkè Olúmọ", "kò gun òkè"),
        2,
        "Adé climbed Olumo Rock in Abeokuta. He saw a river from the top.",
        3,
    ),
    Fact(
        "አልማዝ ቡና አፍልታ ለ3 እንግዶች ሰጠች። እንግዶቹ አመሰገኑ።",
        "አልማዝ ምን አፈላች?",
        ("ሻይ", "ቡና", "ወተት", "ውሃ"),
        1,
        "Almaz made coffee and gave it to 3 guests. The guests thanked her.",
        4,
    ),
)


def four(f: Fact) -> Row:
    return {"question": f.question, "choices": {"text": [*f.options], "label": [*"ABCD"]}, "answerKey": f.letter}


def mmlu(f: Fact) -> Row:
    return {"question": f" {f.question}", "choices": [*f.options], "answer": f.right, "subject": "biashara"}


def named(f: Fact, names: str) -> Row:
    return dict(zip(names.split(), f.options, strict=True))


def causes(f: Fact) -> Row:
    asked = ("cause", "effect")[f.label]
    return {"premise": f.passage, "question": asked, "choice1": f.answer, "choice2": f.wrong, "label": f.label}


def pair(f: Fact) -> Row:
    return {"premise": f.passage, "hypothesis": f"{f.question} {f.answer}", "label": f.right % 3}


def gap(f: Fact) -> Row:
    return {"sentence": f"{f.question} _ ne, {f.passage}", "option1": f.answer, "option2": f.wrong, "answer": "1"}


def categorized(f: Fact) -> Row:
    categories = ("travel", "sports", "geography", "health")
    intents = ("alarm", "weather", "time", "recipe")
    return {"text": f.passage, "category": categories[f.right], "intent": intents[f.right], "label": f.label}


def sums(f: Fact) -> Row:
    worked = f"Jibu la Hatua kwa Hatua: {f.passage} Jibu ni {f.number}. #### {f.number}"
    return {"question": f"Swali: {f.question}", "answer": worked, "answer_number": f.number}


def spans(f: Fact) -> Row:
    answer = {"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": [f.answer]}
    nothing: Row = {"number": [], "date": [], "spans": []}
    row = {"query_id": "q", "passage": f.passage, "question": f.question}
    return row | {"answer": answer, "validated_answers": nothing}


def squad(f: Fact) -> Row:
    answers = {"text": [f.answer] if f.label else [], "answer_start": [0] if f.label else []}
    row = {"id": f"swahili-{f.number}", "title": f.answer, "context": f.passage, "question": f.question}
    return row | {"answers": answers}


def truths(f: Fact) -> Row:
    return {
        "question": f.question,
        "mc2_targets": {"choices": [*f.options], "labels": [int(i == f.right) for i in range(4)]},
        "mc1_targets": {"choices": [f.answer, f.wrong], "labels": [1, 0]},
        "correct_answers": [f.answer],
        "incorrect_answers": [f.wrong],
    }
