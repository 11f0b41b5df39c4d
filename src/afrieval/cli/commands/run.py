"""`afrieval run`: evaluates a model and prints scores per language and prompt."""

from dataclasses import asdict

import yaml

from afrieval._util.terminal import say
from afrieval.cli.declarations.running import RunCommand
from afrieval.config.arguments import read_given
from afrieval.config.files import run_config
from afrieval.config.options import TableFiles
from afrieval.models.processes import joined
from afrieval.tools.new_task.new_task import with_new_task
from afrieval.tools.run_and_show import run, run_part


def main(argv: list[str]) -> None:
    """Runs the missing cells of the run folder, writes its tables and prints them.

    With --dry-run, it prints the tables of `afrieval plan`.
    """
    with joined() as processes:
        with processes.barrier():  # an error of all processes is reported once
            options, settings = read_given(RunCommand, argv, "run")
            config = run_config(settings, needs_model=True)
        if options.print_config:
            if processes.is_first:
                say(yaml.safe_dump(asdict(config), sort_keys=False, allow_unicode=True).rstrip())
            return
        config = with_new_task(config, options.new, processes)
        if options.dry_run:
            from afrieval.cli.commands.plan import planned, show  # loads torch, which not every run needs

            show(planned(config), TableFiles())
        elif options.share:
            run_part(config, processes, options.share, options.all_metrics)
        else:
            run(config, processes, options.all_metrics)
