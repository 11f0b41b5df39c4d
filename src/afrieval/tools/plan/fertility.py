"""How many tokens a tokenizer makes of the words of a language, in the rows of tasks themselves."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from afrieval.analysis.tokenizer import Counts, Fertility
from afrieval.languages import ENGLISH
from afrieval.scoring.texts import words
from afrieval.tasks.cells.cell import Cell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.lock import DataLock, read_lock
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec

MOST = 200  # rows of a language
Tokens = Callable[[list[str]], list[int]]
Texts = Mapping[int | str, list[str]]  # row or key to the texts of a document in its language


def row_fertilities(
    specs: Sequence[TaskSpec], source: str, model: str, cells: Sequence[Cell], tokens: Tokens
) -> list[Fertility]:
    """Returns the fertility of each task and language of some cells, as far as their rows are in that language."""
    test_sets = dict.fromkeys((cell.key.task, cell.key.language) for cell in cells)
    spec_of, lock = {spec.name: spec for spec in specs}, read_lock()
    fertilities: list[Fertility] = []
    for task, language in test_sets:
        spec = spec_of.get(task)
        if spec and not spec.prompt and not spec.texts and spec.text_language is None:
            pairs = _pairs(spec, language, source, lock)
            fertilities += _fertility(spec.name, language, model, *pairs, tokens)
    return fertilities


def _fertility(
    task: str, language: str, model: str, texts: Texts, english: Texts, tokens: Tokens
) -> Iterator[Fertility]:
    chosen = [name for name in texts if name in english] or list(texts)
    chosen = chosen[:: -(-len(chosen) // MOST) or 1]
    total = _counts([text for name in chosen for text in texts[name]], tokens)
    if not total.words:
        return
    premium = None
    if english and language != ENGLISH and all(name in english for name in chosen):
        premium = total.tokens / _counts([text for name in chosen for text in english[name]], tokens).tokens
    yield Fertility(task, language, model, "rows", len(chosen), total, premium)


def _counts(texts: list[str], tokens: Tokens) -> Counts:
    of_text = map(len, texts)
    in_bytes = sum(len(text.encode(errors="replace")) for text in texts)
    return Counts(sum(tokens(texts)), sum(len(words(text)) for text in texts), sum(of_text), in_bytes)


def _pairs(spec: TaskSpec, language: str, source: str, lock: DataLock) -> tuple[Texts, Texts]:
    """Returns the texts of rows in a language, and their English originals, if any."""
    if spec.direction:
        data = load_split(spec, language, spec.data.evaluate, source, lock)
        translated = [d for d in (data.documents if data else []) if isinstance(d.gold, str)]
        sources: Texts = {d.id: [*d.fields.values()] for d in translated}
        targets: Texts = {d.id: [str(d.gold)] for d in translated}
        texts, others = (targets, sources) if "from" in spec.direction else (sources, targets)
        return texts, others if ENGLISH in spec.direction.values() else {}
    both = {language, ENGLISH}
    group = [split for split, groups in spec.parallel.items() if any(both <= {*g} for g in groups) and len(both) > 1]
    for split in [*(s for s in group if s == spec.data.evaluate), *group]:
        data, english = (load_split(spec, code, split, source, lock) for code in (language, ENGLISH))
        if data and english:
            return _texts(spec, data.documents), _texts(spec, english.documents)
    data = load_split(spec, language, spec.data.evaluate, source, lock)
    return _texts(spec, data.documents if data else []), {}


def _texts(spec: TaskSpec, documents: Sequence[Document]) -> Texts:
    """Returns the fields of sound documents, and their choices if these are not the same for all."""
    left_out = {*spec.breakdowns, *spec.grouped_fields}
    texts: dict[int | str, list[str]] = {}
    for d in documents:
        name = d.key if spec.key else d.id  # by which documents of several languages are paired
        if not d.defect and name != "":
            choices = [] if spec.labels else [*d.choices]
            texts[name] = [text for field, text in d.fields.items() if field not in left_out] + choices
    return texts
