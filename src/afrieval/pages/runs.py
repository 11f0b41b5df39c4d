"""Every setting, version and hash of every run, and what differs between them."""

from pathlib import Path

from markupsafe import Markup

from afrieval.analysis.inputs import Inputs
from afrieval.pages.places import place
from afrieval.pages.shell import fragment
from afrieval.pages.tables import table_html
from afrieval.report.settings import differences, run_settings
from afrieval.report.work import work_of


def runs(given: Inputs) -> Markup:
    """Returns what differs between runs, then each run's settings, mostly folded; nothing without runs."""
    found = run_settings([*given.own, *given.foreign])
    if not found:
        return Markup()
    return fragment(
        "runs.html",
        tables=[table_html(table) for table in differences(found)],
        runs=[(run, place({"model": run.model}), map(table_html, work_of(Path(run.name)))) for run in found],
    )
