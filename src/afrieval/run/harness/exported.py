"""A cell that the harness builds from a definition in a YAML file."""

from dataclasses import replace
from functools import cache
from typing import Any

import yaml

from afrieval.config.settings import ModelConfig, RunConfig
from afrieval.models.base import UnknownTokenizer
from afrieval.scoring.labels import CUT
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.cell import CellSettings
from afrieval.tasks.cells.harness_tasks import InMemoryTask, task_config
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.plan import task_cells
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.lock import read_lock
from afrieval.tasks.declaration.selection import chosen_tasks

Definition = dict[str, Any]


class ExportedTask(InMemoryTask):
    """The task that a run would build, for the harness' own command line.

    Args:
        config: the harness' config; `task` is the name, `cell` contains the sections of a RunConfig.
    """

    def __init__(self, config: Definition):
        self._described = described = yaml.safe_dump(config["cell"])
        cell = _cell(described, _run_config(described).eval.shots)
        ends = self._generation(cell.shots, chat=False) if cell.generates else None
        built = task_config(cell, ends, unknown=CUT)  # the harness does not say why an answer ended
        # the harness does not allow another number later if the config says 0
        built |= {"task": config["task"], "num_fewshot": cell.shots or None}
        super().__init__(cell, cell.scorable, config=built)
        self._request_options = {}  # models of the harness take none
        self._built = dict(self.config.generation_kwargs or {})

    def examples(self, document: Document, shots: int) -> list[Document]:
        """Returns so many few-shot examples of a document."""
        return _cell(self._described, shots).examples(document)

    def build_all_requests(
        self, *, apply_chat_template: bool = False, system_instruction: str | None = None, **kwargs: Any
    ) -> None:
        """Builds the requests; limits of answers and the system text depend on the harness' options."""
        shots = self.config.num_fewshot or 0
        run = _run_config(self._described)
        chosen_tasks(
            replace(run, model=ModelConfig(chat_template=apply_chat_template))
        )  # rejects a chat template for prompts that include one
        cell = _cell(self._described, shots)
        if cell.generates:
            ends = self._generation(shots, apply_chat_template)
            limits = {"until": list(ends.stop), "max_gen_toks": ends.max_tokens}
            options = self.config.generation_kwargs
            options.update({name: value for name, value in limits.items() if options.get(name) == self._built[name]})
        if apply_chat_template and not system_instruction:
            system_instruction = cell.system
        kwargs["system_instruction"] = system_instruction
        super().build_all_requests(apply_chat_template=apply_chat_template, **kwargs)

    def _generation(self, shots: int, chat: bool) -> Generation:
        cell = _cell(self._described, shots)
        with_chat = replace(cell, settings=replace(cell.settings, chat_template=chat))
        return generation(with_chat, UnknownTokenizer())


@cache
def _cell(described: str, shots: int) -> TaskCell:
    """Returns the described cell with a number of examples; data are loaded once per number."""
    config = _run_config(described)
    config = replace(config, eval=replace(config.eval, num_fewshot=shots))
    (spec,) = chosen_tasks(config)
    (questions,), _ = task_cells(
        spec, config.task, CellSettings.of_run(config.model, config.eval, config.data.source), read_lock()
    )
    return questions


def _run_config(described: str) -> RunConfig:
    config, sections = RunConfig(), yaml.safe_load(described)
    return replace(config, **{name: replace(getattr(config, name), **given) for name, given in sections.items()})
