"""`afrieval preview`: the prompts that a model would get. Loads no model."""

from afrieval.commands.writeout import show
from afrieval.config.arguments import read_config
from afrieval.config.options import whole_number
from afrieval.run.plan import plan
from afrieval.terminal import note, say

OPTIONS = """
Options of preview itself:
  --document N    the document (row of the evaluated split, from 0) to show; 0 if not given
  --show-blanks   make blanks, tabs and line ends visible
"""


def main(argv: list[str]) -> None:
    """Prints one document under each prompt of each cell."""
    argv, blanks = _without([a.replace("--show_blanks", "--show-blanks") for a in argv], "--show-blanks")
    argv, number = _document(argv)
    if "--help" in argv or "-h" in argv:
        say(OPTIONS)
    config = read_config(argv, command="preview", needs_model=False)
    planned = plan(config)
    for line in planned.lines:
        note(line)
    for cell in planned.cells:
        show(cell.preview(number), blanks)


def _without(argv: list[str], flag: str) -> tuple[list[str], bool]:
    return [a for a in argv if a != flag], flag in argv


def _document(argv: list[str]) -> tuple[list[str], int]:
    argv = [part for word in argv for part in (word.split("=", 1) if word.startswith("--document=") else [word])]
    if "--document" not in argv:
        return argv, 0
    at = argv.index("--document")
    value = argv[at + 1] if at + 1 < len(argv) else ""
    return argv[:at] + argv[at + 2 :], whole_number("--document", value, 0)
