"""`afrieval list`: tasks, their languages and prompts."""

from rich.console import Console

from afrieval.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.tasks.prompts import load_prompts, prompt_languages
from afrieval.tasks.spec import load_task, task_names


def main(argv: list[str]) -> None:
    """Prints each task with what it offers."""
    if argv:
        raise UserError(f"list takes no options, but got {argv[0]!r}", "run `afrieval list`")
    console = Console(highlight=False)
    for name in task_names():
        spec = load_task(name)
        console.print(f"[bold]{spec.name}[/bold] (version {spec.version}): {spec.description}")
        console.print(f"  data          {spec.data.hub}, {spec.licence}")
        console.print(f"  languages     {' '.join(spec.languages)}")
        console.print(f"  answer forms  {', '.join(spec.answer_forms)}")
        console.print(f"  prompts       English {', '.join(map(str, load_prompts(spec, ENGLISH)))}")
        for language in prompt_languages(spec):
            if language != ENGLISH:
                prompts = load_prompts(spec, language)
                review = next(iter(prompts.values())).reviewed_by or "nobody yet"
                console.print(f"                {language} {', '.join(map(str, prompts))}; reviewed by {review}")
