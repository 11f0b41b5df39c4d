"""Logs a finished run to W&B or Trackio, which are imported only if they are asked for."""

import contextlib
import heapq
import io
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from shlex import quote
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.terminal import note, one_line, visible
from afrieval.analysis.means import means
from afrieval.analysis.scores import by_language
from afrieval.config.settings import RunConfig, TaskConfig
from afrieval.report.formats import flat
from afrieval.report.run_summary import one_table
from afrieval.results.cell_key import SUITE
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import described
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample, document_score, generated_text, verdict
from afrieval.scoring.base import Metric
from afrieval.tasks.cells.sample_lines import likelihood_lines, prompt_of

PER_CELL = 5  # samples
LONGEST = 2000  # characters of a text

Row = dict[str, Any]
Tables = dict[str, list[Row]]
PROJECT = "afrieval"
NAMES = {"wandb": "W&B", "trackio": "Trackio"}


def log_run(config: RunConfig, run: RunFolder) -> None:
    """Logs a finished run to the programs that its config names: settings, a summary, tables of scores and samples.

    The settings are the identity of the run and the circumstances of its last session, as run.yaml has them. The
    summary has a score for each `TASK/LANGUAGE/PROMPT LANGUAGE`, or prompt set, if it is not the suite's; `mean` in
    place of the language is the mean over the African languages, if there are several.

    Raises:
        UserError: if a program fails, after the others have been tried. The run itself is stored.
    """
    if not config.loggers:
        return
    record = run.record
    cells = [described(cell, run, "") for name in run.names if not (cell := run.scores(name)).harness and cell.n]
    scores = [{k: v for k, v in row.items() if k != "table"} for row in flat(one_table(run))]
    summary = {_key(s.task, s.language, s.prompt_language, s.prompt_set): s.score for s in by_language(cells)}
    for mean in (mean for mean in means(cells, ["Africa"]) if len(mean.members) > 1):
        side = mean.dimensions
        summary[_key(mean.task, "mean", side["prompt_language"], side["prompt_set"])] = mean.score
    summary |= {row["task"]: row["score"] for row in scores if not row["prompt_language"]}
    settings = {"identity": record["identity"], **record["visits"][-1]}
    tables = {"scores": scores, "samples": [row for cell in cells for row in _samples(run, cell)]}

    title, failed = run.path.name if config.run_dir else "/".join(run.path.parts[-3:]), []
    for name in dict.fromkeys(config.loggers):
        try:
            note(f"logged to {NAMES[name]}; {LOGGERS[name](config.task, title, settings, summary, tables)}")
        except Exception as e:  # whatever another program raises, the run is stored
            failed.append((name, e))
    for name, error in failed:
        raise UserError(
            f"the run is stored in {run.path}, but could not be logged to {NAMES[name]}: {one_line(error)}",
            "the same command logs it again, and runs nothing again",
        ) from error


def _key(task: str, language: str, prompt_language: str, prompt_set: str) -> str:
    return f"{task}/{language}/{prompt_language if prompt_set == SUITE else prompt_set}"


def _samples(run: RunFolder, cell: CellScores) -> Iterator[Row]:
    """Yields the samples of a cell with the lowest scores: wrong ones, then right ones, each in order."""
    scored = (line for line in run.lines(cell.name) if line["metrics"])

    def score(line: Sample) -> float:  # likelihoods of texts are neither right nor wrong
        return 0.0 if line.get("roles") else document_score(line, cell.metric)

    for line in heapq.nsmallest(PER_CELL, scored, key=score):
        yield _sample(line, cell.metric)


def _sample(line: Sample, metric: Metric) -> Row:
    """Returns a sample with the beginnings of its texts, without what a terminal would obey or JSON cannot hold."""
    answer = generated_text(line)
    texts = {
        "question": prompt_of(line) if line.get("arguments") else "",
        "answer": answer if answer is not None else "\n".join(likelihood_lines(line)),
        "gold": str(line.get("target", "")),
    }
    for name, text in texts.items():
        rest = len(text) - LONGEST
        texts[name] = visible(text[:LONGEST]) + (f" ... [{rest:,} more characters]" if rest > 0 else "")
    identifiers = {name: line[name] for name in ("task", "language", "prompt_language", "prompt", "doc_id")}
    return {**identifiers, "verdict": verdict(line, metric), **texts}


def _to_wandb(task: TaskConfig, title: str, settings: Row, summary: Row, tables: Tables) -> str:
    """Logs to W&B, without its own output, next to any open run of the same process; returns where it is."""
    import wandb

    with contextlib.redirect_stderr(io.StringIO()):  # it advertises other products, even when silent
        run = wandb.init(
            project=task.wandb_project or PROJECT,
            job_type=task.wandb_job_type,
            name=title,
            config=settings,
            settings=wandb.Settings(silent=True, console="off", reinit="create_new"),
        )
    try:
        for name, rows in tables.items():
            columns = list(rows[0]) if rows else []
            table = wandb.Table(columns, [list(row.values()) for row in rows], allow_mixed_types=True)
            run.log({name: table})
        run.summary.update(summary)
        if run.offline:
            return f"`wandb sync {quote(run.settings.sync_dir)}` uploads it"
        return f"see {run.url}" if run.url else "nothing was sent, since W&B is disabled (WANDB_MODE)"
    finally:
        run.finish()


def _to_trackio(task: TaskConfig, title: str, settings: Row, summary: Row, tables: Tables) -> str:
    """Logs to Trackio, without its own output, and returns how to see it; any open run of the process is finished."""
    import trackio
    from pandas import DataFrame

    project = task.wandb_project or PROJECT
    with contextlib.redirect_stdout(io.StringIO()):
        trackio.init(
            project=project,
            name=title,
            config=settings,
            embed=False,
            auto_log_gpu=False,
            auto_log_cpu=False,
        )
        shown = {name: trackio.Table(dataframe=DataFrame(rows)) for name, rows in tables.items() if rows}
        trackio.log(summary | shown)
        trackio.finish()
    return f"`trackio show --project {quote(project)}` shows it"


LOGGERS: dict[str, Callable[[TaskConfig, str, Row, Row, Tables], str]] = {"wandb": _to_wandb, "trackio": _to_trackio}


FORBIDDEN = set("/\\#?%:")  # in the name of a project
OFFLINE = "set WANDB_MODE=offline to log to files"


def check_loggers(loggers: Sequence[str], task: TaskConfig) -> None:
    """Checks that a run can be logged.

    Args:
        loggers: the programs.
        task: has the settings of W&B.

    Raises:
        UserError: for a missing package or key, or a setting of W&B that is invalid or has no effect.
    """
    if task.wandb_job_type and "wandb" not in loggers:
        raise UserError("task.wandb_job_type is given, but the run is not logged to W&B", "add --log wandb")
    if forbidden := {*(task.wandb_project or "")} & FORBIDDEN:
        raise UserError(
            f"task.wandb_project is {task.wandb_project!r}, but W&B allows no {min(forbidden)} in it", "leave it out"
        )
    for name in loggers:
        if find_spec(name) is None:
            raise UserError(f"--log {name} needs the package {name}", f"run `pip install 'afrieval[{name}]'`")
    if "wandb" in loggers:
        _check_key()


def _check_key() -> None:
    import wandb

    if wandb.setup().settings.mode not in ("online", "shared"):
        return
    try:
        has_key = wandb.login(prompt=False)
    except wandb.Error as e:
        raise UserError(f"W&B cannot be used: {one_line(e)}", f"correct key or network, or {OFFLINE}") from e
    if not has_key:
        raise UserError("W&B has no API key", f"run `wandb login`, or {OFFLINE}")
