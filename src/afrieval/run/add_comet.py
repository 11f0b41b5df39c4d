"""COMET as a scorer of stored translations."""

from collections.abc import Sequence
from dataclasses import dataclass

from afrieval._util.errors import UserError
from afrieval.results.identity import merged
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.run.add_learned import Change, Declaration, document_of, specs_of
from afrieval.scoring.comet import Comet, Translation
from afrieval.scoring.learned import learned_of, with_learned
from afrieval.tasks.declaration.spec import Folders


def translations(run: RunFolder, folder: Folders | None = None) -> list[str]:
    """Returns the cells of a run that have translations.

    Args:
        run: the run.
        folder: of the user's own tasks.

    Raises:
        UserError: if there are none.
    """
    cells, specs = [run.scores(name) for name in run.names], specs_of(run, folder)
    if found := [cell.name for cell in cells if cell.task in specs and specs[cell.task].direction]:
        return found
    tasks = ", ".join(dict.fromkeys(cell.task for cell in cells)) or "nothing"
    problem = f"{run.path} has no translations, which COMET is for: it has {tasks}"
    raise UserError(problem, "score a run of mafand_from_eng, flores_from_eng or another task of translation")


@dataclass(frozen=True)
class CometScorer:
    """COMET for the translations of a run.

    Attributes:
        run: the run.
        cells: its cells with translations.
        name: the metric's.
        model: COMET.
        batch_size: translations that are scored at the same time.
    """

    run: RunFolder
    cells: Sequence[str]
    name: str
    model: Comet
    batch_size: int

    def has(self, line: Sample) -> bool:
        """Returns whether a translation has a score."""
        return self.name in line["metrics"]

    def read(self, name: str, line: Sample) -> Translation:
        """Returns a stored translation."""
        where = f"{self.run.path}: {name}, document {line['doc_id']}"
        document = document_of(where, line)
        fields = [key for key in document if key != "id"]
        source, right = document[fields[0]] if fields else None, document.get("gold")
        if not isinstance(source, str) or not source.strip() or fields[0] == "choices":
            raise UserError(f"{where} has no source text", "the first field of the task must be the text to translate")
        if self.model.needs_reference and not (isinstance(right, str) and right.strip()):
            hint = "choose a COMET model without reference, such as masakhane/africomet-qe-stl-1.1"
            raise UserError(f"{where} does not have one right translation", hint)
        return Translation(str(line.get("answer") or ""), source, right if isinstance(right, str) else "")

    def scored(self, lines: Sequence[Sample], needed: Sequence[Translation]) -> list[Sample]:
        """Returns translations with scores."""
        scores = self.model.scores(needed, self.batch_size)
        pairs = zip(lines, scores, strict=True)
        return [with_learned(line, {**learned_of(line), self.name: [score]}) for line, score in pairs]

    def whole(self, lines: list[Sample]) -> list[Sample]:
        """Returns the lines: nothing follows from the scores."""
        return lines

    def declared(self, task: str, known: Declaration) -> Declaration:
        """Returns what is known of a task, with the signature."""
        return merged(known, {"signatures": {self.name: self.model.signature}})

    def stale(self, task: str, known: Declaration) -> Change | None:
        """Returns what removes scores that have another signature."""
        signature = known.get("signatures", {}).get(self.name, self.model.signature)
        return None if signature == self.model.signature else self._without

    def counts(self, task: str) -> list[str]:
        """Returns nothing that has to be said of the scores."""
        return []

    def _without(self, line: Sample) -> Sample:
        kept = {name: score for name, score in learned_of(line).items() if name != self.name}
        return with_learned(line, kept) if line["metrics"] else line
