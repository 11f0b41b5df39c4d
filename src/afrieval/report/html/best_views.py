"""What a person wants to know in a minute: a table of tasks with the best model, and a sentence for each language."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from afrieval.analysis.best import MeanEntry
from afrieval.report.best_sides import (
    NAMED,
    Best,
    Effects,
    Entries,
    Place,
    effect_words,
    language_sentences,
    places,
)
from afrieval.report.contrast_tables import ComparableScores
from afrieval.report.html.frame import filter_attributes, findings_html, fragment, link, safe
from afrieval.report.score_tables import WRITTEN, unreviewed_of
from afrieval.report.values import language_name, listed, shown_interval, shown_rank, shown_score

SURE = (
    "best: the highest score. Models that are not named score significantly lower (5%, all pairs of models, Holm). "
    "Means are over African languages, and their intervals over languages and documents."
)
NATIVE = (
    "native prompts: their score less the one with English prompts, of the model in the row; by another metric, which "
    "is named, where the score would favour constant answers."
)


def summary(
    comparable: Sequence[ComparableScores],
    means: Sequence[list[MeanEntry]],
    entries: Sequence[Entries],
    effects: Effects,
    marks: Sequence[str],
) -> list[Markup]:
    """Returns the table and the sentences; `marks` are sentences on what nothing can be concluded from.

    Of a task with prompts in both languages, scores are those with English prompts.
    """
    of_parts = {
        (part.task, part.metric.name): (part, list(places(part, of_part, of, effects)))
        for part, of_part, of in reversed(
            [*zip(comparable, means, entries, strict=True)]
        )  # English prompts are the last
    }
    return _summary([*reversed(of_parts.values())], marks)


def _summary(of_parts: Sequence[tuple[ComparableScores, list[Place]]], marks: Sequence[str]) -> list[Markup]:
    shown = [_line(part, each, len(of) > 1) for part, of in of_parts for each in of if each.concludes]
    sides = [each for _, of in of_parts for each in of]
    sentences = [
        (filter_attributes({"language": code, "when": when}), _linked(code, text) if code else text)
        for code, when, text in language_sentences(sides)
    ]
    table = _table(of_parts, shown) if shown else Markup()
    return [
        findings_html("", [(filter_attributes({}), text) for text in marks]),
        table,
        findings_html("Each language", sentences),
    ]


def _linked(code: str, text: str) -> Markup:
    address = f"#view=languages&language={code}"
    return Markup("{}: {}").format(link(language_name(code), address), safe(text))


def _table(of_parts: Sequence[tuple[ComparableScores, list[Place]]], lines: Sequence[Mapping[str, Any]]) -> Markup:
    alone = all(each.best.alone for _, of in of_parts for each in of if each.concludes)
    kinds = dict.fromkeys(WRITTEN[part.kind] for part, _ in of_parts if part.named)
    native = any(line["native"] for line in lines)
    notes = [] if alone else [SURE]
    notes += [f"Scores are with {' or '.join(kinds)} prompts."] if kinds else []
    notes += [NATIVE] if native else []
    shown = fragment("notes.html", notes=notes, attributes="") if notes else ""
    title = "Scores" if alone else "Which model is best"
    unread = any(line["rivals"] for line in lines)
    return fragment("summary.html", title=title, lines=lines, rivals=unread, native=native, notes=shown)


def _line(part: ComparableScores, each: Place, several: bool) -> dict[str, Any]:
    """Returns what the table says of a side; `several` if its task has other languages."""
    best, effects = each.best, each.effects
    when = (["language" if each.language else "all"] if several else []) + ([] if each.leads else ["model"])
    basis = f"n = {each.n:,}" if each.language else f"mean of {each.n} language{'' if each.n == 1 else 's'}"
    metric = "accuracy" if part.metric.name == "acc" else part.metric.name
    mark = {1: "up", -1: "down"}.get(effects[0].verdict or 0, "") if len(effects) == 1 else ""
    return {
        "attributes": filter_attributes(
            {"task": part.task, "language": each.language, "model": each.model, "when": " ".join(when)}
        ),
        "task": part.task,
        "about": ", ".join(filter(None, (each.language and language_name(each.language), metric, basis))),
        "side": best.side + "*" * bool(unreviewed_of(part.sides[best.side])),
        "rank": f"rank {shown_rank(best.rank)}" if best.rank else "",
        "score": shown_score(best.score, best.bounds),
        "interval": shown_interval(best.interval, best.bounds) if best.interval else "",
        "rivals": f"not above {best.unread}" if best.unread else _rivals(best) if each.leads else "",
        "native": effect_words(effects),
        "by": next((f"by {effect.by}" for effect in effects if effect.by), ""),
        "mark": mark,
    }


def _rivals(best: Best) -> str:
    return "" if best.alone else listed(best.rivals, NAMED) or ("none" if best.rank else "not known")
