"""The columns of tidy tables, each with the kind of its values."""

from collections.abc import Iterable
from typing import Literal

from afrieval.results.scores import CellScores

Kind = Literal["text", "number", "whole", "truth", "texts", "numbers", "wholes"]
Columns = dict[str, Kind]

PLACE: Columns = {
    "run": "text",
    "model": "text",
    "task": "text",
    "language": "text",
    "prompt_language": "text",
    "prompt": "text",
    "shots": "whole",
    "answer_form": "text",
}
SCORE: Columns = {"score": "number", "standard_error": "number", "low": "number", "high": "number", "n": "whole"}
SCORES: Columns = {
    **PLACE,
    "metric": "text",
    **SCORE,
    "rows": "whole",
    "selection": "text",
    "sample_rows": "truth",
    "test_set": "whole",
    "n_defect": "whole",
    "chance": "number",
    "unparsed": "number",
    "refused": "number",
    "guessed": "number",
    "data_set": "text",
    "data_hash": "text",
    "prompt_hash": "text",
    "task_version": "whole",
    "variant": "text",
    "fewshot_selection": "text",
    "fewshot_seed": "whole",
    "max_gen_toks": "whole",
    "chat_template": "truth",
    "dtype": "text",
    "suite": "text",
    "date": "text",
    "afrieval": "text",
    "lm_eval": "text",
}
METRICS: Columns = {
    **PLACE,
    "metric": "text",
    "main": "truth",
    **SCORE,
    "higher_is_better": "truth",
    "lowest": "number",
    "highest": "number",
}
SAMPLES: Columns = {
    **PLACE,
    "doc_id": "whole",
    "sample_rank": "whole",
    "scored": "truth",
    "defect": "text",
    "fewshot_ids": "wholes",
    "prompt_text": "text",
    "choices": "texts",
    "continuations": "texts",
    "likelihoods": "numbers",
    "output": "text",
    "answer": "text",
    "unparsed": "truth",
    "target": "text",
    "gold": "whole",
    "picked": "whole",
    "doc_hash": "text",
    "prompt_hash": "text",
    "target_hash": "text",
}
SETTINGS: Columns = {"run": "text", "setting": "text", "value": "text"}
MEASURE = "measure "  # begins the columns of measures, which are named by metrics


def measured(cells: Iterable[CellScores]) -> Columns:
    """Returns a column for each metric of documents: a number, or several where some cell has several."""
    widths: dict[str, int] = {}
    for cell in cells:
        for name in stored_metrics(cell):
            widths[name] = max(widths.get(name, 1), cell.measures[name].shape[1])
    return {f"{MEASURE}{name}": "number" if width == 1 else "numbers" for name, width in widths.items()}


def stored_metrics(cell: CellScores) -> list[str]:
    """Returns the metrics that documents have measures of; others are derived, or of groups of documents."""
    return [name for name in cell.metrics if name not in cell.derived and name not in cell.of_groups]
