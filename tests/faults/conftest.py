"""Shared by the tests under fire: what starts commands, and a server that answers."""

from collections.abc import Iterator

import pytest
from tests.faults.zygote import Zygote


@pytest.fixture(scope="session")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    """Yields what starts commands in forks."""
    found = Zygote(tmp_path_factory.mktemp("zygote"))
    yield found
    found.close()
