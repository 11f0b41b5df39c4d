"""Writes the `eval.yaml` with which the owner of a data set declares it as a benchmark on the Hugging Face hub.

    python scripts/hub_eval_yaml.py FOLDER [TASK ...]

Each data set gets FOLDER/ORG/NAME/eval.yaml, to be added to the root of its repository. Its task ids are those of
`afrieval export --to huggingface-eval-yaml`: the data set's own codes of languages. Without TASK, IrokoBench's.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from afrieval._util.errors import CURES, UserError
from afrieval._util.files import user_path
from afrieval.config.files import shipped_suites
from afrieval.tasks.declaration.spec import TaskSpec, load_task

FRAMEWORK = "afrieval"  # once huggingface.js has it among its EVALUATION_FRAMEWORKS; see docs/publish.md


def declaration(spec: TaskSpec) -> dict[str, object]:
    """Returns the content of the file; each language is a configuration of the data set."""
    split = spec.data.evaluate
    tasks = [{"id": code, "config": code, "split": split} for code in dict.fromkeys(spec.languages.values())]
    return {"name": spec.title, "description": spec.description, "evaluation_framework": FRAMEWORK, "tasks": tasks}


def _written(folder: str, names: list[str]) -> Iterator[Path]:
    """Writes the files, and yields their paths."""
    suite = shipped_suites()["irokobench"].groups.values()
    hubs: dict[str, TaskSpec] = {}
    for name in names or [task for tasks in suite for task in tasks]:
        spec = load_task(name)
        hubs.setdefault(spec.data.hub, spec)  # several tasks may ask about the same rows
    for hub, spec in hubs.items():
        path = user_path(folder) / hub / "eval.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            yaml.safe_dump(declaration(spec), sort_keys=False, allow_unicode=True, width=100), encoding="utf-8"
        )
        yield path


def main(words: list[str]) -> int:
    """Writes the files, and returns the exit code."""
    if not words or words[0].startswith("-"):
        print(__doc__)
        return 2
    folder, *names = words
    try:
        for path in _written(folder, names):
            print(f"wrote {path}")
    except UserError as e:
        print(f"error: {e.message}\nhint: {e.hint}", file=sys.stderr)
        return 2
    except OSError as e:
        cure = CURES.get(e.errno or 0, "name another folder")
        print(f"error: {folder} cannot be written: {e.strerror}\nhint: {cure}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
