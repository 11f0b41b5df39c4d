"""`afrieval check-data`: defects in the data of tasks. Loads no model."""

from afrieval.commands.options import CheckData
from afrieval.commands.outputs import write_tables
from afrieval.config.arguments import read_given, run_config
from afrieval.data.lock import read_lock
from afrieval.tasks.select import chosen_tasks, named_languages
from afrieval.tasks.spec import load_task, task_names
from afrieval.tasks.splits import check_source
from afrieval.terminal import note


def main(argv: list[str]) -> int:
    """Prints what the checks find, and returns the exit code: 1 if any of it is not a known defect.

    Raises:
        UserError: for an unknown task or language, or data that is missing or damaged.
    """
    asked, given = read_given(CheckData, argv, "check-data")
    config = run_config([*given, ("task.task_name", asked.tasks or _parallel())], needs_model=False)
    from afrieval.quality.check import check_data
    from afrieval.report.findings import finding_table

    tables, new = [], False
    for spec in chosen_tasks(config):
        check_source(spec, config.data.source)
        languages = named_languages(spec, config.task.languages)
        checked = check_data(spec, config.data.source, read_lock())
        for line in checked.notes:
            note(f"{spec.name}: {line}")
        found = [finding for finding in checked.findings if finding.language in languages]
        tables.append(finding_table(spec.name, found, asked.rows))
        new = new or any(finding.is_new for finding in found)
    write_tables(tables, asked)
    return int(new)


def _parallel() -> list[str]:
    return [name for name in task_names() if load_task(name).parallel]
