"""Plans what is asked about the test sets of other tasks."""

from collections.abc import Iterator, Mapping, Sequence

from afrieval.config.memorisation import MEMORISATION
from afrieval.config.settings import RunConfig
from afrieval.data.lock import DataLock, read_lock
from afrieval.data.tables import Row as FileRow
from afrieval.errors import UserError
from afrieval.tasks.cell import Cell, Plan
from afrieval.tasks.memorisation.alike import alike
from afrieval.tasks.memorisation.cells import Source, memorisation_cell
from afrieval.tasks.memorisation.orders import shards, sorted_by
from afrieval.tasks.memorisation.parts import SHORTEST, Part, Row, completion, membership, order
from afrieval.tasks.memorisation.units import Unit, question_text, units
from afrieval.tasks.memorisation.unseen import Unseen, read_unseen, unseen_rows
from afrieval.tasks.select import chosen_tasks, named_languages
from afrieval.tasks.spec import TaskSpec
from afrieval.tasks.splits import check_source, load_split

FEWEST_UNSEEN = 10
ALSO = ("amh", "eng", "fra", "swa", "zul")  # in whose translations of the rows the order is tested as well


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
        planned += _of_task(spec, config, rows, tokens, lock)
    return planned


def _of_task(spec: TaskSpec, config: RunConfig, rows: Sequence[FileRow] | None, tokens: bool, lock: DataLock) -> Plan:
    split, source, planned = spec.data.evaluate, config.data.source, Plan([])
    loaded = {code: load_split(spec, code, split, source, lock) for code in named_languages(spec, config.task)}
    found = {code: units(spec, data.documents) for code, data in loaded.items() if data}
    others, left_out = _translations(spec, [*found], source, lock)
    similar = alike(spec, {**found, **others})
    for code, data in loaded.items():
        where = f"{spec.name} {code}"
        if data is None:
            if config.task.demanded:
                raise UserError(f"{source} has no {split} rows of {spec.name} for {code}", "name another --data.source")
            planned += Plan([], [f"{where}: no {split} rows"])
            continue
        unseen = unseen_rows(spec, code, source, rows)
        about = Source(spec, code, data, unseen.sha256, sorted_by(spec, found[code]), similar[code], config)
        parts, missing = _parts(about, found[code], unseen, tokens)
        cells: list[Cell] = [memorisation_cell(about, part) for part in parts if part.n]
        planned += Plan(cells, [f"{where}: {line}" for line in missing], [data.note] if data.note else [])
    return planned + Plan([], left_out)


def _translations(
    spec: TaskSpec, codes: Sequence[str], source: str, lock: DataLock
) -> tuple[Mapping[str, list[Unit]], list[str]]:
    """Returns the rows of other languages with translations of these, and a line for each that cannot be loaded."""
    groups = [group for group in spec.parallel.get(spec.data.evaluate, []) if {*group} & {*codes}]
    found: dict[str, list[Unit]] = {}
    left_out = []
    for code in [code for code in ALSO if code not in codes and any(code in group for group in groups)]:
        try:
            data = load_split(spec, code, spec.data.evaluate, source, lock)
        except UserError as error:
            left_out.append(f"{spec.name} {code}: not compared with the order of other languages: {error}")
            continue
        found |= {code: units(spec, data.documents)} if data else {}
    return found, left_out


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
