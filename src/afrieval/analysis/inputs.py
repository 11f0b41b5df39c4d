"""What compare is given: folders of our runs, folders of the harness' command, published tables."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from afrieval.analysis.published import PublishedRow, read_published
from afrieval.harness.folder import foreign_units, is_foreign
from afrieval.results.units import Unit, read_units


class Inputs(NamedTuple):
    """Units of our runs, units of the harness' runs, rows of published tables."""

    own: list[Unit]
    foreign: list[Unit]
    published: list[PublishedRow]


def read_inputs(paths: list[Path]) -> Inputs:
    """Returns what is in the given folders and files.

    Raises:
        UserError: for one that is none of the three, or is damaged.
    """
    tables = [p for p in paths if p.suffix == ".csv"]
    foreign = [p for p in paths if p not in tables and is_foreign(p)]
    own = [p for p in paths if p not in tables and p not in foreign]
    return Inputs(read_units(own), _foreign(foreign), [row for p in tables for row in read_published(p)])


def _foreign(folders: list[Path]) -> list[Unit]:
    """Returns the units of all folders; one model in several of them is told apart by the folder's name."""
    found = {folder: foreign_units(folder) for folder in folders}
    models = [{u.dimensions["model"] for u in units} for units in found.values()]
    again = {model for model in set().union(*models) if sum(model in of_one for of_one in models) > 1}
    return [
        replace(u, dimensions=u.dimensions | {"model": f"{u.dimensions['model']} {folder.name}"})
        if u.dimensions["model"] in again
        else u
        for folder, units in found.items()
        for u in units
    ]
