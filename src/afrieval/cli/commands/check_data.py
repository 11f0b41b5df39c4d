"""`afrieval check-data`: defects in the data of tasks. Loads no model."""

from collections.abc import Callable
from dataclasses import replace

from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.analysis.verdicts import language_baselines
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.declarations.tasks import CheckDataCommand
from afrieval.config.arguments import read_given
from afrieval.config.files import run_config
from afrieval.config.settings import RunConfig, TaskConfig
from afrieval.report.verdict_words import baseline_table
from afrieval.tasks.data.baselines import FEWEST, store_baselines
from afrieval.tasks.data.lock import read_lock
from afrieval.tasks.data.splits import check_source
from afrieval.tasks.declaration.selection import chosen_tasks, named_folders, named_languages
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names
from afrieval.tools.data_checks.check import check_data, finding_table


def main(argv: list[str]) -> int:
    """Prints what the checks find, and returns the exit code: 1 if any of it is not a known defect."""
    options, settings = read_given(CheckDataCommand, argv, "check-data")
    config = run_config(settings, needs_model=False, needs_task=False)
    if options.baselines:
        specs = _tasks(config, lambda spec: spec.scoring.answer.has_choices and not spec.evals)
        return _write_baselines(specs, config.task, config.data.source, options)

    tables, new = [], False
    for spec in _tasks(config, lambda spec: spec.parallel):
        languages = named_languages(spec, config.task)
        findings = check_data(spec, config.data.source, read_lock(), config.task.demanded)
        findings = [finding for finding in findings if finding.language in languages]
        tables.append(finding_table(spec.name, findings, options.rows))
        above = [of for of in language_baselines(spec, languages, config.data.source, read_lock()) if of.above]
        tables += [baseline_table(spec.name, above)] if above else []
        new = new or any(finding.is_new for finding in findings)
    write_tables(tables, options)
    return int(new)


def _write_baselines(specs: list[TaskSpec], task: TaskConfig, source: str, options: CheckDataCommand) -> int:
    """Prints the baselines of tasks, and stores them in the tasks' folders; returns the exit code."""
    tables = []
    for spec in specs:
        if not (baselines := language_baselines(spec, named_languages(spec, task), source, read_lock())):
            note(f"{spec.name}: no rows, or answers that are not choices")
            continue
        tables.append(baseline_table(spec.name, baselines))
        if few := [of.language for of in baselines if not of.whole or of.baselines.n < FEWEST]:
            note(f"{spec.name}: too few rows to store: {' '.join(few)}")
        if stored := {of.language: of.baselines for of in baselines if of.language not in few}:
            note(f"wrote {store_baselines(spec, stored)}")
    write_tables(tables, options)
    return 0


def _tasks(config: RunConfig, checked: Callable[[TaskSpec], object]) -> list[TaskSpec]:
    """Returns the named tasks, or all that can be checked and whose data the source has."""
    if config.task.names:
        specs = chosen_tasks(config)
        for spec in specs:
            check_source(spec, config.data.source)
        return specs
    folders = named_folders(config.task)
    names = [name for name in task_names(folders) if checked(load_task(name, folders))]
    checkable, errors = list[TaskSpec](), list[UserError]()
    for spec in chosen_tasks(replace(config, task=replace(config.task, task_name=names))):
        try:
            check_source(spec, config.data.source)
            checkable.append(spec)
        except UserError as e:
            errors.append(e)
    if not checkable:
        raise errors[0]
    for error in errors:
        note(error.message)
    return checkable
