"""Checks of single rows: scripts, repeats, right answers, numbers, lengths, and texts that do not belong together."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations
from statistics import median

import numpy as np

from afrieval.languages import ENGLISH, LANGUAGES
from afrieval.tasks.data.document import Document
from afrieval.tools.data_checks.groups import CHOICES, FEWEST, Finding, Group
from afrieval.tools.data_checks.pairing import order_statistic, text_similarity, words

# ISO 15924 to the first word of Unicode's names.
SCRIPTS = {"Latn": "LATIN", "Ethi": "ETHIOPIC", "Arab": "ARABIC", "Tfng": "TIFINAGH", "Nkoo": "NKO"}
LOOKALIKES = ("GREEK", "CYRILLIC", "ARMENIAN")  # some of their letters look like Latin ones
FEWEST_LETTERS = 20
DAMAGED = {
    "a replacement character": re.compile("\ufffd"),
    "bytes of UTF-8 as letters": re.compile("[ÃÂ][\x80-\xbf]|â€|áˆ|áŠ|á‹|á‰"),
    "markup": re.compile(r"</?[a-zA-Z]{1,10}\s*/?>|&(?:[a-z]{2,6}|#\d{2,5});|\\u[0-9a-f]{4}"),
    "a control character": re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"),
}

# Joiners and the like, but for those between the parts of an emoji.
INVISIBLE = re.compile(r"(?<=\w)[\u200c\u200d](?=\w)|[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|\u200c")


def odd_characters(group: Group) -> Iterator[Finding]:
    """Yields rows in another script, with words of two scripts, or with damaged characters or markup.

    What English or most languages have in the same row comes from the source.
    """
    suspected: dict[str, dict[tuple[str, str], list[int]]] = {}
    times: Counter[tuple[str, int]] = Counter()
    for code in group.documents:
        suspected[code] = {}
        for index in range(group.n):
            texts = [texts[code][index] for texts in group.columns.values()]
            for kind, what in dict.fromkeys(d for text in texts for d in _defects(text, LANGUAGES[code].script)):
                suspected[code].setdefault((kind, what), []).append(index)
                times[what, index] += 1
    source = suspected.get(ENGLISH, {})
    for code, of_kinds in suspected.items():
        for (kind, what), indices in of_kinds.items():
            usual = set() if code == ENGLISH else set(source.get((kind, what), []))
            odd = [p for p in indices if p not in usual and 2 * times[what, p] <= max(len(suspected), 2)]
            if kind == "letters" and 2 * len(odd) > group.n:
                yield group.whole_finding(code, "script", what)
            elif odd:
                yield group.finding(code, kind, dict.fromkeys(odd, ""), what)


def _defects(text: str, script: str) -> Iterator[tuple[str, str]]:
    word_list = re.findall(r"[^\W\d_]+", text)
    words = [Counter(map(_script, word)) for word in word_list]
    letters = Counter(map(_script, "".join(word for word in word_list if len(word) > 2)))  # not x and cm in formulas
    expected = SCRIPTS.get(script, "")
    if expected and letters.total() >= FEWEST_LETTERS and 2 * letters[expected] < letters.total():
        yield "letters", f"mostly {letters.most_common(1)[0][0].title()} letters"
    for word in words:
        if others := [name for name in word if name in LOOKALIKES and expected == "LATIN" and len(word) > 1]:
            yield "mixed", f"Latin and {others[0].title()} letters in a word"
    if INVISIBLE.search(text):
        yield "invisible", "invisible characters"
    for what, pattern in DAMAGED.items():
        if pattern.search(text):
            yield "damaged", what


@cache
def _script(letter: str) -> str:
    """Returns the first word of a letter's name in Unicode, which is its script for most letters."""
    return unicodedata.name(letter, "").split(" ")[0]


COPIED_SHARE = 0.9  # of a text's words; sentences in Zulu and Xhosa share up to 0.85
FEWEST_WORDS = 8  # different ones, of three letters or more; texts with fewer are often names
LETTERS = 3
SOURCES = ("eng", "fra")
# Languages in which a sentence may well be the same: varieties of one, and English and Nigerian Pidgin.
VARIETIES = ({"aka", "twi"}, {"eng", "pcm"}, {"aeb", "arb", "arq", "ary", "arz"})


