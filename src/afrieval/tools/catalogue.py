"""What there is to run: tables of tasks, of the tasks in a language or a suite, and of model files; facts on a task."""

from collections.abc import Iterator, Sequence

from afrieval._util.grouping import grouped
from afrieval._util.resources import shipped
from afrieval._util.yaml_files import read_map_file
from afrieval.config.settings import TaskConfig
from afrieval.languages import ENGLISH, LANGUAGES, named
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.results.cell_key import prompt_ranges
from afrieval.results.cell_scores import ACCURACY
from afrieval.tasks.data.baselines import stored_baselines
from afrieval.tasks.declaration.known_facts import known_defects, published_scores
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, prompt_languages

KINDS = {
    "multiple_choice": "Multiple choice",
    "classification": "Classification",
    "labels": "Emotions",
    "levels": "Intensity of emotions",
    "number": "Word problems",
    "mathematics": "Mathematics",
    "question": "Questions with short answers",
    "translation": "Translation",
    "summary": "Summaries",
    "spans": "Named entities and slots",
    "tags": "Parts of speech",
    "restoration": "Diacritics",
    "instructions": "Instructions",
    "text": "Generated texts",
    "open": "Open questions",
    "likelihoods": "Likelihoods of texts",
}
NO_PROMPTS = "none, the likelihood of whole texts is measured"
FEW = 3  # languages that a table names instead of counting them
UNBROKEN = "\xa0"  # a blank that lines do not break at


def task_tables(specs: Sequence[TaskSpec]) -> list[Table]:
    """Returns a table for each kind of task: titles, languages, rows, and numbers of languages with native prompts."""
    columns = [Column("task"), Column("what", "name", "title"), Column("languages", "name")]
    columns += [Column("rows", "count"), Column("native", "count")]
    tables = []
    for kind, of_kind in grouped(specs, key=lambda spec: spec.kind).items():
        native = {s.name: len({*prompt_languages(s)} & {*s.languages} - {ENGLISH}) or None for s in of_kind}
        rows = [[s.name, s.title, _languages(s), _rows(s) or None, native[s.name]] for s in of_kind]
        tables.append(Table("tasks", KINDS.get(kind, kind.replace("_", " ")), columns, rows, about={"kind": kind}))
    order = list(KINDS.values())
    return sorted(tables, key=lambda table: order.index(table.title) if table.title in order else len(order))


def language_table(language: str, specs: Sequence[TaskSpec]) -> Table:
    """Returns the tasks that have a language: rows, native prompts, known defects, published prompts or scores."""
    columns = [Column("task"), Column("rows", "amount"), Column("native prompts")]
    columns += [Column("known defects", "name", "defects"), Column("published prompts or scores", "name", "published")]
    rows = []
    for spec in specs:
        if language in spec.languages:
            native = load_prompts(spec, language) if language in prompt_languages(spec) else {}
            mark = "" if all(prompt.reviewed_by for prompt in native.values()) else "*"
            prompts = f"{prompt_ranges(list(native))}{mark}" if native and language != ENGLISH else None
            published = spec.paper.name if spec.paper else ", ".join([*published_scores(spec.name)][:1])
            split = spec.data.evaluate
            defective = [d for d in known_defects(spec) if (d.language, d.split) == (language, split)]
            n_defect = len({row for defect in defective for row in defect.witnesses})
            some = f"{n_defect} row{'s' if n_defect > 1 else ''}" if n_defect else None
            defects = "all rows" if any(defect.whole for defect in defective) else some
            rows.append([spec.name, spec.data.rows_of(split, language), prompts, defects, published or None])
    notes = ["* written by a machine and not reviewed by two speakers. Rows are those of the evaluated split."]
    notes.append(f"afrieval run MODEL TASKS --languages {language} runs tasks in this language alone.")
    findings = [f"{len(rows)} tasks have {named(language)}."]
    return Table("language", named(language), columns, rows, notes, findings, about={"language": language})


def languages_table(specs: Sequence[TaskSpec]) -> Table:
    """Returns the languages, with the number of tasks that have each."""
    counts = {code: sum(code in spec.languages for spec in specs) for code in LANGUAGES}
    rows = [[LANGUAGES[code].name, code, n] for code, n in counts.items() if n]
    columns = [Column("language", "name"), Column("code"), Column("tasks", "count")]
    return Table("languages", "Languages", columns, rows, ["afrieval list LANGUAGE shows the tasks of one."])


def suite_table(suite: TaskConfig, specs: Sequence[TaskSpec]) -> Table:
    """Returns the tasks of a suite by group, with the languages in which each runs."""
    columns = [Column("group", "name"), Column("task"), Column("what", "name", "title"), Column("languages", "name")]
    spec_of = {spec.name: spec for spec in specs}
    rows = [
        [group, name, spec_of[name].title, _languages(spec_of[name], suite.languages)]
        for group, names in suite.groups.items()
        for name in names
    ]
    codes = list(dict.fromkeys(code for _, name, *_ in rows for code in spec_of[name].languages))
    codes = [code for code in suite.languages or codes if code in codes]
    findings = [f"{len(rows)} tasks in {len(suite.groups)} groups, in {len(codes)} languages:"]
    findings.append(f"{', '.join(sorted(LANGUAGES[code].name for code in codes))}.")
    notes = ["All groups have the same weight in the average.", f"afrieval run MODEL {suite.suite} runs all of it."]
    return Table("suite", str(suite.suite), columns, rows, notes, findings, about={"suite": suite.suite})


