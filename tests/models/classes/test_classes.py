"""Every class of transformers that the harness loads: the engine returns its answers, or leaves it to the harness."""

import re
from collections import Counter

import pytest
import transformers
from tests.conftest import ROOT
from tests.models.classes.verdicts import ENGINE, NOT_BUILT, known, mapped, tried

PAGE = ROOT / "docs/performance.md"
TESTED = "\n".join(re.findall("^transformers==([^ ]+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))
EXACT = 1e-3
CASES = [(backend, kind) for backend, verdicts in known().items() for kind in verdicts]


@pytest.mark.models
@pytest.mark.parametrize(("backend", "kind"), CASES)
def test_a_class_is_answered_right_or_left_alone(backend: str, kind: str) -> None:
    found = tried(backend, kind)
    expected = known()[backend][kind]
    assert found.verdict == expected
    if expected.startswith(ENGINE):
        assert found.plain is not None and found.plain < EXACT
        assert found.error is not None and found.padded is not None
        assert found.error < max(EXACT, 4 * found.padded), "Qwen 3.5 with such weights is not exact in 32 bits"
        assert found.written


@pytest.mark.skipif(transformers.__version__ != TESTED, reason="other versions of transformers have other classes")
def test_all_classes_are_known() -> None:
    assert {b: set(kinds) for b, kinds in known().items()} == {b: set(kinds) for b, kinds in mapped().items()}


def test_the_page_counts_them() -> None:
    section = PAGE.read_text(encoding="utf-8").split("| outcome | types |")[1].split("\n\n")[0]
    counts = {outcome: int(n) for outcome, n in re.findall(r"^\| (.+?) \| (\d+) \|", section, re.M)}
    verdicts = Counter(verdict.split(":")[0] for kinds in known().values() for verdict in kinds.values())
    assert sum(counts.values()) == sum(verdicts.values())
    assert counts["decoders, attention in tiles"] == verdicts[f"{ENGINE}, tiles"]
    assert counts["decoders, masks of all pairs"] == verdicts[f"{ENGINE}, masks"]
    assert counts["encoder-decoders, contexts encoded once"] == verdicts[ENGINE]
    assert counts["the harness cannot score them"] == verdicts["cannot be scored by the harness"]
    assert counts["not built"] == verdicts[NOT_BUILT.rstrip(": ")]
