"""The overview: who is best over languages, and in each language."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.leaders import Entry, MeanEntry, in_languages, over_languages
from afrieval.analysis.rows import marks
from afrieval.grouping import grouped
from afrieval.pages.heat import heat
from afrieval.pages.places import place
from afrieval.pages.shell import fragment
from afrieval.pages.standings import standings_matrix
from afrieval.pages.tables import table_html
from afrieval.report.best import all_scores, best_table, findings
from afrieval.report.boards import left_out_table
from afrieval.report.leaderboard import published_tables
from afrieval.report.scores import WRITTEN
from afrieval.report.sides import Part, parts

Entries = Mapping[str, Sequence[Entry]]


def overview(given: Inputs) -> Markup:
    """Returns findings, means over languages, and for each task the best of each language and a heat map."""
    cells = [*given.own, *given.foreign]
    found = parts(cells)
    entries = [in_languages(part.sides) for part in found]
    standings = [over_languages(part.sides) for part in found]
    said = [(place({}), text) for text in marks(cells)]
    said += [
        (place({"task": part.task}), text)
        for part, of_part, standing in zip(found, entries, standings, strict=True)
        for text in findings(part, standing, of_part)
    ]
    content = [fragment("findings.html", findings=said)] if said else []
    content += standings_matrix(list(zip(found, standings, strict=True)))
    ordered = [_best_first(*pair) for pair in zip(found, standings, strict=True)]
    for of_task in grouped(
        zip(ordered, entries, strict=True), lambda pair: (pair[0].task, pair[0].metric.name)
    ).values():
        content += _of_task(of_task)
    content += [table_html(table) for table in published_tables(cells, given.published)]
    if given.left_out:
        content.append(table_html(left_out_table([(path.name, why) for path, why in given.left_out])))
    return Markup("").join(content)


def _best_first(part: Part, standings: Sequence[MeanEntry]) -> Part:
    """Returns the part with its sides in the order of their means."""
    order = dict.fromkeys([*(standing.side for standing in standings), *part.sides])
    return part._replace(sides={side: part.sides[side] for side in order})


def _of_task(found: Sequence[tuple[Part, Entries]]) -> list[Markup]:
    """Returns the best of each language, and heat maps: of prompt languages where there is only one side."""
    if len({side for part, _ in found for side in part.sides}) == 1:
        return [_of_one_side(found), *(_behind(*pair) for pair in found)]
    content = []
    for part, entries in found:
        links = {"language": {code: f"#view=languages&language={code}" for code in entries}}
        best = best_table(part, entries)
        content += [
            *([table_html(best, links=links)] if best.rows else []),
            _heat(part, entries),
            _behind(part, entries),
        ]
    return content


def _heat(part: Part, entries: Entries) -> Markup:
    columns: dict[str, dict[str, Entry]] = {side: {} for side in part.sides}
    for code, of_language in entries.items():
        for entry in of_language:
            columns[entry.side][code] = entry
    about = {side: {"model": cells[0].model} for side, cells in part.sides.items()}
    return heat(f"{part.title}: all languages", columns, part.metric.bounds, about, part.task)


def _of_one_side(found: Sequence[tuple[Part, Entries]]) -> Markup:
    first = found[0][0]
    columns = {
        f"{WRITTEN[part.kind]} prompts": {code: entry for code, (entry,) in entries.items()} for part, entries in found
    }
    (side,) = first.sides
    model = first.sides[side][0].model
    title = first._replace(named=False).title
    return heat(
        f"{title}: {side}", columns, first.metric.bounds, {name: {"model": model} for name in columns}, first.task
    )


def _behind(part: Part, entries: Entries) -> Markup:
    """Returns the table behind a heat map."""
    table = all_scores(part, entries)
    return fragment("behind.html", place=place(table.about), title=table.title, content=table_html(table))
