"""How to cite what is in a report, and what to write about the method."""

import importlib.metadata

from markupsafe import Markup

from afrieval.analysis.inputs import Inputs
from afrieval.pages.places import place
from afrieval.pages.shell import fragment
from afrieval.report.citing import references, software
from afrieval.report.method import method


def cite(given: Inputs) -> Markup:
    """Returns each benchmark's citation and licence, and a paragraph on the method."""
    found = [
        (reference, [(one, place({"task": one.tasks[0]})) for one in reference.benchmarks])
        for reference in references([c.task for c in (*given.own, *given.foreign)] + [r.task for r in given.published])
    ]
    version = importlib.metadata.version("afrieval")
    return fragment("cite.html", references=found, method=method(given.own), software=software(version))
