"""`afrieval samples`: documents of a stored run under two prompts, with the model's answers."""

from collections.abc import Iterator
from typing import Any

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.terminal import one_line, say
from afrieval.cli.commands.options import SamplesCommand
from afrieval.config.arguments import read_options
from afrieval.results.samples import RIGHT, cell_name, document_score, is_harness, is_unparsed, verdict
from afrieval.scoring.base import Metric
from afrieval.scoring.labels import NOT_PARSED
from afrieval.tasks.cells.sample_lines import likelihood_lines

Line = dict[str, Any]


def main(argv: list[str]) -> None:
    """Prints documents of two cells of a run, one under the other."""
    options = read_options(SamplesCommand, argv, "samples")
    from afrieval.results.comparable_runs import check_run
    from afrieval.results.run_folder import RunFolder

    folder = user_path(options.run)
    check_run(folder)
    run = RunFolder(folder)
    firsts = [first for name in run.names if not is_harness(first := next(run.lines(name)))]
    if not firsts:
        raise UserError(f"{folder} contains only tasks of the harness", "give a run of the suite's own tasks")
    for name in ("task", "language"):
        firsts = _only(firsts, name, getattr(options, name))
    sides = _sides(firsts, options.prompts)
    if options.only == "flips" and len(sides) < 2:
        raise UserError("--only flips needs two prompts", "give two, as in --prompts eng1,native1")
    lines = [{line["doc_id"]: line for line in run.samples(name)} for name in sides]
    main = run.scores(sides[0]).metric
    found = [doc for doc in lines[0] if _wanted(options.only, [of.get(doc, {}) for of in lines], main)]
    say(f"{len(found)} of {len(lines[0])} documents, {' and '.join(sides)}\n")
    for doc in found[: options.n]:
        for text in _shown(doc, [(name, of[doc]) for name, of in zip(sides, lines, strict=True) if doc in of], main):
            say(text)
    if len(found) > options.n:
        say(f"... and {len(found) - options.n} more; --n {len(found)} shows all")


def _only(firsts: list[Line], name: str, value: str | None) -> list[Line]:
    """Returns the first lines of the cells with a value, by default the only one."""
    known = list(dict.fromkeys(line[name] for line in firsts))
    if value is None and len(known) > 1:
        raise UserError(f"the run has several {name}s: {', '.join(known)}", f"name one with --{name}")
    if value is not None and value not in known:
        raise UserError(f"the run has no {name} {value!r}", nearest(value, known))
    return [line for line in firsts if line[name] == (value or known[0])]


def _sides(firsts: list[Line], asked: list[str] | None) -> list[str]:
    """Returns the cells of one or two prompts, by default English and native of one number."""
    cells = {f"{line['prompt_language']}{line['prompt']}": cell_name(line) for line in firsts}
    twins = [name for name in cells if name.startswith("eng") and f"native{name[3:]}" in cells]
    names = asked or ([twins[0], f"native{twins[0][3:]}"] if twins else list(cells)[:2])
    for name in names:
        if name not in cells:
            raise UserError(f"the run has no prompt {name!r}", nearest(name, [*cells]))
    if len(names) > 2:
        raise UserError(f"--prompts must have one or two names, not {len(names)}", "give one or two")
    return [cells[name] for name in names]


def _wanted(only: str, lines: list[Line], main: Metric) -> bool:
    scores = [document_score(line, main) for line in lines if line.get("metrics")]
    if only == "all":
        return True
    if only == NOT_PARSED:
        return any(is_unparsed(line) for line in lines if line.get("metrics"))
    return len(set(scores)) > 1 if only == "flips" else any(score < RIGHT for score in scores)


def _shown(doc: int, sides: list[tuple[str, Line]], main: Metric) -> Iterator[str]:
    from afrieval.cli.commands.writeout import prompt_block

    for name, line in sides:
        if not line["metrics"]:
            yield f"document {doc}, {name}: left out, {one_line(line['defect'])}\n"
            continue
        yield f"document {doc}, {name}: {verdict(line, main)}"
        if "arguments" in line:
            yield prompt_block(line["arguments"][0][0])
        yield from _answers(line)
        yield ""


def _answers(line: Line) -> Iterator[str]:
    """Yields the generated answer, or the likelihood of each choice."""
    from afrieval.scoring.ifeval.instructions import kept

    answer = line["resps"][0][0]
    if isinstance(answer, str):
        yield f"  answer: {answer!r}"
        yield f"  gold: {one_line(line['target'])}"
        if followed := kept(line):
            yield f"  followed: {', '.join('yes' if one else 'no' for one in followed)}"
        return
    yield from likelihood_lines(line)
