"""Literal tags around the turns of a chat, as a chat template."""

import json
from dataclasses import asdict

from afrieval.config.chat import ChatTags


def template_of(tags: ChatTags) -> str:
    """Returns a chat template that writes the tags; it renders system turns only if there are tags for them."""
    of = {name: json.dumps(text, ensure_ascii=False) for name, text in asdict(tags).items()}
    roles = ["user", "assistant", *(["system"] if tags.system_start or tags.system_end else [])]
    turns = "".join(
        f"{{%- if turn.role == '{role}' %}}{{{{- {of[f'{role}_start']} + turn.content + {of[f'{role}_end']} -}}}}"
        "{%- endif %}"
        for role in roles
    )
    ending = f"{{%- if add_generation_prompt %}}{{{{- {of['assistant_start']} -}}}}{{%- endif %}}"
    return f"{{%- for turn in messages %}}{turns}{{%- endfor %}}{ending}"
