"""How to cite the benchmarks of a report: their stored citations, as BibTeX where these can be parsed."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from afrieval.grouping import grouped
from afrieval.tasks.spec import load_task, task_names

SUFFIXES = (" (lm_eval)", "_translate")  # of names of tasks on the same benchmark
_CITATION = re.compile(r"(?P<authors>[^\d;]+?) (?P<year>(?:19|20)\d\d), (?P<rest>[^;]+)")
# Where something was published: arXiv, the ACL Anthology, a journal, or a conference or workshop.
_WHERE = re.compile(
    r"arXiv:\S+|(?:[\w-]+ )?\d{4}\.[\w.-]+\d|[A-Z]\d\d-\d{4}|[A-Z][\w-]*[A-Z][\w-]*(?: workshop)?(?: \d{4})?"
)


class Benchmark(NamedTuple):
    """A benchmark of a report.

    Attributes:
        tasks: names of the tasks that are on it.
        data: its data set on the hub, and the licence of that.
    """

    title: str
    tasks: list[str]
    data: str
    licence: str


class Reference(NamedTuple):
    """A publication to cite.

    Attributes:
        benchmarks: what it describes.
        citation: as it is stored with the tasks; empty for tasks that this version does not have.
        bibtex: the same for BibTeX; empty where it cannot be parsed.
    """

    benchmarks: list[Benchmark]
    citation: str
    bibtex: str


def references(tasks: Iterable[str]) -> list[Reference]:
    """Returns the publications on the benchmarks that tasks are of, in their order."""
    known = [_benchmark(name, of) for name, of in grouped(dict.fromkeys(tasks), _known_name).items()]
    return [
        Reference([benchmark for benchmark, _ in of], citation, bibtex(citation))
        for citation, of in grouped(known, lambda pair: pair[1]).items()
    ]


def _known_name(task: str) -> str:
    for suffix in SUFFIXES:
        task = task.removesuffix(suffix)
    return task


def _benchmark(name: str, tasks: list[str]) -> tuple[Benchmark, str]:
    """Returns a benchmark and its citation, which is empty for tasks of other programs and other versions."""
    if name not in task_names():
        return Benchmark(name, tasks, "", ""), ""
    spec = load_task(name)
    return Benchmark(spec.title, tasks, spec.data.hub, spec.licence), spec.citation


def bibtex(citation: str) -> str:
    """Returns a citation such as `Adelani et al. 2024, Title, arXiv:2406.03368` as BibTeX; empty if it is not one."""
    found = _CITATION.fullmatch(citation)
    if found is None:
        return ""
    parts = found["rest"].split(", ")
    where: list[str] = []
    while len(parts) > 1 and _WHERE.fullmatch(parts[-1]):
        where.insert(0, parts.pop())
    title = ", ".join(parts)
    fields = {"author": _authors(found["authors"]), "title": f"{{{title}}}", "year": found["year"]}
    eprint = next((place.removeprefix("arXiv:") for place in where if place.startswith("arXiv:")), "")
    fields |= {"eprint": eprint, "archiveprefix": "arXiv"} if eprint else {}
    others = [place for place in where if not place.startswith("arXiv:")]
    fields |= {"howpublished": ", ".join(others)} if others else {}
    return _entry("misc", _key(found["authors"], found["year"], title), fields)


def _entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{_escaped(value)}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _escaped(text: str) -> str:
    return re.sub(r"([&%$#_])", r"\\\1", text)


def _authors(authors: str) -> str:
    """Returns authors as BibTeX separates them; names of groups, of several words, stay whole."""
    named = re.split(r", | and ", authors.removesuffix(" et al."))
    whole = [f"{{{name}}}" if " " in name else name for name in named]
    return " and ".join([*whole, "others"] if authors.endswith(" et al.") else whole)


def _key(authors: str, year: str, title: str) -> str:
    first = re.split(r"\W", authors)[0].lower()
    words = [word for word in re.findall(r"\w+", title.lower()) if word not in ("a", "an", "the")]
    return f"{first}{year}{''.join(words[:2])}"


def software(version: str) -> list[str]:
    """Returns the suite and lm-evaluation-harness, on which it is built, as BibTeX."""
    title = "{afrieval: evaluation of language models on African languages}"
    suite = {"author": "{The afrieval authors}", "title": title, "version": version}
    harness = {"author": "Gao, Leo and others", "title": "{The Language Model Evaluation Harness}", "year": "2024"}
    harness |= {"publisher": "Zenodo", "doi": "10.5281/zenodo.12608602"}
    return [_entry("software", "afrieval", suite), _entry("software", "evalharness", harness)]
