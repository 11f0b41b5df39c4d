"""Checks that a run can be logged, before its model is loaded."""

from importlib.util import find_spec

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError


def checked(config: RunConfig) -> RunConfig:
    """Returns a config, after checking that its run can be logged.

    Raises:
        UserError: for a missing package or key, or a setting of W&B without it.
    """
    if config.task.wandb_job_type and "wandb" not in config.loggers:
        raise UserError("task.wandb_job_type is given, but the run is not logged to W&B", "add --log wandb")
    for name in config.loggers:
        if find_spec(name) is None:
            raise UserError(f"--log {name} needs the package {name}", f"run `pip install 'afrieval[{name}]'`")
    if "wandb" in config.loggers:
        _check_key()
    return config


def _check_key() -> None:
    import wandb

    if wandb.setup().settings.mode in ("online", "shared") and not wandb.login(prompt=False):
        raise UserError("W&B has no API key", "run `wandb login`, or set WANDB_MODE=offline to log to files")
