"""What follows from ratings."""

from collections.abc import Mapping

from afrieval.results.samples import Sample


def with_people(lines: list[Sample], levels: Mapping[str, str]) -> list[Sample]:
    """Returns the lines of a cell."""
    return lines
