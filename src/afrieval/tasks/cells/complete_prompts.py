"""Cells whose rows have complete prompts, as in Meta's published evaluations."""

from collections.abc import Sequence

from afrieval._util.errors import UserError
from afrieval.config.settings import RunConfig
from afrieval.models.base import LanguageModel
from afrieval.tasks.cells.cell import Probe
from afrieval.tasks.cells.templated import TemplateCell
from afrieval.tasks.data.documents import Document
from afrieval.tasks.data.files import HUB
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec


class CompleteQuestions(TemplateCell):
    """The questions of a cell whose task has a column of complete prompts instead of templates."""

    complete = True

    def text(self, document: Document) -> str:
        """Returns the row's prompt, unchanged."""
        return document.prompt

    @property
    def announced(self) -> Sequence[str]:
        """Empty: only the task file says which words announce an answer."""
        return ()

    def probe(self, model: LanguageModel) -> Probe | None:
        """Returns all prompts, and the maximum length of an answer."""
        prompts = [document.prompt for document in self.scorable]
        if not prompts:
            return None
        generation = self.generation(model)
        return Probe(prompts[0], prompts, generation.max_tokens if generation else 1)


def check_complete(spec: TaskSpec, config: RunConfig) -> None:
    """Rejects settings that would add to or truncate complete prompts.

    Raises:
        UserError: for examples, a chat template, or a context too short for prompts and answers.
    """
    if not spec.prompt:
        return
    if config.eval.shots:
        raise UserError(
            f"eval.num_fewshot is {config.eval.shots}, but the prompts of {spec.name} already include examples",
            "remove eval.num_fewshot",
        )
    if config.model.chat_template:
        raise UserError(
            f"the prompts of {spec.name} already include a chat template",
            "give --model.chat_template false",
        )
    _check_room(spec, config)


def _check_room(spec: TaskSpec, config: RunConfig) -> None:
    """Rejects a context in which the longest answer leaves no room for a prompt."""
    longest = config.eval.max_gen_toks or (spec.generation.max_tokens if spec.generation else 0)
    for name in ("max_model_len", "max_length"):
        length = config.model.backend_args.get(name)
        if isinstance(length, int) and length <= longest:
            raise UserError(
                f"backend_args.{name} is {length}, but answers of {spec.name} may have {longest} tokens",
                f"give more than {longest}, or a smaller --eval.max_gen_toks, which may lower scores",
            )


def check_fetched(spec: TaskSpec, lock: DataLock) -> list[str]:
    """Loads rows with complete prompts as a run does, and returns lines on those not scored.

    Raises:
        UserError: if rows are missing or invalid.
    """
    spec.scoring.answer.prepare()
    lines = []
    for language in spec.languages if spec.prompt else ():
        if split := load_split(spec, language, spec.data.evaluate, HUB, lock):
            unscored = [d for d in split.documents if d.gold is None]
            lines.append(f"{spec.name}: {len(split.documents)} rows, of which {len(unscored)} cannot be scored")
            lines += [f"  row {d.id}: {d.defect}" for d in unscored]
    return lines
