"""Words that answers share with right answers: ROUGE, F1, any match, and accuracy of restored diacritics."""

import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, Literal

from afrieval.scoring.base import REFERENCES, TEXT, WEIGHTS, Metric, Question, Response, ratio
from afrieval.scoring.texts import n_common, references, words, words_without_punctuation

STEMMED = "rouge-score's own words, with Porter's stemmer"


def _mean_of_best(name: str, score: Callable[[str, str], float]) -> Metric:
    """Returns the mean over documents of a score from 0 to 1 that compares an answer with a right one, neither empty.

    Of several right answers, the one with the highest score counts. An unparsed answer is an empty text, and scores 0.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        golds = references(question.gold)
        if not golds:
            return None
        answer = str(response.answer or "")
        return [float(max(score(answer, gold) for gold in golds)) if answer else 0.0]

    return Metric(name, measure, interval="bootstrap", applies_to=REFERENCES)


@cache
def _scorer(kind: str, stem: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    tokenizer = None if stem else SimpleNamespace(tokenize=words)  # the library's keeps ASCII letters and digits only
    return RougeScorer([kind], use_stemmer=stem, tokenizer=tokenizer)


def _rouge(name: str, kind: str, stem: bool = False, part: Literal["fmeasure", "recall"] = "fmeasure") -> Metric:
    """Returns the mean over documents of a ROUGE score, from 0 to 1; `kind` is what rouge-score calls it."""

    def score(answer: str, gold: str) -> float:
        if not stem and not words(gold):
            return float(answer.strip() == gold.strip())  # punctuation only
        return float(getattr(_scorer(kind, stem).score(gold, answer)[kind], part))

    return replace(_mean_of_best(name, score), signature=STEMMED if stem else "")


def rouge_1() -> Metric:
    """Returns the mean over documents of the F1 of words, from 0 to 1 (Lin 2004; rouge-score).

    2 common / (words of the answer + words of the reference); of several references, the best. Words
    are runs of letters, marks and digits of any script, caseless and in NFC, without stemming.
    """
    return _rouge("rouge_1", "rouge1")


def rouge_1_recall(stem: bool = False) -> Metric:
    """Returns the mean over documents of ROUGE-1's recall, from 0 to 1 (Lin 2004; rouge-score).

    The common words, each as often as in both, divided by the words of the reference. Words are as in `rouge_1`.
    """
    return _rouge("rouge_1_recall", "rouge1", stem, "recall")


def rouge_2() -> Metric:
    """Returns the mean over documents of the F1 of pairs of neighbouring words, from 0 to 1 (Lin 2004; rouge-score).

    2 common / (pairs of the answer + pairs of the reference); of several references, the best. Words are as in
    `rouge_1`.
    """
    return _rouge("rouge_2", "rouge2")


def rouge_l(stem: bool = False) -> Metric:
    """Returns the mean over documents of ROUGE-L's F1, from 0 to 1 (Lin 2004; rouge-score).

    2 common / (words of the answer + words of the reference), where common is the length of their
    longest common subsequence; of several references, the best. Words are as in `rouge_1`, and the
    whole text is one sequence.

    Args:
        stem: whether rouge-score itself splits words and Porter's stemmer shortens them; for English only.
    """
    return _rouge("rouge_l", "rougeL", stem)


def rouge_l_recall(stem: bool = False) -> Metric:
    """Returns the mean over documents of ROUGE-L's recall, from 0 to 1 (Lin 2004; rouge-score).

    The longest common subsequence of words, divided by the words of the reference: a long answer is not punished, as
    in TOFU (Maini et al. 2024, section 2.2.1) and MUSE. Words are as in `rouge_1`.
    """
    return _rouge("rouge_l_recall", "rougeL", stem, "recall")


def token_f1() -> Metric:
    """Returns the mean over questions of the F1 of words, from 0 to 1 (Rajpurkar et al. 2016).

    2 common / (words of the answer + words of the right answer); of several right answers, the best.
    Unlike SQuAD's script, which knows only ASCII punctuation and English, it treats all scripts alike:
    texts are in NFC and caseless, all punctuation and symbols are removed, digits of all scripts are
    equal, and no article is removed.
    """

    def f1(answer: str, gold: str) -> float:
        a, b = Counter(words_without_punctuation(answer)), Counter(words_without_punctuation(gold))
        if not a or not b:
            return float(answer.strip() == gold.strip())  # punctuation only
        return 2 * (a & b).total() / (a.total() + b.total())

    return _mean_of_best("token_f1", f1)


def any_match() -> Metric:
    """Returns the share of answers that contain one of the right answers, from 0 to 1.

    An answer contains a right one if it has all words of it, in any order; words are as in `rouge_1`. As BLEnD's SEM-B
    (Myung et al. 2024), but without its lemmatisers, which few African languages have, and without its parts of words:
    "steak" does not contain "tea".
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        weight = _weight(response, question)
        return None if weight is None else [float(weight[0] > 0)]

    return Metric("any_match", measure, applies_to=frozenset({WEIGHTS}))


