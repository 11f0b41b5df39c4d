"""What of a task can be got right without reading: its baselines, and which of them are above chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from afrieval.scoring.statistics.tests import LEVEL, holm
from afrieval.tasks.data.baselines import Baselines, baselines
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec


@dataclass(frozen=True)
class LanguageBaselines:
    """The baselines of a language.

    Attributes:
        above: the baselines that are above chance, beyond what chance explains in all languages together.
        whole: whether these are all rows of the data set.
    """

    language: str
    baselines: Baselines
    above: frozenset[str]
    whole: bool


def found_baselines(spec: TaskSpec, languages: Sequence[str], source: str, lock: DataLock) -> list[LanguageBaselines]:
    """Returns the baselines of each language that a source has; none for the suite's own rows, which are a few.

    Args:
        spec: the task.
        languages: codes; what is above chance depends on how many there are.
        source: `hub`, `samples`, or a folder with the hub's layout ORG/NAME.
        lock: hashes of the expected files.

    Raises:
        UserError: if the source is not usable, or a file is damaged.
    """
    if source == SAMPLES or not spec.scoring.answer.is_choice:
        return []
    loaded = {code: load_split(spec, code, spec.data.evaluate, source, lock) for code in languages}
    found = {
        code: (of, split) for code, split in loaded.items() if split and (of := baselines(spec, code, split.documents))
    }
    above = above_chance({code: of for code, (of, _) in found.items()})
    return [LanguageBaselines(code, of, above[code], split.excerpt is None) for code, (of, split) in found.items()]


def above_chance(found: Mapping[str, Baselines]) -> dict[str, frozenset[str]]:
    """Returns the baselines of each language that are above chance, all tests of the languages together (Holm)."""
    tests = [(code, name) for code, of in found.items() for name in of.scores]
    adjusted = holm([found[code].p[name] for code, name in tests])
    small = [test for test, p in zip(tests, adjusted, strict=True) if p < LEVEL]
    return {code: frozenset(name for other, name in small if other == code) for code in found}
