"""Checks runs before a board takes them: whole, of today's tasks, of the data set, without its texts, not forged?"""

import json
import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.files import opened
from afrieval._util.grouping import grouped
from afrieval._util.whole_files import written_whole
from afrieval.analysis.verdicts import OWN
from afrieval.results.cell_key import SUITE, PromptId, prompt_set
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import readable_runs
from afrieval.results.identity import words
from afrieval.results.packed import LARGEST, opened_samples
from afrieval.results.run_files import RUN, cell_names, harness_path, sample_path, write_run
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import REDO, WITHHELD, Sample, bounded_lines, read_lines, without_texts
from afrieval.results.schema import RunRecord, TaskIdentity
from afrieval.scoring.learned import JUDGED, RATINGS
from afrieval.scoring.texts import without_marks
from afrieval.scoring.texts import words as words_of
from afrieval.tasks.cells.task_cell import declared_of
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names, translated
from afrieval.tasks.prompts.paper import paper_prompts
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages
from afrieval.tools.run_checks.score_checks import declared_problems, score_problems

# A quotation mark inside a text is escaped, so these are keys; `samples.without_texts` removes them.
_TEXT = re.compile(rb'"(?:doc|arguments)":|"target": ?["\[{]')
_PATH = re.compile(r"[/~]|[A-Za-z]:\\")
_CANARY = re.compile(rb"canary guid", re.IGNORECASE)  # what benchmarks put into files that no one may train on
KEPT = ("task", "language", "part", "key", "defect")  # texts of a sample that no model or judge wrote
FEW, PART = 20, 30  # signs of a text that is left out whole, and letters of a part of one
AGAIN, SCORE = "run it again with this version", "score it again: afrieval score RUN"
SplitKey = tuple[str, str, str]  # task, language and split


class CheckedRun(NamedTuple):
    """A run folder: why a board refuses it, and what its readers should know."""

    folder: Path
    problems: list[str]
    remarks: list[str]


def check_runs(folders: Iterable[Path]) -> list[CheckedRun]:
    """Returns what is wrong with runs, in order. Data are compared between the runs, since no data set is loaded."""
    runs = {folder: RunFolder(folder) for folder in folders}
    readable = readable_runs(runs.values())
    cells, usual = grouped(readable.cells, lambda cell: cell.folder), defaultdict[SplitKey, Counter[str]](Counter)
    for record in readable.records.values():
        for key, sha256 in _data(record):
            usual[key][sha256] += 1
    checked = []
    for folder in runs:
        run_cells = cells.get(folder, [])
        if why := readable.left_out.get(folder):
            checked.append(CheckedRun(folder, [why.replace(f"{folder} ", "it ").replace(f"{folder}/", "")], []))
        elif not run_cells:
            checked.append(CheckedRun(folder, ["it has tasks of the harness only"], []))
        else:
            record = readable.records[folder]
            others, remark = [*_of_tasks(record)], ""
            for (task, language, split), sha256 in _data(record):  # of data that are as frequent, both are usual
                if usual[task, language, split][sha256] < max(usual[task, language, split].values()):
                    others.append(f"{task}: its {split} data in {language} is not what most runs here have")
            if not others:
                tasks = record["identity"]["tasks"]
                others, remark = score_problems(
                    runs[folder], run_cells, {name: _spec(name, tasks[name]) for name in tasks}
                )
            problems = [*_of_rows(run_cells), *others, *_of_files(folder)]
            checked.append(CheckedRun(folder, problems, [*_remarks(record, run_cells), *filter(None, [remark])]))
    return checked


def _of_rows(cells: list[CellScores]) -> Iterator[str]:
    """Yields what no score can be concluded from."""
    for task, task_cells in _by_task(cells, lambda cell: cell.own_rows).items():
        yield f"{task}: scores on {OWN} ({_languages(task_cells)}); {AGAIN} and the data set's rows"
    first = _by_task(cells, lambda cell: not cell.own_rows and not cell.selection.concludes)
    for task, task_cells in first.items():
        selections = words(cell.selection for cell in task_cells)
        yield f"{task}: {selections} ({_languages(task_cells)}); use --sample, or all rows"


