"""Checks that the keys of a task file do not contradict each other."""

import re
from collections.abc import Iterable
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval.languages import LANGUAGES
from afrieval.tasks.data.schema import alternatives, conversion, patterns_of
from afrieval.tasks.declaration.answers import check_grouped_fields
from afrieval.tasks.declaration.presets import Scoring
from afrieval.tasks.declaration.schema import WITH_COLUMNS, column_names
from afrieval.tasks.declaration.task_file import TaskFile

# Names already used in prompts and documents.
RESERVED = (
    "id", "choices", "roles", "gold", "worked", "labels", "language", "prompt", "examples",
    "answer_language", "source_language", "target_language",
)  # fmt: skip
PLACEHOLDERS = ("code", "language", "evals")  # what the suite fills in


def check_names(names: Iterable[str], reserved: Iterable[str], where: str) -> None:
    """Refuses a name that templates and file patterns cannot use, or that the suite fills in itself.

    Raises:
        UserError: naming it.
    """
    for name in names:
        if name in reserved:
            raise UserError(f"{where}: the name {name!r} is reserved", "rename it; the suite fills it in itself")
        if not name.isidentifier():
            raise UserError(f"{where}: {name!r} is not a name", "write letters, digits and _, with a letter first")


def check_consistent(spec: TaskFile, scored: Scoring, path: Path) -> None:
    """Rejects a task whose keys contradict each other.

    Args:
        spec: the task.
        scored: how it is scored.
        path: its file, for messages.

    Raises:
        UserError: names the first problem.
    """
    braces = [
        "{code}",
        "{language}",
        *(["{evals}"] if spec.evals else []),
        *(f"{{{name}}}" for name in spec.data.parts),
    ]
    answer = scored.answer
    check_names(spec.fields, RESERVED, f"{path}: fields")
    check_names(spec.data.parts, (*PLACEHOLDERS, "split", *spec.options), f"{path}: data.parts")
    patterns = {
        split: [*patterns_of(files), spec.data.converted.get(split) or ""] for split, files in spec.data.files.items()
    }
    columns = [column for key in WITH_COLUMNS for column in column_names(getattr(spec, key))]
    problems = {
        "names of columns support no placeholders except {code}, {language}": bool(
            set(re.findall("{.*?}", " ".join(columns))) - {"{code}", "{language}"}
        ),
        f"data.files support no placeholders except {', '.join(braces)}": any(
            set(re.findall("{.*?}", " ".join(named))) - set(braces) for named in patterns.values()
        ),
        f"data.parts has {', '.join(spec.data.parts)}, but no pattern in data.files": not all(
            any(f"{{{part}}}" in pattern for named in patterns.values() for pattern in named)
            for part in spec.data.parts
        ),
        f"name is {spec.name!r}, but its folder is {path.parent.name!r}": spec.name != path.parent.name,
        "either choices or labels must be given": answer.is_choice and bool(spec.choices) == bool(spec.labels),
        "tags must be given where answers are spans or tags, and only there": answer.is_tagged != bool(spec.tags),
        "the only answer form of this kind is text": answer.is_measured and spec.answer_forms != ["text"],
        "`answer` must be given, except where likelihoods are measured": not spec.texts and spec.answer in ("", []),
        "request rolling, end and tokens are for texts whose likelihoods are measured": not spec.texts
        and (spec.request == "rolling" or spec.end or spec.tokens is not None),
        "whole texts have no prompts and no examples: remove the fields, the prompts or data.fewshot": spec.request
        == "rolling"
        and bool(spec.prompts or spec.data.fewshot or spec.field_columns),
        "tokens needs request rolling": spec.tokens is not None and spec.request != "rolling",
        "a task of this kind needs labels": answer.is_class and not spec.labels,
        "choice_labels and shuffle need choices": bool(spec.choice_labels or spec.shuffle) and not spec.choices,
        "choices and labels are not supported for this kind": not answer.is_choice
        and bool(spec.choices or spec.labels),
        "the only answer form of this kind is generate": not (answer.is_choice or answer.is_measured)
        and spec.answer_forms != ["generate"],
        f"no answer form supports the request {spec.request}": not spec.answer_forms,
        "`read` and `extract` must not both be given": bool(spec.read and spec.extract),
        f"groups must name fields: {', '.join(spec.fields)}": not _fields_of_groups(spec) <= set(spec.fields),
        "direction must be either `from` or `to` a language": len(spec.direction) > 1,
        "examples.all needs data.fewshot, and excludes same and drop": spec.examples.all
        and (spec.data.fewshot is None or bool(spec.examples.same) or spec.examples.drop),
        "complete prompts have no few-shot split": bool(spec.prompt and spec.data.fewshot),
        f"paper.metric must be a metric: {', '.join(m.name for m in scored.metrics)}": spec.paper is not None
        and spec.paper.metric not in (None, *(m.name for m in scored.metrics)),
        "paper.files must have {number} and {language}": spec.paper is not None
        and not all(mark in spec.paper.files for mark in ("{number}", "{language}")),
        f"macro must be a field, not {spec.macro!r}": spec.macro not in (None, *spec.fields),
        f"probabilities must be a field, not {spec.probabilities!r}": spec.probabilities not in (None, *spec.fields),
        "probabilities need choices or labels": bool(spec.probabilities) and not answer.is_choice,
        "chain_of_thought needs a column with worked solutions": spec.chain_of_thought and not spec.worked,
        f"without_marks must be a list of fields, not {spec.without_marks}": not set(spec.without_marks)
        <= set(spec.field_columns),
        f"fit must be a field, not {spec.fit!r}": spec.fit not in (None, *spec.field_columns),
        "complete prompts cannot be shortened": bool(spec.prompt and spec.fit),
        "fit and examples.drop must not both be given": bool(spec.fit and spec.examples.drop),
        f"examples.same must be a list of fields, not {spec.examples.same}": not set(spec.examples.same)
        <= set(spec.fields),
        f"apart must be a list of fields, not {spec.apart}": not set(spec.apart) <= set(spec.fields),
        f"data.evaluate {spec.data.evaluate!r} has no file": spec.data.evaluate not in spec.data.files,
        f"data.fewshot {spec.data.fewshot!r} has no file": spec.data.fewshot not in (None, *spec.data.files),
        f"breakdowns must be a list of fields, not {spec.breakdowns}": not set(spec.breakdowns) <= set(spec.fields),
    }
    check_grouped_fields(spec.fields, path)
    for problem, found in (problems | _of_languages(spec)).items():
        if found:
            raise UserError(
                f"{path}: {problem}", "correct that key; the documentation page 'Add a task' describes all keys"
            )


