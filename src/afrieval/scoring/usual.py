"""The metrics that tasks of a kind have unless their files name others; the first is the main one."""

from afrieval.scoring.named import Spec

LIKELIHOODS = ["acc_norm", "acc_bytes", "acc_tokens"]  # apply to likelihoods only, as `unparsed` does to texts only
OF_LABELS: list[Spec] = ["acc_pmi", "acc_matched"]  # in tasks with labels, whose words may differ in length
OF_CONTRASTS = "acc_matched"  # compares prompt languages there: see docs/scoring.md
CHOICES: list[Spec] = ["acc", *LIKELIHOODS, "unparsed"]
CLASSES: list[Spec] = ["acc", {"name": "f1", "average": "macro"}, *LIKELIHOODS, "unparsed"]
ANSWERS: list[Spec] = ["exact_match", "unparsed"]
MATHEMATICS: list[Spec] = [{"name": "exact_match", "same": "mathematics"}, "unparsed"]
INSTRUCTIONS: list[Spec] = [f"{level}_level_{way}_acc" for level in ("prompt", "inst") for way in ("strict", "loose")]
# Over the two strict accuracies, as Meta's recipe for the harness and Open LLM Leaderboard v2 report
# it; and over all four, which Meta's model cards report for Llama 3.
OF_INSTRUCTIONS = {
    "ifeval_recipe_mean": ["inst_level_strict_acc", "prompt_level_strict_acc"],
    "ifeval_meta_mean": list(map(str, INSTRUCTIONS)),
}
