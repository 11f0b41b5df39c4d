"""Checks that the keys of a task file do not contradict each other."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError, nearest
from afrieval.languages import LANGUAGES
from afrieval.scoring.rubric import Rubric, is_scale
from afrieval.tasks.answers.base import require
from afrieval.tasks.data.schema import alternatives, conversion, patterns_of
from afrieval.tasks.declaration.schema import WITH_COLUMNS, GroupedField, column_names
from afrieval.tasks.declaration.task_file import TaskFile
from afrieval.tasks.declaration.task_scoring import Scoring

# Names already used in prompts and documents.
RESERVED = (
    "id", "choices", "roles", "gold", "worked", "labels", "language", "prompt", "examples",
    "answer_language", "source_language", "target_language",
)  # fmt: skip
PLACEHOLDERS = ("code", "language", "evals")  # what the suite fills in


def check_names(names: Iterable[str], reserved: Iterable[str], where: str) -> None:
    """Refuses a name that templates and file patterns cannot use, or that the suite fills in itself."""
    for name in names:
        if name in reserved:
            raise UserError(f"{where}: the name {name!r} is reserved", "rename it; the suite fills it in itself")
        if not name.isidentifier():
            raise UserError(f"{where}: {name!r} is not a name", "write letters, digits and _, with a letter first")


def check_consistent(spec: TaskFile, scored: Scoring, keys: Any, path: Path) -> None:
    """Rejects a task whose keys contradict each other."""
    check_names(spec.fields, RESERVED, f"{path}: fields")
    check_names(spec.data.parts, (*PLACEHOLDERS, "split", *spec.options), f"{path}: data.parts")
    _check_grouped_fields(spec.fields, path)
    try:
        _check_placeholders(spec)
        require(spec.name == path.parent.name, f"name is {spec.name!r}, but its folder is {path.parent.name!r}")
        scored.answer.check(spec)
        scored.kind.check(spec, keys)
        _check_answers(spec, scored)
        _check_texts(spec)
        _check_paper(spec, scored)
        _check_fields(spec)
        for key, split in (("evaluate", spec.data.evaluate), ("fewshot", spec.data.fewshot)):
            require(split in spec.data.files or (split is None), f"data.{key} {split!r} has no file")
        _check_languages(spec)
        if spec.judge:
            _check_rubric(spec.judge, spec, scored)
    except UserError as e:
        raise UserError(f"{path}: {e.message}", e.hint) from None


def _check_grouped_fields(fields: Mapping[str, Any], path: Path) -> None:
    """Rejects groups of a field that is not declared before them, and values in two groups or of no group."""
    before: dict[str, Any] = {}
    for name, field in fields.items():
        if isinstance(field, GroupedField):
            where, values = f"{path}: fields.{name}", [value for group in field.groups.values() for value in group]
            if field.of not in before:
                hint = f"name a field that stands before {name}: {', '.join(before) or 'none does'}"
                raise UserError(f"{where} is of {field.of!r}, which is not declared before it", hint)
            if twice := [value for value in values if values.count(value) > 1]:
                raise UserError(f"{where} has {twice[0]!r} twice", "leave it in one group")
            below = before[field.of]
            groups = list(below.groups) if isinstance(below, GroupedField) else values
            if unknown := [value for value in values if value not in groups]:
                raise UserError(
                    f"{where} has {unknown[0]!r}, which {field.of} does not have", nearest(unknown[0], groups)
                )
            if missing := [value for value in groups if value not in values]:
                cure = "correct fields; the documentation page 'Add a task' describes groups of values"
                raise UserError(f"{where} has no group for {missing[0]!r} of {field.of}", cure)
        before[name] = field


def _check_placeholders(spec: TaskFile) -> None:
    columns = " ".join(column for key in WITH_COLUMNS for column in column_names(getattr(spec, key)))
    files = spec.data.files.items()
    patterns = " ".join(" ".join([*patterns_of(of), spec.data.converted.get(split) or ""]) for split, of in files)
    parts = [f"{{{name}}}" for name in spec.data.parts]
    placeholders = ["{code}", "{language}", *(["{evals}"] if spec.evals else []), *parts]
    require(
        {*re.findall("{.*?}", columns)} <= {"{code}", "{language}"},
        "names of columns support no placeholders except {code}, {language}",
    )
    require(
        {*re.findall("{.*?}", patterns)} <= {*placeholders},
        f"data.files support no placeholders except {', '.join(placeholders)}",
    )
    require(
        all(part in patterns for part in parts),
        f"data.parts has {', '.join(spec.data.parts)}, but no pattern in data.files",
    )


def _check_answers(spec: TaskFile, scored: Scoring) -> None:
    """Rejects keys about answers and choices that contradict others, whatever the answer type."""
    require(spec.texts or spec.answer not in ("", []), "`answer` must be given, except where likelihoods are measured")
    require(not spec.fewer_choices or isinstance(spec.choices, list), "fewer_choices needs a column per choice")
    of_choices = spec.choice_labels or spec.shuffle or spec.blank
    require(spec.choices or not of_choices, "choice_labels, shuffle and blank need choices")
    require(spec.answer_forms, f"no answer form supports the request {spec.request}")
    require(scored.answer.has_choices or not spec.probabilities, "probabilities need choices or labels")
    require(spec.worked or not spec.chain_of_thought, "chain_of_thought needs a column with worked solutions")


def _check_texts(spec: TaskFile) -> None:
    """Rejects keys that contradict each other where likelihoods of texts are measured, or prompts are complete."""
    whole = spec.request == "rolling"
    require(
        spec.texts or spec.choices or not whole,
        "request rolling is for texts whose likelihoods are measured, and for choices",
    )
    require(not whole or spec.answer_forms == ["text"], "the only answer form of whole texts is text")
    prompted = spec.prompts or spec.data.fewshot or (spec.texts and spec.field_columns)
    require(
        not (whole and prompted),
        "whole texts have no prompts and no examples: remove the fields, the prompts or data.fewshot",
    )
    require(not (spec.prompt and spec.data.fewshot), "complete prompts have no few-shot split")
    require(not (spec.prompt and spec.fit), "complete prompts cannot be shortened")
    require(not (spec.fit and spec.examples.drop), "fit and examples.drop must not both be given")
    limited = spec.data.fewshot is None or spec.examples.same or spec.examples.drop
    require(not (spec.examples.all and limited), "examples.all needs data.fewshot, and excludes same and drop")
    require(len(spec.direction) <= 1, "direction must be either `from` or `to` a language")


def _check_paper(spec: TaskFile, scored: Scoring) -> None:
    if (paper := spec.paper) is None:
        return
    names = [m.name for m in scored.metrics]
    require(paper.metric in (None, *names), f"paper.metric must be a metric: {', '.join(names)}")
    require("{language}" in paper.files, "paper.files must have {language}")
    require(
        "{number}" in paper.files or len(paper.prompts) == 1, "paper.files must have {number}, or there is one prompt"
    )


def _check_fields(spec: TaskFile) -> None:
    """Rejects a key that names an unknown field."""
    of_groups = {name for members in spec.groups.values() for name in members}
    fields, columns = {*spec.fields}, {*spec.field_columns}
    require(of_groups <= fields, f"groups must name fields: {', '.join(spec.fields)}")
    single = {"macro": (spec.macro, fields), "probabilities": (spec.probabilities, fields), "fit": (spec.fit, columns)}
    single |= {"blank": (spec.blank, columns)}
    for key, (name, allowed) in single.items():
        require(name is None or name in allowed, f"{key} must be a field, not {name!r}")
    lists = {"without_marks": (spec.without_marks, columns), "examples.same": (spec.examples.same, fields)}
    lists |= {"apart": (spec.apart, fields), "breakdowns": (spec.breakdowns, fields)}
    for key, (names, allowed) in lists.items():
        require(allowed.issuperset(names), f"{key} must be a list of fields, not {names}")


def _check_rubric(rubric: Rubric, spec: TaskFile, scored: Scoring) -> None:
    levels, steps = list(rubric.levels), [int(name) for name in rubric.levels if is_scale([name])]
    group = spec.fields.get(spec.answer) if isinstance(spec.answer, str) else None
    groups = group.groups if isinstance(group, GroupedField) else {}
    shows = {*rubric.shows}
    require("generate" in spec.answer_forms, "judge needs the answer form generate")
    require(len(levels) >= 2, "judge.levels must be at least two")
    require(len(steps) in (0, len(levels)), "judge.levels must be all numbers or all words")
    require(steps == sorted(set(steps)), "judge.levels must be given from the lowest number to the highest")
    require(steps or scored.answer.open_ended, "judge.levels that are words need kind: open")
    require(steps or {*groups} <= {*levels}, f"judge.levels must have each group of {spec.answer}")
    require(shows <= {*spec.fields}, f"judge.shows must be fields: {', '.join(spec.fields)}")
    require(
        not groups or spec.answer not in shows,
        "judge.shows must not have the right answer, which shows_right is for",
    )
    require(
        all({*e.fields} == shows and bool(e.right) == rubric.shows_right for e in rubric.examples),
        f"judge.examples must have the fields {', '.join(rubric.shows)}, and `right` where shows_right is true",
    )
    require(
        all(example.level in levels for example in rubric.examples),
        f"judge.examples must have one of the levels {', '.join(levels)}",
    )


def _check_languages(spec: TaskFile) -> None:
    spoken = [spec.answer_language] if isinstance(spec.answer_language, str) else (spec.answer_language or {}).values()
    by_key = {"languages": spec.languages, "direction": spec.direction.values(), "answer_language": spoken}
    for key, language in ((key, language) for key, named in by_key.items() for language in named):
        require(language in LANGUAGES, f"{key}: language {language!r} is not in the language table")
    codes = list(spec.languages.values())
    twice = next((code for code in codes if codes.count(code) > 1), None)
    require(twice is None, f"languages has the data set's code {twice!r} twice")
    split = spec.data.evaluate
    if len(codes) > 1 and split in spec.data.files:
        files, columns = spec.data.files[split], [c for key in WITH_COLUMNS for c in column_names(getattr(spec, key))]
        converted = conversion(files, split, spec.data.converted)
        sources = [" ".join(patterns_of(one)) for one in alternatives(files)] + ([converted] if converted else [])
        texts = [" ".join([source, *columns, str(spec.data.where)]) for source in sources]
        require(
            all("{code}" in text or "{language}" in text for text in texts),
            f"data.files.{split} is the same file for all languages: name {{code}} in it, or in a column",
        )
    for split, groups in spec.parallel.items():
        require(split in spec.data.files, f"parallel {split} names an unknown split")
        named = {code for group in groups for code in group}
        require(named <= {*spec.languages}, f"parallel {split} names unknown languages")
