"""Tables of a command, in the terminal and in the files that its options name."""

from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.terminal import note, say
from afrieval._util.whole_files import write_output
from afrieval.config.options import TableFiles
from afrieval.report.columns import with_all_columns
from afrieval.report.formats import csv_files, show_tables, write
from afrieval.report.table import Table

OUTPUTS = ("json", "csv", "markdown", "latex")


def write_tables(tables: list[Table], options: TableFiles, all_metrics: bool = False) -> None:
    """Prints tables, and writes them to the requested files; prints only what goes to standard output, if any does.

    CSV of several kinds of tables is written to a file for each kind.

    Raises:
        UserError: if a file cannot be written, or two formats go to standard output.
    """
    tables = with_all_columns(tables) if all_metrics else tables
    targets = {name: getattr(options, name) for name in OUTPUTS if getattr(options, name)}
    if list(targets.values()).count("-") > 1:
        raise UserError("standard output (-) is given for two formats", "give - once, and files for the others")
    if "-" not in targets.values():
        show_tables(tables)
    for name, path in targets.items():
        if path == "-":
            say(write(tables, name))
            continue
        file = str(user_path(path))
        texts = csv_files(file, tables) if name == "csv" else {file: write(tables, name)}
        for each, text in texts.items():
            write_output(Path(each), (text.rstrip("\n") + "\n").encode())
            note(f"wrote {each}")
