"""Nothing asks which backend a model has; test_adding_a_backend.py tries the registry."""

import re

from tests.conftest import ROOT

ASKS = re.compile(r"\bmodel_type\s*(==|!=|in|not in)\s*['\"(\[]|\bis_api\b|\bOURS\b|\bRECORDED\b")


def test_no_other_module_asks_which_backend_a_model_has() -> None:
    files = (ROOT / "src/afrieval").rglob("*.py")
    found = [(path.name, line) for path in files for line in path.read_text().splitlines() if ASKS.search(line)]
    assert not found
