"""Harness tasks that are written for a chat template: Meta's own, of its Llama models."""

import re

# Those of the harness' llama3 folder, and others there that follow Meta's chat prompts, such as gsm8k_cot_llama.
META = re.compile(r"_llama(_|$)")


def chat_notes(tasks: dict[str, str]) -> list[str]:
    """Returns a line on tasks that are meant for a chat template, if there are any.

    Args:
        tasks: the names under which they were asked for, by their own names.
    """
    asked = list(dict.fromkeys(asked for name, asked in tasks.items() if META.search(name)))
    if not asked:
        return []
    verb = "is" if len(asked) == 1 else "are"
    return [f"{', '.join(asked)} {verb} meant for a chat template: add --model.chat_template true"]
