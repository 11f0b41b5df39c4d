"""What documents, prompt files and sample files must keep; each check returns its complaints, none if all is well."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tests.tasks.contract import (
    MIN_SAMPLES,
    Case,
    Complaints,
    flat,
    has_word,
    kinds,
    placeholder,
    sample_splits,
    words_only,
)

from afrieval._util.yaml_files import read_map_file
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.scoring.extract.announcement import ANSWER
from afrieval.scoring.extract.number import read_number
from afrieval.scoring.tagging import NONE
from afrieval.tasks.answers.base import UNANSWERED
from afrieval.tasks.answers.choices import LETTERS
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import HEADING
from afrieval.tasks.declaration.kinds import UNMARKED
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import Prompt, PromptFiles, example_answer, lines_before, render, render_to_blank
from afrieval.tasks.prompts.vocabulary import CLOSING, CLOSINGS, REFERENCE, VOCABULARY, load_vocabulary


def gold_is_a_choice(where: str, documents: Sequence[Document]) -> Complaints:
    """Or a number, where there are no choices."""
    complaints = [
        f"{where}, document {d.id}: gold {d.gold} of {d.choices}, defect {d.defect!r}"
        for d in documents
        if (
            not d.defect
            if d.gold is None
            else isinstance(d.gold, int) and d.choices and not 0 <= d.gold < len(d.choices)
        )
    ]
    lost = sum(d.gold is None and d.defect not in (UNMARKED, UNANSWERED) for d in documents)
    if lost * 10 > len(documents):
        complaints.append(f"{where}: {lost} of {len(documents)} documents have no gold: a coding not understood?")
    return complaints


def values_have_words(spec: TaskSpec, prompts: PromptFiles, file: str, documents: Iterable[Document]) -> Complaints:
    values = _values(prompts, file)
    raw = {(name, d.fields[name]) for d in documents for name in values}
    missing = sorted((name, value) for name, value in raw if value not in values[name])
    return [f"{spec.name}, {file}.yaml: no words for {name} {value!r}" for name, value in missing]


def _values(prompts: PromptFiles, file: str) -> dict[str, dict[str, str]]:
    return next(iter(prompts.load(file).values())).values


def same_values_in_all_files(spec: TaskSpec, prompts: PromptFiles) -> Complaints:
    """All native files put the same raw values into words."""
    keys = {
        file: {(field, raw) for field, words in _values(prompts, file).items() for raw in words}
        for file in prompts.languages
        if file != ENGLISH
    }
    everything = set().union(*keys.values())
    lacking = {file: sorted(everything - given) for file, given in keys.items() if given != everything}
    return [f"{spec.name}, {file}.yaml: values lack {lack}" for file, lack in lacking.items()]


def says_who_wrote_it(spec: TaskSpec, file: str) -> Complaints:
    content = read_map_file(spec.prompts_folder / f"{file}.yaml").content
    where = f"{spec.name}, {file}.yaml"
    reviewed_by, reviewed_on = content.get("reviewed_by") or "", content.get("reviewed_on") or ""
    complaints = [f"{where}: {key} is missing" for key in ("origin", "written_by") if not content.get(key)]
    if bool(reviewed_by) != bool(reviewed_on):
        complaints.append(f"{where}: reviewed_by and reviewed_on are filled together or not at all")
    if reviewed_on and not re.fullmatch(r"\d{4}-\d\d-\d\d", str(reviewed_on)):
        complaints.append(f"{where}: reviewed_on {reviewed_on!r} is no day such as 2026-01-31")
    if file != ENGLISH and not reviewed_by and content.get("origin") != "machine":
        complaints.append(f"{where}: nobody reviewed it, so its origin is machine")
    return complaints


def prompts_differ(spec: TaskSpec, prompts: PromptFiles, file: str) -> Complaints:
    """Where choices fill a blank, up to the blank, too: the form `text` shows no more."""
    blank, row = spec.blank, placeholder(spec, 4)
    shown = Counter(render(p, row, file) for p in prompts.load(file).values())
    shown += Counter(render_to_blank(p, row, blank, file) for p in prompts.load(file).values() if blank)
    return [f"{spec.name}, {file}.yaml: two prompts with one text: {text!r}" for text, n in shown.items() if n > 1]


def good_samples(spec: TaskSpec, language: str) -> Complaints:
    """Enough rows, every gold choice among them, and no text left in English."""
    splits, english = sample_splits(spec, language), sample_splits(spec, ENGLISH)
    where = f"{spec.name}, sample {language}.jsonl"
    rows = flat(splits)
    complaints = [] if len(rows) >= MIN_SAMPLES else [f"{where}: {len(rows)} rows, wanted {MIN_SAMPLES}"]
    n_choices = max((len(d.choices) for d in rows), default=0)
    wanted = set(range(n_choices)) if n_choices <= MIN_SAMPLES else set()  # a few rows cannot have dozens of classes
    missing = wanted - {d.gold for d in rows if d.choices} if spec.scoring.answer.has_choices else set()
    complaints += [f"{where}: no row has gold choice {LETTERS[i]}" for i in sorted(missing)]
    for split, documents in splits.items() if language != ENGLISH else ():
        for ours, theirs in zip(documents, english.get(split, []), strict=False):
            complaints += [f"{where}, {split} {ours.id}: {t!r} is English" for t in _english_texts(spec, ours, theirs)]
    return complaints


def _english_texts(spec: TaskSpec, ours: Document, theirs: Document) -> list[str]:
    same = [text for name, text in ours.fields.items() if text == theirs.fields[name] and name not in kinds(spec)]
    return [text for text in same if re.search(r"[^\W\d]", text)]


def differing_rows(spec: TaskSpec, group: Mapping[str, Sequence[Document]]) -> dict[str, set[int | str]]:
    """Rows, or keys, whose answer or breakdowns in a language are not those of most languages of its group."""
    found: dict[str, set[int | str]] = {}
    named = {language: {_name(spec, d): d for d in documents} for language, documents in group.items()}
    for row in {name: None for documents in named.values() for name in documents}:
        facts = {language: _facts(spec, documents.get(row)) for language, documents in named.items()}
        usual = Counter(facts.values()).most_common(1)[0][0]
        for language, fact in facts.items():
            if fact != usual:
                found.setdefault(language, set()).add(row)
    return found


def _name(spec: TaskSpec, document: Document) -> int | str:
    return document.key or f"row {document.id} has no key of its own" if spec.key else document.id


def _facts(spec: TaskSpec, document: Document | None) -> tuple[object, ...]:
    if document is None:
        return ("no such row",)
    answer = spec.scoring.answer
    gold = document.gold if answer.has_choices or isinstance(document.gold, int) else None  # texts are in the language
    return (gold, len(document.choices) if answer.has_choices else 0, *(document.fields[n] for n in spec.breakdowns))


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
    closing = case.prompt.closings.get(case.language, "")
    texts = {"system text": case.prompt.system, "template": case.prompt.template}
    texts = {name: CLOSINGS.sub(closing, text) for name, text in texts.items()}
    return [
        f"{case.at()}: {name} asks for other words than {', '.join(case.prompt.lead_ins)}"
        for name, text in texts.items()
        if any(mark in text for mark in '"“«') and not any(all(p in text for p in words) for words in parts)
    ]


def has_a_question_label(case: Case) -> Complaints:
    """A model without chat template is stopped where it begins another question."""
    line = lines_before(case.spec, case.prompt, case.language)[-1]
    return [] if line.strip() else [f"{case.at()}: no words stand before the question on its line"]


# Native prompts

SCRIPTS = {"Arab": "ARABIC", "Ethi": "ETHIOPIC", "Latn": "LATIN"}
# Words that another language writes as English does: no English left over.
COGNATES = {
    "fra": {"question", "questions", "options", "option", "intelligence", "intelligent", "religion", "science"}
    | {"article", "articles"},
    "afr": {"letter"},
}
OF_ENGLISH_WORDS = {"pcm"}  # Nigerian Pidgin has most of its words from English


_CODE = re.compile(r"\b[A-Z_]{2,}\b")  # a tag or type, such as NOUN, which is that in every language
SHOWN = re.compile(r"\b[A-Z_]{2,}: [A-Z]\w+ [A-Z]\w+|\b[A-Z]\w+ PROPN\b")  # a name, the same in all languages


def no_english_words(case: Case, english: Mapping[int, Prompt]) -> Complaints:
    if case.prompt.language in OF_ENGLISH_WORDS:
        return []
    shown = "\n".join(_CODE.sub(" ", SHOWN.sub(" ", _own_text(p))) for p in english.values())
    words = set(re.findall(r"\w{4,}", shown.casefold())) - COGNATES.get(case.prompt.language, set())
    words -= {NONE} if case.spec.tags else set()
    short = {w for w in ("Yes", "No", "True") if has_word(shown, w)}
    own = _CODE.sub(" ", _own_text(case.prompt))
    left = sorted({w for w in words if has_word(own.casefold(), w)} | {w for w in short if has_word(own, w)})
    return [f"{case.at()}: English words {', '.join(left)}"] if left else []


def same_layout(case: Case, english: Mapping[int, Prompt]) -> Complaints:
    """Prompt n has the lines, empty lines, placeholders and examples of an answer of the English prompt n."""
    twin = english.get(case.prompt.number)
    if twin is None:
        return [f"{case.at()}: {ENGLISH}.yaml has no prompt {case.prompt.number}"]
    if case.prompt.lettered != twin.lettered:
        return [f"{case.at()}: lettered is {case.prompt.lettered}, in English {twin.lettered}"]
    lost = {*SHOWN.findall(twin.template)} - {*SHOWN.findall(case.prompt.template)}
    if lost:
        return [f"{case.at()}: its example of an answer is not {', '.join(lost)}, as in English"]
    ours, theirs = _layout(_naming_language(case.prompt)), _layout(twin)
    return [] if ours == theirs else [f"{case.at()}: lines are {ours}, in English {theirs}"]


def _layout(prompt: Prompt) -> list[list[str] | None]:
    """Per line the placeholders in it; None for an empty line."""
    lines = f"{prompt.header}\n{prompt.template}".strip("\n").split("\n")
    return [_placeholders(line) if line.strip() else None for line in lines]


def _placeholders(line: str) -> list[str]:
    codes = [re.sub(r"\s*\|\s*spaced", "", code).strip() for code in re.findall(r"{{(.*?)}}", line)]
    return sorted(re.sub(r"join\(.*?\)", "join", code) for code in codes)  # commas differ between scripts


def _naming_language(prompt: Prompt) -> Prompt:
    """A native prompt with the placeholder in the place of the language's name, which may be inflected."""
    name = load_vocabulary(VOCABULARY / f"{prompt.language}.yaml").languages.get(prompt.language, "")
    stem = re.escape(re.sub("^[a-z]+(?=[A-Z])|^(Afaan|Ki|Chi|Iki) ?", "", name))
    named = (
        re.sub(rf"\w*{stem}\w*", "{{ language }}", prompt.template, flags=re.IGNORECASE) if name else prompt.template
    )
    return replace(prompt, template=named)


