"""Command lines of few options: their errors are ours, and their numbers have a range."""

import argparse
import re
from typing import NoReturn

from afrieval.errors import UserError


class Parser(argparse.ArgumentParser):
    """argparse, but for errors, which are for users."""

    def error(self, message: str) -> NoReturn:
        """Refuses a command line.

        Raises:
            UserError: always.
        """
        raise UserError(message, f"see {self.prog} --help")


def whole_number(option: str, text: str, least: int, most: int | None = None) -> int:
    """Returns the whole number that an option was given.

    Args:
        option: its name, with its dashes.
        text: what stands after it.
        least: the lowest number allowed.
        most: the highest; None if there is none.

    Raises:
        UserError: if it is not a whole number, or out of range.
    """
    number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else None
    if number is None or number < least or (most is not None and number > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise UserError(f"{option} is {text!r}", f"give a whole number, {allowed}")
    return number
