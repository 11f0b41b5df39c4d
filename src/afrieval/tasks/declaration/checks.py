"""Checks that the keys of a task file do not contradict each other."""

import re
from collections.abc import Iterable
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval.languages import LANGUAGES
from afrieval.scoring.rubric import Rubric, is_scale
from afrieval.scoring.tagging import NONE
from afrieval.tasks.data.schema import alternatives, conversion, patterns_of
from afrieval.tasks.declaration.answers import ANSWERS, check_grouped_fields
from afrieval.tasks.declaration.presets import Scoring
from afrieval.tasks.declaration.schema import WITH_COLUMNS, AnswerSpec, GroupedField, column_names
from afrieval.tasks.declaration.task_file import TaskFile

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


def check_consistent(spec: TaskFile, scored: Scoring, path: Path) -> None:
    """Rejects a task whose keys contradict each other."""
    check_names(spec.fields, RESERVED, f"{path}: fields")
    check_names(spec.data.parts, (*PLACEHOLDERS, "split", *spec.options), f"{path}: data.parts")
    named = f"name is {spec.name!r}, but its folder is {path.parent.name!r}"
    problems = _of_placeholders(spec) | {named: spec.name != path.parent.name} | _of_kind(spec, scored)
    problems |= _of_texts(spec) | _of_paper(spec, scored) | _of_fields(spec) | _of_splits(spec) | _of_languages(spec)
    problems |= _of_rubric(spec.judge, spec, scored) if spec.judge else {}
    check_grouped_fields(spec.fields, path)
    if problem := next((problem for problem, found in problems.items() if found), None):
        cure = "correct that key; the documentation page 'Add a task' describes all keys"
        raise UserError(f"{path}: {problem}", cure)


Problems = dict[str, bool]  # problem to whether it was found


def _of_placeholders(spec: TaskFile) -> Problems:
    columns = " ".join(column for key in WITH_COLUMNS for column in column_names(getattr(spec, key)))
    files = spec.data.files.items()
    patterns = " ".join(" ".join([*patterns_of(of), spec.data.converted.get(split) or ""]) for split, of in files)
    parts = [f"{{{name}}}" for name in spec.data.parts]
    placeholders = ["{code}", "{language}", *(["{evals}"] if spec.evals else []), *parts]
    return {
        "names of columns support no placeholders except {code}, {language}": bool(
            set(re.findall("{.*?}", columns)) - {"{code}", "{language}"}
        ),
        f"data.files support no placeholders except {', '.join(placeholders)}": bool(
            set(re.findall("{.*?}", patterns)) - set(placeholders)
        ),
        f"data.parts has {', '.join(spec.data.parts)}, but no pattern in data.files": not all(
            part in patterns for part in parts
        ),
    }


def _of_kind(spec: TaskFile, scored: Scoring) -> Problems:
    answer = scored.answer
    generated = not (answer.is_choice or answer.is_measured)
    answer_spec = spec.answer if isinstance(spec.answer, AnswerSpec) else AnswerSpec("")
    return {
        "answer.texts and answer.weight must be given for type weighted, and only there": answer.is_weighted
        != bool(answer_spec.texts)
        or answer.is_weighted != bool(answer_spec.weight),
        "either choices or labels must be given": answer.is_choice and bool(spec.choices) == bool(spec.labels),
        "tags must be given where answers are spans or tags, and only there": answer.is_named != bool(spec.tags),
        "the only answer form of this kind is text": answer.is_measured and spec.answer_forms != ["text"],
        "`answer` must be given, except where likelihoods are measured": not spec.texts and spec.answer in ("", []),
        "a task of this kind needs labels": (answer.is_class or answer.is_rated) and not spec.labels,
        "labels must end with `none`, the word for no label": answer is ANSWERS["labels"]
        and spec.labels[-1:] != [NONE],
        "answer must be a column per label except none, or a single one": answer.is_rated
        and len([*column_names(spec.answer)]) not in (1, len([label for label in spec.labels if label != NONE])),
        "fewer_choices needs a column per choice": spec.fewer_choices and not isinstance(spec.choices, list),
        "choice_labels, shuffle and blank need choices": bool(spec.choice_labels or spec.shuffle or spec.blank)
        and not spec.choices,
        "choices and labels are not supported for this kind": not answer.is_choice
        and bool(spec.choices or (spec.labels and not answer.is_rated)),
        "the only answer form of this kind is generate": generated and spec.answer_forms != ["generate"],
        f"no answer form supports the request {spec.request}": not spec.answer_forms,
        "probabilities need choices or labels": bool(spec.probabilities) and not answer.is_choice,
        "chain_of_thought needs a column with worked solutions": spec.chain_of_thought and not spec.worked,
    }


