"""`afrieval preview`: the prompts that a model would get. Loads no model."""

from dataclasses import dataclass

from afrieval.commands.writeout import prompt_block
from afrieval.config.arguments import read_given, run_config
from afrieval.config.options import Options
from afrieval.config.settings import NotNegative
from afrieval.errors import UserError
from afrieval.harness.plan import HarnessCell
from afrieval.run.plan import plan
from afrieval.tasks.cell import Cell, cell_task
from afrieval.tasks.prompts import answers
from afrieval.terminal import note, one_line, say


@dataclass(frozen=True)
class Preview(Options):
    """Prints one document under each prompt, exactly as a model would see it. Loads no model.

    Examples:
        afrieval preview --task.task_name afrixnli --task.languages yor --data.source samples
        afrieval preview --task.task_name afrimmlu --task.prompts 1,2 --document 3 --show-blanks
    """

    document: NotNegative = 0
    """Row of the evaluated split to show, counted from 0."""
    show_blanks: bool = False
    """Make spaces, tabs and line ends visible."""


def main(argv: list[str]) -> None:
    """Prints one document under each prompt of each cell."""
    asked, given = read_given(Preview, argv, "preview")
    number, blanks, config = asked.document, asked.show_blanks, run_config(given, needs_model=False)
    planned = plan(config)
    for line in planned.told:
        note(line)
    for cell in planned.cells:
        _show(cell, number, blanks, config.model.chat_template)
    for harness_cell in planned.harness.cells:
        _show_harness(harness_cell, number, blanks, config.model.chat_template)


def _show(cell: Cell, number: int, blanks: bool, chat: bool) -> None:
    if number >= len(cell.data.documents):
        raise UserError(
            f"{cell.task.name} {cell.language} has no document {number}",
            f"its last is {len(cell.data.documents) - 1}",
        )
    document = cell.data.documents[number]
    if document.gold is None:
        say(f"{cell.title}, document {number}: left out, {one_line(document.defect)}\n")
        return
    examples = cell.examples(document)
    task = cell_task(cell, [document])
    chat_options = {"system_instruction": cell.prompt.system, "apply_chat_template": True} if chat else {}
    text = task.fewshot_context(
        task.eval_docs[0],
        num_fewshot=cell.shots,
        fewshot_as_multiturn=chat,
        chat_template=_turns,
        **chat_options,
    )
    say(f"{cell.title}, document {number}, few-shot rows {[e.id for e in examples] or 'none'}")
    say(prompt_block(with_blanks(text) if blanks else text))
    if cell.task.kind == "number":
        say(f"  gold: {one_line(document.gold)}")
    for i, continuation in enumerate(answers(cell.prompt, document, cell.answer_form)):
        shown = f"{'' if chat else ' '}{continuation}"
        say(f"  {shown!r}{'  gold' if i == document.gold else ''}")
    say()


def _show_harness(cell: HarnessCell, number: int, blanks: bool, chat: bool) -> None:
    from afrieval.harness.build import requests

    task = cell.build()
    if number >= len(task.eval_docs):
        raise UserError(f"{cell.name} has no document {number}", f"its last is {len(task.eval_docs) - 1}")
    options = {"apply_chat_template": True, "fewshot_as_multiturn": True, "chat_template": _turns} if chat else {}
    # all documents before it as well: the harness draws each one's examples after those of the last
    asked = [r.args for r in requests(cell.name, task, number + 1, **options) if r.doc_id == number]
    say(f"{cell.title}, document {number}, {cell.shots} examples")
    for prompt in dict.fromkeys(args[0] for args in asked):
        say(prompt_block(with_blanks(prompt) if blanks else prompt))
        for args in asked:
            if args[0] == prompt and len(args) > 1 and isinstance(args[1], str):
                say(f"  {args[1]!r}")
    say(f"  gold: {task.doc_to_target(task.eval_docs[number])!r}\n")


def _turns(history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
    """Stands in for the model's own chat template, which preview does not load.

    Without the generation prompt, the last turn is an answer already begun, and the model goes on with it.
    """
    turns = [f"[{turn['role']}]\n{turn['content']}" for turn in history]
    return "\n\n".join([*turns, "[assistant]"] if add_generation_prompt else turns)


def with_blanks(text: str) -> str:
    """Returns a text with its blanks, tabs and line ends made visible."""
    return text.replace(" ", "·").replace("\t", "→").replace("\n", "⏎\n").replace("\u00a0", "⍽")