def _of_languages(spec: TaskFile) -> dict[str, bool]:
    """Returns problem to whether it was found."""
    problems: dict[str, bool] = {}
    spoken = [spec.answer_language] if isinstance(spec.answer_language, str) else (spec.answer_language or {}).values()
    of_keys = {"languages": spec.languages, "direction": spec.direction.values(), "answer_language": spoken}
    for key, language in ((key, language) for key, named in of_keys.items() for language in named):
        problems[f"{key}: language {language!r} is not in the language table"] = language not in LANGUAGES
    codes = list(spec.languages.values())
    if twice := next((code for code in codes if codes.count(code) > 1), None):
        problems[f"languages has the data set's code {twice!r} twice"] = True
    problem = f"data.files.{spec.data.evaluate} is the same file for all languages: name {{code}} in it, or in a column"
    problems[problem] = len(codes) > 1 and spec.data.evaluate in spec.data.files and _is_shared(spec)
    for split, groups in spec.parallel.items():
        known = set(spec.languages)
        problems[f"parallel {split} names an unknown split"] = split not in spec.data.files
        problems[f"parallel {split} names unknown languages"] = not {c for g in groups for c in g} <= known
    return problems


def _is_shared(spec: TaskFile) -> bool:
    """Returns whether all languages would have the same rows."""
    files, split = spec.data.files[spec.data.evaluate], spec.data.evaluate
    columns = [column for key in WITH_COLUMNS for column in column_names(getattr(spec, key))]
    converted = conversion(files, split, spec.data.converted)
    sources = [" ".join(patterns_of(one)) for one in alternatives(files)] + ([converted] if converted else [])
    named = [" ".join([source, *columns, *spec.data.where.values()]) for source in sources]
    return not all("{code}" in text or "{language}" in text for text in named)


def _fields_of_groups(spec: TaskFile) -> set[str]:
    return {name for members in spec.groups.values() for name in members}
