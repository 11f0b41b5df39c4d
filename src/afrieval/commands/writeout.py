"""Prints a cell's first prompt verbatim, with the choices and what the model says of them."""

from pathlib import Path

from afrieval.harness.plan import HarnessCell
from afrieval.results.reader import cell_lines
from afrieval.results.samples import Sample
from afrieval.scoring.choice import best
from afrieval.tasks.cell import Cell
from afrieval.terminal import say

LINE = "-" * 80


def write_out(folder: Path, cell: Cell | HarnessCell) -> None:
    """Prints the first scored document of a cell.

    The prompt stands flush left between two marker lines, exactly as the model got it.

    Args:
        folder: the run folder.
        cell: one of its cells.
    """
    if isinstance(cell, HarnessCell):
        _write_out_harness(next(cell_lines(folder, cell.name)), cell)
        return
    sample = next((s for s in cell_lines(folder, cell.name) if s["metrics"]), None)
    if sample is None:
        say(f"{cell.title}: no document of this cell can be scored")
        return
    say(f"{cell.title}, document {sample['doc_id']}, few-shot rows {sample['fewshot_ids'] or 'none'}")
    if "arguments" not in sample:
        say("(its prompt was not kept: eval.log_samples is false)")
        return
    say(prompt_block(sample["arguments"][0][0]))
    if isinstance(sample["resps"][0][0], str):
        verdict = "right" if sample[sample["metrics"][0]] else "unread" if sample["unread"] else "wrong"
        say(f"answer: {sample['resps'][0][0]!r}  {verdict}\n")
        return
    picked = best([answers[0][0] for answers in sample["resps"]])
    for i, ((_, continuation), (answer,)) in enumerate(zip(sample["arguments"], sample["resps"], strict=True)):
        marks = ("gold " if i == sample["target"] else "") + ("picked" if i == picked else "")
        say(f"{answer[0]:12.4f}  {continuation!r}  {marks}".rstrip())
    say()


def _write_out_harness(sample: Sample, cell: HarnessCell) -> None:
    """Prints the first document of a harness task: its first prompt, what was asked of it and what the model said."""
    say(f"{cell.title}, document {sample['doc_id']}, {cell.shots} examples")
    if "arguments" not in sample:
        say("(its prompt was not kept: eval.log_samples is false)")
        return
    asked = sample["arguments"]
    say(prompt_block(asked[0][0]))
    for (prompt, *rest), (answer, *_) in zip(asked, sample["resps"], strict=True):
        other = f"  (after another prompt, ending in {prompt[-20:]!r})" if prompt != asked[0][0] else ""
        if isinstance(answer, list):
            say(f"{answer[0]:12.4f}  {rest[0]!r}{other}")
        else:
            say(f"answer: {answer!r}{other}")
    scores = ", ".join(f"{name} {sample[name]}" for name in sample["metrics"])
    say(f"gold: {sample['target']!r}  {scores}\n")


def prompt_block(text: str) -> str:
    """Returns a prompt between two marker lines; nothing in it is changed."""
    return f"{LINE}\n{text}\n{LINE}"
