"""What the model gets: the token that opens a sequence, once and only once, and complete prompts whole."""

from typing import Any

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.run.limits import generation
from afrieval.tasks.cell import Cell, cell_task

SHOWN = 8
LOOKED_AT = 100


def first_tokens(cells: list[Cell], lm: Any, config: RunConfig) -> dict[str, list[int]]:
    """Returns task to the ids of the first tokens of a prompt of it, as the model gets them, where they are known.

    Args:
        cells: what is run.
        lm: the model.
        config: the merged config.

    Raises:
        UserError: if complete prompts would not begin with one beginning-of-sequence token. Without it, or with two,
            scores of Llama 3 drop by some points, and nothing else tells.
    """
    first: dict[str, Cell] = {}
    for cell in cells:
        if any(d.gold is not None for d in cell.documents):
            first.setdefault(cell.task.name, cell)
    if not lm.can.count_tokens:
        return {}
    begun = {name: lm.tok_encode(_first_prompt(cell, lm, config)) for name, cell in first.items()}
    for name, tokens in begun.items():
        if first[name].task.prompt:
            _check(name, tokens, getattr(lm.tokenizer, "bos_token_id", None))
    return {name: list(tokens[:SHOWN]) for name, tokens in begun.items()}


def check_fit(cells: list[Cell], lm: Any, config: RunConfig) -> None:
    """Refuses complete prompts that the model would get cut: backends cut the beginning, and some say nothing.

    The longest prompts in bytes are looked at, of which one is the longest in tokens or nearly so.

    Raises:
        UserError: naming the task, and how much room it needs.
    """
    for cell in cells:
        if not cell.task.prompt:
            continue
        prompts = sorted((d.prompt for d in cell.documents if d.gold is not None), key=lambda p: len(p.encode()))
        longest = max((lm.count_tokens(prompt) for prompt in prompts[-LOOKED_AT:]), default=0)
        answer = generation(cell, lm, config).max_tokens if cell.answer_form == "generate" else 1
        if longest + answer > lm.max_length:
            raise UserError(
                f"a prompt of {cell.task.name} has {longest} tokens, its answer may have {answer}, "
                f"and the model takes {lm.max_length} in all",
                f"give room for {longest + answer} (backend_args: max_model_len for vllm, else max_length), "
                "or a smaller --eval.max_gen_toks, which may lower scores",
            )


def _check(task: str, tokens: list[int], bos: int | None) -> None:
    if bos is None:  # a model that knows no such token needs none
        return
    if list(tokens[:1]) != [bos]:
        raise UserError(
            f"prompts of {task} would not begin with the beginning-of-sequence token",
            "give --model.add_bos_token true",
        )
    if tokens[1:2] == [bos]:
        raise UserError(
            f"prompts of {task} would begin with two beginning-of-sequence tokens",
            "give --model.add_bos_token false; the prompts have one already",
        )


def _first_prompt(cell: Cell, lm: Any, config: RunConfig) -> str:
    chat = config.model.chat_template
    task = cell_task(cell, [next(d for d in cell.documents if d.gold is not None)])
    task.build_all_requests(
        rank=0,
        world_size=1,
        apply_chat_template=chat,
        chat_template=lm.apply_chat_template if chat else None,
        fewshot_as_multiturn=chat,
        system_instruction=cell.prompt.system if chat else None,
    )
    prompt: str = task.instances[0].args[0]
    return prompt
