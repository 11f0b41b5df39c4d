"""A config to cells: what will be run, with its documents, before any model is loaded."""

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.harness.plan import plan_harness
from afrieval.models.capabilities import capabilities
from afrieval.run.abilities import check_chat, check_requests, length_notes
from afrieval.tasks.cell import Plan
from afrieval.tasks.sources.plan import plan_declared


def plan(config: RunConfig) -> Plan:
    """Returns the cells that a config asks for, all data read and all prompts checked.

    Raises:
        UserError: for an unknown task, language or prompt, data that is not there, too many shots, or a prompt that
            cannot be filled in with one of the rows, or that the model cannot be asked.
    """
    can = capabilities(config.model)
    planned = plan_declared(config) + plan_harness(config)
    if not planned.cells:
        raise UserError("nothing is left to run", "; ".join(planned.left_out) or "name tasks, languages and prompts")
    check_requests(config.model, can, planned.cells)
    check_chat(config.model, can, planned.cells)
    return planned + Plan([], notes=length_notes(config.model, can, planned.cells))
