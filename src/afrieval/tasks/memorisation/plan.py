"""Plans what is asked about the test sets of other tasks."""

from collections.abc import Iterator, Sequence

from afrieval.config.memorisation import MEMORISATION
from afrieval.config.settings import RunConfig
from afrieval.data.lock import DataLock, read_lock
from afrieval.data.tables import Row as FileRow
from afrieval.errors import UserError
from afrieval.tasks.cell import Cell, Plan
from afrieval.tasks.memorisation.cells import Source, memorisation_cell
from afrieval.tasks.memorisation.orders import shards, sorted_by
from afrieval.tasks.memorisation.parts import SHORTEST, Part, Row, completion, membership, order
from afrieval.tasks.memorisation.units import Unit, question_text, units
from afrieval.tasks.memorisation.unseen import Unseen, read_unseen, unseen_rows
from afrieval.tasks.select import chosen_tasks, named_languages
from afrieval.tasks.spec import TaskSpec
from afrieval.tasks.splits import check_source, load_split

FEWEST_UNSEEN = 10


def plan_memorisation(config: RunConfig, tokens: bool = True) -> Plan:
    """Returns up to three cells for each task and language that a config asks about.

    Args:
        config: names tasks and languages.
        tokens: whether the model returns the likelihoods of single tokens.

    Raises:
        UserError: for an unknown task or language, missing data, tasks without texts of their own, or an unusable file
            of unseen texts.
    """
    rows, lock = read_unseen(config.task), read_lock()
    planned = Plan([])
    for spec in chosen_tasks(config):
        if spec.prompt:
            raise UserError(
                f"{MEMORISATION} does not support {spec.name}, whose rows are complete prompts",
                f"remove {spec.name} from task.of",
            )
        check_source(spec, config.data.source)
        for language in named_languages(spec, config.task):
            planned += _of_language(spec, language, config, rows, tokens, lock)
    return planned


def _of_language(
    spec: TaskSpec, language: str, config: RunConfig, rows: Sequence[FileRow] | None, tokens: bool, lock: DataLock
) -> Plan:
    split, source = spec.data.evaluate, config.data.source
    data = load_split(spec, language, split, source, lock)
    where = f"{spec.name} {language}"
    if data is None:
        if config.task.demanded:
            raise UserError(f"{source} has no {split} rows of {spec.name} for {language}", "name another --data.source")
        return Plan([], [f"{where}: no {split} rows"])
    unseen = unseen_rows(spec, language, source, rows)
    found = units(spec, data.documents)
    by = sorted_by(spec, found)
    about = Source(spec, language, data, unseen.sha256, by, config)
    parts, left_out = _parts(about, found, unseen, tokens)
    cells: list[Cell] = [memorisation_cell(about, part) for part in parts if part.n]
    return Plan(cells, [f"{where}: {line}" for line in left_out], [data.note] if data.note else [])


def _parts(about: Source, found: Sequence[Unit], unseen: Unseen, tokens: bool) -> tuple[list[Part], list[str]]:
    """Returns the parts that can be asked, and a line for each that cannot."""
    parts, left_out, limit = [], [], about.config.eval.limit
    rows = list(_rows(about.spec, found, unseen.texts, limit))
    n_unseen = sum(row.unseen for row in rows)
    few = f"{n_unseen} unseen texts, and at least {FEWEST_UNSEEN} are needed; name a file with --task.unseen"
    if not tokens:
        left_out += ["no completion or min-k++: the backend returns no likelihoods of single tokens"]
    else:
        enough = n_unseen >= FEWEST_UNSEEN
        parts += [completion(rows if enough else [row for row in rows if not row.unseen])]
        parts += [membership(rows)] if enough else []
        left_out += [] if enough else [f"no min-k++: {few}"]
    seed = f"{about.config.eval.random_seed} {about.spec.name} {about.language}"
    asked = shards(about.spec, found, about.sorted_by, seed)[:limit]
    parts += [order(asked)]
    left_out += [] if asked else ["no test of the order: too few rows that can change places"]
    return parts, left_out


def _rows(spec: TaskSpec, found: Sequence[Unit], unseen: Sequence[str], limit: int | None) -> Iterator[Row]:
    """Yields unseen texts, then the question of the first row of each unit: others share its text."""
    yield from (Row(number, text, True) for number, text in enumerate(unseen) if len(text) >= SHORTEST)
    own = [Row(unit[0].id, text, False) for unit in found if len(text := question_text(spec, unit[0])) >= SHORTEST]
    yield from own[:limit]
