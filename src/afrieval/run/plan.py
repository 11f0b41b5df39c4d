"""Plans the cells of a config, with their documents, before any model is loaded."""

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.harness.plan import plan_harness
from afrieval.models.capabilities import capabilities
from afrieval.run.abilities import check_chat, check_recorded, check_requests, length_notes
from afrieval.tasks.cell import Plan
from afrieval.tasks.derived import check_derived
from afrieval.tasks.sources.plan import FOR_EXAMPLES, plan_declared


def plan(config: RunConfig) -> Plan:
    """Returns the cells of a config, with all data loaded and all prompts checked.

    Raises:
        UserError: for an unknown task, language or prompt, missing data, too many shots, a prompt
            that cannot be filled in, wrong derived metrics, or requests that the model does not support.
    """
    check_derived(config)
    can = capabilities(config.model)
    only_texts = (can.chat == "messages" or can.recorded) and not can.loglikelihood
    if config.asks_memorisation:
        from afrieval.tasks.memorisation.plan import plan_memorisation  # here, since it needs the harness

        planned = plan_memorisation(config, can.tokens)
    else:
        planned = plan_declared(config, not only_texts) + plan_harness(config)
    if not planned.cells:
        why = f" ({'; '.join(planned.left_out)})" if planned.left_out else ""
        lacks_examples = planned.left_out and all(line.endswith(FOR_EXAMPLES) for line in planned.left_out)
        cure = "give --eval.num_fewshot 0, or " if lacks_examples else ""
        raise UserError(f"there is nothing to run{why}", f"{cure}choose other tasks, languages or prompts")
    check_requests(config.model, can, planned.cells)
    check_recorded(config.model, can, planned.cells)
    check_chat(config.model, can, planned.cells)
    return planned + Plan([], notes=length_notes(config.model, can, planned.cells))
