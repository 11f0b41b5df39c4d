"""The scores of a run folder as one table."""

from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.harness.scores import HarnessScore, task_scores
from afrieval.report.options import naming_rows
from afrieval.report.scores import run_table
from afrieval.report.table import Table
from afrieval.report.values import ANY, Bounds
from afrieval.results.reader import RunFolder


def scores_of_run(run: RunFolder) -> Table:
    """Returns the scores, averaged over prompts: one row per task, language and prompt language.

    Harness tasks come last, each with the main metric, on the harness' own scale.

    Raises:
        UserError: if a file of the folder is damaged; its line is named.
    """
    cells = [run.scores(name) for name in run.names]
    own = [cell for cell in cells if not cell.harness]
    bounds: dict[tuple[str, str], Bounds] = {(c.task, c.main): c.metric.bounds for c in own if c.n}
    scores = by_language(own)
    harness = [known.scores[0] for cell in cells if cell.harness and (known := task_scores(cell)).scores]
    unreviewed = {task: set(known.get("unreviewed", {})) for task, known in run.record.get("declared", {}).items()}
    scales = [bounds[s.task, s.metric] for s in scores] + [ANY for _ in harness]
    table = run_table(f"Scores of {run.path.name}", [*scores, *map(_as_ours, harness)], unreviewed, scales)
    return naming_rows([table], cells)[0]


def _as_ours(score: HarnessScore) -> LanguageScore:
    metric = score.metric if score.filter == "none" else f"{score.metric},{score.filter}"
    return LanguageScore(
        task=score.task,
        language=score.language,
        prompt_language="",
        prompts=[],
        metric=metric,
        score=score.value,
        interval=score.interval,
        others={},
        n=score.n,
        n_defect=0,
        chance=float("nan"),
    )
