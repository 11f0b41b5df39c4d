"""The one exception that is shown to users without a traceback."""


class UserError(Exception):
    """Something the user can mend.

    Args:
        message: what is wrong, in one line, with the offending value.
        hint: how to mend it, in one line.
    """

    def __init__(self, message: str, hint: str):
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})"
