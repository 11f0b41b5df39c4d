"""`afrieval compare`: what the numbers of stored runs say, and how sure we are. Loads no model."""

import argparse
from pathlib import Path
from typing import Any

from afrieval.config.options import Parser, whole_number
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.files.yaml import nearest
from afrieval.terminal import note, say

OUTPUTS = ("json", "csv", "markdown", "latex")
RUNS = "run folders, in the order to compare them; folders of lm_eval --output_path; published tables (CSV)"
MOST = 2**32 - 1  # the highest seed, as of eval.numpy_random_seed


def main(argv: list[str]) -> None:
    """Reads runs, compares what can be compared, prints tables and writes the files asked for.

    Raises:
        UserError: for a folder that is no run, or runs with nothing in common.
    """
    options = _parser().parse_args(argv)
    from afrieval.analysis.compared import all_contrasts, check_compared
    from afrieval.analysis.inputs import read_inputs
    from afrieval.analysis.reference import evaluated
    from afrieval.report.agreement import verdict_tables
    from afrieval.report.comparison import comparison_tables
    from afrieval.report.leaderboard import published_tables
    from afrieval.report.reference import reference_tables

    whole = read_inputs([user_path(p) for p in options.runs])
    given = whole.on(options.metric)
    units = _chosen([*given.own, *given.foreign], options) if given.own or given.foreign else []
    found = all_contrasts(units, given.foreign, options.contrast, options.seed)
    of_meta = [] if options.metric else evaluated(units)
    if units and (options.contrast or not of_meta):
        folders = [run for run in options.runs if not run.endswith(".csv")]
        check_compared(found, units, needed=len(folders) > 1 or bool(options.contrast))
    asked = options.metric if any(c.main != options.metric for c in [*whole.own, *whole.foreign]) else None
    groupings = list(dict.fromkeys(["Africa", options.means]))
    tables = comparison_tables(units, found, groupings, options.by, asked)
    tables += [
        *reference_tables(of_meta),
        *verdict_tables(of_meta),
        *published_tables([] if asked else units, given.published),
    ]
    if not tables:
        raise UserError(f"{options.runs[0]} alone has nothing to compare", "give another run, or --by FIELD")
    _write(tables, options)


def _parser() -> argparse.ArgumentParser:
    from afrieval.analysis.means import GROUPINGS
    from afrieval.results.scores import DIMENSIONS

    parser = Parser(prog="afrieval compare", description="Compare stored runs; no model is loaded.")
    parser.add_argument("runs", nargs="+", metavar="RUN", help=RUNS)
    of_all = "what to compare (may be repeated); if not given, all that differs but prompt and language"
    parser.add_argument("--contrast", action="append", choices=DIMENSIONS, help=of_all)
    parser.add_argument("--task", action="append", help="only this task (may be repeated)")
    parser.add_argument("--metric", metavar="NAME", help="which metric; the main one of each task if not given")
    parser.add_argument("--language", help="only these languages, as in yor,hau")
    parser.add_argument("--means", default="Africa", choices=list(GROUPINGS), help="groups of African languages")
    parser.add_argument("--by", metavar="FIELD", help="break scores down by a field, such as subject; or confusion")
    parser.add_argument("--seed", type=_seed, default=42, help="of bootstrap and permutations")
    for name in OUTPUTS:
        parser.add_argument(f"--{name}", metavar="FILE", help=f"write all tables as {name.upper()}, - for the screen")
    return parser


def _seed(text: str) -> int:
    return whole_number("--seed", text, 0, MOST)


def _chosen(units: list[Any], options: argparse.Namespace) -> list[Any]:
    """Returns the units of the tasks and languages asked for."""
    languages = [code.strip() for code in options.language.split(",")] if options.language else None
    wanted = {"task": options.task, "language": languages}
    for name, values in wanted.items():
        known = list(dict.fromkeys(getattr(u, name) for u in units))
        for value in values or []:
            if value not in known:
                raise UserError(f"no run here has the {name} {value!r}", nearest(value, known))
        units = [u for u in units if values is None or getattr(u, name) in values]
    return units


def _write(tables: list[Any], options: argparse.Namespace) -> None:
    from afrieval.report.formats import show, write

    asked = {name: getattr(options, name) for name in OUTPUTS if getattr(options, name)}
    if list(asked.values()).count("-") > 1:
        raise UserError("two forms are to go to the screen", "give - once, and files for the others")
    if "-" not in asked.values():
        show(tables)
    for name, path in asked.items():
        text = write(tables, name)
        say(text) if path == "-" else _to_file(user_path(path), text)


def _to_file(path: Path, text: str) -> None:
    try:
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    except OSError as e:
        raise UserError(f"{path} cannot be written: {e.strerror}", "name a file in a folder that there is") from None
    note(f"wrote {path}")
