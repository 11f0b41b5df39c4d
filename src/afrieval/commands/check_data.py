"""`afrieval check-data`: defects in the data of tasks. Loads no model."""

from dataclasses import replace

from afrieval.commands.options import CheckData
from afrieval.commands.outputs import write_tables
from afrieval.config.arguments import read_given, run_config
from afrieval.config.settings import RunConfig
from afrieval.data.lock import read_lock
from afrieval.errors import UserError
from afrieval.tasks.select import chosen_tasks, named_languages, task_folder
from afrieval.tasks.spec import TaskSpec, load_task, task_names
from afrieval.tasks.splits import check_source
from afrieval.terminal import note


def main(argv: list[str]) -> int:
    """Prints what the checks find, and returns the exit code: 1 if any of it is not a known defect.

    Raises:
        UserError: for an unknown task or language, or data that is missing or damaged.
    """
    asked, given = read_given(CheckData, argv, "check-data")
    given += [("task.task_name", asked.tasks)] if asked.tasks else []
    config = run_config(given, needs_model=False, needs_task=False)
    from afrieval.quality.check import check_data
    from afrieval.report.findings import finding_table

    tables, new = [], False
    for spec in _tasks(config):
        languages = named_languages(spec, config.task)
        checked = check_data(spec, config.data.source, read_lock())
        for code in set(config.task.demanded) - checked.languages:
            problem = f"{config.data.source} has no rows of {spec.name} for {code}"
            raise UserError(problem, f"remove {code} from task.languages, or name another --data.source")
        for line in checked.notes:
            note(f"{spec.name}: {line}")
        found = [finding for finding in checked.findings if finding.language in languages]
        tables.append(finding_table(spec.name, found, asked.rows))
        new = new or any(finding.is_new for finding in found)
    write_tables(tables, asked)
    return int(new)


def _tasks(config: RunConfig) -> list[TaskSpec]:
    """Returns the named tasks, or all with parallel languages whose data the source has."""
    if config.task_names:
        specs = chosen_tasks(config)
        for spec in specs:
            check_source(spec, config.data.source)
        return specs
    folder = task_folder(config)
    parallel = [name for name in task_names(folder) if load_task(name, folder).parallel]
    found, errors = list[TaskSpec](), list[UserError]()
    for spec in chosen_tasks(replace(config, task=replace(config.task, task_name=parallel))):
        try:
            check_source(spec, config.data.source)
            found.append(spec)
        except UserError as e:
            errors.append(e)
    if not found:
        raise errors[0]
    for error in errors:
        note(error.message)
    return found
