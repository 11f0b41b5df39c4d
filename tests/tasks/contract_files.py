"""What documents, prompt files and sample files must keep; each check returns its complaints, none if all is well."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tests.tasks.contract import MIN_SAMPLES, Complaints, flat, kinds, placeholder, sample_splits

from afrieval._util.yaml_files import read_map
from afrieval.languages import ENGLISH
from afrieval.tasks.data.documents import LETTERS, UNMARKED, Document
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages, render


def gold_is_a_choice(where: str, documents: Sequence[Document]) -> Complaints:
    """Or a number, where there are no choices."""
    complaints = [
        f"{where}, document {d.id}: gold {d.gold} of {d.choices}, defect {d.defect!r}"
        for d in documents
        if (not d.defect if d.gold is None else d.choices and not 0 <= int(d.gold) < len(d.choices))
    ]
    lost = sum(d.gold is None and d.defect != UNMARKED for d in documents)
    if lost * 10 > len(documents):
        complaints.append(f"{where}: {lost} of {len(documents)} documents have no gold: a coding not understood?")
    return complaints


def values_have_words(spec: TaskSpec, file: str, documents: Iterable[Document]) -> Complaints:
    values = next(iter(load_prompts(spec, file).values())).values
    raw = {(name, d.fields[name]) for d in documents for name in values}
    missing = sorted((name, value) for name, value in raw if value not in values[name])
    return [f"{spec.name}, {file}.yaml: no words for {name} {value!r}" for name, value in missing]


def same_values_in_all_files(spec: TaskSpec) -> Complaints:
    """All native files put the same raw values into words."""
    keys = {file: _values(spec, file) for file in prompt_languages(spec) if file != ENGLISH}
    everything = set().union(*keys.values())
    lacking = {file: sorted(everything - given) for file, given in keys.items() if given != everything}
    complaints = [f"{spec.name}, {file}.yaml: values lack {lack}" for file, lack in lacking.items()]
    unknown = sorted({field for field, _ in everything} - set(spec.fields))
    return complaints + [f"{spec.name}: values for {field!r}, which is no field" for field in unknown]


def _values(spec: TaskSpec, file: str) -> set[tuple[str, str]]:
    values = read_map(spec.prompts_folder / f"{file}.yaml").get("values") or {}
    return {(field, raw) for field, words in values.items() for raw in words}


def says_who_wrote_it(spec: TaskSpec, file: str) -> Complaints:
    content = read_map(spec.prompts_folder / f"{file}.yaml")
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


def prompts_differ(spec: TaskSpec, file: str) -> Complaints:
    prompts = load_prompts(spec, file).values()
    shown = Counter(render(p, placeholder(spec, 4), file) for p in prompts)
    return [f"{spec.name}, {file}.yaml: two prompts with one text: {text!r}" for text, n in shown.items() if n > 1]


def good_samples(spec: TaskSpec, language: str) -> Complaints:
    """Enough rows, every gold choice among them, and no text left in English."""
    splits, english = sample_splits(spec, language), sample_splits(spec, ENGLISH)
    where = f"{spec.name}, sample {language}.jsonl"
    rows = flat(splits)
    complaints = [] if len(rows) >= MIN_SAMPLES else [f"{where}: {len(rows)} rows, wanted {MIN_SAMPLES}"]
    n_choices = max((len(d.choices) for d in rows), default=0)
    wanted = set(range(n_choices)) if n_choices <= MIN_SAMPLES else set()  # a few rows cannot have dozens of classes
    missing = set() if spec.texts else wanted - {d.gold for d in rows if d.choices}
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
    gold = document.gold if answer.is_choice or isinstance(document.gold, int) else None  # texts are in the language
    return (gold, len(document.choices), *(document.fields[n] for n in spec.breakdowns))
