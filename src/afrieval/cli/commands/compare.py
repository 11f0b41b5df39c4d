"""`afrieval compare`: scores of stored runs and their differences. Loads no model."""

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note
from afrieval.analysis.published import all_as_published, check_published
from afrieval.analysis.run_contrasts import all_contrasts, average_differences, check_compared
from afrieval.analysis.suites import suite_averages
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.commands.selection import selected
from afrieval.cli.declarations.showing import CompareCommand
from afrieval.config.arguments import read_options
from afrieval.exchange.discovery import read_inputs
from afrieval.exchange.readers import is_published, reader_of_run
from afrieval.report.comparison import comparison_tables
from afrieval.report.contrast_tables import average_difference_tables
from afrieval.report.judged_tables import judged_tables
from afrieval.report.published_tables import published_tables
from afrieval.report.score_tables import naming_rows
from afrieval.report.standing_words import leader_tables
from afrieval.report.suite_tables import derived_tables, suite_tables
from afrieval.report.table import EVALUATION_TABLES, added_tables
from afrieval.run.suites.reference import methods, published_for
from afrieval.run.suites.run import of_runs


def main(argv: list[str]) -> None:
    """Loads runs, compares them, prints tables and writes the requested files."""
    options = read_options(CompareCommand, argv, "compare")

    paths = [user_path(p) for p in options.runs]
    published = [path for path in paths if is_published(path)]
    files = [p for p in paths if p.suffix == ".json" and p not in published and not reader_of_run(p)]
    whole = read_inputs([path for path in paths if path not in files])
    for line in whole.notes:
        note(line)
    derived = of_runs(whole.run_cells, options.reference, files)
    inputs = whole.on(options.metric)
    units = selected(inputs.cells, "task", options.tasks, lambda cell: cell.task)
    units = selected(units, "language", options.languages, lambda cell: cell.language)
    contrasts = all_contrasts(units, inputs.foreign, options.contrast, options.seed)
    published_rows = [] if options.metric else [unit for unit in units if "evals" in unit.declared]
    if units and (options.contrast or not published_rows):
        folders = {cell.folder for cell in units}
        check_compared(contrasts, units, needed=len(folders) > 1 or bool(options.contrast))
    metric = options.metric if any(c.main != options.metric for c in whole.cells) else None
    averaged = all_as_published(units) if options.average == "afrobench" and not options.metric else units
    groupings: list[str] = list(dict.fromkeys(["Africa", options.means]))
    of_suites = [name for name in options.published if derived and name in methods()]
    of_tasks = [name for name in options.published if name not in of_suites]
    if of_tasks and (not options.by or options.metric):
        raise UserError("--published needs --by, and the main metric", "give --by subject, without --metric")
    check_published(units, of_tasks)
    makers = [make for _, of in EVALUATION_TABLES.items() for make in (of.reference_tables, of.verdict_tables)]
    tables = [
        *leader_tables(units),
        *suite_tables(suite_averages(averaged, options.average), options.average),
        *comparison_tables(units, contrasts, groupings, options.by, metric, of_tasks),
        *(table for make in makers for table in make(published_rows)),
        *published_tables([] if metric else units, inputs.published),
    ]
    main = [] if options.metric else units
    for suite, scores in derived.items():
        tables += derived_tables(suite, scores, published_for(suite, scores, of_suites))
    tables += [*added_tables(main), *judged_tables(main)]
    tables = [*average_difference_tables(average_differences(contrasts)), *naming_rows(tables, units)]
    if not tables:
        raise UserError(f"{options.runs[0]} alone has nothing to compare", "give a second run, or --by FIELD")
    write_tables(tables, options, options.all_metrics)
