"""Cells whose rows bring their prompts, complete to the last token, as Meta publishes those of its own evaluations."""

from collections.abc import Sequence
from typing import Any

from afrieval.config.settings import RunConfig
from afrieval.data.files import HUB
from afrieval.data.lock import DataLock
from afrieval.errors import UserError
from afrieval.tasks.cell import Probe
from afrieval.tasks.documents import Document
from afrieval.tasks.sources.templated import TemplatedQuestions
from afrieval.tasks.spec import TaskSpec
from afrieval.tasks.splits import load_split


class CompleteQuestions(TemplatedQuestions):
    """A cell of a task with a column of complete prompts, which stand in the place of templates."""

    complete = True

    def text(self, document: Document) -> str:
        """Returns the row's own prompt, to the last blank."""
        return document.prompt

    @property
    def announced(self) -> Sequence[str]:
        """The words that may announce an answer: the task file's alone."""
        return ()

    def probe(self, model: Any) -> Probe | None:
        """Returns all prompts, and how long an answer may be."""
        prompts = [document.prompt for document in self.scorable]
        if not prompts:
            return None
        generation = self.generation(model)
        return Probe(prompts[0], prompts, generation.max_tokens if generation else 1)


def check_complete(spec: TaskSpec, config: RunConfig) -> None:
    """Refuses to add anything to prompts that have all that they need.

    Raises:
        UserError: for examples, a chat template, or a context that has no room for prompts and answers.
    """
    if not spec.prompt:
        return
    if config.eval.shots:
        raise UserError(
            f"eval.num_fewshot is {config.eval.shots}, but each prompt of {spec.name} has its examples inside already",
            "leave eval.num_fewshot out",
        )
    if config.model.chat_template:
        raise UserError(
            f"the prompts of {spec.name} have the words and tokens of the chat inside already; "
            "a chat template would put a chat into a chat",
            "give --model.chat_template false",
        )
    _check_room(spec, config)


def _check_room(spec: TaskSpec, config: RunConfig) -> None:
    """Refuses a context in which a task's longest answer leaves no room for a prompt, before a model is loaded."""
    longest = config.eval.max_gen_toks or (spec.generation.max_tokens if spec.generation else 0)
    for name in ("max_model_len", "max_length"):
        length = config.model.backend_args.get(name)
        if isinstance(length, int) and length <= longest:
            raise UserError(
                f"backend_args.{name} is {length}, and answers of {spec.name} alone may have {longest} tokens",
                f"give more than {longest}, or a smaller --eval.max_gen_toks, which may lower scores",
            )


def check_fetched(spec: TaskSpec, lock: DataLock) -> list[str]:
    """Reads rows with complete prompts as a run will, and returns lines on those that cannot be scored, and why.

    Raises:
        UserError: if rows are missing, or cannot be read.
    """
    spec.scoring.answer.prepare()
    lines = []
    for language in spec.languages if spec.prompt else ():
        if split := load_split(spec, language, spec.data.evaluate, HUB, lock):
            unscored = [d for d in split.documents if d.gold is None]
            lines.append(f"{spec.name}: {len(split.documents)} rows, {len(unscored)} of them cannot be scored")
            lines += [f"  row {d.id}: {d.defect}" for d in unscored]
    return lines
