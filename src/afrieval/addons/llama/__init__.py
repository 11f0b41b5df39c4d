"""`afrieval llama`: Meta's evaluations of Llama 3, as the recipe of Meta runs them."""

from afrieval.config.commands import ORDER, Command

COMMAND = Command(
    ORDER,
    "run Meta's evaluations of Llama 3, or print them as an lm_eval command",
    "afrieval.addons.llama.llama_options:LlamaCommand",
    "afrieval.addons.llama.llama_command:main",
    resumes=True,
)
