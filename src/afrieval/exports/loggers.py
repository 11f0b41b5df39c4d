"""Logs a finished run to W&B or Trackio, which are imported only if they are asked for."""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from shlex import quote

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.exports.logged import Logged, logged
from afrieval.results.reader import RunFolder
from afrieval.terminal import note, one_line

PROJECT = "afrieval"
NAMES = {"wandb": "W&B", "trackio": "Trackio"}


def log_run(config: RunConfig, run: RunFolder) -> None:
    """Logs a finished run to the programs that its config names.

    Raises:
        UserError: if a program fails, after the others have been tried. The run itself is stored.
    """
    if not config.loggers:
        return
    found, failed = logged(run), []
    for name in dict.fromkeys(config.loggers):
        try:
            note(f"logged to {NAMES[name]}; {LOGGERS[name](config, run.path, found)}")
        except Exception as e:  # whatever another program raises, the run is stored
            failed.append((name, e))
    for name, error in failed:
        raise UserError(
            f"the run is stored in {run.path}, but could not be logged to {NAMES[name]}: {one_line(error)}",
            "the same command logs it again, and runs nothing again",
        ) from error


def _name(config: RunConfig, folder: Path) -> str:
    """Returns the run's name; that of a folder of ours is TASK/MODEL/SETTINGS."""
    return folder.name if config.run_dir else "/".join(folder.parts[-3:])


def _to_wandb(config: RunConfig, folder: Path, found: Logged) -> str:
    """Logs to W&B, without its own output, next to any open run of the same process; returns where it is."""
    import wandb

    with contextlib.redirect_stderr(io.StringIO()):  # it advertises other products, even when silent
        run = wandb.init(
            project=config.task.wandb_project or PROJECT,
            job_type=config.task.wandb_job_type,
            name=_name(config, folder),
            config=dict(found.settings),
            settings=wandb.Settings(silent=True, console="off", reinit="create_new"),
        )
    try:
        for name, rows in found.tables.items():
            columns = list(rows[0]) if rows else []
            table = wandb.Table(columns, [list(row.values()) for row in rows], allow_mixed_types=True)
            run.log({name: table})
        run.summary.update(dict(found.summary))
        return f"`wandb sync {quote(run.settings.sync_dir)}` uploads it" if run.offline else f"see {run.url}"
    finally:
        run.finish()


def _to_trackio(config: RunConfig, folder: Path, found: Logged) -> str:
    """Logs to Trackio, without its own output, and returns how to see it; any open run of the process is finished."""
    import trackio
    from pandas import DataFrame

    project = config.task.wandb_project or PROJECT
    with contextlib.redirect_stdout(io.StringIO()):
        trackio.init(
            project=project,
            name=_name(config, folder),
            config=dict(found.settings),
            embed=False,
            auto_log_gpu=False,
            auto_log_cpu=False,
        )
        tables = {name: trackio.Table(dataframe=DataFrame(rows)) for name, rows in found.tables.items() if rows}
        trackio.log({**found.summary, **tables})
        trackio.finish()
    return f"`trackio show --project {quote(project)}` shows it"


LOGGERS: dict[str, Callable[[RunConfig, Path, Logged], str]] = {"wandb": _to_wandb, "trackio": _to_trackio}
