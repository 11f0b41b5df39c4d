"""Pages of the site on tasks, from their declarations: `tasks/index.md`, and one for each task."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from site_markdown import facts, fenced, page, plain, table, toctree

from afrieval._util.grouping import ranges
from afrieval._util.yaml_files import read_map_file
from afrieval.addons.llama.evaluations import PUBLISHED
from afrieval.config.files import shipped_suites
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.results.cell_scores import ACCURACY
from afrieval.tasks.data.baselines import stored_baselines
from afrieval.tasks.declaration.known_facts import known_defects, published_metric, published_scores
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, prompt_languages
from afrieval.tools.catalogue import KINDS, task_tables

ORIGINS = {"machine": "machine-written", "human": "written by people", "paper": "from the paper"}
ON_HUB = re.compile(r"[\w.-]+/[\w.-]+")


def index(specs: Sequence[TaskSpec]) -> str:
    """Returns the page that lists all tasks by kind."""
    titles = {spec.name: plain(spec.title) for spec in specs}
    parts = []
    for kind in task_tables(specs):
        rows = [[f"[{titles[name]}]({name}.md)", f"`{name}`", *rest] for name, _, *rest in kind.rows]
        parts += [f"## {kind.title}", table(["benchmark", "task", "languages", "rows", "native prompts"], rows)]
    about = (
        f"{len(specs)} tasks, by kind. Rows are those of the evaluated split in one language. The last column counts "
        "languages with native prompts. [Kinds of tasks](../tasks.md) explains how each kind is asked and scored."
    )
    return page("All tasks", about, *parts, toctree(sorted(titles, key=lambda name: titles[name].lower())))


def task_page(spec: TaskSpec) -> str:
    """Returns the page of a task."""
    language = next((code for code in ("hau", *spec.languages) if code in spec.languages), ENGLISH)
    chosen = f" --languages {language}" if len(spec.languages) > 1 else ""
    commands = [f"afrieval run MODEL {spec.name}{chosen} --sample 100"]
    commands += [f"afrieval preview {spec.name}{chosen}"] if spec.prompted else []
    return page(
        plain(spec.title),
        plain(spec.description),
        fenced("\n".join(commands), "shell"),
        facts(_facts(spec)),
        "## Languages",
        _languages(spec),
        *_prompts(spec),
        *_defects(spec),
        *_published(spec),
    )


def review_state(prompts: dict[int, Prompt]) -> str:
    """Returns who wrote prompts, and whether two speakers have reviewed them."""
    reviewed = [number for number, prompt in prompts.items() if prompt.reviewed_by]
    people = sorted({name for prompt in prompts.values() for name in prompt.reviewed_by.split(", ") if name})
    by = f"{ranges(reviewed)} reviewed by {plain(', '.join(people))}" if reviewed else "not reviewed"
    return f"{ORIGINS[next(iter(prompts.values())).origin]}, {by}"


def natives(spec: TaskSpec) -> dict[str, dict[int, Prompt]]:
    """Returns the native prompts of a task of the suite by language."""
    return _natives(spec.name)


@cache
def _natives(task: str) -> dict[str, dict[int, Prompt]]:
    spec = load_task(task)
    if not spec.prompted:
        return {}
    return {code: load_prompts(spec, code) for code in prompt_languages(spec) if code != ENGLISH}


def defects_in(spec: TaskSpec, language: str) -> str:
    """Returns how many rows of the evaluated split have a known defect, with a link; empty if none has."""
    found = [d for d in known_defects(spec) if (d.language, d.split) == (language, spec.data.evaluate)]
    count = "all" if any(d.whole for d in found) else len({row for d in found for row in d.witnesses})
    return f"[{count}](../tasks/{spec.name}.md#known-defects)" if found else ""


def published_by(spec: TaskSpec) -> list[str]:
    """Returns the models whose scores have been published and are shown on the task's page."""
    return list(dict.fromkeys([*published_scores(spec.name), *_of_meta(spec)]))


