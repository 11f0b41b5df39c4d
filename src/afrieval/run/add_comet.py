"""Adds COMET to the stored translations of a run, without the model that wrote them."""

from collections.abc import Callable, Sequence
from typing import Any

from afrieval._util import signals
from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.results.identity import merged
from afrieval.results.run_files import write_run, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.run.finish import Summary, config_of, finish_stored, stored_references
from afrieval.scoring.comet import Comet, Translation
from afrieval.scoring.learned import learned_of, with_learned

OF_TRANSLATIONS = {"chrf++", "copied"}  # metrics that all tasks of translations have, and no others


def translations(run: RunFolder) -> list[str]:
    """Returns the cells of a run that have translations.

    Raises:
        UserError: if there are none.
    """
    cells = [run.scores(name) for name in run.names]
    if found := [cell.name for cell in cells if cell.metrics.keys() >= OF_TRANSLATIONS]:
        return found
    tasks = ", ".join(dict.fromkeys(cell.task for cell in cells)) or "nothing"
    problem = f"{run.path} has no translations of sentences, which COMET is for: it has {tasks}"
    raise UserError(problem, "score a run of mafand_from_eng, flores_from_eng or another task of translation")


def lacking(run: RunFolder, names: Sequence[str], metric: str) -> int:
    """Returns how many scored translations do not have a metric."""
    return sum(bool(line["metrics"]) and metric not in line["metrics"] for name in names for line in run.lines(name))


def add_comet(run: RunFolder, comet: Comet, batch_size: int, check: Callable[[], None]) -> Summary:
    """Scores the translations that lack the metric, and writes them cell by cell; a stopped call loses one cell.

    Args:
        run: its folder, locked.
        comet: the model.
        batch_size: translations that are scored at the same time.
        check: checks that the folder is still there.

    Raises:
        UserError: if there are no translations, or their texts were not stored.
    """
    names = translations(run)
    given = {name: list(map(_translation(run, name, comet), run.lines(name))) for name in names}
    _declare(run, names, comet)
    for i, name in enumerate(names, 1):
        signals.check()
        lines = list(run.lines(name))
        todo = [at for at, line in enumerate(lines) if line["metrics"] and comet.name not in line["metrics"]]
        if not todo:
            continue
        scores = comet.scores([t for at in todo if (t := given[name][at])], batch_size)
        for at, score in zip(todo, scores, strict=True):
            lines[at] = with_learned(lines[at], {**learned_of(lines[at]), comet.name: [score]})
        check()
        write_samples(run.path, name, lines)
        note(f"[{i}/{len(names)}] {name}: {len(todo):,} translation{'s' * (len(todo) != 1)} scored")
    return finish_stored(run, stored_references(config_of(run.record))).of(names)


def _translation(run: RunFolder, name: str, comet: Comet) -> Callable[[Sample], Translation | None]:
    """Returns what reads a stored translation; None of a row that was not scored."""

    def read(line: Sample) -> Translation | None:
        if not line["metrics"]:
            return None
        where = f"{run.path}: {name}, document {line['doc_id']}"
        document: dict[str, Any] | None = line.get("doc")
        if not isinstance(document, dict):
            raise UserError(f"{where} was stored without its texts", "run again with --eval.log_samples true")
        fields = [key for key in document if key != "id"]
        source, right = document[fields[0]] if fields else None, document.get("gold")
        if not isinstance(source, str) or not source.strip() or fields[0] == "choices":
            raise UserError(f"{where} has no source text", "the first field of the task must be the text to translate")
        if comet.needs_reference and not (isinstance(right, str) and right.strip()):
            hint = "choose a COMET model without reference, such as masakhane/africomet-qe-stl-1.1"
            raise UserError(f"{where} does not have one right translation", hint)
        return Translation(str(line.get("answer") or ""), source, right if isinstance(right, str) else "")

    return read


def _declare(run: RunFolder, names: Sequence[str], comet: Comet) -> None:
    """Writes the signature to run.yaml, after removing scores that have another one."""
    declared: dict[str, Any] = dict(run.record["declared"])
    tasks = {name: run.scores(name).task for name in names}
    for name, task in tasks.items():
        if declared[task].get("signatures", {}).get(comet.name, comet.signature) != comet.signature:
            write_samples(run.path, name, (_without(line, comet.name) for line in run.lines(name)))
    added = {task: {"signatures": {comet.name: comet.signature}} for task in tasks.values()}
    write_run(run.path, {**run.record, "declared": merged(declared, added)})


def _without(line: Sample, metric: str) -> Sample:
    kept = {name: score for name, score in learned_of(line).items() if name != metric}
    return with_learned(line, kept) if line["metrics"] else line
