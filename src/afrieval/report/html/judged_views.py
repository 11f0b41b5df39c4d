"""What judges and people say of answers: tables, and the answers on which they differ most, side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.judged import JudgedAnswer, JudgedScore, judged_scores
from afrieval.languages import web_code
from afrieval.report.html.frame import behind, filter_attributes, fragment
from afrieval.report.html.sample_views import cut, golds
from afrieval.report.html.tables import table_html
from afrieval.report.judged_tables import tables_of, title_of
from afrieval.report.score_tables import WRITTEN, naming_rows
from afrieval.report.values import language_name
from afrieval.results.run_folder import read_rows
from afrieval.results.samples import OWN_KEYS, Sample, answer_text

MOST = 10  # answers of a task and language
ROOM = 1_500  # bytes of each text


def judged(inputs: Inputs) -> Markup:
    """Returns the tables of each judge and, behind clicks, the answers on which it and people differ most."""
    content = []
    for scores in judged_scores(inputs.run_cells):
        first, cells = scores[0], [cell for cell in inputs.run_cells if cell.task == scores[0].task]
        content += [table_html(table) for table in naming_rows(tables_of(scores, inputs.run_cells), cells)]
        for code, of_language in grouped(scores, lambda score: str(score.dimensions["language"])).items():
            if cards := _cards(first.judge, of_language):
                title = f"{title_of(first)}, {language_name(code)}: answers on which people differ most"
                shown = fragment("judged.html", cards=cards, language=web_code(code))
                content.append(behind(title, shown, {"task": first.task, "language": code}))
    return Markup("").join(content)


def _cards(judge: str, scores: Sequence[JudgedScore]) -> list[dict[str, Any]]:
    """Returns what is shown of answers, the largest difference first; nothing where texts were not stored."""
    answers = [answer for score in scores for answer in score.rated if answer.difference(judge)]
    answers = sorted(answers, key=lambda answer: -abs(answer.difference(judge)))[:MOST]
    rows = grouped(answers, lambda answer: Path(str(answer.cell.path)))
    lines = {path: read_rows(path, [answer.row for answer in of]) for path, of in rows.items()}
    shown = [(answer, lines[Path(str(answer.cell.path))][answer.row]) for answer in answers]
    return [_card(judge, answer, line) for answer, line in shown if isinstance(line.get("doc"), dict)]


def _card(judge: str, answer: JudgedAnswer, line: Sample) -> dict[str, Any]:
    cell, level = answer.cell, answer.level(judge)
    levels: Mapping[str, str] = cell.declared.get("rubric", {}).get("levels", {})
    fields = {name: str(of) for name, of in line["doc"].items() if name not in OWN_KEYS and of}
    fields |= {"right answer": right} if (right := "\n".join(golds(line))) else {}
    return {
        "attributes": filter_attributes({"task": cell.task, "language": cell.language, "model": cell.model}),
        "title": f"Document {answer.row}, {cell.model}, {WRITTEN[cell.prompt_language]} prompt {cell.prompt}",
        "fields": [(name, cut(text, ROOM)) for name, text in fields.items()],
        "answer": cut(answer_text(line), ROOM),
        "level": level,
        "meaning": levels.get(str(level), ""),
        "reason": cut(str(answer.judged[judge].get("reason") or ""), ROOM),
        "people": [(of, levels.get(of, "")) for of in sorted(answer.ratings.values())],
    }