def weighted_match() -> Metric:
    """Returns the mean weight of the heaviest right answer that an answer contains, from 0 to 1, as BLEnD's SEM-W.

    The weight is a share of the heaviest right answer's, so that the answer that most people give scores 1; `any_match`
    says what an answer contains.
    """
    return Metric("weighted_match", _weight, interval="bootstrap", applies_to=frozenset({WEIGHTS}))


def _weight(response: Response, question: Question) -> list[float] | None:
    """Measures the weight of the heaviest right answer that a response contains, or 0; None if none has a weight."""
    gold = question.gold
    if not (isinstance(gold, dict) and gold and all(isinstance(weight, float) for weight in gold.values())):
        return None
    text = str(response.answer or "")
    answered = set(words(text))
    contained = (w for right, w in gold.items() if set(words(right) or [right]) <= answered or right == text)
    return [max(contained, default=0.0)]


ABOVE = frozenset({230})  # Unicode's combining classes
BELOW = frozenset({202, 220})  # attached to the letter, such as a cedilla, or not


def _marked_words(text: str, seen: frozenset[int]) -> list[str]:
    """Returns the words with marks of some combining classes, without marks of the other ones above or below."""
    hidden = (ABOVE | BELOW) - seen
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.combining(c) not in hidden)
    return [unicodedata.normalize("NFC", w) for w in bare.split() if seen.intersection(map(unicodedata.combining, w))]


def _of_words(name: str, words: Callable[[str], list[str]], missing: Callable[[str], str] = lambda code: "") -> Metric:
    """Returns the share of words that are right, of which only some may count; 1 if none count on either side."""

    def measure(response: Response, question: Question) -> list[float] | None:
        if not isinstance(question.gold, str):
            return None
        gold, answered = words(question.gold), words(str(response.answer or ""))
        return [float(n_common(gold, answered)), float(max(len(gold), len(answered)))]

    return Metric(
        name, measure, partial(ratio, empty=1.0), interval="bootstrap", missing=missing, applies_to=frozenset({TEXT})
    )


def word_acc() -> Metric:
    """Returns the share of words that are exactly right, over all documents, from 0 to 1.

    Sum of right / sum of max(words of the right answer, words of the answer). Right is the longest
    common subsequence of both lists of words, so one word too many or too few does not make all
    later ones wrong. Words are what blanks separate, in NFC.
    """
    return _of_words("word_acc", lambda text: unicodedata.normalize("NFC", text).split())


# Of the languages that restoration tasks have, those with such marks on less than 1 % of the words of FLORES-200.
WITHOUT = ("ibo", "kab")


def tone_acc() -> Metric:
    """Returns `word_acc` of the words with marks above letters, from 0 to 1.

    Words without such marks do not count, in the right answer or the given one, so that a text from
    which all marks were removed scores 0. Marks below letters are removed (only Unicode's combining
    class 230 remains), so that in Yoruba a missing dot below does not hide whether the tone is right.
    Other marks above letters, such as the tilde of Ewe, count as well.

    It does not apply to languages that hardly write such marks.
    """

    def missing(language: str) -> str:
        return "hardly any word has a mark above a letter" if language in WITHOUT else ""

    return _of_words("tone_acc", lambda text: _marked_words(text, ABOVE), missing)


# Languages in Latin script with such marks on 1 % or more of the words of FLORES-200.
WITH = ("ibo", "kab", "nus", "por", "taq", "yor")


def dot_acc() -> Metric:
    """Returns `word_acc` of the words with marks below letters, from 0 to 1.

    Words without such marks do not count, in the right answer or the given one. Marks above letters
    are removed (only Unicode's combining classes 220 and 202 remain), so that in Yoruba a wrong tone
    mark does not hide whether the dot below is right.

    It applies only to languages that are known to write such marks.
    """

    def missing(language: str) -> str:
        return "hardly any word has a mark below a letter" if language and language not in WITH else ""

    return _of_words("dot_acc", lambda text: _marked_words(text, BELOW), missing)
