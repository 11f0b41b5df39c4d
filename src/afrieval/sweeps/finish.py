"""What follows the last cell of a run: summary, derived metrics, loggers."""

from afrieval.config.settings import RunConfig
from afrieval.exports.loggers import log_run
from afrieval.report.summary import summarise
from afrieval.results.reader import RunFolder
from afrieval.suites.run import finish


def finish_run(config: RunConfig, run: RunFolder) -> None:
    """Writes the tables of a run to its folder, and logs them to the programs that its config names.

    Args:
        config: its settings.
        run: its folder, which must be locked.

    Raises:
        UserError: if a sample file is damaged, a reference is not comparable, or a program fails.
    """
    found = summarise(run)
    finish(run.path, run.record, found.cells, config.reference)
    log_run(config, run)
