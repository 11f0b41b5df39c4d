"""Plans the harness cells of a config, before a model is loaded."""

import re
from collections.abc import Sequence

from afrieval._util.errors import UserError
from afrieval.config.settings import RunConfig
from afrieval.tasks.cells.cell import Cell, Plan
from afrieval.tasks.data.files import SAMPLES

LANGUAGE = re.compile(r"\{\{\s*language\s*\}\}")
META = re.compile(r"_llama(_|$)")  # the harness' llama3 folder, and others with Meta's chat prompts
BRACES = re.compile(r"\{[{%#].*?(?:[}%#]\}|\Z)|[}%#]\}", re.DOTALL)


def plan_harness(config: RunConfig) -> Plan:
    """Returns the harness cells of a config, with data loaded and the first prompt of each built.

    Raises:
        UserError: for an unknown task, missing data, an invalid template, or too many examples.
    """
    if not config.task.wants_harness:
        return Plan([])
    if (source := config.data.source) == SAMPLES:
        raise UserError(
            "data.source is samples, but harness tasks have no sample rows", "give --data.source hub, or a folder"
        )
    # rejects invalid templates before the slow index is loaded
    names = template_names(config.task.task_template, config.task.languages)
    from afrieval.run.harness import index as harness
    from afrieval.run.harness.build import LackingError
    from afrieval.run.harness.harness_cell import HarnessTaskCell

    languages = {name: language for language, of_language in names.items() for name in of_language}
    tasks, groups = harness.find([*languages, *config.task.harness_names], harness.task_manager().task_index)
    cells: list[Cell] = []
    lacking: list[str] = []
    clean_prompts = config.task.clean_prompts
    for task in tasks:
        language = languages.get(task.requested_as, "")
        try:
            cells.append(HarnessTaskCell(task, language, config.eval, config.model, source, clean_prompts))
        except LackingError:
            if task.requested_as == task.name:
                raise
            lacking.append(task.name)
    left_out = []
    if lacking:
        aggregated = [name for name, group in groups.items() if group["aggregate"]]
        without = [name for name in aggregated if not set(lacking).isdisjoint(groups[name]["tasks"])]
        more = f"; without them there is no score of {', '.join(without)}" if without else ""
        left_out = [f"harness tasks that {source} has no data for: {', '.join(lacking)}{more}"]
    notes = [] if config.model.chat_template else chat_notes({task.name: task.requested_as for task in tasks})
    return Plan(cells, left_out, notes, groups)


def chat_notes(tasks: dict[str, str]) -> list[str]:
    """Returns a note on tasks that are meant for a chat template, if there are any.

    Args:
        tasks: task name to the name that was requested: the task, or its group or tag.
    """
    requested = list(dict.fromkeys(asked for name, asked in tasks.items() if META.search(name)))
    verb = "is" if len(requested) == 1 else "are"
    line = f"{', '.join(requested)} {verb} meant for a chat template: add --model.chat_template true"
    return [line] if requested else []


def template_names(template: str | None, languages: Sequence[str] | None) -> dict[str, list[str]]:
    """Returns the task names made from task.task_template, by language.

    Raises:
        UserError: if the template is invalid, or languages or their placeholder are missing.
    """
    if not template:
        return {}
    example = "write `afrimmlu_direct_{{language}}_prompt_1` and --task.languages yor,hau"
    if not languages:
        raise UserError(f"task.task_template is {template!r}, but task.languages is empty", example)
    if other := BRACES.search(LANGUAGE.sub("", template)):  # nothing is executed
        raise UserError(f"task.task_template supports only {{{{language}}}}, not {other[0][:100]!r}", example)
    if not LANGUAGE.search(template):
        raise UserError(f"task.task_template {template!r} has no placeholder for the language", example)
    names = [name.strip() for name in template.split(",") if name.strip()]

    def filled(code: str) -> list[str]:
        return [LANGUAGE.sub(lambda _: code, name) for name in names]

    return {code: filled(code) for code in dict.fromkeys(languages)}
