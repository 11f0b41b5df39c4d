"""Files made from prompts and reviews: golden files, and the documentation's pages on native prompts."""

import re
from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import get_args

from afrieval._util.grouping import grouped, ranges
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages
from afrieval.tasks.prompts.reviews import Status, share
from afrieval.tasks.prompts.vocabulary import strings
from afrieval.tools.review.sheet import filled, golden, native_languages, sheet_of

GOLDEN = Path("tests/tasks/golden")
INDEX = Path("docs/native-prompts.md")
BEGIN, END = "<!-- coverage: generated -->\n", "<!-- end of coverage -->\n"
PAGES = Path("docs/native-prompts")
STATES = get_args(Status)
REVIEWING = "[Native prompts](../native-prompts.md#how-to-review)"
REWRITE = "AFRIEVAL_REWRITE_GOLDEN=1 python -m pytest tests/test_native_coverage.py"


def templated(root: Path) -> list[TaskSpec]:
    """Returns the tasks in `tasks/` that have prompt files."""
    return [spec for name in task_names(root / "tasks") if not (spec := load_task(name, root / "tasks")).prompt]


def golden_files(root: Path, languages: list[str] | None = None) -> dict[Path, str]:
    """Returns the golden files of some or all languages: path within a checkout, and text."""
    return {
        GOLDEN / f"{spec.name}-{language}.txt": golden(spec, language)
        for spec in templated(root)
        for language in ([ENGLISH] if spec.shares_prompts else prompt_languages(spec))
        if languages is None or language in languages
    }


def pages(root: Path, languages: list[str] | None = None) -> dict[Path, str]:
    """Returns the pages on native prompts, the index and a page for each language: path, and text."""
    chosen = native_languages(root) if languages is None else languages
    return {INDEX: index(root)} | {PAGES / f"{code}.md": page(root, code) for code in chosen}


def index(root: Path) -> str:
    """Returns the page on native prompts with its table of languages renewed."""
    before, _, rest = (root / INDEX).read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{coverage(root)}\n{END}{rest.partition(END)[2]}"


def coverage(root: Path) -> str:
    """Returns a table in Markdown: the numbers of native prompts and the share reviewed, by language.

    It has all languages of the tasks except English. Tasks that share prompts count once.
    """
    specs, pages_of = [spec for spec in templated(root) if not spec.shares_prompts], native_languages(root)
    written = {s.name: "".join(prompt.template for prompt in load_prompts(s, ENGLISH).values()) for s in specs}
    specs = [s for s in specs if re.sub("{{.*?}}", "", written[s.name]).strip()]  # others show rows, and nothing else
    codes = {code for spec in specs for code in spec.languages}.union(pages_of) - {ENGLISH}
    rows = []
    for code in sorted(codes, key=lambda code: LANGUAGES[code].name):
        name = LANGUAGES[code].name
        linked = f"[{name}]({PAGES.name}/{code}.md)" if code in pages_of else name
        numbered = [(_numbers(spec, code), spec.title) for spec in specs if code in spec.languages]
        titles = {of: "; ".join(title for _, title in each) for of, each in grouped(numbered, itemgetter(0)).items()}
        missing = titles.pop("", "-")
        entries = [f"{numbers}: {tasks}" for numbers, tasks in titles.items()]
        rows.append([linked, f"`{code}`", "<br>".join(entries) or "-", missing])
    return _table(["language", "code", "native prompts", "wanted"], rows)


def _numbers(spec: TaskSpec, code: str) -> str:
    """Returns the prompts' numbers, with a star if not all are reviewed, and the share; empty if there are none."""
    path = spec.prompts_folder / f"{code}.yaml"
    if not path.is_file():
        return ""
    prompts = load_prompts(spec, code)
    star = "" if all(p.reviewed_by for p in prompts.values()) else "*"
    return f"{ranges(sorted(prompts))}{star} ({int(100 * share(path))} %)"


def page(root: Path, language: str) -> str:
    """Returns the page of a language: all strings task by task, and what is doubtful."""
    sheet, name = sheet_of(root, language, shown=False), LANGUAGES[language].name
    counts, native_strings = Counter(row.status for row in sheet.rows), strings(root, language)
    states = ", ".join(f"{counts[each]} {each}" for each in STATES if counts[each])
    parts = [
        f"# Native prompts in {name}",
        f"<!-- Written by `afrieval review read` and by {REWRITE} -->",
        f"{len(sheet.rows)} strings: {states}. To review them, see {REVIEWING}.",
    ]
    if doubtful := [
        [f"`{row.id}`", _md(filled(row.native, native_strings)), _md(row.doubt)] for row in sheet.rows if row.doubt
    ]:
        parts += ["## What is doubtful", _table(["string", name, "doubt"], doubtful)]
    for task, rows in grouped(sheet.rows, lambda row: row.task).items():
        heads = ["string", "English", name, "translated back", "status"]
        cells = [
            [f"`{r.id}`", *map(_md, (r.english, filled(r.native, native_strings), r.back, r.status))] for r in rows
        ]
        parts += [f"## {sheet.titles[task]}", _table(heads, cells)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [heads, ["---"] * len(heads), *rows])


def _md(text: str) -> str:
    return re.sub(r"[\\`*_\[\]<>|]", r"\\\g<0>", text).replace("\n", "<br>")
