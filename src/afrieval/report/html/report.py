"""The report: views of runs and published scores, in one page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval._util.version import __version__
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.judged import JudgedScore, judged_scores
from afrieval.analysis.standings import Board
from afrieval.analysis.verdicts import by_quality, marks
from afrieval.languages import web_code
from afrieval.report.boards import left_out_table
from afrieval.report.citing import bibtex, method, references, software
from afrieval.report.comparable_scores import ComparableScores, comparable_scores
from afrieval.report.contrast_tables import contrast_metric
from afrieval.report.html.frame import (
    View,
    behind,
    counted,
    filter_attributes,
    filters_of,
    findings_html,
    fragment,
    framed,
    link,
    safe,
)
from afrieval.report.html.heat import mean_matrices, task_heat
from afrieval.report.html.language_views import languages
from afrieval.report.html.prompt_views import native, native_contrasts, prompts
from afrieval.report.html.sample_views import cut, golds
from afrieval.report.html.tables import table_html
from afrieval.report.judged_tables import tables_of, title_of
from afrieval.report.native import Effects, effect_words, effects_of
from afrieval.report.published_tables import published_tables
from afrieval.report.run_summary import work_of
from afrieval.report.score_tables import WRITTEN, doubts, naming_rows, unreviewed_of
from afrieval.report.settings import differences, differing, run_settings, shown, start_of
from afrieval.report.standing_words import NAMED, TaskStanding, language_sentences, task_standings
from afrieval.report.values import language_name, listed, shown_interval, shown_rank, shown_score, titled
from afrieval.results.run_folder import read_rows
from afrieval.results.samples import OWN_KEYS, answer_text


def overview(inputs: Inputs, contrasts: Sequence[Contrast] = ()) -> Markup:
    """Returns who is best and how sure that is, in a table and in sentences; behind clicks, all scores.

    `contrasts` has what native prompts change.
    """
    cells = by_quality(inputs.cells)
    comparable = comparable_scores(cells)
    content = _summary(comparable, effects_of(contrasts), [*marks(cells), *doubts(cells)])
    open_ = not any(board.standings[0].concludes for part in comparable for board in part.boards.values())
    means = Markup("").join(mean_matrices(comparable))
    content += [behind("Means over African languages", means, {}, open_)] if means else []
    for (task, _), parts in grouped(comparable, lambda part: (part.task, part.metric.name)).items():
        heats = Markup("").join(_heat_maps(parts))
        content.append(behind(f"{titled(task, parts[0].metric)}: all languages", heats, {"task": task}, open_))
    for table in published_tables(cells, inputs.published):
        content.append(behind(table.title, table_html(table), table.about, not cells))
    if inputs.left_out:
        content.append(table_html(left_out_table([(Path(path).name, why) for path, why in inputs.left_out])))
    return Markup("").join(content)


def _heat_maps(parts: Sequence[ComparableScores]) -> list[Markup]:
    """Returns heat maps of models; one map, with the languages of prompts as sides, where there is only one model."""
    first, sides = parts[0], {side for part in parts for side in part.sides}
    if len(sides) > 1:
        maps = []
        for part in parts:
            order = dict.fromkeys([*(standing.side for standing in part.mean_board.standings), *part.sides])
            cells, title = {side: part.sides[side] for side in order}, f"{part.title}: all languages"
            maps.append(task_heat(title, part.task, part.metric, part.boards, cells))
        return maps
    (side,) = sides
    cells = {f"{WRITTEN[part.kind]} prompts": part.sides[side] for part in parts}
    boards: dict[str, Board[str]] = {}
    for name, part in zip(cells, parts, strict=True):
        for code, board in part.boards.items():
            standings = boards[code].standings if code in boards else []
            boards[code] = replace(board, standings=[*standings, board.standings[0]._replace(side=name)])
    return [task_heat(f"{first.titled(False)}: {side}", first.task, first.metric, boards, cells)]


SURE = (
    "best: the highest score. Models that are not named score significantly lower (5%, all pairs of models, Holm). "
    "Means are over African languages, and their intervals over languages and documents."
)
NATIVE = (
    "native prompts: their score less the one with English prompts, of the model in the row; by another metric, which "
    "is named, where the score would favour constant answers."
)


def _summary(comparable: Sequence[ComparableScores], effects: Effects, caveats: Sequence[str]) -> list[Markup]:
    """Returns the table and the sentences; `caveats` are sentences on what nothing can be concluded from.

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
    above = findings_html("", [(filter_attributes({}), text) for text in caveats])
    below = findings_html("Each language", sentences)
    if not lines:
        return [above, below]
    kinds = dict.fromkeys(WRITTEN[part.kind] for part in parts if part.named)
    native, rivals = (any(line[name] for line in lines) for name in ("native", "rivals"))
    notes = [] if alone else [SURE]
    notes += [f"Scores are with {' or '.join(kinds)} prompts."] if kinds else []
    notes += [NATIVE] if native else []
    shown_notes = fragment("notes.html", notes=notes, attributes="") if notes else ""
    title = "Scores" if alone else "Which model is best"
    table = fragment("summary.html", title=title, lines=lines, rivals=rivals, native=native, notes=shown_notes)
    return [above, table, below]


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
        "by": next((f"by {by}" for effect in effects if (by := contrast_metric(effect.contrast))), ""),
        "mark": {1: "up", -1: "down"}.get(effects[0].verdict or 0, "") if len(effects) == 1 else "",
    }


