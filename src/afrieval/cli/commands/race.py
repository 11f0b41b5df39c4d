"""`afrieval race`: finds the best of several models with as few questions as that takes."""

from afrieval._util.terminal import note, one_line
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.declarations.running import RaceCommand
from afrieval.config.arguments import read_given
from afrieval.tools.race.race_loop import looks_table, race_table, run_race
from afrieval.tools.race.setup import race_setup


def main(argv: list[str]) -> None:
    """Runs a race or goes on with it, and prints where its models ended; with --dry-run, what it asks at most."""
    options, settings = read_given(RaceCommand, argv, "race")

    setup = race_setup(options.models, settings, options.by == "language", options.margin, options.dry_run)
    if options.dry_run:
        return write_tables([looks_table(setup)], options)
    races, stopped = run_race(setup, options.most_requests, options.most_cost)
    write_tables([race_table(setup, races, stopped)], options)
    note(f"run folders: {one_line(setup.folder / 'runs')}")
