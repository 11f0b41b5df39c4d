"""The files of tasks, words, reviews and configs that come with the suite: at the top of a checkout, or in a wheel."""

from pathlib import Path

_PACKAGED = Path(__file__).parents[1] / "_data"  # only a wheel has it; see pyproject.toml
FOLDERS = ("tasks", "vocabulary", "reviews", "configs")
CHECKOUT = None if _PACKAGED.is_dir() else Path(__file__).parents[3]
HOME = CHECKOUT or _PACKAGED  # contains FOLDERS


def shipped(name: str) -> Path:
    """Returns one of FOLDERS, as shipped with the suite."""
    return HOME / name


def here_or_shipped(path: Path) -> Path:
    """Returns a path unchanged, or the shipped file if a path such as `configs/tasks/demo.yaml` does not exist."""
    first, *rest = path.parts or [""]
    if first not in FOLDERS or ".." in rest or path.exists():
        return path
    shipped_path = shipped(first).joinpath(*rest)
    return shipped_path if shipped_path.exists() else path
