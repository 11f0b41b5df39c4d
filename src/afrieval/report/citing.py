"""Cites the benchmarks of a report, and describes in sentences how its scores were made."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from afrieval._util.grouping import grouped, ranges
from afrieval.models.registry import BACKENDS
from afrieval.report.score_tables import MACHINE, ORIGINS, unreviewed_of
from afrieval.report.values import language_name, language_names, listed
from afrieval.results.cell_key import prompt_order, prompt_ranges
from afrieval.results.cell_scores import CellScores
from afrieval.scoring import labels
from afrieval.tasks.declaration.spec import load_task, task_names

_CITATION = re.compile(r"(?P<authors>[^\d;]+?) (?P<year>(?:19|20)\d\d), (?P<rest>[^;]+)")
# Where something was published: arXiv, the ACL Anthology, a journal, or a conference or workshop.
_WHERE = re.compile(
    r"arXiv:\S+|(?:[\w-]+ )?\d{4}\.[\w.-]+\d|[A-Z]\d\d-\d{4}|[A-Z][\w-]*[A-Z][\w-]*(?: workshop)?(?: \d{4})?"
)


class Benchmark(NamedTuple):
    """A benchmark of a report."""

    title: str
    tasks: list[str]
    data: str
    licence: str


def references(tasks: Iterable[str]) -> dict[str, list[Benchmark]]:
    """Returns the benchmarks of some tasks by the citation of their publication, in the order of the tasks.

    Tasks that this version does not have are under an empty citation.
    """
    of_names = grouped(dict.fromkeys(tasks), lambda task: task.removesuffix(" (lm_eval)").removesuffix("_translate"))
    by_citation: dict[str, list[Benchmark]] = {}
    for name, variants in of_names.items():
        spec = load_task(name) if name in task_names() else None  # other programs and versions have other tasks
        benchmark = (
            Benchmark(spec.title, variants, spec.data.hub, spec.licence) if spec else Benchmark(name, variants, "", "")
        )
        by_citation.setdefault(spec.citation if spec else "", []).append(benchmark)
    return by_citation


def bibtex(citation: str) -> str:
    """Returns citations such as `Adelani et al. 2024, Title, arXiv:2406.03368` as BibTeX; empty if they are not."""
    if ";" in citation:
        entries = [bibtex(one.strip()) for one in citation.split(";")]
        return "\n\n".join(entries) if all(entries) else ""
    match = _CITATION.fullmatch(citation)
    if match is None:
        return ""
    parts = match["rest"].split(", ")
    where: list[str] = []
    while parts and _WHERE.fullmatch(parts[-1]):
        where.insert(0, parts.pop())
    title = ", ".join(parts)
    named = re.split(r", | and ", match["authors"].removesuffix(" et al."))
    authors = [f"{{{name}}}" if " " in name else name for name in named]  # names of groups stay whole
    authors += ["others"] if match["authors"].endswith(" et al.") else []
    fields = {"author": " and ".join(authors), **({"title": f"{{{title}}}"} if title else {}), "year": match["year"]}
    eprint = next((place.removeprefix("arXiv:") for place in where if place.startswith("arXiv:")), "")
    fields |= {"eprint": eprint, "archiveprefix": "arXiv"} if eprint else {}
    others = [place for place in where if not place.startswith("arXiv:")]
    fields |= {"howpublished": ", ".join(others)} if others else {}
    first = re.split(r"\W", match["authors"])[0].lower()
    words = [word for word in re.findall(r"\w+", title.lower()) if word not in ("a", "an", "the")]
    return _entry("misc", f"{first}{match['year']}{''.join(words[:2])}", fields)


def _entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    escaped = {name: re.sub(r"([&%$#_])", r"\\\1", value) for name, value in fields.items()}
    lines = [f"  {name} = {{{value}}}," for name, value in escaped.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def software(version: str) -> list[str]:
    """Returns the suite and lm-evaluation-harness, on which it is built, as BibTeX."""
    title = "{afrieval: evaluation of language models on African languages}"
    suite = {"author": "{The afrieval authors}", "title": title, "version": version}
    harness = {"author": "Gao, Leo and others", "title": "{The Language Model Evaluation Harness}", "year": "2024"}
    harness |= {"publisher": "Zenodo", "doi": "10.5281/zenodo.12608602"}
    return [_entry("software", "afrieval", suite), _entry("software", "evalharness", harness)]


ASKED = {
    "text": "choosing the answer whose text is the most likely",
    "letter": "choosing the answer whose letter is the most likely",
    "generate": "with generated answers",
}
NAMES = {"acc": "accuracy"}
INTERVALS = (
    "Scores are means over prompts, with 95% confidence intervals: Wilson's for shares of right answers, and bootstrap "
    "intervals for other metrics, with documents as clusters where there are several prompts. Differences are paired "
    "by document; their intervals and p-values hold for all languages of a comparison at once (Bonferroni)."
)


def method(cells: Sequence[CellScores]) -> list[str]:
    """Returns the sentences on the method of our own runs; empty for no cells."""
    if not cells:
        return []
    models = list(dict.fromkeys(c.model for c in cells))
    programs = f" with {listed(_versions(cells))}" if _versions(cells) else ""
    first = f"We evaluated {listed(models)}{programs}."
    return [first, *map(_of_task, grouped(cells, lambda c: c.task).values()), *likelihoods(cells), INTERVALS]


def likelihoods(cells: Iterable[CellScores]) -> list[str]:
    """Returns a sentence on what computed the likelihoods; empty if all answers were generated."""
    sources = list(dict.fromkeys(str(source) for c in cells if (source := c.recorded_settings.get("likelihoods"))))
    return [f"Likelihoods are from {listed(sources)}."] if sources else []


def _versions(cells: Iterable[CellScores]) -> list[str]:
    stored = [versions for c in cells if isinstance(versions := c.recorded_settings.get("versions"), dict)]
    libraries = dict.fromkeys(backend.library for _, backend in BACKENDS.items() if backend.library)
    programs = ("afrieval", "lm-eval", *libraries, "torch")
    by_program = {name: list(dict.fromkeys(of[name] for of in stored if of.get(name))) for name in programs}
    return [f"{name} {' and '.join(map(str, versions))}" for name, versions in by_program.items() if versions]


def _of_task(cells: list[CellScores]) -> str:
    first = cells[0]
    version = f", version {number}" if (number := first.comparable_on.get("task version")) is not None else ""
    forms = {}
    for cell in cells:
        measured = cell.answer_form == "text" and not (cell.n_choices > 0).any()
        forms["from the likelihood of texts" if measured else ASKED.get(cell.answer_form, cell.answer_form)] = True
    shots = ranges(sorted({c.shots for c in cells}))
    names = sorted({language_name(c.language) for c in cells})
    counts = sorted({c.n for c in cells})
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    written, prompts = {"eng": "in English", "native": "in the language evaluated"}, []
    for (_, prompt_language), members in grouped(cells, lambda c: (c.prompt_set, c.prompt_language)).items():
        numbers = sorted({c.prompt for c in members}, key=prompt_order)
        prompts.append(f"prompt{'s' * (len(numbers) > 1)} {prompt_ranges(numbers)} {written[prompt_language]}")
    each = f"each of {len(names)} languages: " if len(names) > 1 else ""
    title, metric = first.declared.get("title", first.task), NAMES.get(first.main, labels.words(first.main))
    text = f"{title} (task {first.task}{version}) is scored by {metric}, {listed([*forms])}, {shots}-shot, "
    text += f"with {listed(prompts)}, on {n} documents in {each}{listed(names)}."
    of_origins = grouped(unreviewed_of(cells).items(), lambda pair: ORIGINS.get(str(pair[1]), MACHINE))
    for origin, pairs in of_origins.items():
        named = language_names((code for code, _ in pairs), None)
        text += f" The native prompts in {named} are {origin}, and not yet reviewed by two speakers."
    return text