def untranslated_rows(group: Group) -> Iterator[Finding]:
    """Yields rows most of whose words are in the same row of another language, but not in most languages.

    English and French are what others are translated from, and are not named. Of two other languages, both are, unless
    the row of one is known to be defective.
    """
    if len(group.documents) < 3:
        return
    rows: dict[str, dict[int, str]] = {code: {} for code in group.documents}
    for name, texts in group.columns.items():
        if name == CHOICES:
            continue  # they are often names
        of_rows = {
            code: [{word for word in words(text) if len(word) >= LETTERS} for text in of] for code, of in texts.items()
        }
        for index in range(group.n):
            words_of = {code: of[index] for code, of in of_rows.items()}
            times = Counter(word for found in words_of.values() for word in found)
            uncommon = {code: {w for w in found if 2 * times[w] <= len(words_of)} for code, found in words_of.items()}
            for code, other in _pairs(uncommon):
                if group.documents[code][index].defect or not group.documents[other][index].defect:
                    rows[code][index] = f"{name} as in {other}"
    yield from group.findings("copied", rows)


def _pairs(uncommon: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    for code, row_words in uncommon.items():
        if len(row_words) >= FEWEST_WORDS and code not in SOURCES:
            alike = {code}.union(*(varieties for varieties in VARIETIES if code in varieties))
            shared = {other: len(row_words & there) for other, there in uncommon.items() if other not in alike}
            best = max(shared, key=lambda other: shared[other], default=None)
            if best and shared[best] >= COPIED_SHARE * len(row_words):
                yield code, best


def differing_golds(group: Group) -> Iterator[Finding]:
    """Yields the rows whose right answer differs from most languages."""
    usual: list[int | str | None] = []  # right answers that more than half of the languages have
    for row in zip(*group.documents.values(), strict=True):
        [(gold, times)] = Counter(d.gold_cell for d in row).most_common(1)
        usual.append(gold if 2 * times > len(row) and len(row) > 2 else None)
    odd: dict[str, dict[int, str]] = {code: {} for code in group.documents}
    for code, documents in group.documents.items():
        for index, (document, gold) in enumerate(zip(documents, usual, strict=True)):
            if gold is not None and document.gold_cell not in (None, gold):
                odd[code][index] = ""
    yield from group.findings("gold", odd)


TIMES = 2.5  # longer or shorter than what the other languages' texts let expect
DEVIATIONS = 6.0  # robust standard deviations of the language's own
LEAST = 40  # characters that the longer of the two has; short texts differ for many reasons
USUAL = (0.4, 2.5)  # a language's length relative to the others: 0.6 for Amharic, whose letters are syllables


def odd_lengths(group: Group) -> Iterator[Finding]:
    """Yields rows whose length is not what the other languages let expect, and languages unusual as a whole."""
    if group.n < FEWEST or len(group.documents) < 3:
        return
    rows: dict[str, dict[int, str]] = {code: {} for code in group.documents}
    for name, texts in group.columns.items():
        lengths = {code: np.log([len(text) + 1 for text in of]) for code, of in texts.items()}
        levels = {code: float(np.median(of)) for code, of in lengths.items()}
        for code, own_lengths in lengths.items():
            others = np.median([lengths[c] - levels[c] for c in lengths if c != code], axis=0)
            level = levels[code] - float(np.median([levels[c] for c in levels if c != code]))
            if not USUAL[0] <= np.exp(level) <= USUAL[1]:
                detail = f"{name}: {np.exp(level):.2f} times the length of the other languages"
                yield group.whole_finding(code, "length", detail)
            change = own_lengths - levels[code] - others
            deviation = max(1.4826 * float(np.median(np.abs(change - np.median(change)))), 0.1)
            longer = np.maximum(own_lengths, others + levels[code])
            odd = (np.abs(change) > np.log(TIMES)) & (np.abs(change) > DEVIATIONS * deviation)
            for index in np.flatnonzero(odd & (longer > np.log(LEAST + 1))):
                rows[code][int(index)] = f"{name} {np.exp(change[index]):.1f}"
    yield from group.findings("length", rows, "times the expected length")


NEARLY_ALL = 0.8  # of the other languages
_NUMBER = re.compile(r"\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d{1,2}(?!\d))?")  # 1,000 and 1 000; 2.5


def differing_numbers(group: Group) -> Iterator[Finding]:
    """Yields rows that lack a number that nearly all languages have there, and have one that no other language has.

    Numbers in words are no matter: a row that only lacks a number, or only has one more, is not named.
    """
    if len(group.documents) < 4:
        return
    rows: dict[str, dict[int, str]] = {code: {} for code in group.documents}
    for name, texts in group.columns.items():
        for index in range(group.n):
            numbers_of = {code: _numbers(of[index]) for code, of in texts.items()}
            times = Counter(number for found in numbers_of.values() for number in found)
            usual = {number for number, n in times.items() if n > NEARLY_ALL * (len(numbers_of) - 1)}
            for code, numbers in numbers_of.items():
                lacking, extra = sorted(usual - numbers), sorted(n for n in numbers if times[n] == 1)
                if lacking and extra:
                    rows[code][index] = f"{name} {' '.join(extra)} for {' '.join(lacking)}"
    yield from group.findings("number", rows)


def _numbers(text: str) -> set[str]:
    return {"".join(str(unicodedata.digit(c)) for c in number if c.isdecimal()) for number in _NUMBER.findall(text)}


RowCheck = Callable[[list[Document]], dict[int, str]]  # the places of rows with a defect, each with what it is


def repeated_texts(group: Group) -> Iterator[Finding]:
    """Yields rows that repeat something or are empty, unless most languages' rows do, which comes from the source."""
    for kind, check in REPEATS.items():
        repeats = {code: check(list(documents)) for code, documents in group.documents.items()}
        times = Counter(place for places in repeats.values() for place in places)
        odd = {
            code: {place: what for place, what in places.items() if 2 * times[place] <= max(len(repeats), 2)}
            for code, places in repeats.items()
        }
        yield from group.findings(kind, odd)


def _same_rows(documents: list[Document]) -> dict[int, str]:
    seen: dict[tuple[str, ...], int] = {}
    repeats = {}
    for index, document in enumerate(documents):
        first = seen.setdefault(tuple(map(folded, [*document.fields.values(), *document.choices])), index)
        if first != index and any(document.fields.values()):
            repeats[index] = f"is {documents[first].id}"
    return repeats


def folded(text: str) -> str:
    """Returns a text in lower case and with single blanks, to find texts that repeat one another."""
    return " ".join(text.casefold().split())


def _repeat(texts: Iterable[str]) -> bool:
    normalised = [folded(text) for text in texts if text]
    return len({*normalised}) < len(normalised)


def _where(is_defective: Callable[[Document], str | None]) -> RowCheck:
    """Returns a check of single rows from a function that says what is wrong with one; None for nothing."""
    return lambda documents: {at: what for at, d in enumerate(documents) if (what := is_defective(d)) is not None}


REPEATS: dict[str, RowCheck] = {
    "duplicate": _same_rows,
    "equal": _where(lambda d: "" if _repeat(d.fields.values()) else None),
    "choices": _where(lambda d: "" if _repeat(d.choices) else None),
    "empty": _where(
        lambda d: (
            " and ".join([*(n for n, text in d.fields.items() if not text), *["an option"] * ("" in d.choices)]) or None
        )
    ),
}


# Arguments of IFEval's checkers whose words the prompt has to name.
_NAMED = {"keywords", "forbidden_words", "keyword", "first_word", "section_spliter", "end_phrase", "prompt_to_repeat"}


def unasked_words(group: Group) -> Iterator[Finding]:
    """Yields rows with instructions whose checkers count words that the prompt does not have."""
    check = _where(_unasked)
    yield from group.findings("unasked", {code: check([*of]) for code, of in group.documents.items()})


def _unasked(document: Document) -> str | None:
    prompt_text = folded(" ".join([document.prompt, *document.fields.values()]))
    arguments = document.gold.get("kwargs", []) if isinstance(document.gold, dict) else []
    named_values = [value for kwargs in arguments for name, value in kwargs.items() if name in _NAMED]
    counted_words = [word for value in named_values for word in (value if isinstance(value, list) else [value])]
    unasked = [word for word in counted_words if folded(unicodedata.normalize("NFC", word)) not in prompt_text]
    return ", ".join(f"{word:.40}" for word in unasked) or None


TOGETHER = 10.0  # standard deviations from chance, which half of the languages have to exceed
SHARED_WORDS = 0.6  # of the median language's; sound languages have 0.75 or more


def unrelated_columns(group: Group) -> Iterator[Finding]:
    """Yields languages in which two columns share no more than shuffled rows do, although they do in most languages."""
    if group.n < FEWEST or len(group.documents) < 2:
        return
    for (first, one), (second, other) in combinations(group.columns.items(), 2):
        statistics = {code: order_statistic(text_similarity(one[code], other[code])) for code in one}
        usual = median(statistics.values())
        if usual < TOGETHER:
            continue
        for code, statistic in statistics.items():
            if statistic < SHARED_WORDS * usual:
                detail = f"{first}, {second}: {statistic:.1f} standard deviations from chance, median {usual:.0f}"
                yield group.whole_finding(code, "together", detail)
