"""Plans what is asked about the test sets of other tasks, next to texts that a model cannot have seen."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, user_path
from afrieval._util.tables import DEFECT, Row, decoded, read_rows
from afrieval._util.terminal import shortened
from afrieval.addons.contamination.asking import SHORTEST, AskingMethod, ProbedText, completion, membership, order
from afrieval.addons.contamination.cells import MEMORISATION, MemorisationCell, Source
from afrieval.addons.contamination.rows import Unit, alike, question_text, shards, sorted_by, units
from afrieval.config.settings import EvalConfig, RunConfig, TaskConfig
from afrieval.languages import LANGUAGES
from afrieval.tasks.answers.cell_values import normalise
from afrieval.tasks.cells.cell import Cell, Plan
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.lock import DataLock, read_lock
from afrieval.tasks.data.sampling import chosen_rows, order_of_documents, order_of_numbers
from afrieval.tasks.data.splits import check_source, load_split
from afrieval.tasks.declaration.selection import chosen_tasks, named_folders, named_languages
from afrieval.tasks.declaration.spec import TASKS, TaskSpec, task_names

FEWEST_UNSEEN = 10
ALSO = ("amh", "eng", "fra", "swa", "zul")  # in whose translations of the rows the order is tested as well
ABOUT = (
    "asks whether a model has seen the test sets of other tasks, which --of names. Second halves of questions, min-k++ "
    "against unseen rows, and the likelihood of the published order of rows against shuffled ones; "
    "docs/contamination.md explains them."
)


def plan(config: RunConfig, tokens: bool = True) -> Plan:
    """Returns up to three cells for each task and language that a config asks about.

    `tokens` says whether the model returns the likelihoods of single tokens.

    Raises:
        UserError: for an unknown task or language, missing data, tasks without texts of their own, or an unusable file
            of unseen texts.
    """
    rows, lock = read_unseen(config.task, task_names([*named_folders(config.task), TASKS])), read_lock()
    planned = Plan([])
    for spec in chosen_tasks(config):
        if spec.prompt:
            raise UserError(
                f"{MEMORISATION} does not support {spec.name}, whose rows are complete prompts",
                f"remove {spec.name} from task.of",
            )
        check_source(spec, config.data.source)
        planned += _of_task(spec, config.task, config.eval, config.data.source, rows, tokens, lock)
    return planned


def _of_task(
    spec: TaskSpec,
    task: TaskConfig,
    evaluation: EvalConfig,
    source: str,
    rows: Sequence[Row] | None,
    tokens: bool,
    lock: DataLock,
) -> Plan:
    split, planned = spec.data.evaluate, Plan([])
    loaded = {code: load_split(spec, code, split, source, lock) for code in named_languages(spec, task)}
    by_language = {code: units(spec, data.documents) for code, data in loaded.items() if data}
    others, left_out = _translations(spec, [*by_language], source, lock)
    similar = alike(spec, {**by_language, **others})
    for code, data in loaded.items():
        where = f"{spec.name} {code}"
        if data is None:
            if task.demanded:
                raise UserError(f"{source} has no {split} rows of {spec.name} for {code}", "name another --data.source")
            planned += Plan([], [f"{where}: no {split} rows"])
            continue
        unseen = unseen_rows(spec, code, source, rows)
        if rows is not None:
            check_unseen(spec, code, data.documents, unseen)
        about = Source(spec, code, data, unseen, sorted_by(spec, by_language[code]), similar[code], evaluation)
        parts, missing = _parts(about, by_language[code], tokens)
        cells: list[Cell] = [MemorisationCell(about, part) for part in parts if part.rows.indices]
        planned += Plan(cells, [f"{where}: {line}" for line in missing], [data.note] if data.note else [])
    return planned + Plan([], left_out)


def _translations(
    spec: TaskSpec, codes: Sequence[str], source: str, lock: DataLock
) -> tuple[Mapping[str, list[Unit]], list[str]]:
    """Returns the rows of other languages with translations of these, and a line for each that cannot be loaded."""
    groups = [group for group in spec.parallel.get(spec.data.evaluate, []) if {*group} & {*codes}]
    translations: dict[str, list[Unit]] = {}
    left_out = []
    for code in [code for code in ALSO if code not in codes and any(code in group for group in groups)]:
        try:
            data = load_split(spec, code, spec.data.evaluate, source, lock)
        except UserError as error:
            left_out.append(f"{spec.name} {code}: not compared with the order of other languages: {error}")
            continue
        translations |= {code: units(spec, data.documents)} if data else {}
    return translations, left_out


def _parts(about: Source, test_units: Sequence[Unit], tokens: bool) -> tuple[list[AskingMethod], list[str]]:
    """Returns the ways to ask about a test set, and a line for each that cannot be."""
    spec, evaluation = about.spec, about.evaluation
    firsts = [unit[0] for unit in test_units if len(question_text(spec, unit[0])) >= SHORTEST]  # others share its text
    drawn = (evaluation.limit, evaluation.sample, evaluation.random_seed)
    chosen = chosen_rows(len(firsts), *drawn, partial(order_of_documents, spec, firsts))
    probed = [ProbedText(firsts[at].id, question_text(spec, firsts[at]), False) for at in chosen.indices]
    unknown = [ProbedText(number, text, True) for number, text in enumerate(about.unseen) if len(text) >= SHORTEST]
    parts, left_out, n_unseen = [], [], len(unknown)
    count = f"{n_unseen} unseen text{'' if n_unseen == 1 else 's'}"
    few = f"{count}, and at least {FEWEST_UNSEEN} are needed; name a file with --task.unseen"
    if not tokens:
        left_out += ["no completion or min-k++: the backend returns no likelihoods of single tokens"]
    elif n_unseen >= FEWEST_UNSEEN:
        rows, both = [*unknown, *probed], chosen.after(n_unseen)
        parts += [completion(rows, both), membership(rows, both)]
    else:
        parts += [completion(probed, chosen)]
        left_out += [f"no min-k++: {few}"]
    seed = f"{evaluation.random_seed} {spec.name} {about.language}"
    all_shards = shards(spec, test_units, about.sorted_by, seed)
    chosen_shards = chosen_rows(len(all_shards), *drawn, partial(order_of_numbers, len(all_shards)))
    parts += [order([all_shards[index] for index in chosen_shards.indices], chosen_shards)]
    left_out += [] if all_shards else ["no test of the order: too few rows that can change places"]
    return parts, left_out


TEXT, LANGUAGE, TASK = "text", "language", "task"  # columns
TABLES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")


def unseen_rows(spec: TaskSpec, language: str, source: str, rows: Sequence[Row] | None) -> list[str]:
    """Returns texts to compare the rows of a test set with, which a model cannot have seen.

    `rows` are those of a file, as `read_unseen` returns them; None stands for sample rows, which are not compared with
    themselves.
    """
    if rows is not None:
        criteria = {LANGUAGE: language, TASK: spec.name}
        matching = [row for row in rows if all(row.get(name, value) == value for name, value in criteria.items())]
        return list(dict.fromkeys(normalise(row[TEXT]) for row in matching))
    if source == SAMPLES:
        return []
    splits = [load_split(spec, language, split, SAMPLES) for split in spec.data.files]
    questions = [question_text(spec, unit[0]) for split in splits if split for unit in units(spec, split.documents)]
    return list(dict.fromkeys(questions))


def check_unseen(spec: TaskSpec, language: str, documents: Sequence[Document], texts: Sequence[str]) -> None:
    """Rejects texts of a file that are in the test set, with the first of them in a UserError."""
    test_texts = {question_text(spec, row) for row in documents} | {
        text for row in documents for text in row.fields.values()
    }
    if seen := [text for text in texts if text in test_texts]:
        count = f"{len(seen)} of {len(texts)} texts" if len(seen) > 1 else "a text"
        raise UserError(
            f"task.unseen has {count} of the test set of {spec.name} in {language}, such as {seen[0]!r:.80}",
            "name a file whose texts are not in the test set",
        )


def read_unseen(task: TaskConfig, tasks: Collection[str]) -> list[Row] | None:
    """Returns the rows of the file of unseen texts, each with a text; None if none is named.

    Raises:
        UserError: if it cannot be read, a row has no text, it is not clear of which task and language rows are, or
            they are of unknown ones.
    """
    if task.unseen is None:
        return None
    path = user_path(task.unseen)
    rows = _rows(path)
    for number, row in enumerate(rows, 1):
        text = row.get(TEXT)
        if DEFECT in row or not isinstance(text, str) or not text.strip():
            raise UserError(f"{path}, row {number}: {row.get(DEFECT) or 'it has no text'}", _COLUMNS)
    if not rows:
        raise UserError(f"{path} has no texts", "give a file with unseen texts to task.unseen")
    for column, named in ((LANGUAGE, task.languages), (TASK, task.of)):
        has = sum(column in row for row in rows)
        if has < len(rows) and (has or len(named or ["all", "languages"]) > 1):
            raise UserError(f"{path} does not say which {column} each text is of", f"name one {column}, or {_COLUMNS}")
    allowed = {LANGUAGE: (LANGUAGES, "write ISO 639-3 codes, such as hau"), TASK: (tasks, "write the names of tasks")}
    for column, (names, cure) in allowed.items():
        if odd := next((number for number, row in enumerate(rows, 1) if row.get(column, min(names)) not in names), 0):
            shown = shortened(repr(rows[odd - 1][column]))
            raise UserError(f"{path}, row {odd}: there is no {column} {shown}", cure)
    return rows


_COLUMNS = f"give JSON lines, CSV or parquet with the column {TEXT}, and {LANGUAGE} and {TASK} if there are several"


def _rows(path: Path) -> list[Row]:
    content = read_bytes(path, "give another file to task.unseen")
    if path.suffix in TABLES:
        return read_rows(path, content)
    if path.suffix != ".txt":
        raise UserError(f"{path}: the format {path.suffix or '(no suffix)'} is not supported", f"{_COLUMNS}, or .txt")
    return [{TEXT: line.strip()} for line in decoded(path, content).splitlines() if line.strip()]