MOST = 10  # answers of a task and language
ROOM = 1_500  # bytes of each text


def judged(inputs: Inputs) -> Markup:
    """Returns the tables of each judge and, behind clicks, the answers on which it and people differ most."""
    content = []
    for scores in judged_scores(inputs.run_cells):
        first, cells = scores[0], [cell for cell in inputs.run_cells if cell.task == scores[0].task]
        content += [table_html(table) for table in naming_rows(tables_of(scores, inputs.run_cells), cells)]
        for code, of_language in grouped(scores, lambda score: str(score.dimensions["language"])).items():
            if cards := _judged_cards(first.judge, of_language):
                title = f"{title_of(first)}, {language_name(code)}: answers on which people differ most"
                shown = fragment("judged.html", cards=cards, language=web_code(code))
                content.append(behind(title, shown, {"task": first.task, "language": code}))
    return Markup("").join(content)


def _judged_cards(judge: str, scores: Sequence[JudgedScore]) -> list[dict[str, Any]]:
    """Returns what is shown of answers, the largest difference first; nothing where texts were not stored."""
    answers = [answer for score in scores for answer in score.rated if answer.difference(judge)]
    answers = sorted(answers, key=lambda answer: -abs(answer.difference(judge)))[:MOST]
    rows = grouped(answers, lambda answer: Path(str(answer.cell.path)))
    lines = {path: read_rows(path, [answer.row for answer in of]) for path, of in rows.items()}
    cards = []
    for answer in answers:
        cell, level, line = answer.cell, answer.level(judge), lines[Path(str(answer.cell.path))][answer.row]
        if not isinstance(line.get("doc"), dict):
            continue
        levels: Mapping[str, str] = cell.declared.get("rubric", {}).get("levels", {})
        fields = {name: str(of) for name, of in line["doc"].items() if name not in OWN_KEYS and of}
        fields |= {"right answer": right} if (right := "\n".join(golds(line))) else {}
        cards.append(
            {
                "attributes": filter_attributes({"task": cell.task, "language": cell.language, "model": cell.model}),
                "title": f"Document {answer.row}, {cell.model}, {WRITTEN[cell.prompt_language]} prompt {cell.prompt}",
                "fields": [(name, cut(text, ROOM)) for name, text in fields.items()],
                "answer": cut(answer_text(line), ROOM),
                "level": level,
                "meaning": levels.get(str(level), ""),
                "reason": cut(str(answer.judged[judge].get("reason") or ""), ROOM),
                "people": [(of, levels.get(of, "")) for of in sorted(answer.ratings.values())],
            }
        )
    return cards


def runs(inputs: Inputs) -> Markup:
    """Returns what differs between runs, then each run's settings, mostly folded; nothing without runs."""
    settings = run_settings(inputs.cells)
    if not settings:
        return Markup()
    return fragment(
        "runs.html",
        tables=[table_html(table) for table in differences(settings)],
        runs=[
            (run, filter_attributes({"model": run.model}), map(table_html, work_of(Path(run.name)))) for run in settings
        ],
        differing=differing(settings),
        start_of=start_of,
        shown=shown,
    )


def cite(inputs: Inputs) -> Markup:
    """Returns each benchmark's citation and licence, and a paragraph on the method."""
    publications = [
        (citation, bibtex(citation), [(one, filter_attributes({"task": one.tasks[0]})) for one in benchmarks])
        for citation, benchmarks in references(
            [c.task for c in inputs.cells] + [r.task for r in inputs.published]
        ).items()
    ]
    return fragment(
        "cite.html", references=publications, method=method(inputs.run_cells), software=software(__version__)
    )


def report(inputs: Inputs, title: str = "Evaluation report") -> bytes:
    """Returns the report of runs and published scores: one page as UTF-8."""
    contrasts = native_contrasts(inputs)
    views = [
        View("overview", "Overview", overview(inputs, contrasts)),
        View("languages", "Languages", languages(inputs)),
        View("native", "Native prompts", native(inputs, contrasts)),
        View("prompts", "Prompts", prompts(inputs)),
        View("judged", "Judged", judged(inputs)),
        View("runs", "Runs", runs(inputs)),
        View("cite", "How to cite", cite(inputs)),
    ]
    cells = inputs.cells
    codes = {c.language for c in cells} | {code for row in inputs.published for code in row.scores}
    tasks, models = ([getattr(of, name) for of in (*cells, *inputs.published)] for name in ("task", "model"))
    filters = {"task": {name: name for name in tasks}, **filters_of(codes, models)}
    subtitle = ", ".join(counted(filters[name], name) for name in ("model", "task", "language"))
    return framed("report.html", title, subtitle, views, filters)
