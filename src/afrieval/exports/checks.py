"""Checks that a run can be logged, before its model is loaded."""

from importlib.util import find_spec

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.terminal import one_line

FORBIDDEN = set("/\\#?%:")  # in the name of a project
OFFLINE = "set WANDB_MODE=offline to log to files"


def checked(config: RunConfig) -> RunConfig:
    """Returns a config, after checking that its run can be logged.

    Raises:
        UserError: for a missing package or key, or a setting of W&B that is invalid or has no effect.
    """
    if config.task.wandb_job_type and "wandb" not in config.loggers:
        raise UserError("task.wandb_job_type is given, but the run is not logged to W&B", "add --log wandb")
    if found := {*(config.task.wandb_project or "")} & FORBIDDEN:
        raise UserError(
            f"task.wandb_project is {config.task.wandb_project!r}, but W&B allows no {min(found)} in it", "leave it out"
        )
    for name in config.loggers:
        if find_spec(name) is None:
            raise UserError(f"--log {name} needs the package {name}", f"run `pip install 'afrieval[{name}]'`")
    if "wandb" in config.loggers:
        _check_key()
    return config


def _check_key() -> None:
    import wandb

    if wandb.setup().settings.mode not in ("online", "shared"):
        return
    try:
        found = wandb.login(prompt=False)
    except wandb.Error as e:
        raise UserError(f"W&B cannot be used: {one_line(e)}", f"correct key or network, or {OFFLINE}") from e
    if not found:
        raise UserError("W&B has no API key", f"run `wandb login`, or {OFFLINE}")
