"""`afrieval list`: tasks, suites, languages, model files, and all that is known of a task."""

from textwrap import fill

from afrieval._util.errors import SURE, UserError, nearest
from afrieval._util.terminal import say
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.declarations.tasks import ListCommand
from afrieval.config.arguments import read_options
from afrieval.config.files import shipped_suites
from afrieval.config.settings import CODED_TASKS
from afrieval.languages import LANGUAGES, language_of, names
from afrieval.tasks.declaration.spec import TASKS, Folders, load_task, task_names
from afrieval.tools.catalogue import (
    UNBROKEN,
    language_table,
    languages_table,
    model_table,
    suite_table,
    suites_table,
    task_facts,
    task_tables,
)

WIDTH, LABEL = 80, 15
MODELS, LANGUAGE_NAMES = "models", "languages"


def main(argv: list[str]) -> None:
    """Prints what there is, or all that is known of the named tasks."""
    options = read_options(ListCommand, argv, "list")
    folders = options.task.folder or TASKS
    if options.language:
        specs = [load_task(name, folders) for name in options.names or task_names(folders)]
        write_tables([language_table(_code(options.language), specs)], options)
        return
    if not options.names:
        tables = task_tables([load_task(name, folders) for name in task_names(folders)])
        tables += [] if options.task.folder else [suites_table([*shipped_suites().values()])]
        write_tables(tables, options)
        return
    suites = shipped_suites()
    listed = [*task_names(folders), *task_names(), *suites, *CODED_TASKS, MODELS, LANGUAGE_NAMES]
    if unknown := next((name for name in options.names if name not in listed and not language_of(name)), None):
        raise UserError(f"there is no task or suite {unknown!r}", nearest(unknown, listed, "afrieval list"))
    tables = []
    for name in options.names:
        if name == MODELS:
            tables.append(model_table())
        elif name == LANGUAGE_NAMES:
            tables.append(languages_table([load_task(task, folders) for task in task_names(folders)]))
        elif name not in listed:
            tables.append(language_table(_code(name), [load_task(task, folders) for task in task_names(folders)]))
        elif name in suites:
            members = [task for of in suites[name].groups.values() for task in of]
            tables.append(suite_table(suites[name], [load_task(task) for task in members]))
        else:
            _print_facts(name, folders)
    if tables:
        write_tables(tables, options)


def _code(text: str) -> str:
    code = language_of(text)
    if code is None:
        labels = {name: f"{LANGUAGES[code].name} ({code})" for name, code in names().items()}
        raise UserError(f"there is no language {text!r}", nearest(text, labels, "afrieval list languages", cutoff=SURE))
    return code


def _print_facts(name: str, folders: Folders) -> None:
    if name in CODED_TASKS:
        say(fill(f"{name}: {CODED_TASKS[name].ABOUT}", WIDTH, break_on_hyphens=False))
        say()
        return
    spec = load_task(name, folders)
    say(fill(f"{spec.name} (version {spec.version}): {spec.description}", WIDTH))
    for label, text in task_facts(spec):
        head = f"  {label}".ljust(LABEL)
        if len(head) > LABEL:
            say(head)
            head = " " * LABEL
        lines = fill(text, WIDTH, initial_indent=head, subsequent_indent=" " * LABEL, break_on_hyphens=False)
        say(lines.replace(UNBROKEN, " "))
    say()
