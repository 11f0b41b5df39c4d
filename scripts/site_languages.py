"""Pages of the site on languages: `languages/index.md`, and one for each language that a task has."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from site_markdown import facts, fenced, page, plain, table, toctree
from site_tasks import defects_in, natives, numbers, published_by, review_state, texts_of

from afrieval.languages import ALSO, ENGLISH, LANGUAGES, SHORT
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.reviews import Status
from afrieval.tools.review.sheet import native_languages, sheet_of

REVIEW = "[How to review](../native-prompts.md#how-to-review)"
START = "[Add a language or a prompt](../adding-a-language-or-prompt.md)"


def languages_of(specs: Sequence[TaskSpec]) -> list[str]:
    """Returns the codes of all languages that tasks have, sorted by name."""
    return sorted({code for spec in specs for code in spec.languages}, key=lambda code: LANGUAGES[code].name)


def index(specs: Sequence[TaskSpec]) -> str:
    """Returns the page that lists all languages."""
    codes, rows = languages_of(specs), []
    for code in codes:
        of, prompted = LANGUAGES[code], _prompted(specs, code)
        where = of.place if of.african else "elsewhere"
        linked = f"[{plain(of.name)}]({code}.md)"
        of_code = sum(code in spec.languages for spec in specs)
        rows.append([linked, f"`{code}`", of_code, len(prompted) or "", of.script_name, of.family, where])
    heads = ["language", "code", "tasks", "with native prompts", "script", "family", "region"]
    about = (
        "Commands take a language by its name, its code here (ISO 639-3), or any other code or name on its page: "
        "`--languages yoruba`, `yor`, `yo` and `yor_Latn` are the same."
    )
    return page("All languages", about, table(heads, rows), toctree(codes))


def language_page(specs: Sequence[TaskSpec], code: str, root: Path) -> str:
    """Returns the page of a language."""
    native = code in native_languages(root)
    return page(
        plain(LANGUAGES[code].name),
        facts(_facts(code)),
        fenced(f"afrieval list --language {code}\nafrieval run MODEL TASKS --languages {code}", "shell"),
        "## Tasks",
        _tasks(specs, code),
        *(_native(specs, code, root) if native else _wanted(specs, code)),
        toctree([f"../native-prompts/{code}.md"]) if native else "",
    )


def _facts(code: str) -> Iterator[tuple[str, str]]:
    of, own = LANGUAGES[code], code.partition("_")[0]
    short = f", `{SHORT[own]}` (ISO 639-1)" if own in SHORT else ""
    yield "Code", f"`{own}` (ISO 639-3){short}" + (f"; `{code}` in the suite" if code != own else "")
    yield "Also understood", plain(ALSO.get(code, ""))
    yield "Script", f"{plain(of.script_name)} (`{of.script}`)"
    yield "Family", plain(of.family)
    yield "Region", of.place if of.african else "elsewhere; it does not count in means over African languages"


def _tasks(specs: Sequence[TaskSpec], code: str) -> str:
    rows = []
    for spec in (spec for spec in specs if code in spec.languages):
        n, models = spec.data.rows_of(spec.data.evaluate, code), len(published_by(spec))
        linked = f"[{plain(spec.title)}](../tasks/{spec.name}.md)"
        prompts = numbers(natives(spec).get(code))
        scores = f"[{models} models](../tasks/{spec.name}.md#published-scores)" if models else ""
        scores = scores or (plain(spec.paper.name) if spec.paper else "")
        rows.append([linked, f"`{spec.name}`", f"{n:,}" if n else "", prompts, defects_in(spec, code), scores])
    heads = ["benchmark", "task", "rows", "native prompts", "defective rows", "published scores"]
    return f"{table(heads, rows)}\nRows are those of the evaluated split."


def _prompted(specs: Sequence[TaskSpec], code: str) -> list[TaskSpec]:
    """Returns the tasks that have native prompts in a language."""
    return [spec for spec in specs if code in natives(spec)]


def _native(specs: Sequence[TaskSpec], code: str, root: Path) -> Iterator[str]:
    counts = Counter(row.status for row in sheet_of(root, code, shown=False).rows)
    states = ", ".join(f"{counts[each]} {each}" for each in get_args(Status) if counts[each])
    name = plain(LANGUAGES[code].name)
    yield "## Native prompts"
    yield f"[All {counts.total()} texts](../native-prompts/{code}.md), and what is doubtful in them: {states}."
    rows = []
    for spec in _prompted(specs, code):
        prompts = natives(spec)[code]
        rows.append([f"[{plain(spec.title)}]({texts_of(spec, code)})", numbers(prompts), review_state(prompts)])
    yield table(["benchmark", "prompts", "state"], rows)
    if counts["reviewed"] < counts.total():
        yield (
            f"**Do you speak {name}?** A text is reviewed when two speakers approve it. You need a browser or a "
            f"spreadsheet, and no programming. {REVIEW}."
        )
        yield fenced(f"afrieval review sheet --language {code} -o {code}.html", "shell")


def _wanted(specs: Sequence[TaskSpec], code: str) -> Iterator[str]:
    """Yields what is to be written for a language without native prompts."""
    wanted = [spec for spec in specs if code in spec.languages and spec.prompted and not spec.shares_prompts]
    wanted = [spec for spec in wanted if any(natives(spec))]
    if code == ENGLISH or not wanted:
        return
    yield "## Native prompts"
    titles = ", ".join(f"[{plain(spec.title)}](../tasks/{spec.name}.md)" for spec in wanted)
    yield f"There are none in {plain(LANGUAGES[code].name)} yet. Wanted: {titles}. **Do you speak it?** {START}."
