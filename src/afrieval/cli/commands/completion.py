"""`afrieval completion`: a script with which a shell completes commands, options and the words that they take."""

from argparse import ArgumentParser
from collections.abc import Mapping

from afrieval._util.terminal import say
from afrieval.cli.declarations.exchange import CompletionCommand
from afrieval.config.arguments import daily_of, read_options, sections_of
from afrieval.config.commands import Command


def main(argv: list[str]) -> None:
    """Prints the script."""
    import shtab  # nothing else needs it

    from afrieval.cli.registry import COMMANDS  # which has this command, too

    options = read_options(CompletionCommand, argv, "completion")
    say(shtab.complete(parser_of(dict(COMMANDS.items())), options.shell))


def parser_of(entries: Mapping[str, Command]) -> ArgumentParser:
    """Returns a parser that knows all commands and options by all their names, and parses nothing."""
    parser = ArgumentParser("afrieval")
    commands = parser.add_subparsers()
    for name, command in entries.items():
        of_command = commands.add_parser(name, help=command.summary, add_help=False)
        options = {f"--{short.replace('_', '-')}": option for short, option in daily_of(command.kind).items()}
        for option in (option for options in sections_of(command.kind, refused=False).values() for option in options):
            options[option.word or option.flag.replace("_", "-")] = option
        for flag, option in options.items():
            choices = option.choices or (["true", "false"] if bool in option.types else None)
            text = option.help.partition(". ")[0].replace("%", "%%")
            if option.word:
                of_command.add_argument(option.name, nargs="*", choices=choices, help=text)
            else:
                of_command.add_argument(flag, choices=choices, help=text)
    return parser
