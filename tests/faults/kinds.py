"""What is run under fire: a run of each kind of task, of a second or two."""

from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.zygote import Zygote
from tests.models.faulty import Faulty

DEMO = "--model.model_name demo --data.source samples"
SERVED = "--data.source samples --task.answer_form generate"
TWO = "--task.languages yor,hau --task.prompts 1,2 --task.prompt_language both"
KINDS = {
    "likelihoods of texts": f"{DEMO} {TWO} --task.task_name afrixnli --eval.num_fewshot 2",
    "likelihoods of letters": f"{DEMO} {TWO} --task.task_name afrimmlu --task.answer_form letter --eval.num_fewshot 3",
    "the harness' way": f"{DEMO} {TWO} --task.task_name afrimmlu --model.engine plain --eval.batch_size 4",
    "generated answers": f"{DEMO} {TWO} --task.task_name afrimgsm --eval.max_gen_toks 12 --eval.batch_size 2",
    "a test set in English": f"{DEMO} --task.languages yor,hau --task.task_name afrimmlu --task.variant translate",
    "translation": f"{DEMO} --task.languages yor,hau --task.task_name flores_from_eng --eval.max_gen_toks 12",
    "likelihoods of tokens": f"{DEMO} --task.task_name muse_forget,muse_verbmem,tofu_forget",
    "gradients": f"{DEMO} --task.task_name muse_forget_gradient,tofu_forget_gradient",
    "memorisation": f"{DEMO} --task.task_name memorisation --task.of afrixnli --task.languages yor,hau",
    "tasks of the harness": "--model.model_name demo --task.harness_tasks mc_yor_1,two_filters,perplexity",
    "a suite": f"{DEMO} --task-config-yaml configs/suites/tofu.yaml --eval.max_gen_toks 4",
    "an API": f"{SERVED} --task.languages yor,hau --task.prompts 1,2 --task.task_name afrimmlu",
}


class Kind(NamedTuple):
    """A run: words of its command, and arguments of `inside.install`."""

    words: list[str]
    spec: dict[str, Any]

    def run(self, zygote: Zygote, folder: Path, **spec: Any) -> tuple[int, str]:
        """Returns the exit status of the run in a folder, and what it prints; with further arguments of `install`."""
        return zygote.run([*self.words, "--run_dir", folder], **self.spec, **spec)


def kind_named(name: str, collection: Path, server: Faulty) -> Kind:
    """Returns a run.

    Args:
        name: of `KINDS`.
        collection: of tasks of the harness.
        server: that answers.
    """
    words = ["run", *KINDS[name].split()]
    if "--task.harness_tasks" in words:
        return Kind([*words, "--data.source", str(collection / "data")], {"collection": str(collection)})
    return Kind([*words, *(server.options if SERVED in KINDS[name] else [])], {})
