"""`afrieval compare`: what the numbers of stored runs say, and how sure we are. Loads no model."""

import json
from pathlib import Path
from typing import Any

from afrieval.commands.options import Compare
from afrieval.config.arguments import read_options
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.files.yaml import nearest
from afrieval.terminal import console, note, say

OUTPUTS = ("json", "csv", "markdown", "latex")
MANY = ("prompt", "language")  # compared only if asked for: they have many pairs


def main(argv: list[str]) -> None:
    """Reads runs, compares what can be compared, prints tables and writes the files asked for.

    Raises:
        UserError: for a folder that is not a run, or for runs that share nothing.
    """
    options = read_options(Compare, argv, "compare")
    from afrieval.analysis.inputs import read_inputs
    from afrieval.results.scores import DIMENSIONS

    given = read_inputs([user_path(p) for p in options.runs]).on(options.metric)
    units = _chosen([*given.own, *given.foreign], options) if given.own or given.foreign else []
    varying = [d for d in DIMENSIONS if len({u.dimensions[d] for u in units}) > 1]
    wanted: list[str] = [*options.contrast] or [d for d in varying if d not in MANY]
    found = _contrasts(units, wanted, given.foreign, options.seed)
    evaluated = [] if options.metric else _evaluated(units)
    if units and (options.contrast or not evaluated):
        _check(found, options, varying)
    grids = [*_grids(units, found, options), *evaluated, *_published(units, given.published)]
    if not grids:
        raise UserError(f"{options.runs[0]} alone has nothing to compare", "give another run, or --by FIELD")
    _write(grids, options)


def _chosen(units: list[Any], options: Compare) -> list[Any]:
    """Returns the units of the tasks and languages asked for."""
    wanted = {"task": options.task, "language": options.language}
    for name, values in wanted.items():
        known = list(dict.fromkeys(getattr(u, name) for u in units))
        for value in values:
            if value not in known:
                raise UserError(f"none of the runs has the {name} {value!r}", nearest(value, known))
        units = [u for u in units if not values or getattr(u, name) in values]
    return units


def _contrasts(units: list[Any], wanted: list[str], foreign: list[Any], seed: int) -> list[Any]:
    """Returns the contrasts among our runs, among the harness' runs, and between the two."""
    from afrieval.analysis.contrasts import contrasts
    from afrieval.analysis.with_harness import beside

    ids = set(map(id, foreign))
    own, others = ([u for u in units if (id(u) in ids) == is_foreign] for is_foreign in (False, True))
    found = [c for side in (own, others) for d in wanted for c in contrasts(side, d, seed, units)]
    return found + (beside(own, others, seed) if own and others and "model" in wanted else [])


def _published(units: list[Any], rows: list[Any]) -> list[Any]:
    """Returns a table of published scores per task, with our runs of it if there are some."""
    from afrieval.analysis.leaderboard import average_grid, standing_grid

    grids = []
    for task in dict.fromkeys(row.task for row in rows):
        grids += [g for g in (standing_grid(task, units, rows),) if g]
        if not any(u.task == task for u in units):
            grids.append(average_grid(task, rows))
    return grids


def _evaluated(units: list[Any]) -> list[Any]:
    """Returns the tables of tasks with a published evaluation: scores beside published ones, verdicts beside Meta's."""
    from afrieval.analysis.agreement import verdict_grids
    from afrieval.analysis.reference import evaluated, reference_grids

    found = evaluated(units)
    return [*reference_grids(found), *verdict_grids(found)]


def _check(found: list[Any], options: Compare, varying: list[str]) -> None:
    if any(c.rows for c in found):
        return
    if refused := [line for c in found for line in c.refused]:
        raise UserError(f"nothing can be compared: {refused[0]}", "compare runs of the same data, prompts and examples")
    folders = [run for run in options.runs if not run.endswith(".csv")]
    if len(folders) > 1 or options.contrast:
        seen = f"they differ in {', '.join(varying)}" if varying else "they contain the same cells"
        raise UserError(
            f"the runs share nothing that can be compared; {seen}",
            "give runs that differ in one thing: model, prompt language, shots or answer form",
        )


def _grids(units: list[Any], found: list[Any], options: Compare) -> list[Any]:
    from afrieval.analysis.means import means
    from afrieval.analysis.spread import spreads
    from afrieval.report.comparison import breakdown_grids, contrast_grid, mean_grid, spread_grid

    unreviewed = {u.task: u.declared.get("unreviewed", {}) for u in units}
    grids = [
        contrast_grid(c, unreviewed[c.task] if "native" in (c.first, c.second) else (), legend=c is found[-1])
        for c in found
    ]
    for task in dict.fromkeys(u.task for u in units):
        of_task = [u for u in units if u.task == task]
        if over_prompts := spreads(of_task):
            grids.append(spread_grid(task, over_prompts))
        groupings = ["Africa"] if options.means == "Africa" else ["Africa", options.means]
        if over_languages := means(of_task, groupings):
            grids.append(mean_grid(task, over_languages))
    return grids + (breakdown_grids(units, options.by) if options.by else [])


def _write(grids: list[Any], options: Compare) -> None:
    from afrieval.report.table import as_csv, latex, markdown, records, terminal

    texts = {
        "json": lambda: json.dumps([{"title": g.title, "notes": g.notes, "rows": records(g)} for g in grids], indent=2),
        "csv": lambda: as_csv(grids),
        "markdown": lambda: "\n".join(map(markdown, grids)),
        "latex": lambda: "\n".join(map(latex, grids)),
    }
    asked = {name: getattr(options, name) for name in OUTPUTS if getattr(options, name)}
    if list(asked.values()).count("-") > 1:
        raise UserError("two forms are to go to the screen", "give - once, and files for the others")
    if "-" not in asked.values():
        screen = console(least=80)
        for grid in grids:
            screen.print(terminal(grid), "")
    for name, path in asked.items():
        if path == "-":
            say(texts[name]())
        else:
            _to_file(user_path(path), texts[name]())


def _to_file(path: Path, text: str) -> None:
    try:
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    except OSError as e:
        raise UserError(f"{path} cannot be written: {e.strerror}", "name a file in a folder that there is") from None
    note(f"wrote {path}")
