"""What a terminal of 80 columns shows of a table."""

from afrieval._util.terminal import console
from afrieval.report.formats import show
from afrieval.report.table import Table


def printed(table: Table, color: bool = False, width: int = 80) -> str:
    """The text of a table; with codes of styles if `color`."""
    screen = console(width=width, record=True, force_terminal=color, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    show([table], screen=screen)
    return screen.export_text(styles=color)
