"""Reads a prompt from a task file of lm-evaluation-harness, as a template with the suite's placeholders.

The harness has one file per language and prompt, with Jinja or a Python function. Both are filled in by the harness
itself, with a row whose values are placeholders, so that what comes out is a template. Only the file that is needed is
opened; the harness' own index reads all 14,000.
"""

from pathlib import Path
from typing import Any, NamedTuple

from afrieval.errors import UserError
from afrieval.tasks.schema import column_names
from afrieval.tasks.spec import TaskSpec

CHOICES = 4  # where rows have a list of choices, all prompts of the harness for it show four
TAKEN = ("doc_to_text", "doc_to_target", "doc_to_choice", "target_delimiter", "output_type", "generation_kwargs")
Row = dict[str, Any]


class Placeholder(str):
    """A placeholder of a template, such as `{{ question }}`, which is stripped when it is filled in."""

    def strip(self, chars: str | None = None) -> str:
        """Returns a placeholder of the stripped value."""
        return self.replace(" }}", " | trim }}")


class HarnessPrompt(NamedTuple):
    """A prompt as the harness has it.

    Attributes:
        template: its text, with the suite's placeholders.
        labels: label name to the word that is scored for it; empty if rows have choices.
        delimiter: the text between prompt and answer.
    """

    template: str
    labels: dict[str, str]
    delimiter: str


def harness_file(spec: TaskSpec, language: str, number: int) -> Path | None:
    """Returns the harness' file of a prompt in a language; None if it has none.

    Raises:
        UserError: if the task file names a path outside the harness, whose Python code would be run.
    """
    import lm_eval

    paper = spec.paper
    if paper is None:
        return None
    root = Path(lm_eval.__file__).resolve().parent / "tasks"
    name = paper.files.replace("{number}", str(number)).replace("{language}", paper.codes.get(language, language))
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise UserError(
            f"{spec.folder / 'task.yaml'}: paper.files {paper.files!r} leads out of the harness",
            "give a path below lm_eval/tasks",
        )
    return path if path.is_file() else None


def read_harness_prompt(spec: TaskSpec, path: Path) -> HarnessPrompt:
    """Returns the prompt in a task file of the harness.

    Args:
        spec: the task, with a section `paper`.
        path: the harness' file.

    Raises:
        UserError: if the harness cannot fill it in, or its answers are not the task's labels.
    """
    from lm_eval.tasks._yaml_loader import load_yaml

    try:
        config = load_yaml(path)
        return _read(spec, config)
    except UserError as e:
        raise UserError(f"{path}: {e.message}", e.hint) from None
    except Exception as e:  # from the harness' templates and code: any type
        raise UserError(
            f"{path} cannot be read as a prompt of {spec.name}: {type(e).__name__}: {e}",
            "install the version of lm-eval that pyproject.toml names, or choose --task.prompt_set suite",
        ) from e


def _read(spec: TaskSpec, config: Row) -> HarnessPrompt:
    taken = {key: config[key] for key in TAKEN if key in config}
    if not spec.labels:  # answers come from our own documents
        taken |= {"doc_to_target": 0} if "doc_to_choice" in taken else {"doc_to_target": "0"}
    task = _filled_in(taken, _row(spec, 0))
    labels = {name: _label(task, _row(spec, at)) for at, name in enumerate(spec.labels)}
    if labels and sorted(labels.values()) != sorted(task.doc_to_choice(_row(spec, 0))):
        raise UserError(
            f"its answers for {', '.join(labels)} are {', '.join(labels.values())}", "correct the task file"
        )
    return HarnessPrompt(task.doc_to_text(_row(spec, 0)), labels, task.config.target_delimiter)


def _row(spec: TaskSpec, label: int) -> Row:
    """Returns a row whose values are placeholders, with the answer that stands for a label."""
    paper = spec.paper
    cells: Row = {
        c: Placeholder(f"{{{{ {name} }}}}") for name, column in spec.fields.items() for c in column_names(column)
    }
    columns = spec.choices if isinstance(spec.choices, list) else []
    cells |= {column: Placeholder(f"{{{{ choices[{at}] }}}}") for at, column in enumerate(columns)}
    if isinstance(spec.choices, str):
        choices = [f"{{{{ choices[{at}] }}}}" for at in range(CHOICES)]
        cells[spec.choices] = choices if "." in spec.choices else repr(choices)  # a nested column is never text
    answer = spec.labels[label] if paper and paper.answers == "name" else spec.first_answer + label
    cells |= {spec.answer_columns[0]: answer} if spec.labels else {}
    return {**_nested(cells), **(paper.row if paper else {})}


def _nested(cells: Row) -> Row:
    """Returns a row with nested maps for the columns whose names are paths."""
    row: Row = {}
    for path, value in cells.items():
        *above, column = path.split(".")
        place = row
        for step in above:
            place = place.setdefault(step, {})
        place[column] = value
    return row


def _filled_in(config: Row, row: Row) -> Any:
    """Returns a task of the harness with this row as its data set."""
    from lm_eval.api.task import ConfigurableTask

    class Rows(list[Row]):
        features = row

    class OneRow(ConfigurableTask):
        def download(self, dataset_kwargs: Row | None = None, **kwargs: Any) -> None:
            self.dataset = {"test": Rows([row])}

    metrics = [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}]
    return OneRow(config={**config, "task": "one_row", "test_split": "test", "metric_list": metrics})


def _label(task: Any, row: Row) -> str:
    """Returns the word that is scored for a row's answer."""
    target = task.doc_to_target(row)
    return str(task.doc_to_choice(row)[target] if isinstance(target, int) else target)
