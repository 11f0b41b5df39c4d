"""The suites in configs/suites/."""

from afrieval.config.merge import read_file, run_config
from afrieval.config.settings import TaskConfig
from afrieval.resources import shipped


def shipped_suites() -> dict[str, TaskConfig]:
    """Returns the suites that come with the package, by name."""
    files = sorted(shipped("configs").glob("suites/*.yaml"))
    configs = [run_config(read_file(path, "task"), needs_model=False) for path in files]
    return {config.task.suite: config.task for config in configs if config.task.suite}
