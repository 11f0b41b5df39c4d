"""The metrics that tasks of a kind have unless their files name others; the first is the main one."""

from afrieval.scoring.named import Spec

LIKELIHOODS = ["acc_norm", "acc_bytes", "acc_tokens"]  # apply to likelihoods only, as `unparsed` does to texts only
OF_LABELS: list[Spec] = ["acc_pmi", "acc_matched"]  # in tasks with labels, whose words may differ in length
OF_CONTRASTS = "acc_matched"  # compares prompt languages there: see docs/scoring.md
F1: list[Spec] = [{"name": "f1", "average": average} for average in ("macro", "weighted")]
CHOICES: list[Spec] = ["acc", *LIKELIHOODS, "unparsed"]
CLASSES: list[Spec] = ["acc", *F1, *LIKELIHOODS, "unparsed"]
ANSWERS: list[Spec] = ["exact_match", "unparsed"]
MATHEMATICS: list[Spec] = [{"name": "exact_match", "same": "mathematics"}, "unparsed"]
CHRF_PP: Spec = {"name": "chrf", "word_order": 2}
TRANSLATIONS: list[Spec] = [CHRF_PP, "bleu", "spbleu", "empty", "copied", "output_language"]
SUMMARIES: list[Spec] = ["rouge_l", "rouge_1", "rouge_2", "chrf", "empty"]
QUESTIONS: list[Spec] = ["token_f1", "exact_match", "rouge_l", "unparsed"]
RESTORATIONS: list[Spec] = ["chrf", "bleu", "word_acc", "tone_acc", "dot_acc", "empty", "copied"]
OF_TEXTS: list[Spec] = ["probability", "loss"]
SPANS: list[Spec] = ["span_f1", "unparsed"]  # and `span_f1` of each type
TAGS: list[Spec] = ["tag_acc", "unparsed"]
INSTRUCTIONS: list[Spec] = [f"{level}_level_{way}_acc" for level in ("prompt", "inst") for way in ("strict", "loose")]
# Over the two strict accuracies, as Meta's recipe for the harness and Open LLM Leaderboard v2 report
# it; and over all four, which Meta's model cards report for Llama 3.
OF_INSTRUCTIONS = {
    "ifeval_recipe_mean": ["inst_level_strict_acc", "prompt_level_strict_acc"],
    "ifeval_meta_mean": list(map(str, INSTRUCTIONS)),
}
