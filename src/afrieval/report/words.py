"""Names in sentences."""

from collections.abc import Iterable, Sequence

from afrieval.languages import LANGUAGES


def language_name(code: str) -> str:
    """Returns a language's name; the code itself if it is not one of the suite's."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def language_names(codes: Iterable[str], most: int = 8) -> str:
    """Returns languages in alphabetical order for a sentence; those beyond a number of them are counted."""
    return listed(sorted(map(language_name, codes)), most)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Returns names for a sentence; those beyond a number of them are counted."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