def same_system(case: Case, english: Mapping[int, Prompt]) -> Complaints:
    """With a chat template, both sides have a system text, or neither."""
    theirs = next(iter(english.values())).system
    return [] if bool(case.prompt.system) == bool(theirs) else [f"{case.at()}: no system text, in English {theirs!r}"]


def closing_words_are_the_languages(case: Case) -> Complaints:
    """Examples close in the language of their rows, whatever the prompt's: it names these words, not the English."""
    words = load_vocabulary(VOCABULARY / "eng.yaml").words[CLOSING]
    text = f"{case.prompt.system}\n{case.prompt.header}\n{case.prompt.template}".casefold()
    several = {*case.spec.languages} != {ENGLISH}
    return [f"{case.at()}: {words!r} for rows of all languages"] if several and words.casefold() in text else []


# English prompts write in two ways what a vocabulary has one word for.
ALIKE = {"options": "choices", "unknown": "not known", "science/technology": "science and technology"}


def says_what_english_says(task: str, native: Mapping[str, str], english: Mapping[str, str]) -> Complaints:
    """A line that begins with a word of the vocabulary begins with that word in English, and labels are the same.

    Args:
        task: for the complaints.
        native: the strings of a prompt file by id, with references to the vocabulary.
        english: the same of `eng.yaml`.
    """
    words = load_vocabulary(VOCABULARY / "eng.yaml").words
    pairs = [(name, *lines) for name in {*native} & {*english} for lines in _lines(native[name], english[name])]
    return [
        f"{task}, {name}: {ours!r}, in English {theirs!r}"
        for name, ours, theirs in pairs
        if (word := REFERENCE.match(ours))
        and not re.match(rf"{re.escape(_plain(words[word[2]]))}(?!\w)", _plain(theirs))
    ]


