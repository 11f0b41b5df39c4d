"""Writes the `eval.yaml` with which the owner of a data set declares it as a benchmark on the Hugging Face hub.

    python scripts/hub_eval_yaml.py FOLDER [TASK ...]

Each data set gets FOLDER/ORG/NAME/eval.yaml, to be added to the root of its repository. Its task ids are those of
`afrieval export --to huggingface-eval-yaml`: the data set's own codes of languages. Without TASK, IrokoBench's.
"""

import sys
from pathlib import Path

import yaml

from afrieval._util.errors import UserError
from afrieval.config.files import shipped_suites
from afrieval.tasks.declaration.spec import TaskSpec, load_task

FRAMEWORK = "afrieval"  # once huggingface.js has it among its EVALUATION_FRAMEWORKS; see docs/publish.md


def declaration(spec: TaskSpec) -> dict[str, object]:
    """Returns the content of the file; each language is a configuration of the data set."""
    split = spec.data.evaluate
    tasks = [{"id": code, "config": code, "split": split} for code in dict.fromkeys(spec.languages.values())]
    return {"name": spec.title, "description": spec.description, "evaluation_framework": FRAMEWORK, "tasks": tasks}


def main(words: list[str]) -> int:
    """Writes the files, and returns the exit code."""
    if not words or words[0].startswith("-"):
        print(__doc__)
        return 2
    folder, *names = words
    suite = shipped_suites()["irokobench"].groups.values()
    hubs: dict[str, TaskSpec] = {}
    try:
        for name in names or [task for tasks in suite for task in tasks]:
            spec = load_task(name)
            hubs.setdefault(spec.data.hub, spec)  # several tasks may ask about the same rows
    except UserError as e:
        print(f"error: {e.message}\nhint: {e.hint}", file=sys.stderr)
        return 2
    for hub, spec in hubs.items():
        path = Path(folder) / hub / "eval.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(declaration(spec), sort_keys=False, allow_unicode=True, width=100))
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
