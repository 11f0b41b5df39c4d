"""`afrieval show`: the tables at the end of stored runs. Loads no model, and writes nothing to the run folders."""

from afrieval._util.files import user_path
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.declarations.showing import ShowCommand
from afrieval.config.arguments import read_options
from afrieval.exchange.discovery import own_runs
from afrieval.report.language_tables import heat_tables
from afrieval.report.run_summary import of_model, stored_tables, suite_cells, work_of
from afrieval.report.table import added_tables
from afrieval.results.comparable_runs import check_run, model_labels
from afrieval.results.run_folder import RunFolder


def main(argv: list[str]) -> None:
    """Prints the tables of each run, and the scores of all together by language; writes the requested files."""
    options = read_options(ShowCommand, argv, "show")

    runs = [RunFolder(folder) for folder in own_runs([*map(user_path, options.runs)])]
    for run in runs:
        check_run(run.path)
    labels = model_labels({run.path: run.record for run in runs})
    tables, cells = [], []
    for run in runs:
        run_tables, run_cells = stored_tables(run, labels[run.path])
        run_tables += [*added_tables(run_cells), *work_of(run.path)]
        tables += of_model(run_tables, labels[run.path], run.path) if len(runs) > 1 else run_tables
        cells += run_cells
    write_tables([*tables, *heat_tables(suite_cells(cells))], options, options.all_metrics)
