"""The one exception that users see without a traceback, and hints that suggest a known name."""

import difflib
import errno

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

    Args:
        message: what is wrong, in one line, with the offending value.
        hint: how to fix it, in one line.
    """

    def __init__(self, message: str, hint: str):
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})"


def nearest(name: str, known: list[str]) -> str:
    """Returns a hint: the known name most similar to `name`, or all of them."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
