"""Prints a cell's first prompt verbatim, with the choices and what the model says of them."""

from pathlib import Path

from afrieval.results.files import read_cell
from afrieval.run.plan import Cell

LINE = "-" * 80


def write_out(folder: Path, cell: Cell) -> None:
    """Prints the first scored document of a cell.

    The prompt stands flush left between two marker lines, exactly as the model got it.

    Args:
        folder: the run folder.
        cell: one of its cells.
    """
    sample = next((s for s in read_cell(folder, cell.name) if s["metrics"]), None)
    if sample is None:
        print(f"{cell.title}: no document of this cell can be scored")
        return
    print(f"{cell.title}, document {sample['doc_id']}, few-shot rows {sample['fewshot_ids'] or 'none'}")
    if "arguments" not in sample:
        print("(its prompt was not kept: eval.log_samples is false)")
        return
    print(prompt_block(sample["arguments"][0][0]))
    if isinstance(sample["resps"][0][0], str):
        verdict = "right" if sample[sample["metrics"][0]] else "unread" if sample["unread"] else "wrong"
        print(f"answer: {sample['resps'][0][0]!r}  {verdict}\n")
        return
    best = max(range(len(sample["resps"])), key=lambda i: sample["resps"][i][0][0])
    for i, ((_, continuation), (answer,)) in enumerate(zip(sample["arguments"], sample["resps"], strict=True)):
        marks = ("gold " if i == sample["target"] else "") + ("picked" if i == best else "")
        print(f"{answer[0]:12.4f}  {continuation!r}  {marks}".rstrip())
    print()


def prompt_block(text: str) -> str:
    """Returns a prompt between two marker lines; nothing in it is changed."""
    return f"{LINE}\n{text}\n{LINE}"
