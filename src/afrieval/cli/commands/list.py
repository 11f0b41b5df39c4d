"""`afrieval list`: tasks, their variants, languages, prompts and licences."""

from collections.abc import Iterator
from textwrap import fill, shorten

from afrieval._util.terminal import say
from afrieval.cli.commands.options import ListCommand
from afrieval.config.arguments import read_options
from afrieval.config.sections import MEMORISATION
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.results.cell_scores import ACCURACY
from afrieval.results.identity import prompt_ranges
from afrieval.tasks.data.baselines import stored_baselines
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, prompt_languages

NO_PROMPTS = "none, the likelihood of whole texts is measured"
WIDTH, LABEL = 80, 15
UNBROKEN = "\xa0"  # a blank that lines do not break at
HEAD = ("task", "kind", "lang.", "prompts", "native", "rows")
NOTES = """
lang.: African languages + others. prompts: numbers of the English prompts. native: languages that have prompts in the
language itself. rows: in each language, if known. The second line has the main metric and the
licence. `afrieval list TASK` shows all that is known of a task. The task memorisation is about other tasks: it asks
whether a model has seen their test sets.
"""

ABOUT_MEMORISATION = (
    "memorisation: asks whether a model has seen the test sets of other tasks, which --of names. Second halves of "
    "questions, min-k++ against unseen rows, and the likelihood of the published order of rows against shuffled ones; "
    "docs/contamination.md explains them."
)


def main(argv: list[str]) -> None:
    """Prints two lines for each task, or all that the named tasks offer."""
    names = read_options(ListCommand, argv, "list").tasks
    if not names:
        _print_all([load_task(name) for name in task_names()])
    if MEMORISATION in names:
        say(fill(ABOUT_MEMORISATION, WIDTH, break_on_hyphens=False))
        say()
    for spec in map(load_task, [name for name in names if name != MEMORISATION]):
        say(fill(f"{spec.name} (version {spec.version}): {spec.description}", WIDTH))
        for label, text in _facts(spec):
            head = f"  {label}".ljust(LABEL)
            lines = fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * LABEL, break_on_hyphens=False)
            say(lines.replace(UNBROKEN, " "))
        say()


def _print_all(specs: list[TaskSpec]) -> None:
    rows = [HEAD, *map(_row, specs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    notes = ["metric; licence", *(f"{spec.scoring.metrics[0].name}; {spec.licence}" for spec in specs)]
    for row, about in zip(rows, notes, strict=True):
        left, right = zip(row[:2], widths[:2], strict=True), zip(row[2:], widths[2:], strict=True)
        say("  ".join([*(cell.ljust(width) for cell, width in left), *(cell.rjust(width) for cell, width in right)]))
        say(f"  {shorten(about, WIDTH - 2, placeholder=' ...')}")
    say()
    say(fill(NOTES.strip(), WIDTH, break_on_hyphens=False))


def _row(spec: TaskSpec) -> tuple[str, ...]:
    african = sum(LANGUAGES[code].african for code in spec.languages)
    others = len(spec.languages) - african
    natives = sum(code in spec.languages and code != ENGLISH for code in prompt_languages(spec))
    prompts = "in data" if spec.prompt else prompt_ranges(list(load_prompts(spec, ENGLISH)))
    prompts = prompts if spec.prompt or spec.prompted else "none"
    languages = f"{african}+{others}" if others else str(african)
    return spec.name, spec.kind, languages, prompts, str(natives or "-"), _rows(spec) or "-"


def _rows(spec: TaskSpec) -> str:
    """Returns the number of rows in a language, from the fewest to the most; empty if it is not known."""
    sizes = spec.data.sizes(spec.data.evaluate)
    return "-".join(f"{n:,}" for n in dict.fromkeys([*sizes[:1], *sizes[-1:]]))


def _facts(spec: TaskSpec) -> Iterator[tuple[str, str]]:
    fewshot = spec.data.fewshot
    left_out = ", except the question itself" if fewshot == spec.data.evaluate else ""
    hub = spec.data.hub.replace("{evals}", "MODEL-evals")  # Meta has one for each of its models
    yield "data", f"{hub}, {spec.data.evaluate} split"
    if rows := _rows(spec):
        yield "rows", f"{rows}{' in each language' if len(spec.languages) > 1 else ''}"
    yield "licence", spec.licence
    yield "kind", f"{spec.kind}; {', '.join(metric.name for metric in spec.scoring.metrics)}"
    yield "examples", f"{fewshot} split{left_out}" if fewshot else "in the prompts" if spec.prompt else "none"
    if spec.options:
        values = {k: f"any, as {of}" if isinstance(of, str) else ", ".join(of) for k, of in spec.options.items()}
        yield "options", "; ".join(f"{name}: {of}" for name, of in values.items())
    yield "variants", "direct" + (f"; translate ({spec.translate.hub})" if spec.translate else "")
    yield "answer forms", ", ".join(spec.answer_forms)
    yield f"{len(spec.languages)} language{'s' if len(spec.languages) > 1 else ''}", " ".join(spec.languages)
    own = "complete, one in each row of the data" if spec.prompt else _numbers(load_prompts(spec, ENGLISH))
    yield "prompts", f"English {own}" if spec.prompt or spec.prompted else NO_PROMPTS
    natives: dict[str, list[str]] = {}
    for language in prompt_languages(spec):
        if language != ENGLISH:
            prompts = load_prompts(spec, language)
            natives.setdefault(f"{_numbers(prompts)}, {_review(prompts)}", []).append(language)
    if spec.paper:
        yield "", f"{spec.paper.name} {prompt_ranges(spec.paper.prompts)}, with --task.prompt_set paper"
    for described, languages in natives.items():
        yield "", f"native {described}: {' '.join(languages)}"
    for number, text in enumerate(_baselines(spec)):
        yield "" if number else "baselines", text


def _baselines(spec: TaskSpec) -> Iterator[str]:
    """Yields what a model gets in each language that does not read the text."""
    stored = stored_baselines(spec)
    for name in dict.fromkeys(name for of in stored.values() for name in of.scores):
        scores = {code: f"{100 * of.scores[name][ACCURACY]:.1f}" for code, of in stored.items() if name in of.scores}
        alike = len(scores) > 1 and len({*scores.values()}) == 1
        of_each = " ".join(f"{code}{UNBROKEN}{score}" for code, score in scores.items())
        yield f"{name} (%): {f'{next(iter(scores.values()))} in each' if alike else of_each}"


def _numbers(prompts: dict[int, Prompt]) -> str:
    return ", ".join(map(str, prompts))


def _review(prompts: dict[int, Prompt]) -> str:
    first = next(iter(prompts.values()))
    written = {"machine": "machine-written", "human": "written by people", "paper": "from the paper"}[first.origin]
    reviewers = {prompt.reviewed_by for prompt in prompts.values()}
    return f"{written}, {'not reviewed yet' if '' in reviewers else 'reviewed by ' + ', '.join(sorted(reviewers))}"