def _of_texts(spec: TaskFile) -> Problems:
    whole, tokens = spec.request == "rolling", spec.tokens is not None
    return {
        "end and tokens are for texts whose likelihoods are measured; request rolling also for choices": not spec.texts
        and (spec.end or tokens or (whole and not spec.choices)),
        "the only answer form of whole texts is text": whole and spec.answer_forms != ["text"],
        "whole texts have no prompts and no examples: remove the fields, the prompts or data.fewshot": whole
        and bool(spec.prompts or spec.data.fewshot or (spec.texts and spec.field_columns)),
        "tokens needs request rolling": tokens and not whole,
        "complete prompts have no few-shot split": bool(spec.prompt and spec.data.fewshot),
        "complete prompts cannot be shortened": bool(spec.prompt and spec.fit),
        "fit and examples.drop must not both be given": bool(spec.fit and spec.examples.drop),
        "examples.all needs data.fewshot, and excludes same and drop": spec.examples.all
        and (spec.data.fewshot is None or bool(spec.examples.same) or spec.examples.drop),
        "direction must be either `from` or `to` a language": len(spec.direction) > 1,
    }


def _of_paper(spec: TaskFile, scored: Scoring) -> Problems:
    if spec.paper is None:
        return {}
    names = [m.name for m in scored.metrics]
    return {
        f"paper.metric must be a metric: {', '.join(names)}": spec.paper.metric not in (None, *names),
        "paper.files must have {language}": "{language}" not in spec.paper.files,
        "paper.files must have {number}, or there is one prompt": "{number}" not in spec.paper.files
        and len(spec.paper.prompts) > 1,
    }


def _of_fields(spec: TaskFile) -> Problems:
    """Returns the keys that name fields, where one is unknown."""
    of_groups = {name for members in spec.groups.values() for name in members}
    fields, columns = {*spec.fields}, {*spec.field_columns}
    lists = {"without_marks": (spec.without_marks, columns), "examples.same": (spec.examples.same, fields)}
    lists |= {"apart": (spec.apart, fields), "breakdowns": (spec.breakdowns, fields)}
    single = {"macro": (spec.macro, fields), "probabilities": (spec.probabilities, fields), "fit": (spec.fit, columns)}
    single |= {"blank": (spec.blank, columns)}
    return {
        f"groups must name fields: {', '.join(spec.fields)}": not of_groups <= fields,
        **{f"{key} must be a field, not {name!r}": name not in (None, *known) for key, (name, known) in single.items()},
        **{f"{key} must be a list of fields, not {of}": not known.issuperset(of) for key, (of, known) in lists.items()},
    }


def _of_rubric(rubric: Rubric, spec: TaskFile, scored: Scoring) -> Problems:
    levels, steps = list(rubric.levels), [int(name) for name in rubric.levels if is_scale([name])]
    group = spec.fields.get(spec.answer) if isinstance(spec.answer, str) else None
    groups = group.groups if isinstance(group, GroupedField) else {}
    needed = {*rubric.shows}
    return {
        "judge needs the answer form generate": "generate" not in spec.answer_forms,
        "judge.levels must be at least two": len(levels) < 2,
        "judge.levels must be all numbers or all words": 0 < len(steps) < len(levels),
        "judge.levels must be given from the lowest number to the highest": steps != sorted(set(steps)),
        "judge.levels that are words need kind: open": not steps and not scored.answer.is_open,
        f"judge.levels must have each group of {spec.answer}": not steps and not set(groups) <= set(levels),
        f"judge.shows must be fields: {', '.join(spec.fields)}": not needed <= set(spec.fields),
        "judge.shows must not have the right answer, which shows_right is for": bool(groups) and spec.answer in needed,
        f"judge.examples must have the fields {', '.join(rubric.shows)}, and `right` where shows_right is true": any(
            {*example.fields} != needed or bool(example.right) != rubric.shows_right for example in rubric.examples
        ),
        f"judge.examples must have one of the levels {', '.join(levels)}": any(
            example.level not in levels for example in rubric.examples
        ),
    }


def _of_splits(spec: TaskFile) -> Problems:
    data = spec.data
    return {
        f"data.evaluate {data.evaluate!r} has no file": data.evaluate not in data.files,
        f"data.fewshot {data.fewshot!r} has no file": data.fewshot not in (None, *data.files),
    }


def _of_languages(spec: TaskFile) -> Problems:
    problems: Problems = {}
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
        languages = set(spec.languages)
        problems[f"parallel {split} names an unknown split"] = split not in spec.data.files
        problems[f"parallel {split} names unknown languages"] = not {c for g in groups for c in g} <= languages
    return problems


def _is_shared(spec: TaskFile) -> bool:
    """Returns whether all languages would have the same rows."""
    files, split = spec.data.files[spec.data.evaluate], spec.data.evaluate
    columns = [column for key in WITH_COLUMNS for column in column_names(getattr(spec, key))]
    converted = conversion(files, split, spec.data.converted)
    sources = [" ".join(patterns_of(one)) for one in alternatives(files)] + ([converted] if converted else [])
    named = [" ".join([source, *columns, str(spec.data.where)]) for source in sources]
    return not all("{code}" in text or "{language}" in text for text in named)