def _by_task(cells: list[CellScores], which: Callable[[CellScores], bool]) -> dict[str, list[CellScores]]:
    return grouped(filter(which, cells), lambda cell: cell.task)


def _languages(cells: Iterable[CellScores]) -> str:
    return ", ".join(dict.fromkeys(cell.language for cell in cells))


def _of_tasks(record: RunRecord) -> Iterator[str]:
    """Yields how tasks and prompts differ from those that are installed."""
    for name, identity in record["identity"].get("tasks", {}).items():
        try:
            spec = _spec(name, identity)
        except UserError as e:
            yield f"{name}: {e.message}"
            continue
        if identity["version"] != spec.version:
            yield f"{name}: version {identity['version']}, and version {spec.version} is installed; {SCORE}, or {AGAIN}"
        elif identity.get("declaration", spec.declaration) != spec.declaration:
            yield f"{name}: its task file differs from the installed one; {AGAIN}"
        else:
            yield from declared_problems({name: declared_of(spec, identity["answer_form"])}, record)
        for language, prompts in identity["prompts"].items():
            installed = _hashes(spec, language, prompts)
            if others := [str(number) for number, of in prompts.items() if installed.get(number) != of]:
                yield f"{name}: prompts {language} {', '.join(others)} differ from the installed ones; {AGAIN}"


def _spec(name: str, identity: TaskIdentity) -> TaskSpec:
    base = name.removesuffix("_translate")
    if base not in task_names():
        raise UserError("it is not a task of afrieval", "leave it out")
    spec = load_task(base, options=identity.get("options", {}))
    return spec if base == name else translated(spec)


def _hashes(spec: TaskSpec, language: str, prompts: Iterable[PromptId]) -> dict[PromptId, str]:
    """Returns the hash of each installed prompt, of the sets that are asked for."""
    installed = []
    for kind in {prompt_set(prompt) for prompt in prompts}:
        if kind != SUITE:
            installed += [*paper_prompts(spec, language, uncleaned=kind != "paper").values()]
        elif language in prompt_languages(spec):
            installed += [*load_prompts(spec, language).values()]
    return {prompt.id: prompt.hash for prompt in installed}


def _data(record: RunRecord) -> Iterator[tuple[SplitKey, str]]:
    for task, identity in record["identity"].get("tasks", {}).items():
        for language, splits in identity["data"].items():
            yield from (((task, language, split), sha256) for split, sha256 in splits.items())


def _of_files(folder: Path) -> Iterator[str]:
    """Yields files with texts of data sets, whose licences and authors may not want them on the web."""
    having = []
    for cell in cell_names(folder):
        with opened_samples(sample_path(folder, cell), REDO) as samples:
            having += [cell] if any(_TEXT.search(line) for line in bounded_lines(samples)) else []
    if having:
        cells = f"{len(having)} cells, such as {having[0]}" if having[1:] else having[0]
        yield f"it has the questions of {cells}; -o FOLDER writes a copy without them"
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        with opened(path, "remove it, or make it readable") as file:
            if os.fstat(file.fileno()).st_size > LARGEST:
                yield f"{name} is larger than any file of a run; remove it"
                continue
            parts = chain([b""], iter(partial(file.read, 2**20), b""))  # not lines, which may be of any length
            if any(_CANARY.search(before + part) for before, part in pairwise(parts)):
                yield f"{name} has a benchmark's canary, so it has text of a test set"


