"""The rows of a task in its parallel languages, paired, and what a check suspects of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from afrieval.tasks.data.document import Document
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec

DEFECTS = {
    "order": "another row's text",
    "pair": "does not match the only other language",
    "together": "texts do not belong together",
    "gold": "another right answer",
    "duplicate": "repeats another row",
    "equal": "one text twice",
    "empty": "empty text",
    "copied": "not translated",
    "language": "another language",
    "script": "another script",
    "unasked": "counted, not asked for",
}
# What is often harmless, so that a reader has to judge it.
NOTICES = {
    "unsure": "order cannot be judged",
    "choices": "equal choices",
    "number": "another number",
    "length": "unusual length",
    "unlike": "unlike its other rows",
    "letters": "letters of another script",
    "mixed": "words of two scripts",
    "damaged": "damaged characters, markup",
    "invisible": "invisible characters",
}
KINDS = DEFECTS | NOTICES


@dataclass(frozen=True)
class Finding:
    """What a check suspects.

    Attributes:
        kind: one of `KINDS`.
        rows: row numbers in the language's file, ascending; all paired rows of the split if `whole`.
        detail: the figures that support it, or what `each` is about.
        each: row number to what is found there, if that differs between rows.
        whole: whether the language is affected as a whole.
        n_known: how many of the rows are known to have a defect.
        witnesses: the hashes of these rows' texts that an entry in known_defects.yaml needs, in the order of the rows.
    """

    split: str
    language: str
    kind: str
    rows: Sequence[int]
    detail: str = ""
    each: Mapping[int, str] = field(default_factory=dict)
    whole: bool = False
    n_known: int = 0
    witnesses: Sequence[str] = ()

    @property
    def is_new(self) -> bool:
        """Whether it is a defect, and not all of its rows are known."""
        return self.kind in DEFECTS and self.n_known < len(self.rows)


CHOICES = "choices"
FEWEST = 20  # paired rows; fewer say nothing about their order
NEARLY_ALL = 0.9  # of the longest language's rows; a language with fewer is not paired
Texts = Mapping[str, Sequence[str]]  # language to the text of each row


@dataclass(frozen=True)
class Group:
    """Languages whose rows are translations of one another.

    Attributes:
        documents: language to its documents; those at the same place translate one another.
        unpaired: languages whose documents could not be paired.
        labels: the task's labels; empty if each row has choices of its own.
        as_read: language to its documents as they are in the data, where `documents` have the translation alone.
    """

    split: str
    documents: Mapping[str, Sequence[Document]]
    unpaired: Mapping[str, Sequence[Document]]
    labels: Sequence[str] = ()
    as_read: Mapping[str, Sequence[Document]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of paired rows."""
        return len(next(iter(self.documents.values()), ()))

    @cached_property
    def columns(self) -> dict[str, Texts]:
        """The columns that differ between languages, unlike codes of subjects; the choices of a row are one text."""
        names = next((d.fields for documents in self.documents.values() for d in documents), {})
        columns: dict[str, Texts] = {
            name: {code: [d.fields[name] for d in of] for code, of in self.documents.items()} for name in names
        }
        if not self.labels and any(d.choices for of in self.documents.values() for d in of):
            columns[CHOICES] = {code: ["\n".join(d.choices) for d in of] for code, of in self.documents.items()}
        if len(self.documents) < 2:
            return columns
        rows_of = {name: list(zip(*texts.values(), strict=True)) for name, texts in columns.items()}
        equal = {name: sum(len(set(row)) == 1 for row in rows) for name, rows in rows_of.items()}
        return {name: texts for name, texts in columns.items() if 2 * equal[name] < len(rows_of[name])}

    def finding(self, language: str, kind: str, by_index: Mapping[int, str], detail: str = "") -> Finding:
        """Returns a finding about some rows: their places, and what is found in each."""
        each = {self.documents[language][place].id: what for place, what in sorted(by_index.items())}
        return Finding(self.split, language, kind, sorted(each), detail, {row: w for row, w in each.items() if w})

    def findings(self, kind: str, rows: Mapping[str, Mapping[int, str]], detail: str = "") -> Iterator[Finding]:
        """Yields a finding about the rows of each language that has any."""
        for language, by_index in rows.items():
            if by_index:
                yield self.finding(language, kind, by_index, detail)

    def whole_finding(self, language: str, kind: str, detail: str) -> Finding:
        """Returns a finding about a language as a whole."""
        return Finding(self.split, language, kind, sorted(d.id for d in self.documents[language]), detail, whole=True)


def groups(spec: TaskSpec, split: str, source: str, lock: DataLock) -> Iterator[Group]:
    """Yields the parallel groups of a split, with the languages that the source has.

    A language in no group is a group of its own: what needs no other language is checked there too.

    Raises:
        UserError: if the source is not usable, or a file is damaged.
    """
    spec = replace(spec, data=replace(spec.data, rows=None))  # a file with missing rows is checked all the same
    parallel = spec.parallel.get(split, [])
    alone = [[code] for code in spec.languages if not any(code in group for group in parallel)]
    for codes in [*parallel, *alone]:
        loaded = {code: load_split(spec, code, split, source, lock) for code in codes}
        if as_read := {code: of.documents for code, of in loaded.items() if of}:
            # Without groups of the values of other fields, which are not in the data.
            translated = {
                code: [
                    replace(d, fields={"translation": d.gold or ""})
                    if "from" in spec.direction
                    else replace(d, fields={name: d.fields[name] for name in spec.field_columns})
                    for d in documents
                ]
                for code, documents in as_read.items()
            }
            yield Group(split, *_paired(translated), spec.labels, as_read)


def _paired(by_language: Mapping[str, list[Document]]) -> tuple[dict[str, list[Document]], dict[str, list[Document]]]:
    """Returns each language's documents in the same order, by key or row number, and the languages without a pair."""
    keyed = all(d.key for documents in by_language.values() for d in documents)
    named = {code: {d.key if keyed else d.id: d for d in documents} for code, documents in by_language.items()}
    longest = max(len(documents) for documents in by_language.values())
    whole = {code: of for code, of in named.items() if len(of) >= NEARLY_ALL * longest}
    times = Counter(name for of in whole.values() for name in of)
    common = [name for name in next(iter(whole.values())) if times[name] == len(whole)]
    paired = {code: [of[name] for name in common] for code, of in whole.items()}
    return paired, {code: documents for code, documents in by_language.items() if code not in whole}