def _facts(spec: TaskSpec) -> Iterator[tuple[str, str]]:
    yield "Name", f"`{spec.name}`, version {spec.version}"
    yield "Kind", KINDS.get(spec.kind, spec.kind)
    yield "Data", f"{_dataset(spec.data.hub)}, revision `{spec.data.revision}`"
    yield "Licence", plain(spec.licence)
    yield "Cite", plain(spec.citation)
    fewshot = f"`{spec.data.fewshot}`" if spec.data.fewshot else "in the prompts" if spec.prompt else "none"
    yield "Splits", f"evaluated `{spec.data.evaluate}`; few-shot examples {fewshot}"
    yield "Answer forms", ", ".join(spec.answer_forms)
    metrics = ", ".join(f"`{metric.name}`" for metric in spec.scoring.metrics)
    yield "Metrics", f"{metrics}; the first is the main one ([scoring](../scoring.md))"
    levels = ", ".join(spec.judge.levels) if spec.judge else ""
    yield "May be judged", f"as {plain(levels)} ([rubric](../tables/rubrics.md))" if levels else ""
    values = {name: of if isinstance(of, str) else ", ".join(of) for name, of in spec.options.items()}
    yield "Options", "; ".join(f"`{name}`: {plain(of)}" for name, of in values.items())
    yield "Variants", f"direct; translate ({_dataset(spec.translate.hub)})" if spec.translate else ""
    yield "Variant of", f"[{spec.kin.name}]({spec.kin.name}.md)" if spec.kin else ""
    yield "Suites", ", ".join(f"`{name}`" for name, of in _suites().items() if spec.name in of)


@cache
def _suites() -> dict[str, set[str]]:
    return {name: {task for of in suite.groups.values() for task in of} for name, suite in shipped_suites().items()}


def _dataset(hub: str) -> str:
    return (
        f"[{plain(hub)}](https://huggingface.co/datasets/{hub})"
        if ON_HUB.fullmatch(hub)
        else f"`{hub.replace('{evals}', 'MODEL-evals')}`"
    )


def numbers(prompts: dict[int, Prompt] | None) -> str:
    """Returns the numbers of prompts, with a star if two speakers have not reviewed them all."""
    if not prompts:
        return ""
    return ranges(sorted(prompts)) + ("" if all(prompt.reviewed_by for prompt in prompts.values()) else r"\*")


def texts_of(spec: TaskSpec, code: str) -> str:
    """Returns the place of a task's native prompts in a language."""
    slug = re.sub(r"[^\w -]", "", spec.author.title.lower()).replace(" ", "-")
    return f"../native-prompts/{code}.md#{slug}"


def _languages(spec: TaskSpec) -> str:
    """Returns the table of a task's languages: rows of each split, native prompts, defects, baselines."""
    splits, native, stored = list(spec.data.files), natives(spec), stored_baselines(spec)
    kinds = list(dict.fromkeys(name for of in stored.values() for name in of.scores))
    heads = ["language", "code in the data", *(f"{split} rows" for split in splits), "native prompts", "defective rows"]
    rows = []
    for code, theirs in spec.languages.items():
        counts = [spec.data.rows_of(split, code) for split in splits]
        of = stored[code].scores if code in stored else {}
        row = [f"[{plain(LANGUAGES[code].name)}](../languages/{code}.md)", f"`{theirs}`" if theirs else ""]
        row += ["" if n is None else f"{n:,}" for n in counts]
        row += [numbers(native.get(code)), defects_in(spec, code)]
        rows.append([*row, *(f"{100 * of[kind][ACCURACY]:.1f}" if kind in of else "" for kind in kinds)])
    notes = [r"\* not reviewed by two speakers yet."] if native else []
    if kinds:
        notes.append(
            "Baselines are accuracies in percent of a model that does not read the text ([how](../baselines.md))."
        )
    return f"{table([*heads, *(f'baseline: {kind}' for kind in kinds)], rows)}\n{' '.join(notes)}"