def suites_table(suites: Sequence[TaskConfig]) -> Table:
    """Returns the suites, with their numbers of tasks."""
    columns = [Column("suite"), Column("tasks", "count"), Column("groups", "name")]
    rows = [[s.suite, sum(map(len, s.groups.values())), ", ".join(s.groups)] for s in suites]
    notes = ["afrieval list SUITE shows its tasks and languages. afrieval list --language hausa shows what there is"]
    notes.append("in a language; afrieval list models shows the model files.")
    return Table("suites", "Suites", columns, rows, notes)


def model_table() -> Table:
    """Returns the model files of configs/models, by the name that `afrieval run` takes."""
    rows = []
    for path in sorted(shipped("configs").glob("models/*.yaml")):
        settings = read_map_file(path).content
        supported = [str(code) for code in settings.get("languages_supported", [])]
        african = [code for code in supported if code in LANGUAGES and LANGUAGES[code].african]
        rows.append([path.stem, settings["model_name"], settings.get("model_type", "hf"), len(african) or None])
    columns = [Column("model"), Column("hub id, or the server's name", key="model_name")]
    columns += [Column("backend", key="model_type"), Column("African languages", "count", "languages")]
    notes = ["Any other model is named by its hub id or folder: afrieval run ORGANISATION/MODEL TASKS."]
    notes.append("African languages are those that the model's authors say it supports, where they do.")
    return Table("models", "Model files", columns, rows, notes)


def task_facts(spec: TaskSpec) -> Iterator[tuple[str, str]]:
    """Yields all that is known of a task, as labels and texts; the label is empty where a text continues one."""
    fewshot = spec.data.fewshot
    left_out = ", except the question itself" if fewshot == spec.data.evaluate else ""
    hub = spec.data.hub.replace("{evals}", "MODEL-evals")  # there is one for each model
    yield "data", f"{hub}, {spec.data.evaluate} split"
    if rows := _rows(spec):
        yield "rows", f"{rows}{' in each language' if len(spec.languages) > 1 else ''}"
    yield "licence", spec.licence
    yield "kind", f"{spec.kind}; {', '.join(metric.name for metric in spec.scoring.metrics)}"
    if spec.judge:
        yield "judged as", f"{', '.join(spec.judge.levels)}; rubric version {spec.judge.version}"
    yield "examples", f"{fewshot} split{left_out}" if fewshot else "in the prompts" if spec.prompt else "none"
    if spec.options:
        values = {k: f"any, as {of}" if isinstance(of, str) else ", ".join(of) for k, of in spec.options.items()}
        yield "options", "; ".join(f"{name}: {of}" for name, of in values.items())
    yield "variants", "direct" + (f"; translate ({spec.translate.hub})" if spec.translate else "")
    yield "answer forms", ", ".join(spec.answer_forms)
    heading = f"{len(spec.languages)} language{'s' if len(spec.languages) > 1 else ''}"
    yield heading, ", ".join(named(code).replace(" ", UNBROKEN) for code in spec.languages)
    numbers = "complete, one in each row of the data" if spec.prompt else _numbers(load_prompts(spec, ENGLISH))
    yield "prompts", f"English {numbers}" if spec.prompt or spec.prompted else NO_PROMPTS
    if spec.paper:
        yield "", f"{spec.paper.name} {prompt_ranges(spec.paper.prompts)}, with --task.prompt_set paper"
    natives = {code: load_prompts(spec, code) for code in prompt_languages(spec) if code != ENGLISH}
    described = grouped(natives, key=lambda code: f"{_numbers(natives[code])}, {_review(natives[code])}")
    for how, languages in described.items():
        yield "", f"native {how}: {' '.join(languages)}"
    for number, (what, defects) in enumerate(grouped(known_defects(spec), key=lambda defect: defect.what).items()):
        where = [
            f"{d.language}{UNBROKEN}{d.split}{UNBROKEN}({'all' if d.whole else len(d.witnesses)})" for d in defects
        ]
        yield "" if number else "defects", f"{what}: rows of {', '.join(where)}"
    stored = stored_baselines(spec)  # what a model gets in each language that does not read the text
    for number, name in enumerate(dict.fromkeys(name for of in stored.values() for name in of.scores)):
        scores = {code: f"{100 * of.scores[name][ACCURACY]:.1f}" for code, of in stored.items() if name in of.scores}
        alike = len(scores) > 1 and len({*scores.values()}) == 1
        of_each = " ".join(f"{code}{UNBROKEN}{score}" for code, score in scores.items())
        shown = f"{next(iter(scores.values()))} in each" if alike else of_each
        yield "" if number else "baselines", f"{name} (%): {shown}"


def _languages(spec: TaskSpec, among: Sequence[str] | None = None) -> str:
    """Returns the names of a task's languages, or how many African ones there are and the names of others."""
    codes = [code for code in spec.languages if among is None or code in among]
    african = [code for code in codes if LANGUAGES[code].african]
    others = [LANGUAGES[code].name for code in codes if code not in african]
    if len(codes) <= FEW:
        return ", ".join(LANGUAGES[code].name for code in codes)
    return ", ".join([f"{len(african)} African", *(others if len(others) <= FEW else [f"{len(others)} others"])])


def _rows(spec: TaskSpec) -> str:
    """Returns the number of rows in a language, from the fewest to the most; empty if it is not known."""
    sizes = spec.data.sizes(spec.data.evaluate)
    return "-".join(f"{n:,}" for n in dict.fromkeys([*sizes[:1], *sizes[-1:]]))


def _numbers(prompts: dict[int, Prompt]) -> str:
    return ", ".join(map(str, prompts))


def _review(prompts: dict[int, Prompt]) -> str:
    first = next(iter(prompts.values()))
    written = {"machine": "machine-written", "human": "written by people", "paper": "from the paper"}[first.origin]
    reviewers = {prompt.reviewed_by for prompt in prompts.values()}
    return f"{written}, {'not reviewed yet' if '' in reviewers else 'reviewed by ' + ', '.join(sorted(reviewers))}"
