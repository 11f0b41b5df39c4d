"""What a paper has to say of how scores were made, in sentences that can be copied."""

from collections.abc import Iterable, Sequence

from afrieval.grouping import grouped, ranges
from afrieval.report.words import language_name
from afrieval.results.prompts import prompt_order, prompt_ranges
from afrieval.results.scores import CellScores
from afrieval.scoring.labels import words

ASKED = {
    "text": "choosing the answer whose text is the most likely",
    "letter": "choosing the answer whose letter is the most likely",
    "generate": "with generated answers",
}
NAMES = {"acc": "accuracy"}
PROGRAMS = ("afrieval", "lm-eval", "transformers", "vllm", "torch")
INTERVALS = (
    "Scores are means over prompts, with 95% confidence intervals: Wilson's for shares of right answers, and bootstrap "
    "intervals for other metrics, with documents as clusters where there are several prompts. Differences are paired "
    "by document; their intervals and p-values hold for all languages of a comparison at once (Bonferroni)."
)


def method(cells: Sequence[CellScores]) -> list[str]:
    """Returns the sentences; empty for no cells.

    Args:
        cells: those of our own runs.
    """
    if not cells:
        return []
    models = list(dict.fromkeys(c.model for c in cells))
    programs = f" with {_listed(_versions(cells))}" if _versions(cells) else ""
    first = f"We evaluated {_listed(models)}{programs}."
    return [first, *map(_of_task, grouped(cells, lambda c: c.task).values()), *likelihoods(cells), INTERVALS]


def likelihoods(cells: Iterable[CellScores]) -> list[str]:
    """Returns what likelihoods are from, in a sentence; empty if all answers were generated."""
    found = list(dict.fromkeys(str(source) for c in cells if (source := c.may.get("likelihoods"))))
    return [f"Likelihoods are from {_listed(found)}."] if found else []


def _versions(cells: Iterable[CellScores]) -> list[str]:
    """Returns the programs that ran, each with its versions."""
    stored = [versions for c in cells if isinstance(versions := c.may.get("versions"), dict)]
    found = {name: list(dict.fromkeys(of[name] for of in stored if of.get(name))) for name in PROGRAMS}
    return [f"{name} {' and '.join(map(str, versions))}" for name, versions in found.items() if versions]


def _of_task(cells: list[CellScores]) -> str:
    first = cells[0]
    version = f", version {known}" if (known := first.must.get("task version")) is not None else ""
    forms = _listed(list(dict.fromkeys(map(_form, cells))))
    shots = ranges(sorted({c.shots for c in cells}))
    names = sorted({language_name(c.language) for c in cells})
    counts = sorted({c.n for c in cells})
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    each = f"each of {len(names)} languages: " if len(names) > 1 else ""
    title, metric = first.declared.get("title", first.task), NAMES.get(first.main, words(first.main))
    return (
        f"{title} (task {first.task}{version}) is scored by {metric}, {forms}, {shots}-shot, "
        f"with {_prompts(cells)}, on {n} documents in {each}{_listed(names)}.{_unreviewed(cells)}"
    )


def _form(cell: CellScores) -> str:
    measured = cell.answer_form == "text" and not (cell.n_choices > 0).any()
    return "from the likelihood of texts" if measured else ASKED.get(cell.answer_form, cell.answer_form)


def _prompts(cells: list[CellScores]) -> str:
    written = {"eng": "in English", "native": "in the language evaluated"}
    found = []
    for of_set, members in grouped(cells, lambda c: (c.prompt_set, c.prompt_language)).items():
        numbers = sorted({c.prompt for c in members}, key=prompt_order)
        found.append(f"prompt{'s' if len(numbers) > 1 else ''} {prompt_ranges(numbers)} {written[of_set[1]]}")
    return _listed(found)


def _unreviewed(cells: list[CellScores]) -> str:
    native = [c for c in cells if c.prompt_language == "native"]
    codes = {c.language for c in native if c.declared.get("unreviewed", {}).get(c.language)}
    if not codes:
        return ""
    named = _listed(sorted(map(language_name, codes)))
    return f" The native prompts in {named} are machine-written, and not yet reviewed by two speakers."


def _listed(texts: list[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)
