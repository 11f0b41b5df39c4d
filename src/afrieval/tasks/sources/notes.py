"""Notes about the rows and prompts of declared tasks, printed before a model is loaded."""

from collections.abc import Sequence

from afrieval.config.settings import RunConfig
from afrieval.tasks.known_defects import known_defects
from afrieval.tasks.sources.complete_prompts import CompleteQuestions
from afrieval.tasks.sources.templated import TemplatedQuestions


def all_notes(planned: Sequence[TemplatedQuestions], config: RunConfig) -> list[str]:
    """Returns all notes, one per line.

    Args:
        planned: the questions of all cells.
        config: the merged config.
    """
    notes = [*_unscored_by(planned), *_unparsed(planned), *_excerpts(planned), *_keyless(planned), *_suspected(planned)]
    return [*notes, *_complete(planned, config)]


def _unscored_by(planned: Sequence[TemplatedQuestions]) -> list[str]:
    """Returns a line for each metric that cannot be computed, with the languages of which it cannot."""
    lines: dict[str, dict[str, None]] = {}
    for asked in planned:
        for metric in asked.task.scoring.metrics:
            if why := metric.missing(asked.task.answers_in(asked.language)):
                lines.setdefault(f"{asked.task.name}: {metric.name} is left out, {why}", {})[asked.language] = None
    return [f"{line} ({', '.join(languages)})" for line, languages in lines.items()]


def _unparsed(planned: Sequence[TemplatedQuestions]) -> list[str]:
    """Returns a line for each split with unparsed rows."""
    splits = [split for asked in planned for split in (asked.data, asked.pool)]
    return list(dict.fromkeys(split.note for split in splits if split and split.note))


def _excerpts(planned: Sequence[TemplatedQuestions]) -> list[str]:
    """Returns a line for each task with only a small part of its rows in the data folder."""
    found: dict[str, dict[str, None]] = {}
    for asked in planned:
        data = asked.task.data
        for name, split in ((data.evaluate, asked.data), (data.fewshot, asked.pool)):
            if split and split.excerpt:
                part = f"{asked.language} {name} {len(split.documents)} of {split.excerpt}"
                found.setdefault(asked.task.name, {})[part] = None
    return [f"{task}: the data folder has only part of the rows: {', '.join(parts)}" for task, parts in found.items()]


def _keyless(planned: Sequence[TemplatedQuestions]) -> list[str]:
    """Returns a line for each language with rows that lack a unique key, in tasks that declare one."""
    lines = {}
    for asked in planned:
        lacking = [d.id for d in asked.documents if not d.key] if asked.task.key else []
        if lacking:
            how = "are not paired across languages" if len(lacking) < len(asked.documents) else "use the row number"
            where = f"{asked.task.name}, {asked.language}: {len(lacking)} of {len(asked.documents)} rows"
            lines[asked.task.name, asked.language] = f"{where} have no unique key and {how} (row {_listed(lacking)})"
    return list(lines.values())


def _suspected(planned: Sequence[TemplatedQuestions]) -> list[str]:
    """Returns a line for each translated test set whose original has a known defect as a whole."""
    lines: dict[str, None] = {}
    for asked in planned:
        task, language = asked.task, asked.language
        for defect in known_defects(task.direct) if task.direct else []:
            if defect.whole and (defect.language, defect.split) == (language, task.data.evaluate):
                line = f"{task.name}, {language}: the original has a known defect, which its translation may share"
                lines[f"{line}: {defect.what}"] = None
    return list(lines)


def _complete(planned: Sequence[TemplatedQuestions], config: RunConfig) -> list[str]:
    """Returns lines on rows that cannot be scored, and on padding by the backend."""
    complete = [asked for asked in planned if isinstance(asked, CompleteQuestions)]
    notes = [line for asked in complete for line in _unscored(asked)]
    padded = [asked.task.name for asked in complete if asked.answer_form == "generate"]
    if padded and config.model.model_name and config.model.model_type == "hf":
        notes.append(
            f"hf pads the prompts of a batch to equal length, which may change scores slightly "
            f"({', '.join(padded)}); model_type vllm does not pad"
        )
    return notes


def _unscored(asked: CompleteQuestions) -> list[str]:
    reasons: dict[str, list[int]] = {}
    for document in asked.documents:
        if document.gold is None and document.id not in asked.data.unparsed:
            reasons.setdefault(document.defect, []).append(document.id)
    return [
        f"{asked.task.name}: {len(rows)} of {len(asked.documents)} rows cannot be scored, {why} (row {_listed(rows)})"
        for why, rows in reasons.items()
    ]


def _listed(rows: list[int]) -> str:
    return f"{', '.join(map(str, rows[:10]))}{' ...' if rows[10:] else ''}"
