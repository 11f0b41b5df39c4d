"""What people should know of the rows and prompts of declared tasks before a model is loaded."""

from collections.abc import Sequence

from afrieval.config.settings import RunConfig
from afrieval.tasks.sources.complete_prompts import CompleteCell
from afrieval.tasks.sources.templated import TemplatedCell


def all_notes(cells: Sequence[TemplatedCell], config: RunConfig) -> list[str]:
    """Returns a line for each thing to know.

    Args:
        cells: all that is planned.
        config: the merged config.
    """
    return [*unparsed_notes(cells), *excerpt_notes(cells), *keyless(cells), *complete_notes(cells, config)]


def unparsed_notes(cells: Sequence[TemplatedCell]) -> list[str]:
    """Returns a line for each split that has rows that cannot be parsed.

    Args:
        cells: all that is planned.
    """
    splits = [split for cell in cells for split in (cell.data, cell.pool)]
    return list(dict.fromkeys(split.note for split in splits if split and split.note))


def excerpt_notes(cells: Sequence[TemplatedCell]) -> list[str]:
    """Returns a line for each task of which the data folder has a small part.

    Args:
        cells: all that is planned.
    """
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        for name, split in ((cell.task.data.evaluate, cell.data), (cell.task.data.fewshot, cell.pool)):
            if split and split.excerpt:
                part = f"{cell.language} {name} {len(split.documents)} of {split.excerpt}"
                found.setdefault(cell.task.name, {})[part] = None
    return [f"{task}: the data folder has a part of the rows only: {', '.join(parts)}" for task, parts in found.items()]


def keyless(cells: Sequence[TemplatedCell]) -> list[str]:
    """Returns a line for each language with rows that lack a key of their own, in tasks that declare one."""
    lines = {}
    for cell in cells:
        lacking = [d.id for d in cell.documents if not d.key] if cell.task.key else []
        if lacking:
            how = "are paired with no other language's" if len(lacking) < len(cell.documents) else "go by row number"
            where = f"{cell.task.name}, {cell.language}: {len(lacking)} of {len(cell.documents)} rows"
            lines[cell.task.name, cell.language] = (
                f"{where} have no key of their own and {how} (row {_listed(lacking)})"
            )
    return list(lines.values())


def complete_notes(cells: Sequence[TemplatedCell], config: RunConfig) -> list[str]:
    """Returns lines on rows that cannot be scored, and on what the backend does to prompts.

    Args:
        cells: all that is planned.
        config: the merged config.
    """
    complete = [cell for cell in cells if isinstance(cell, CompleteCell)]
    notes = [line for cell in complete for line in _unscored(cell)]
    padded = [cell.task.name for cell in complete if cell.answer_form == "generate"]
    if padded and config.model.model_name and config.model.model_type == "hf":
        notes.append(
            f"hf pads prompts of unequal length that it answers side by side, which may move scores a little "
            f"({', '.join(padded)}); model_type vllm does not pad"
        )
    return notes


def _unscored(cell: CompleteCell) -> list[str]:
    reasons: dict[str, list[int]] = {}
    for document in cell.documents:
        if document.gold is None and document.id not in cell.data.unparsed:
            reasons.setdefault(document.defect, []).append(document.id)
    return [
        f"{cell.task.name}: {len(rows)} of {len(cell.documents)} rows cannot be scored, {reason} (row {_listed(rows)})"
        for reason, rows in reasons.items()
    ]


def _listed(rows: list[int]) -> str:
    return f"{', '.join(map(str, rows[:10]))}{' ...' if rows[10:] else ''}"
