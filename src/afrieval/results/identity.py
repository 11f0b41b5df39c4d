"""What makes two runs the same run: anything that touches prompt, data, shots or model."""

from collections.abc import Mapping
from typing import Any

from afrieval.errors import UserError

SCORING = ("version", "declaration", "extract")  # what may change of a task if only its answers are scored differently


def differences(old: Mapping[str, Any], new: Mapping[str, Any], path: str = "") -> list[str]:
    """Returns a line for each value that both have and that differs; what only one has is no difference.

    Args:
        old: nested maps, as stored.
        new: nested maps, as asked for.
        path: dotted name of where they stand.
    """
    found = []
    for key in [k for k in old if k in new]:
        name = f"{path}.{key}" if path else str(key)
        if isinstance(old[key], dict) and isinstance(new[key], dict):
            found += differences(old[key], new[key], name)
        elif old[key] != new[key]:
            found.append(f"{name} was {_short(old[key])} and is {_short(new[key])}")
    return found


def _short(value: Any) -> str:
    text = "not given" if value is None else repr(value)
    return text if len(text) <= 50 else f"{text[:12]}...{text[-4:]}"


def check_same_run(old: Mapping[str, Any], new: Mapping[str, Any], folder: Any) -> None:
    """Refuses to put another run's cells into a folder.

    Raises:
        UserError: naming what differs.
    """
    if found := differences(old, new):
        more = f", and {len(found) - 1} more" if found[1:] else ""
        cure = (
            f"or score its answers again: afrieval score {folder}"
            if _is_scoring(found)
            else "or the settings that the folder was begun with"
        )
        raise UserError(
            f"the run folder {folder} holds another run: {found[0]}{more}", f"give another --run_dir, {cure}"
        )


def _is_scoring(found: list[str]) -> bool:
    """Returns whether only the scoring of tasks differs, and by their files: a run keeps the options of its command."""
    of_tasks = [line.split(" ")[0].split(".") for line in found]
    scored = all(path[0] == "tasks" and len(path) > 2 and path[2] in SCORING for path in of_tasks)
    return scored and any(path[2] != "extract" for path in of_tasks)


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nested maps with the keys of both; the new value where both have one."""
    result = dict(old)
    for key, value in new.items():
        both = isinstance(value, dict) and isinstance(old.get(key), dict)
        result[key] = merged(old[key], value) if both else value
    return result
