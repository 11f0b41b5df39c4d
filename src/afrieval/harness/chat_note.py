"""Tasks of the harness that are meant for a chat template: those with Meta's prompts for Llama."""

import re

# Those in the harness' llama3 folder, and others with Meta's chat prompts, such as gsm8k_cot_llama.
META = re.compile(r"_llama(_|$)")


def chat_notes(tasks: dict[str, str]) -> list[str]:
    """Returns a note on tasks that are meant for a chat template, if there are any.

    Args:
        tasks: task name to the name that was requested: the task, or its group or tag.
    """
    asked = list(dict.fromkeys(asked for name, asked in tasks.items() if META.search(name)))
    if not asked:
        return []
    verb = "is" if len(asked) == 1 else "are"
    return [f"{', '.join(asked)} {verb} meant for a chat template: add --model.chat_template true"]
