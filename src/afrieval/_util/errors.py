"""The one exception that users see without a traceback, and hints that suggest a known name."""

import difflib
import errno
import re
from collections.abc import Mapping, Sequence

from afrieval._util.terminal import LONG, one_line, shortened

LINE = 600  # characters of a message or a hint: room for the names of several files
CLOSE = 0.1  # a name that is less similar than the most similar one by this much is not suggested
SURE = 0.75
MANY, FEW = 20, 5  # a hint shows up to 20 names, or the first 5 of more
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DENIED = (errno.EROFS, errno.EACCES, errno.EPERM)
TAKEN = (errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ELOOP)
BROKEN = (errno.EIO, errno.ESTALE, errno.ENODEV, errno.ENXIO, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN)
CURES = {
    **dict.fromkeys(FULL, "free some space, raise the limit (quota, ulimit -f) or name another place"),
    **dict.fromkeys(DENIED, "change its permissions or name another place"),
    **dict.fromkeys(TAKEN, "move what is there, or name another place"),
    **dict.fromkeys(BROKEN, "check the disk or the network file system, or name another place"),
    errno.ENOLCK: "mount the file system with locks, or name another place",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.ENAMETOOLONG: "name a shorter path",
    errno.ENFILE: "close other programs; the machine has too many open files",
}


class UserError(Exception):
    """An error that the user can fix.

    Both texts become one line each, of at most `LINE` characters: the middle of a long value is left out.
    """

    def __init__(self, message: str, hint: str):
        self.message, self.hint = _short_line(message), _short_line(hint)
        super().__init__(self.message, self.hint)

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})"


def _short_line(text: str) -> str:
    words = re.sub(rf"\S{{{LONG + 1},}}", lambda word: shortened(word[0]), one_line(text))
    return shortened(words, LINE)


def nearest(name: str, names: Sequence[str] | Mapping[str, str], where: str = "", cutoff: float = 0.6) -> str:
    """Returns a hint at the known names that are most similar to a name, at most three; or `choices`.

    Args:
        name: what was given.
        names: what may be given; a mapping also says how each is shown.
        where: the command that lists all.
        cutoff: how similar a name must be; `SURE` for names of languages, many of which are similar.
    """
    shown = dict(names) if isinstance(names, Mapping) else {one: one for one in names}
    alike = {one.casefold(): one for one in reversed(shown)}
    plain = name.casefold()
    near = difflib.get_close_matches(plain, alike, n=3, cutoff=cutoff)
    best = max((_similarity(plain, one) for one in near), default=0)
    near = [one for one in near if _similarity(plain, one) > best - CLOSE]
    near = near or [one for one in alike if plain and one.startswith(plain)][:3]
    similar = list(dict.fromkeys(shortened(shown[alike[one]]) for one in near))
    if not similar:
        return choices(list(dict.fromkeys(shown.values())), where)
    meant = f"{', '.join(similar[:-1])} or {similar[-1]}" if similar[1:] else similar[0]
    return f"did you mean {meant}?" + (f" {where} shows all" if where and similar[1:] else "")


def _similarity(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, one).ratio()


def choices(options: Sequence[object], where: str = "") -> str:
    """Returns a hint at what can be chosen: all, or the first of many."""
    named = [shortened(str(one), LONG // 2) for one in options]
    if len(named) <= MANY and len(", ".join(named)) <= LONG:
        return f"choose from {', '.join(named)}" if named else "there is nothing to choose from"
    if where:
        return f"{where} shows all"
    shown = named[:1] if len(", ".join(named[:FEW])) > LONG else named[:FEW]
    return f"choose from {', '.join(shown)} and {len(named) - len(shown)} more"


def reason(error: UserError | OSError) -> str:
    """Returns why something could not be read, for a line about what is left out."""
    return error.message if isinstance(error, UserError) else f"{error.filename}: {error.strerror or error}"
