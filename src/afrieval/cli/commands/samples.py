"""`afrieval samples`: documents of a stored run under two prompts, with the model's answers."""

import json
from collections.abc import Iterator
from textwrap import indent
from typing import Any

from afrieval._util.errors import UserError, nearest
from afrieval._util.files import user_path
from afrieval._util.grouping import grouped
from afrieval._util.terminal import one_line, say, shortened
from afrieval.cli.commands.selection import selected
from afrieval.cli.declarations.showing import SamplesCommand
from afrieval.config.arguments import read_options
from afrieval.languages import named
from afrieval.report.previews import prompt_block
from afrieval.results.comparable_runs import check_run
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import RIGHT, cell_name, document_score, is_harness, is_unparsed, judgements, verdict
from afrieval.scoring.base import Metric
from afrieval.scoring.ifeval.instructions import kept
from afrieval.scoring.labels import NOT_PARSED
from afrieval.scoring.learned import RATINGS
from afrieval.tasks.cells.sample_lines import likelihood_lines, prompt_of

Line = dict[str, Any]
INDENT = " " * 4
ROOM = 1_500  # characters of a prompt, of a turn of a chat and of an answer


def main(argv: list[str]) -> None:
    """Prints documents of two cells of a run, one under the other."""
    options = read_options(SamplesCommand, argv, "samples")

    folder = user_path(options.run)
    check_run(folder)
    run = RunFolder(folder)
    firsts = [first for name in run.names if not is_harness(first := next(run.lines(name)))]
    if not firsts:
        raise UserError(f"{folder} contains only tasks of the harness", "give a run of the suite's own tasks")
    firsts = _named(firsts, "task", options.tasks)
    firsts = _named(firsts, "language", options.languages)
    for cells in grouped(firsts, lambda line: (line["task"], line["language"])).values():
        _show(run, _sides(cells, options.prompts), options)


def _named(firsts: list[Line], name: str, names: list[str]) -> list[Line]:
    """Returns the first lines of the cells that are asked for, by default of the only task or language."""
    in_run = list(dict.fromkeys(line[name] for line in firsts))
    if not names and len(in_run) > 1:
        called = map(named, in_run) if name == "language" else in_run
        raise UserError(f"the run has several {name}s: {shortened(', '.join(called))}", f"name some with --{name}s")
    return selected(firsts, name, names, lambda line: str(line[name]))


def _show(run: RunFolder, sides: list[str], options: SamplesCommand) -> None:
    if options.only == "flips" and len(sides) < 2:
        raise UserError("--only flips needs two prompts", "give two, as in --prompts eng1,native1")
    lines = [{line["doc_id"]: line for line in run.samples(name)} for name in sides]
    main = run.scores(sides[0]).metric
    documents = [doc for doc in lines[0] if _wanted(options.only, [of.get(doc, {}) for of in lines], main)]
    say(f"{len(documents)} of {len(lines[0])} documents, {' and '.join(sides)}\n")
    room = None if options.whole else ROOM
    for doc in documents[: options.n]:
        for name, by_document in zip(sides, lines, strict=True):
            if doc in by_document:
                say("\n".join([*_shown(f"document {doc}, {name}", by_document[doc], main, room), ""]))
    if len(documents) > options.n:
        say(f"... and {len(documents) - options.n} more; --n {len(documents)} shows all\n")


def _sides(firsts: list[Line], prompts: list[str] | None) -> list[str]:
    """Returns the cells of one or two prompts, by default English and native of one number."""
    cells = {f"{line['prompt_language']}{line['prompt']}": cell_name(line) for line in firsts}
    twins = [name for name in cells if name.startswith("eng") and f"native{name[3:]}" in cells]
    names = prompts or ([twins[0], f"native{twins[0][3:]}"] if twins else list(cells)[:2])
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


def _shown(title: str, line: Line, main: Metric, room: int | None) -> Iterator[str]:
    if not line["metrics"]:
        yield f"{title}: left out, {one_line(line['defect'])}"
        return
    yield f"{title}: {verdict(line, main)}"
    if "arguments" in line:
        yield prompt_block(_chat(prompt_of(line), room))
    yield from _answers(line, room)


def _chat(prompt: str, room: int | None) -> str:
    """Returns a prompt as people read it: of a chat, each turn under its role."""
    try:
        turns = json.loads(prompt) if prompt.startswith("[{") else None
        roles = [f"[{turn['role']}]\n{_cut(turn['content'], room)}" for turn in turns or []]
    except (ValueError, TypeError, KeyError):  # a text that begins like a chat
        roles = []
    return "\n\n".join(roles) or _cut(prompt, room)


def _cut(text: str, room: int | None) -> str:
    return text if room is None else shortened(text, room)


def _answers(line: Line, room: int | None) -> Iterator[str]:
    """Yields the generated answer, or the likelihood of each choice."""
    answer = line["resps"][0][0]
    if isinstance(answer, str):
        text = _cut(answer, room)
        yield f"  answer:\n{indent(text, INDENT)}" if "\n" in text.strip() else f"  answer: {text!r}"
        yield f"  gold: {one_line(line['target'])}" if "target" in line else "  (its right answer was not kept)"
        if followed := kept(line):
            yield f"  followed: {', '.join('yes' if one else 'no' for one in followed)}"
        yield from (f"  {judgement}" for judgement in judgements(line))
        if ratings := line.get(RATINGS):
            yield f"  rated: {', '.join(f'{one_line(rater)} {level}' for rater, level in ratings.items())}"
        return
    yield from likelihood_lines(line)