def _remarks(record: RunRecord, cells: list[CellScores]) -> Iterator[str]:
    """Yields what does not keep a run from a board, and what its readers see there."""
    sampled = _by_task(cells, lambda cell: cell.selection.concludes and bool(cell.selection.words))
    for task, task_cells in sampled.items():
        yield f"{task}: {words(cell.selection for cell in task_cells)}, ranked by the rows that two models share"
    for task, task_cells in _by_task(cells, lambda cell: bool(cell.defect)).items():
        yield f"{task}: in no mean, since the data has a known defect ({_languages(task_cells)})"
    if paths := sorted({text for text in _texts(record) if _PATH.match(text)}):
        yield f"{RUN} has paths of a machine, such as {paths[0]}"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def copy_without_texts(run: Path, target: Path, raters: dict[str, str]) -> int:
    """Copies what a board needs of a run: run.yaml without paths, and samples without texts and names of people.

    Answers, thinking and judgements that repeat a long part of a question, its choices or prompt are left out, too.

    Args:
        run: the run folder.
        target: the copy, a new folder.
        raters: what those who rated answers are called in copies, which grows.

    Returns:
        The number of samples with texts that were left out because they repeat others.

    Raises:
        UserError: if the run cannot be read.
    """
    target.mkdir(parents=True)
    repeating = 0
    record: Any = RunFolder(run).record
    for visit in record["visits"]:
        source = visit.get("config", {}).get("data", {})
        source.update({"source": "hub"} if _PATH.match(source.get("source", "")) else {})  # it was a mirror of the hub
    # Where a run was is nobody's business: the last part of each path is left.
    write_run(target, _mapped(record, lambda text: Path(text).name if _PATH.match(text) else text))
    for cell in cell_names(run):
        with written_whole(sample_path(target, cell)) as copy:
            for line in read_lines(sample_path(run, cell)):
                written = _line_without_texts(line, raters)
                copy.write(written)
                repeating += WITHHELD.encode() in written
        if harness_path(run, cell).exists():
            shutil.copyfile(harness_path(run, cell), harness_path(target, cell))
    return repeating


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Returns nested maps and lists with changed texts."""
    if isinstance(value, Mapping):
        return {name: _mapped(part, change) for name, part in value.items()}
    if isinstance(value, list):
        return [_mapped(part, change) for part in value]
    return change(value) if isinstance(value, str) else value


def _parts(texts: Iterable[str]) -> tuple[list[str], set[str]]:
    """Returns what repeats some texts: those of a few words whole, and each long part of the others.

    Only letters and digits count, without case and marks: other line breaks or quotes hide nothing.
    """
    plain = {_plain(text) for text in texts if len(text) > FEW}
    long = {text[i : i + PART] for text in plain for i in range(len(text) - PART + 1)}
    return [text for text in plain if 0 < len(text) < PART], long


def _plain(text: str) -> str:
    return "".join(words_of(without_marks(text)))


def _line_without_texts(whole: Sample, raters: dict[str, str]) -> bytes:
    document: Any = whole.get("doc")
    question = {name: of for name, of in document.items() if name != "gold"} if isinstance(document, dict) else document
    parts = cache(lambda: _parts([*_texts(question), *_texts(whole.get("arguments"))]))

    def without_repeated(text: str) -> str:
        if len(text) <= FEW:
            return text
        plain, (short, long) = _plain(text), parts()
        repeats_part = any(plain[i : i + PART] in long for i in range(len(plain) - PART + 1))
        return WITHHELD if any(of in plain for of in short) or repeats_part else text

    sample = {k: of if k in KEPT else _mapped(of, without_repeated) for k, of in without_texts(whole).items()}
    if JUDGED in sample:  # what a judge gives as a reason may quote the question
        sample[JUDGED] = {name: {"level": of.get("level")} for name, of in sample[JUDGED].items()}
    if RATINGS in sample:
        levels = sample[RATINGS].items()
        sample[RATINGS] = {raters.setdefault(name, f"rater{len(raters) + 1}"): level for name, level in levels}
    text = json.dumps(sample, ensure_ascii=False)
    return text.encode(errors="surrogatepass") + b"\n"
