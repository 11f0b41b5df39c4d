"""The suites in configs/suites/."""

from pathlib import Path

from afrieval.config.merge import read_file, run_config
from afrieval.config.settings import TaskConfig
from afrieval.errors import UserError, nearest
from afrieval.files.paths import user_path
from afrieval.resources import shipped


def suite_file(name: str) -> Path:
    """Returns the file of a suite.

    Args:
        name: of a suite in configs/suites/, or a path.

    Raises:
        UserError: if there is neither.
    """
    known = {path.stem: path for path in shipped("configs").glob("suites/*.yaml")}
    if name in known:
        return known[name]
    if not (path := user_path(name)).exists():
        raise UserError(f"there is no suite {name!r}, and no such file", nearest(name, sorted(known)))
    return path


def shipped_suites() -> dict[str, TaskConfig]:
    """Returns the suites that come with the package, by name."""
    files = sorted(shipped("configs").glob("suites/*.yaml"))
    configs = [run_config(read_file(path, "task"), needs_model=False) for path in files]
    return {config.task.suite: config.task for config in configs if config.task.suite}
