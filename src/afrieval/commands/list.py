"""`afrieval list`: tasks, their variants, languages, prompts and licences."""

from collections.abc import Iterator
from textwrap import fill

from afrieval.commands.options import List
from afrieval.config.arguments import read_options
from afrieval.languages import ENGLISH
from afrieval.results.prompts import prompt_ranges
from afrieval.tasks.prompts import Prompt, load_prompts, prompt_languages
from afrieval.tasks.spec import TaskSpec, load_task, task_names
from afrieval.terminal import say

WIDTH, LABEL = 80, 15


def main(argv: list[str]) -> None:
    """Prints what each task offers.

    Raises:
        UserError: for a task that does not exist.
    """
    for spec in [load_task(name) for name in read_options(List, argv, "list").tasks or task_names()]:
        say(fill(f"{spec.name} (version {spec.version}): {spec.description}", WIDTH))
        for label, text in _facts(spec):
            head = f"  {label}".ljust(LABEL)
            say(fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * LABEL, break_on_hyphens=False))
        say()


def _facts(spec: TaskSpec) -> Iterator[tuple[str, str]]:
    fewshot = spec.data.fewshot
    left_out = ", except the question itself" if fewshot == spec.data.evaluate else ""
    hub = spec.data.hub.replace("{evals}", "MODEL-evals")  # Meta has one for each of its models
    yield "data", f"{hub}, {spec.data.evaluate} split"
    yield "licence", spec.licence
    yield "examples", f"{fewshot} split{left_out}" if fewshot else "in the prompts" if spec.prompt else "none"
    yield "variants", "direct" + (f"; translate ({spec.translate.hub})" if spec.translate else "")
    yield "answer forms", ", ".join(spec.answer_forms)
    yield f"{len(spec.languages)} language{'s' if len(spec.languages) > 1 else ''}", " ".join(spec.languages)
    own = "complete, one in each row of the data" if spec.prompt else _numbers(load_prompts(spec, ENGLISH))
    yield "prompts", f"English {own}"
    natives: dict[str, list[str]] = {}
    for language in prompt_languages(spec):
        if language != ENGLISH:
            prompts = load_prompts(spec, language)
            natives.setdefault(f"{_numbers(prompts)}, {_review(prompts)}", []).append(language)
    if spec.paper:
        yield "", f"{spec.paper.name} {prompt_ranges(spec.paper.prompts)}, with --task.prompt_set paper"
    for described, languages in natives.items():
        yield "", f"native {described}: {' '.join(languages)}"


def _numbers(prompts: dict[int, Prompt]) -> str:
    return ", ".join(map(str, prompts))


def _review(prompts: dict[int, Prompt]) -> str:
    first = next(iter(prompts.values()))
    written = {"machine": "machine-written", "human": "written by people", "paper": "from the paper"}[first.origin]
    reviewers = {prompt.reviewed_by for prompt in prompts.values()}
    return f"{written}, {'not reviewed yet' if '' in reviewers else 'reviewed by ' + ', '.join(sorted(reviewers))}"
