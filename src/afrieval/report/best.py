"""Who is best in each language, and how sure that is: tables and sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from afrieval.analysis.leaders import Entry, MeanEntry
from afrieval.analysis.ranks import Rank
from afrieval.report.defects import marked
from afrieval.report.scores import INTERVAL
from afrieval.report.sides import Part
from afrieval.report.table import Column, Table
from afrieval.report.values import shown_interval, shown_score
from afrieval.report.verdicts import not_above, not_above_in, unread_words
from afrieval.report.words import language_name, language_names, listed

Entries = Mapping[str, Sequence[Entry]]
RANKS = (
    "rank: 1-3 is first, second or third; the ranks of all models in a language are right at once with 95% confidence."
)

SIZES = (
    "n differs: models are compared on the documents that both have, so the one with the higher score may be behind."
)


def shown_rank(rank: Rank | None) -> str:
    """Returns a rank as people read it: 1, 1-3, or nothing."""
    if rank is None:
        return ""
    return str(rank.first) if rank.first == rank.last else f"{rank.first}-{rank.last}"


def rivals(entries: Sequence[Entry]) -> list[str]:
    """Returns the sides, other than the one with the highest score, that may be the best."""
    return [entry.side for entry in entries[1:] if entry.rank and entry.rank.first == 1]


def is_clear(entries: Sequence[Entry]) -> bool:
    """Returns whether one side is the best: ahead of all others, and above what takes no reading."""
    return bool(entries[0].rank) and not entries[0].floor and not rivals(entries)


def best_table(part: Part, entries: Entries) -> Table:
    """Returns the best side of each language, of those that conclude; languages are in alphabetical order.

    Args:
        part: what is compared.
        entries: of each language, best first; languages in which nothing can be concluded are left out.
    """
    bounds = part.metric.bounds
    columns = [
        Column("language", "language"), Column("best", "text", "side"), Column("", "hidden", "model"),
        Column("score", "score", "", bounds), Column(INTERVAL, "interval", "interval", bounds),
        Column("cannot be told apart from", "text", "rivals"), Column("models", "count"), Column("n", "count"),
    ]  # fmt: skip
    known = [code for code in entries if entries[code][0].concludes]
    rows = [_best(code, entries[code], part) for code in sorted(known, key=language_name)]
    notes = [f"Models that are not named score significantly {_worse(part)} (5%, all pairs of models, Holm)."]
    notes += [SIZES] if _sizes_differ(entries) else []
    table = Table("best", f"{part.title}: best in each language", columns, rows, notes, about={"task": part.task})
    return marked(table, _defects(entries))


def _worse(part: Part) -> str:
    return "lower" if part.metric.higher_is_better else "higher"


def _sizes_differ(entries: Entries) -> bool:
    return any(len({entry.score.n for entry in of_language}) > 1 for of_language in entries.values())


def _defects(entries: Entries) -> dict[str, str]:
    return {code: first.score.defect for code, (first, *_) in entries.items() if first.score.defect}


def _best(code: str, entries: Sequence[Entry], part: Part) -> list[Any]:
    first, score = entries[0], entries[0].score
    unsure = "none" if first.rank else ""
    unread = [unread_words(first.floor, part.metric.bounds)] if first.floor else []
    others = "; ".join([*filter(None, [listed(rivals(entries))]), *unread]) or unsure
    model = part.sides[first.side][0].model
    return [code, first.side, model, score.score, score.interval, others, len(entries), score.n]


def all_scores(part: Part, entries: Entries) -> Table:
    """Returns the scores of all sides in all languages; arguments as for `best_table`."""
    bounds = part.metric.bounds
    columns = [
        Column("language", "language"), Column("model", "text", "side"), Column("", "hidden", "model"),
        Column("score", "score", "", bounds), Column(INTERVAL, "interval", "interval", bounds),
        Column("rank", "count", "-"), Column("", "hidden", "first_rank"), Column("", "hidden", "last_rank"),
        Column("n", "count"), Column("bad", "count", "n_defect"),
    ]  # fmt: skip
    rows = [_entry(code, entry, part) for code in sorted(entries, key=language_name) for entry in entries[code]]
    notes = [RANKS if len(part.sides) > 1 else "", SIZES if _sizes_differ(entries) else "", "bad: rows with a defect."]
    about = {"task": part.task, "prompt_language": part.kind}
    table = Table("all", f"{part.title}: all scores", columns, rows, [n for n in notes if n], about=about)
    return marked(table, _defects(entries))


def _entry(code: str, entry: Entry, part: Part) -> list[Any]:
    score, ends = entry.score, entry.rank or (None, None)
    place = [code, entry.side, part.sides[entry.side][0].model]
    return [*place, score.score, score.interval, shown_rank(entry.rank), *ends, score.n, score.n_defect]


def findings(part: Part, standings: Sequence[MeanEntry], entries: Entries) -> list[str]:
    """Returns in sentences who is best over languages, and in which languages one is clearly the best.

    Args:
        part: what is compared.
        standings: means over languages, best first.
        entries: as for `best_table`.
    """
    if not part.concluding:
        return [f"{part.title}, so nothing is concluded."]
    entries = {code: own for code, of in entries.items() if (own := [entry for entry in of if entry.concludes])}
    if len(part.concluding) == 1:
        return _of_one(part, entries)
    complete = [standing for standing in standings if standing.complete]
    found = [_over_languages(part, complete, len(complete) < len(standings))] if len(complete) > 1 else []
    compared = {code: of for code, of in entries.items() if of[0].rank} if len(entries) > 1 or not found else {}
    clear = {code: of[0].side for code, of in compared.items() if is_clear(of)}
    if compared and not clear:
        found.append(f"{part.title}: in none of {len(compared)} languages is one model clearly the best.")
    elif compared:
        where = "; ".join(
            f"{side} in {language_names(code for code in clear if clear[code] == side)}"
            for side in dict.fromkeys(clear.values())
        )
        found.append(
            f"{part.title}: one model is clearly the best in {len(clear)} of {len(compared)} languages: {where}."
        )
    floors = {language_name(code): of[0].floor for code, of in compared.items() if of[0].floor}
    if unread := not_above_in(floors, part.metric.bounds):
        found.append(f"{part.title}: the highest score {'; '.join(unread)}.")
    return found


def _over_languages(part: Part, standings: Sequence[MeanEntry], lacking: bool) -> str:
    """Returns who has the best mean; `lacking` says whether some models lack languages."""
    first, bounds = standings[0], part.metric.bounds
    mean = first.mean
    sure = f" (95% CI {shown_interval(mean.interval, bounds)})" if mean.interval else ""
    languages = f"{len(mean.members)} African languages" if len(mean.members) > 1 else language_name(mean.members[0])
    best = "highest" if part.metric.higher_is_better else "best"
    among = f"of the {len(standings)} models with all languages, " if lacking else ""
    text = f"{among}{first.side} has the {best} mean over {languages}, {shown_score(mean.score, bounds)}{sure}"
    text = f"{part.title}: {text}"
    if first.rank is None:
        return f"{text}."
    text += f", {not_above(first.floor, bounds)}" if first.floor else ""
    others = listed([s.side for s in standings[1:] if s.rank and s.rank.first == 1])
    rest = f"{others} cannot be told apart from it" if others else f"all others score significantly {_worse(part)}"
    return f"{text}; {rest}."


def _of_one(part: Part, entries: Entries) -> list[str]:
    """Returns where a single side is not above what takes no reading."""
    floors = {language_name(code): entry.floor for code, (entry, *_) in entries.items() if entry.floor}
    side = next(iter(part.sides))
    unread = not_above_in(floors, part.metric.bounds)
    return [f"{part.title}: {side} {'; '.join(unread)}."] if unread else []