def _lines(native: str, english: str) -> Iterable[tuple[str, str]]:
    return zip(native.splitlines(), english.splitlines(), strict=False)


def _plain(line: str) -> str:
    line = REFERENCE.sub(lambda found: found[2], line.replace("{{ language }} ", "")).casefold()
    return next((line.replace(one, other, 1) for one, other in ALIKE.items() if line.startswith(one)), line)


def asks(case: Case) -> Complaints:
    """Where no row has a question, and the cue says no more than Answer, an English prompt asks or demands."""
    template = case.prompt.template
    silent = "question" not in case.spec.fields and template.strip().casefold().endswith("answer:")
    demands = re.search(r"\?|\b(Choose|[Ff]ind|Write)\b", words_only(template))
    return [f"{case.at()}: it asks nothing"] if silent and not demands else []


def right_script(case: Case) -> Complaints:
    script = SCRIPTS[LANGUAGES[case.prompt.language].script]
    own = re.sub(r"\([^)]*\)", " ", _own_text(case.prompt))  # loan words in parentheses
    own = re.sub(rf"(?<!\w)[{LETTERS}](?!\w)", " ", own)
    wrong = sorted({c for c in own if c.isalpha() and not unicodedata.name(c, "").startswith(script)})
    names = ", ".join(f"{c} ({unicodedata.name(c, '?')})" for c in wrong)
    return [f"{case.at()}: not in {script} script: {names}"] if wrong else []


def _own_text(prompt: Prompt) -> str:
    """All that a prompt file says for a prompt, without what the data brings."""
    words = [*prompt.labels.values(), *(words for field in prompt.values.values() for words in field.values())]
    system = "" if prompt.english_system else words_only(prompt.system)
    return "\n".join([words_only(f"{prompt.header}\n{prompt.template}"), system, *words])
