"""`afrieval pack`: the sample files of finished runs in one file each, and back."""

from afrieval._util.files import user_path
from afrieval._util.terminal import say
from afrieval.cli.declarations.exchange import PackCommand
from afrieval.config.arguments import read_options
from afrieval.results.packed import PACKED
from afrieval.results.packing import pack, unpack


def main(argv: list[str]) -> None:
    """Packs or unpacks runs, one after the other, and prints what became of each."""
    options = read_options(PackCommand, argv, "pack")

    for folder in dict.fromkeys(map(user_path, options.runs)):
        moved = unpack(folder) if options.unpack else pack(folder)
        files, one = f"{moved.files:,} sample files, {_size(moved.loose)}", f"{PACKED}, {_size(moved.packed)}"
        if options.unpack:
            say(f"{folder}: {one}, to {files}")
        elif moved.files:
            say(f"{folder}: {files}, to {one}")
        else:
            say(f"{folder}: all samples are in {one}")


def _size(size: int) -> str:
    return f"{size / 1e9:,.2f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"