def _prompts(spec: TaskSpec) -> Iterator[str]:
    yield "## Prompts"
    if spec.prompt:
        yield "Each row of the data has its complete prompt."
    elif not spec.prompted:
        yield "None: the likelihood of whole texts is measured."
    if spec.paper:
        paper = f"{plain(spec.paper.name)} {ranges(sorted(spec.paper.prompts))}"
        yield f"Prompts of the paper: {paper}, with `--prompt-set paper` ([how](../prompts.md))."
    if not spec.prompted:
        return
    if spec.author is not spec:
        yield f"The prompts are those of [{plain(spec.author.title)}](./{spec.author.name}.md)."
    elif english := load_prompts(spec, ENGLISH):
        yield "### English"
        yield from _shared(english[min(english)])
        for prompt in english.values():
            yield from _english(prompt)
    if native := natives(spec):
        yield "### Native"
        yield "A native prompt says the same as the English one with its number. To review them, see " + (
            "[native prompts](../native-prompts.md#how-to-review)."
        )
        rows = [
            [f"[{plain(LANGUAGES[code].name)}]({texts_of(spec, code)})", numbers(of), review_state(of)]
            for code, of in native.items()
        ]
        yield table(["texts in", "prompts", "state"], rows)


def _shared(prompt: Prompt) -> Iterator[str]:
    """Yields what all prompts of a file have."""
    if prompt.system:
        yield "For chat models, before each prompt:"
        yield fenced(prompt.system)
    if prompt.lead_ins:
        yield f"Words that announce an answer: {', '.join(f'`{words}`' for words in prompt.lead_ins)}"


def _english(prompt: Prompt) -> Iterator[str]:
    source = f" ({plain(prompt.source)})" if prompt.source else ""
    yield f"**Prompt {prompt.number}**{source}"
    yield fenced("\n\n".join(filter(None, [prompt.header, prompt.template])))
    if shown := {name: word for name, word in prompt.labels.items() if name != word}:
        yield f"Labels: {', '.join(f'{plain(name)} is `{word}`' for name, word in shown.items())}"


def _defects(spec: TaskSpec) -> Iterator[str]:
    if not (found := known_defects(spec)):
        return
    yield "## Known defects"
    yield "These rows are marked in results and never serve as examples ([how they were found](../data-quality.md))."
    lines = []
    for defect in found:
        rows = f"row{'s' if len(defect.witnesses) > 1 else ''} {', '.join(map(str, defect.witnesses))}"
        count = "all rows" if defect.whole else rows
        where = f"{plain(LANGUAGES[defect.language].name)} {plain(defect.split)}, {count}"
        said = [f"{text[0].upper()}{text[1:]}".rstrip(".") for text in (defect.what, defect.evidence)]
        lines.append(f"* **{where}.** {plain('. '.join(said))}. Source: {plain(defect.source)}.\n")
    yield "".join(lines)


def _published(spec: TaskSpec) -> Iterator[str]:
    rows = []
    for model, of in published_scores(spec.name).items():
        doubt = f". In doubt: {of.doubt}" if of.doubt else ""
        rows.append([model, "" if of.micro is None else f"{of.micro:.1f}", "", f"{of.setting}{doubt}", of.source])
    for model, each in _of_meta(spec).items():
        rows += [[model, f"{one['score']:.1f}", one["average"] or "", one["setting"], one["source"]] for one in each]
    if rows:
        yield "## Published scores"
        yield f"`{published_metric(spec.name)}` in percent, as others published it; reports show them next to runs."
        heads = ["model", "score", "average", "setting", "source"]
        yield table(heads, [[plain(cell) for cell in row] for row in rows])


def _of_meta(spec: TaskSpec) -> dict[str, list[dict[str, Any]]]:
    """Returns the published scores of one of Meta's evaluations by model."""
    return {model: of[spec.name] for model, of in _evaluations().items() if spec.name in of}


@cache
def _evaluations() -> dict[str, Any]:
    content: dict[str, Any] = read_map_file(PUBLISHED).content
    return content
