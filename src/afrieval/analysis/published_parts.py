"""Published scores of a task's groups, such as MMLU's subjects, for a stored run: whose they are, and what differs."""

from collections.abc import Iterable, Mapping, Sequence

from afrieval.analysis.trees import Tree
from afrieval.errors import UserError, nearest
from afrieval.results.scores import CellScores
from afrieval.tasks.published import PublishedScores, published_scores
from afrieval.tasks.spec import load_task


def check_published(cells: Iterable[CellScores], names: Sequence[str]) -> None:
    """Rejects names that no task has published scores of.

    Raises:
        UserError: names the first of them.
    """
    known = list(dict.fromkeys(name for task in {cell.task: None for cell in cells} for name in published_scores(task)))
    if unknown := [name for name in names if name not in known]:
        problem = f"no task here has published scores of {unknown[0]!r}"
        raise UserError(problem, nearest(unknown[0], known) if known else "leave --published out")


def published_for(tree: Tree, names: Sequence[str]) -> dict[str, PublishedScores]:
    """Returns the published scores to show with a tree: those that are asked for, or else those of its model.

    Args:
        tree: scores of a model.
        names: of published scores; empty for those of the model, without those that are doubtful.

    Returns:
        Scores by name; none if the tree is of another metric than the task's main one.
    """
    known, first = published_scores(tree.task), tree.cells[0]
    if not known or first.main != load_task(tree.task).scoring.metrics[0].name:
        return {}
    if names:
        return {name: known[name] for name in names if name in known}
    model = _last(first.model.partition(" (")[0])
    return {name: of for name, of in known.items() if not of.doubt and model in map(_last, of.models)}


def _last(model: str) -> str:
    """Returns the end of a hub id or of a folder, which are often the same."""
    return model.rstrip("/").rpartition("/")[2]


def _options(here: Mapping[str, bool], there: Mapping[str, bool]) -> dict[str, bool]:
    """Returns options of the extractor in words, each with whether only one side has it."""
    names = {**there, **here}
    return {f"{'with' if here.get(n) else 'without'} {n}": here.get(n, False) != there.get(n, False) for n in names}


def differing(tree: Tree, scores: PublishedScores) -> list[str]:
    """Returns what in a run is not as it was for published scores, in words; what is not known is left out."""
    first, n = tree.cells[0], tree.n
    forms, prompts = scores.answer_form, [cell.prompt for cell in tree.cells]
    found = {
        f"{first.shots}-shot": first.shots != scores.shots,
        f"answers by {first.answer_form}": forms not in (None, first.answer_form),
        f"prompt{'s' if len(prompts) > 1 else ''} {', '.join(map(str, prompts))}": scores.prompt is not None
        and prompts != [scores.prompt],
        **_options(first.declared.get("extract", {}), scores.extract),
        "a chat template": bool(first.may.get("chat_template")),
        f"{n:,} of {scores.n:,} questions" if scores.n else "": scores.n not in (None, n),
    }
    return [words for words, differs in found.items() if differs]
