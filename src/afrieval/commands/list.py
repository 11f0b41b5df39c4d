"""`afrieval list`: tasks, their languages and prompts."""

from afrieval.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.tasks.prompts import load_prompts, prompt_languages
from afrieval.tasks.spec import load_task, task_names


def main(argv: list[str]) -> None:
    """Prints each task with what it offers."""
    if argv in (["--help"], ["-h"]):
        print("usage: afrieval list\n\nPrints the tasks, their languages and prompts. It has no options.")
        return
    if argv:
        raise UserError(f"list takes no options, but got {argv[0]!r}", "run `afrieval list`")
    for name in task_names():
        spec = load_task(name)
        print(f"{spec.name} (version {spec.version}): {spec.description}")
        print(f"  data          {spec.data.hub}, {spec.licence}")
        print(f"  languages     {' '.join(spec.languages)}")
        print(f"  answer forms  {', '.join(spec.answer_forms)}")
        print(f"  prompts       English {', '.join(map(str, load_prompts(spec, ENGLISH)))}")
        for language in prompt_languages(spec):
            if language != ENGLISH:
                prompts = load_prompts(spec, language)
                review = next(iter(prompts.values())).reviewed_by or "nobody yet"
                print(f"                {language} {', '.join(map(str, prompts))}; reviewed by {review}")
