"""Finds where thinking ends in what a model wrote, and its answer begins."""

import re
from collections.abc import Sequence

TAG = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning)"
BEGINS = (
    rf"(?i:<{TAG}\s*>|◁{TAG}▷|<\|{TAG}\|>|<\|(?:START_THINKING|begin_of_thought)\|>)|\[THINK\]|<\|inner_prefix\|>"
    r"|<\|channel>thought|<\|channel\|>(?:analysis|commentary)"
)
ENDS = (
    rf"(?i:</\s*{TAG}\s*>|◁/{TAG}▷|<\|/{TAG}\|>|<\|(?:END_THINKING|end_of_thought)\|>)|\[/THINK\]|<\|inner_suffix\|>"
    r"|<channel\|>|<\|channel\|>final\b[^<]*(?:<\|constrain\|>\w+)?<\|message\|>"
)
# Harmony as it is without special tokens: names of channels are glued to what they hold.
GLUED = r"(?=[^\W_a-z])"
START = r"\A[\s\u200b-\u200f\u2060\ufeff]*"
BEGIN = re.compile(rf"(?:{START}|\n[ \t]*)(?:{BEGINS})|<\|channel\|>|{START}(?:analysis|commentary){GLUED}")
END = re.compile(
    rf"{ENDS}|assistantfinal|{START}final{GLUED}|{START}Here(?:'s| is) my thought process:(?s:.*?)my response:"
)
OPENED = re.compile(rf"(?:{BEGINS})(?:<\|message\|>)?\s*\Z")
TOKEN = re.compile(rf"{BEGINS}|{ENDS}|<\|(?:channel|message)\|>")
TURN_END = re.compile(r"<\|(?:end|return|call|im_end|eot_id|END_RESPONSE|END_OF_TURN_TOKEN)\|>")
WRAPPER = re.compile(r"<\|\w+\|>|</?response>")
QUOTES = "`'\"“”‘’«»"


def answer_span(text: str, thinking_end: str = "", opened: bool = False) -> tuple[int, int]:
    """Returns where the answer begins and ends in a text; the rest is thinking. Equal numbers: there is no answer.

    The answer follows the last end of thinking, or stands before it if nothing follows. Thinking that began at the
    start of a line, or in the prompt, and did not end is no answer. Marks in quotes are talked about.

    Args:
        text: what a model wrote.
        thinking_end: what ends its thinking, if that is known: without it, the text is thinking.
        opened: whether the prompt began the thinking.
    """
    ends = []
    for match in END.finditer(text):
        around = text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 1]
        if not all(mark and mark in QUOTES for mark in around):
            ends.append(match.end())
    if thinking_end and thinking_end in text:
        ends = [text.rindex(thinking_end) + len(thinking_end)]
    if not ends and (thinking_end or opened):
        return len(text), len(text)
    begin = ends[-1] if ends else 0
    before = ends[-2] if len(ends) > 1 else 0
    if ends and not opened and not text[begin:].strip() and (first := re.search(BEGINS, text[before:begin])):
        begin, text = before, text[: before + first.start()]  # the answer stands before its thinking
    again = BEGIN.search(text[begin:])
    return begin, begin + again.start() if again else len(text)


def parted(text: str, thinking_end: str = "", opened: bool = False) -> tuple[str, str]:
    """Returns thinking and answer of a text, as `answer_span` finds them; a text without thinking is all answer."""
    begin, end = answer_span(text, thinking_end, opened)
    if end - begin == len(text):
        return "", text
    return text[:begin] + text[end:], WRAPPER.sub("", TURN_END.split(text[begin:end])[0])


def stopped(text: str, stop: str | Sequence[str], thinking_end: str = "", opened: bool = False) -> str:
    """Returns a text up to the first stop text after its thinking, and after the blanks that follow thinking."""
    begin, end = answer_span(text, thinking_end, opened)
    first = begin + len(text[begin:end]) - len(text[begin:end].lstrip()) if begin else 0
    texts = [stop] if isinstance(stop, str) else stop
    starts = [start for each in texts if each and (start := text.find(each, first, end)) >= 0]
    return text[: min(starts)] if starts else text


def opens(prompt: str) -> bool:
    """Returns whether a prompt ends with the beginning of thinking."""
    return bool(OPENED.search(prompt[-80:]))


def is_mark(token: str, thinking_end: str = "") -> bool:
    """Returns whether a token is or has a part in what begins or ends thinking."""
    return bool(TOKEN.search(token)) or (bool(token) and token in thinking_end)
