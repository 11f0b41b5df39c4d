"""The settings of the task memorisation, which asks what a model remembers of the test sets of other tasks."""

from typing import TYPE_CHECKING

from afrieval.errors import UserError

if TYPE_CHECKING:
    from afrieval.config.settings import RunConfig, TaskConfig

MEMORISATION = "memorisation"
ITS_OWN = ("of", "unseen")
OF_PROMPTS = ("prompts", "prompt_language", "prompt_set", "answer_form", "extract", "evals_dataset")


def check_memorisation(config: "RunConfig", plain: "TaskConfig") -> None:
    """Rejects settings that the task lacks, or that have no effect.

    Args:
        config: the merged config.
        plain: the defaults.

    Raises:
        UserError: for the first such setting.
    """
    task, name = config.task, MEMORISATION
    if not config.asks_memorisation:
        if given := [key for key in ITS_OWN if getattr(task, key) is not None]:
            raise UserError(
                f"task.{given[0]} has no effect without the task {name}",
                f"give --task.task_name {name}, or leave task.{given[0]} out",
            )
        return
    if len(config.task_names) > 1 or config.wants_harness or task.suite:
        raise UserError(f"the task {name} is run by itself", "run the other tasks with another command")
    if not task.of:
        raise UserError(f"{name} needs the tasks that it is about", "give --of with their names, as in --of afrixnli")
    for key in OF_PROMPTS:
        if getattr(task, key) != getattr(plain, key):
            raise UserError(f"task.{key} has no effect on {name}, which uses no prompts", "leave it out")
    if config.eval.shots:
        raise UserError(f"eval.num_fewshot is {config.eval.shots}, but {name} uses no prompts", "leave it out")
