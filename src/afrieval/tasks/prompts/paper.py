"""The prompts of a task's paper: read from the installed harness, cleaned and corrected as the task file says."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError, choices
from afrieval.config.settings import TaskConfig
from afrieval.languages import ENGLISH
from afrieval.tasks.data.splits import in_language
from afrieval.tasks.declaration.schema import PaperPromptSpec, column_names
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import Prompt, clean

CHOICES = 4  # where rows have a list of choices, all prompts of the harness for it show four
TAKEN = ("doc_to_text", "doc_to_target", "doc_to_choice", "target_delimiter", "output_type", "generation_kwargs")
Row = dict[str, Any]


class Placeholder(str):
    """A placeholder of a template, such as `{{ question }}`, which is stripped when it is filled in."""

    def strip(self, chars: str | None = None) -> str:
        """Returns a placeholder of the stripped value."""
        return self.replace(" }}", " | trim }}")


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


def read_harness_prompt(spec: TaskSpec, path: Path, number: int) -> Prompt:
    """Returns the prompt in a task file of the harness, as it is.

    Raises:
        UserError: if the harness cannot fill it in, or its answers are not the task's labels.
    """
    from lm_eval.tasks._yaml_loader import load_yaml

    try:
        return _read(spec, load_yaml(path), number)
    except UserError as e:
        raise UserError(f"{path}: {e.message}", e.hint) from None
    except Exception as e:  # from the harness' templates and code: any type
        raise UserError(
            f"{path} cannot be read as a prompt of {spec.name}: {type(e).__name__}: {e}",
            "install the version of lm-eval that pyproject.toml names, or choose --task.prompt_set suite",
        ) from e


def _read(spec: TaskSpec, config: Row, number: int) -> Prompt:
    settings = {key: config[key] for key in TAKEN if key in config}
    if not spec.labels:  # answers come from our own documents
        settings |= {"doc_to_target": 0} if "doc_to_choice" in settings else {"doc_to_target": "0"}
    task = _filled_in(settings, _row(spec, 0))
    labels: dict[str, str] = {}  # to the word that is scored for the answer
    for label, name in enumerate(spec.labels):
        row = _row(spec, label)
        target = task.doc_to_target(row)
        labels[name] = str(task.doc_to_choice(row)[target] if isinstance(target, int) else target)
    if labels and sorted(labels.values()) != sorted(task.doc_to_choice(_row(spec, 0))):
        raise UserError(
            f"its answers for {', '.join(labels)} are {', '.join(labels.values())}", "correct the task file"
        )
    template = f"{task.doc_to_text(_row(spec, 0))}\n"  # Jinja drops one line end
    delimiter = task.config.target_delimiter
    return Prompt(ENGLISH, number, template, labels, origin="paper", paper="uncleaned", delimiter=delimiter)


def _row(spec: TaskSpec, label: int) -> Row:
    """Returns a row whose values are placeholders, with the answer that stands for a label.

    Columns whose names are paths are in nested maps.
    """
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
    row: Row = {}
    for path, cell in cells.items():
        *above, column = path.split(".")
        nested = row
        for step in above:
            nested = nested.setdefault(step, {})
        nested[column] = cell
    return {**row, **(paper.row if paper else {})}


def _filled_in(config: Row, row: Row) -> Any:
    """Returns a task of the harness with this row as its data set."""
    from lm_eval.api.task import ConfigurableTask

    class Rows(list[Row]):
        features = row

    class OneRow(ConfigurableTask):
        def download(self, dataset_kwargs: Row | None = None, **kwargs: Any) -> None:
            self.dataset = {"test": Rows([row])}

        @cached_property
        def text(self) -> Any:
            return super().doc_to_text(row)

        def doc_to_text(self, doc: Row, doc_to_text: Any = None) -> Any:
            return self.text  # the harness compiles a template each time, and has asked for it already

    metrics = [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}]
    return OneRow(config={**config, "task": "one_row", "test_split": "test", "metric_list": metrics})


def paper_prompts(spec: TaskSpec, language: str, uncleaned: bool = False) -> dict[int, Prompt]:
    """Returns the prompts of the paper in a language by number; empty if the harness does not have the language.

    Args:
        spec: a task.
        language: code of the language of the texts, which some prompts name.
        uncleaned: whether to return them as the harness has them, including prompts that are refused.

    Raises:
        UserError: if a correction does not apply, since the installed harness has another text.
    """
    if spec.paper is None:
        return {}
    prompts = {}
    for number, declared in spec.paper.prompts.items():
        path = harness_file(spec, language, number)
        if path is not None and (uncleaned or not declared.refused):
            prompt = read_harness_prompt(in_language(spec, language), path, number)
            prompt = prompt if uncleaned else _cleaned(prompt, declared, str(path))
            prompts[number] = replace(prompt, source=f"{spec.paper.name} prompt {number}")
    return prompts


def _cleaned(prompt: Prompt, declared: PaperPromptSpec, path: str) -> Prompt:
    template, labels = clean(prompt.template), dict(prompt.labels)
    for correction in declared.corrections:
        if not (correction.replace or correction.labels):
            _refuse(path, f"{correction.what}: it has neither replace nor labels")
        for old, new in correction.replace.items():
            if old not in template:
                _refuse(path, f"{correction.what}: the text has no {old!r}")
            template = template.replace(old, new)
        for label, word in correction.labels.items():
            if labels.get(label) in (None, word):
                _refuse(path, f"{correction.what}: the answer for {label} is {labels.get(label)!r}")
            labels[label] = word
    template = unicodedata.normalize("NFC", clean(template))
    return Prompt(ENGLISH, prompt.number, template, labels, origin="paper", paper="cleaned", path=path)


def _refuse(path: str, problem: str) -> None:
    raise UserError(
        f"{path}: the declared correction does not apply ({problem})",
        "install the version of lm-eval that pyproject.toml names, or correct `paper` in the task file",
    )


def chosen_paper_prompts(spec: TaskSpec, task: TaskConfig, language: str) -> list[Prompt]:
    """Returns the prompts of the paper that the settings select; empty if the harness does not have the language.

    Raises:
        UserError: for an unknown or refused number, or a language that is named and missing.
    """
    paper = spec.paper
    if paper is None:
        cure = "give --task.prompt_set suite; `afrieval list` shows prompts"
        raise UserError(f"{spec.name} has no prompts of a paper", cure)
    if task.uncleaned and spec.text_language:
        raise UserError(
            "task.uncleaned is not supported for translated test sets, whose prompts name the wrong language",
            "leave task.uncleaned out, or run the harness' own tasks with task.harness_tasks",
        )
    for number in task.prompts or ():
        if number not in paper.prompts:
            raise UserError(f"{spec.name} has no prompt {number} of {paper.name}", choices([*paper.prompts]))
        if (reason := paper.prompts[number].refused) and not task.uncleaned:
            raise UserError(
                f"prompt {number} of {paper.name} is not supported for {spec.name}: {reason}",
                "choose other prompts, or give --task.uncleaned true to run it as it is",
            )
    prompts = paper_prompts(spec, spec.text_language or language, task.uncleaned)
    if not prompts and task.demanded:
        raise UserError(
            f"{paper.name} has no prompts of {spec.name} for {language}",
            f"remove {language} from task.languages, or give --task.prompt_set suite",
        )
    return [prompts[n] for n in dict.fromkeys(task.prompts or prompts) if n in prompts]


def left_out_of_paper(spec: TaskSpec, task: TaskConfig, absent: Sequence[str]) -> list[str]:
    """Returns a line for each prompt of the paper that is refused, and one for languages without prompts."""
    if task.prompt_set != "paper" or spec.paper is None:
        return []
    lines = [f"{spec.name}: no prompts of {spec.paper.name} for {', '.join(absent)}"] if absent else []
    if task.uncleaned or task.prompts:
        return lines
    return lines + [
        f"{spec.name}: prompt {number} of {spec.paper.name}, {declared.refused}"
        for number, declared in spec.paper.prompts.items()
        if declared.refused
    ]
