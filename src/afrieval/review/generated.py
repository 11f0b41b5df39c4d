"""Files made from prompts and reviews: golden files, and the documentation's pages on native prompts."""

from pathlib import Path

from afrieval.grouping import ranges
from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.review.examples import golden
from afrieval.tasks.prompts import load_prompts, prompt_languages
from afrieval.tasks.spec import TaskSpec, load_task, task_names

GOLDEN = Path("tests/tasks/golden")
INDEX = Path("docs/native-prompts.md")
BEGIN, END = "<!-- coverage: written by tests/test_native_coverage.py -->\n", "<!-- end of coverage -->\n"
REWRITE = "AFRIEVAL_REWRITE_GOLDEN=1 python -m pytest tests/review/test_generated.py"


def templated(root: Path) -> list[TaskSpec]:
    """Returns the tasks in `tasks/` that have prompt files."""
    return [spec for name in task_names(root / "tasks") if not (spec := load_task(name, root / "tasks")).prompt]


def golden_files(root: Path, languages: list[str] | None = None) -> dict[Path, str]:
    """Returns the golden files of some or all languages: path within a checkout, and text."""
    return {
        GOLDEN / f"{spec.name}-{language}.txt": golden(spec, language)
        for spec in templated(root)
        for language in prompt_languages(spec)
        if languages is None or language in languages
    }


def index(root: Path) -> str:
    """Returns the page on native prompts with its table of languages renewed."""
    before, _, rest = (root / INDEX).read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{coverage(root)}\n{END}{rest.partition(END)[2]}"


def coverage(root: Path) -> str:
    """Returns a table in Markdown: the numbers of native prompts, for all languages of all tasks except English."""
    specs = templated(root)
    codes = {code for spec in specs for code in [*spec.languages, *prompt_languages(spec)]} - {ENGLISH}
    rows = [["language", "code", *(spec.title for spec in specs)], ["---"] * (2 + len(specs))]
    for code in sorted(codes, key=lambda code: LANGUAGES[code].name):
        rows.append([LANGUAGES[code].name, f"`{code}`", *(_cell(spec, code) for spec in specs)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(spec: TaskSpec, code: str) -> str:
    """Returns the prompts' numbers, with a star if not all are reviewed; a dash if the task lacks the language."""
    if code not in prompt_languages(spec):
        return "wanted" if code in spec.languages else "-"
    prompts = load_prompts(spec, code)
    star = "" if all(p.reviewed_by for p in prompts.values()) else "*"
    return ranges(sorted(prompts)) + star
