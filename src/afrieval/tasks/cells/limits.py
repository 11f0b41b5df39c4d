"""Limits of generated answers and of prompts, as long as a model's context allows."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace

from afrieval._util.errors import UserError
from afrieval.models.base import LanguageModel
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.questions import Questions
from afrieval.tasks.data.document import Document
from afrieval.tasks.prompts.prompts import answers, example_answer, lines_before

SOME_WORDS, PAGES, THOUGHTS = 32, 2048, 16_384
BLANK_LINE, LINE_END = "\n\n", "\n"
LONGEST_WORD = 50  # characters; what is longer is text without spaces
NEARLY_ALL = 0.99  # share of the room that is used before the search for the longest text ends
MOST_TRIES = 12
Shown = Sequence[Document]  # a question and its examples
Tokens = Callable[[str, Document], int]
Fitting = Callable[[Shown, Callable[[Shown], str]], Shown]  # returns what fits, given documents and what shows them


def generation(questions: Questions, lm: LanguageModel) -> Generation:
    """Returns the limits of a cell's generated answers.

    Args:
        questions: the cell's questions.
        lm: the model; lengths are measured by its tokenizer, or in bytes if it has none.

    Raises:
        UserError: if max_gen_toks fills the model's whole context.
    """
    settings, max_gen_toks = questions.settings, questions.settings.max_gen_toks
    if (max_gen_toks or 0) >= lm.max_length:
        raise UserError(
            f"eval.max_gen_toks is {max_gen_toks}, but the model's context has {lm.max_length} tokens",
            "give a smaller number, to leave room for the prompt",
        )
    if declared := questions.task.generation:  # only the user lowers these limits, since that changes scores
        # The thinking that a server keeps apart counts as well, and was not meant by the task.
        room = THOUGHTS if settings.served and settings.thinks else 0
        most = max_gen_toks or max(declared.max_tokens, room)
        if most >= lm.max_length:
            raise UserError(
                f"answers of {questions.task.name} have {most:,} tokens, but the model's context has {lm.max_length:,}",
                "give a smaller --eval.max_gen_toks, which may lower scores, or a model with a longer context",
            )
        return Generation(most, tuple(declared.stop), settings.thinking_end, runs_on=False)
    most = max_gen_toks or min(_room(questions, lm), lm.max_length // 2)
    runs_on = not (settings.chat_template or settings.recorded)  # a recorded answer is a whole one
    return Generation(most, () if settings.chat_template else _stop(questions), settings.thinking_end, runs_on)


def _room(questions: Questions, lm: LanguageModel) -> int:
    """Returns a limit in tokens.

    A limit that suits English truncates Amharic, whose letters need several tokens each in most
    models. A bare answer gets twice its length plus a few words. An answer with reasoning gets four
    times the longest worked solution of the few-shot split, since models write more than teachers,
    or twice the longest question if there is none. Chat models reason in mathematics even if not
    asked to, and models that think first need room for it. Right answers of open questions do not say how long
    others may be.
    """
    if questions.settings.thinks:
        return THOUGHTS

    def longest(texts: list[str]) -> int:
        return max((lm.count_tokens(text) for text in texts), default=0)

    answer = questions.task.scoring.answer
    if answer.open_ended:
        return PAGES
    if answer.has_choices:
        names = [a for d in questions.documents[:1] for a in answers(questions.prompt, d, "generate")]
        return 2 * longest(names) + SOME_WORDS
    if not answer.reasons or not (questions.task.chain_of_thought or questions.settings.chat_template):
        golds = [d for d in questions.data.documents if d.gold is not None]
        shown = [example_answer(questions.task, questions.prompt, d, questions.answer_form) for d in golds]
        return 2 * longest(shown) + SOME_WORDS
    worked = longest([d.worked for d in questions.pool.documents if d.worked]) if questions.pool else 0
    question = next(iter(questions.task.fields))
    return (4 * worked or 2 * longest([d.fields[question] for d in questions.data.documents])) + SOME_WORDS


def _stop(questions: Questions) -> tuple[str, ...]:
    """Returns texts that begin another example, which a model without chat template would write next.

    A text ends with its line if all right answers are of one line, as translations of sentences are: prompts
    without empty lines would go on with the next sentence. If right answers have empty lines, as documents do, it
    ends where a line begins as prompts or their questions do. A worked solution may contain empty lines, unless
    examples show otherwise. Nothing ends the answer of an open question, unless examples show its form.
    """
    answer = questions.task.scoring.answer
    if answer.open_ended and not questions.shots:
        return ()
    if not answer.reasons:
        golds = [d.gold for d in questions.data.documents if d.gold is not None]
        if all(isinstance(gold, str) and LINE_END not in gold for gold in golds):
            return (LINE_END,)
        if not any(isinstance(gold, str) and BLANK_LINE in gold for gold in golds):
            return (BLANK_LINE,)
    lines = lines_before(questions.task, questions.prompt, questions.text_language)
    starts = lines[-1:] if answer.reasons else [lines[0], lines[-1]]
    ends = tuple(dict.fromkeys(f"\n{line.strip()}" for line in starts if line.strip()))
    if not answer.reasons:
        return ends or (BLANK_LINE,)
    return ends if questions.task.chain_of_thought and not questions.shots else (BLANK_LINE, *ends)


def fit_of(questions: Questions, lm: LanguageModel, generation: Generation | None) -> Fitting | None:
    """Returns how the questions of a cell fit a model; None if the task does not ask for it."""
    name, drops = questions.task.fit, questions.task.examples.drop and questions.shots > 0
    if lm.max_length == float("inf") or not (name or drops):
        return None
    tokens = _measure(questions, generation, lm.count_tokens)
    if name:
        return cutting(name, questions.name, tokens, lm.max_length - (generation.max_tokens if generation else 0))
    # A bound that takes no time: a token has at least a byte, and there may be a BOS token.
    most = _measure(questions, generation, lambda text: len(text.encode()) + 1)
    room = lm.max_length - generation.max_tokens if generation else lm.longest_scored
    return dropping(lambda text, document: most(text, document) <= room or tokens(text, document) <= room)


def _measure(questions: Questions, generation: Generation | None, count: Callable[[str], int]) -> Tokens:
    """Returns a function that counts the tokens of a prompt and of the longest answer, if that is scored."""
    between = "" if questions.settings.chat_template else questions.prompt.delimiter

    def tokens(text: str, document: Document) -> int:
        if generation:
            return count(text)
        names = answers(questions.prompt, document, questions.answer_form)
        return count(text + between + max(names, key=count))

    return tokens


def cutting(name: str, where: str, tokens: Tokens, room: int) -> Fitting:
    """Returns a function that cuts a field of a question and its examples to one length if their prompt is too long.

    Args:
        name: the field.
        where: the cell, for messages.
        tokens: prompt and its document to the number of tokens of the prompt and its longest answer.
        room: the most tokens. A prompt that is too long even with an empty field is an error.
    """

    def shortened(shown: Shown, length: int) -> Shown:
        fields = [{**d.fields, name: cut(d.fields[name], length)} for d in shown]
        return [replace(d, fields=of) for d, of in zip(shown, fields, strict=True)]

    def fitting(shown: Shown, prompt: Callable[[Shown], str]) -> Shown:
        def used(length: int) -> int:
            return tokens(prompt(shortened(shown, length)), shown[0])

        whole = max(len(document.fields[name]) for document in shown)
        if (most := used(whole)) <= room:
            return shown
        if (least := used(0)) > room:
            raise UserError(
                f"{where}: without its {name}, prompt and answer of row {shown[0].id} may have {least} "
                f"tokens, but the model's context has {room}",
                "give a smaller --eval.num_fewshot or --eval.max_gen_toks",
            )
        return shortened(shown, longest(used, room, (0, least), (whole, most)))

    return fitting


def longest(tokens: Callable[[int], int], room: int, fits: tuple[int, int], too_long: tuple[int, int]) -> int:
    """Returns about the longest length whose tokens fit.

    Tokens grow almost in proportion to characters, so a few tries find it.

    Args:
        tokens: length to number of tokens.
        room: the most tokens.
        fits: a length that fits, and its tokens.
        too_long: a length that does not, and its tokens.
    """
    low, used = fits
    high, above = too_long
    for attempt in range(MOST_TRIES):
        if high - low <= 1 or used >= NEARLY_ALL * room:
            break
        share = ((1 + NEARLY_ALL) / 2 * room - used) / (above - used) if attempt % 3 < 2 else 0.5
        length = min(max(low + int(share * (high - low)), low + 1), high - 1)
        n_tokens = tokens(length)
        low, used, high, above = (length, n_tokens, high, above) if n_tokens <= room else (low, used, length, n_tokens)
    return low


def cut(text: str, length: int) -> str:
    """Returns whole words from a text's beginning, at most a number of characters.

    Text without spaces is cut between characters; a letter keeps its marks.
    """
    if len(text) <= length:
        return text
    begin = len(text[:length]) - len(re.search(r"\S*\Z", text[:length])[0])  # type: ignore[index]
    end = length + len(re.match(r"\S*", text[length:])[0])  # type: ignore[index]
    if end - begin <= LONGEST_WORD:
        length = begin if end > length else length
    while 0 < length < len(text) and unicodedata.category(text[length]).startswith("M"):
        length -= 1
    return text[:length].rstrip()


def dropping(fits: Callable[[str, Document], bool]) -> Fitting:
    """Returns a function that leaves out examples, from the last on, while a prompt is too long.

    If it is too long without any, the backend removes its beginning, and says so.
    """

    def fitting(shown: Shown, prompt: Callable[[Shown], str]) -> Shown:
        remaining = shown
        while len(remaining) > 1 and not fits(prompt(remaining), remaining[0]):
            remaining = remaining[:-1]
        return remaining

    return fitting
