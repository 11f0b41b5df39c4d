"""COMET as a scorer of stored translations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.addons.comet.comet_model import Comet, Translation, read_comet
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.run.scorer import AnswerAddress, Answers, Scorer, document_of, lacking_metric, specs_of
from afrieval.scoring.learned import learned_name, learned_of, with_learned
from afrieval.tasks.declaration.spec import Folders


def _translations(run: RunFolder, folder: Folders | None) -> list[str]:
    """Returns the cells of a run that have translations; a UserError if there are none."""
    cells, specs = [run.scores(name) for name in run.names], specs_of(run, folder)
    if names := [cell.name for cell in cells if cell.task in specs and specs[cell.task].direction]:
        return names
    tasks = ", ".join(dict.fromkeys(cell.task for cell in cells)) or "nothing"
    problem = f"{run.path} has no translations, which COMET is for: it has {tasks}"
    raise UserError(problem, "score a run of mafand_from_eng, flores_from_eng or another task of translation")


@dataclass
class CometScorer(Scorer):
    """COMET for the translations of a run; `batch_size` are scored at the same time."""

    model: Comet
    batch_size: int

    def read(self, address: AnswerAddress, line: Sample) -> Translation:
        """Returns a stored translation."""
        document = document_of(address, line)
        fields = [key for key in document if key != "id"]
        source, right = document[fields[0]] if fields else None, document.get("gold")
        if not isinstance(source, str) or not source.strip() or fields[0] == "choices":
            hint = "the first field of the task must be the text to translate"
            raise UserError(f"{address} has no source text", hint)
        if self.model.needs_reference and not (isinstance(right, str) and right.strip()):
            hint = "choose a COMET model without reference, such as masakhane/africomet-qe-stl-1.1"
            raise UserError(f"{address} does not have one right translation", hint)
        return Translation(str(line.get("answer") or ""), source, right if isinstance(right, str) else "")

    def scored(self, answers: Answers) -> list[Sample]:
        """Returns translations with scores."""
        scores = self.model.scores([self.read(address, line) for address, line in answers], self.batch_size)
        pairs = zip(answers, scores, strict=True)
        return [with_learned(line, {**learned_of(line), self.name: [score]}) for (_, line), score in pairs]

    def signature_of(self, task: str) -> str:
        """Returns the model's signature."""
        return self.model.signature


def opened(folders: Sequence[Path], options: Any) -> Callable[[RunFolder], CometScorer] | None:
    """Returns what makes the scorer of a run, with the model loaded; None for a dry run, of which it says the size."""
    comet, name = options.comet, learned_name("comet_", options.comet.model)
    cells = {folder: _translations(RunFolder(folder), options.task.folder) for folder in folders}
    if options.dry_run:
        for folder, names in cells.items():
            n = len(lacking_metric(RunFolder(folder), names, name))
            note(f"{folder}: {name} for {n:,} translations; nothing is written")
        return None
    model = read_comet(comet.model, comet.revision, comet.device)
    return lambda run: CometScorer(run, cells[run.path], name, {}, model, comet.batch_size)
