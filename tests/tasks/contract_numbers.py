"""What tasks keep whose answer is a number. Each check returns its complaints; none means all is well."""

from tests.tasks.contract import Case, Complaints

from afrieval.scoring.extract.number import ANSWER, read_number
from afrieval.tasks.data.documents import HEADING, Document
from afrieval.tasks.prompts.prompts import example_answer, question_label

OTHERS = ("0", "7", "12,345")  # numbers that a run-on text may bring


def examples_are_read_as_their_gold(case: Case) -> Complaints:
    """What an example shows as its answer, the reader takes for the right one."""
    complaints = []
    for document in case.documents:
        shown = example_answer(case.spec, case.prompt, document, "generate")
        if document.gold is not None and read_number(shown, case.prompt.lead_ins) != document.gold:
            complaints.append(f"{case.at(document)}: {shown!r} is not read as {document.gold}")
    return complaints


def headings_are_cut(case: Case, train: list[Document]) -> Complaints:
    texts = [text for d in train for text in (*d.fields.values(), d.worked)]
    return [f"{case.at()}: {text[:40]!r} begins with a heading" for text in texts if HEADING.match(text)]


def lead_ins_are_read(case: Case) -> Complaints:
    """The number after a lead-in wins over numbers that follow on other lines."""
    if not case.prompt.lead_ins:
        return [f"{case.at()}: it has no lead_in"]
    complaints = []
    for lead_in in case.prompt.lead_ins:
        sentence = lead_in.replace(ANSWER, "18") if ANSWER in lead_in else f"{lead_in} 18"
        text = f"2 + 16 = 18. {sentence}.\n\n" + "\n".join(OTHERS)
        read = read_number(text, case.prompt.lead_ins)
        complaints += [] if read == 18 else [f"{case.at()}: {text!r} is read as {read}"]
    return complaints


def lead_in_is_named(case: Case) -> Complaints:
    """A text that asks for a lead-in, in quotation marks, asks for words that are read."""
    parts = [[part.strip() for part in lead_in.split(ANSWER) if part.strip()] for lead_in in case.prompt.lead_ins]
    texts = {"system text": case.prompt.system, "template": case.prompt.template}
    return [
        f"{case.at()}: {name} asks for other words than {', '.join(case.prompt.lead_ins)}"
        for name, text in texts.items()
        if any(mark in text for mark in '"“«') and not any(all(p in text for p in words) for words in parts)
    ]


def has_a_question_label(case: Case) -> Complaints:
    """A model without chat template is stopped where it begins another question."""
    label = question_label(case.spec, case.prompt, case.language)
    return [] if label else [f"{case.at()}: no words stand before the question on its line"]
