"""What a person wants to know in a minute: a table of tasks with the best model, and a sentence for each language."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from afrieval.report.comparable_scores import ComparableScores
from afrieval.report.html.frame import filter_attributes, findings_html, fragment, link, safe
from afrieval.report.score_tables import WRITTEN, unreviewed_of
from afrieval.report.standing_words import (
    NAMED,
    Effects,
    TaskStanding,
    effect_words,
    language_sentences,
    task_standings,
)
from afrieval.report.values import language_name, listed, shown_interval, shown_rank, shown_score

SURE = (
    "best: the highest score. Models that are not named score significantly lower (5%, all pairs of models, Holm). "
    "Means are over African languages, and their intervals over languages and documents."
)
NATIVE = (
    "native prompts: their score less the one with English prompts, of the model in the row; by another metric, which "
    "is named, where the score would favour constant answers."
)


def summary(comparable: Sequence[ComparableScores], effects: Effects, marks: Sequence[str]) -> list[Markup]:
    """Returns the table and the sentences; `marks` are sentences on what nothing can be concluded from.

    Of a task with prompts in both languages, scores are those with English prompts.
    """
    english = {(part.task, part.metric.name): part for part in reversed(comparable)}  # English prompts are the last
    parts = [*reversed(english.values())]
    of_parts = [list(task_standings(part, effects)) for part in parts]
    lines = [_line(side, len(of) > 1) for of in of_parts for side in of if side.concludes]
    sentences: list[tuple[Markup, str]] = []
    for code, when, text in language_sentences(side for of in of_parts for side in of):
        to_language = link(language_name(code), f"#view=languages&language={code}") if code else ""
        linked = Markup("{}: {}").format(to_language, safe(text)) if code else text
        sentences.append((filter_attributes({"language": code, "when": when}), linked))
    alone = all(side.alone for of in of_parts for side in of if side.concludes)
    table = _table(parts, lines, alone) if lines else Markup()
    notes = findings_html("", [(filter_attributes({}), text) for text in marks])
    return [notes, table, findings_html("Each language", sentences)]


def _table(parts: Sequence[ComparableScores], lines: Sequence[Mapping[str, Any]], alone: bool) -> Markup:
    kinds = dict.fromkeys(WRITTEN[part.kind] for part in parts if part.named)
    native = any(line["native"] for line in lines)
    notes = [] if alone else [SURE]
    notes += [f"Scores are with {' or '.join(kinds)} prompts."] if kinds else []
    notes += [NATIVE] if native else []
    shown = fragment("notes.html", notes=notes, attributes="") if notes else ""
    title = "Scores" if alone else "Which model is best"
    rivals = any(line["rivals"] for line in lines)
    return fragment("summary.html", title=title, lines=lines, rivals=rivals, native=native, notes=shown)


def _line(side: TaskStanding, several: bool) -> dict[str, Any]:
    """Returns what the table says of a side; `several` if its task has other languages."""
    part, row, language, effects = side.part, side.row, side.board.name, side.effects
    bounds, n = part.metric.bounds, len(row.languages)
    when = (["language" if language else "all"] if several else []) + ([] if side.leads else ["model"])
    about = {"task": part.task, "language": language, "model": side.model, "when": " ".join(when)}
    basis = f"n = {row.n:,}" if language else f"mean of {n} language{'' if n == 1 else 's'}"
    metric = "accuracy" if part.metric.name == "acc" else part.metric.name
    rivals = "" if side.alone else listed(side.rivals, NAMED) or ("none" if row.rank else "not known")
    return {
        "attributes": filter_attributes(about),
        "task": part.task,
        "about": ", ".join(filter(None, (language and language_name(language), metric, basis))),
        "side": row.side + "*" * bool(unreviewed_of(part.sides[row.side])),
        "rank": f"rank {shown_rank(row.rank)}" if row.rank else "",
        "score": shown_score(row.score, bounds),
        "interval": shown_interval(row.interval, bounds) if row.interval else "",
        "rivals": f"not above {side.unread}" if side.unread else rivals if side.leads else "",
        "native": effect_words(effects),
        "by": next((f"by {effect.by}" for effect in effects if effect.by), ""),
        "mark": {1: "up", -1: "down"}.get(effects[0].verdict or 0, "") if len(effects) == 1 else "",
    }
