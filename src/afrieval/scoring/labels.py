"""What has to be said of metrics in tables, and the names of derived metrics in words."""

import re

# names of metrics
NOT_PARSED, REFUSED, CUT, GUESSED, EMPTY, COPIED = "unparsed", "refused", "cut", "guessed", "empty", "copied"
TOO_LONG = "too_long"  # why a question has no answer, among the reasons why answers ended
DESCRIPTIONS = {
    NOT_PARSED: "answers that could not be parsed, in percent; they count as wrong",
    GUESSED: "answers that the model did not announce and that were guessed, in percent; part of the score",
    REFUSED: "answers that the model or a filter refused, in percent; they count as wrong, except in open tasks",
    CUT: "answers that ended at their limit of tokens, in percent; what there is of them is scored",
    EMPTY: "answers without content, in percent; a line break or blank line ends an answer even where it begins",
    COPIED: "answers that repeat the text of the question, in percent",
    "answered": "answers with content, in percent; only a judge or people can tell how good they are",
    "length": "mean number of characters",
    "f1_macro": "mean of the classes' F1",
    "f1_weighted": "the same, each class weighted by its number of questions",
    "acc_pmi": "accuracy by what the question adds to a label's log-likelihood",
    "acc_matched": "accuracy with all labels made equally frequent, which removes the effect of their length",
    "output_language": "answers in the right language, in percent",
    "word_acc": "words that are exactly right, in percent",
    "tone_acc": "words with marks above letters whose marks above are right",
    "dot_acc": "words with marks below letters whose marks below are right",
    "ifeval_recipe_mean": "mean of the two strict, as in Meta's recipe for lm-eval",
    "ifeval_meta_mean": "mean of the four, as in Meta's model cards",
    "probability_paraphrased": "probability of paraphrased answers",
    "probability_perturbed": "probability of wrong answers",
    "truth_ratio": "truth ratio",
    "extraction_strength": "extraction strength",
    "exact_memorisation": "exact memorisation",
}


WORDS = {"mia": "MIA", "min k": "Min-K%", "plus plus": "++", "rouge": "ROUGE", "privleak": "PrivLeak"}


def words(name: str) -> str:
    """Returns the name of a derived metric in words: `mia_min_k_plus_plus` is MIA Min-K%++."""
    text = name.replace("_", " ")
    for part, word in WORDS.items():
        text = re.sub(rf"\b{part}\b", word, text)
    return text.replace("% ++", "%++")
