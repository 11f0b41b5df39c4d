"""Spans and tagged tokens, and how answers show them."""

from collections.abc import Sequence

Pair = list[str]  # [type, text] of a span, or [token, tag]; lists, as JSON has them
OUTSIDE = "O"
NONE = "none"


def spans(tokens: Sequence[str], tags: Sequence[str]) -> list[Pair]:
    """Returns the spans that IOB2 tags mark, by seqeval's strict definition.

    A span begins with a B tag, and the I tags of the same type that follow belong to it. An I tag
    without a span of its type before it marks nothing.
    """
    marked: list[tuple[str, list[str]]] = []
    inside = ""
    for token, tag in zip(tokens, tags, strict=True):
        prefix, _, kind = tag.partition("-")
        if prefix == "B":
            marked.append((kind, [token]))
            inside = kind
        elif prefix == "I" and inside == kind:
            marked[-1][1].append(token)
        else:
            inside = ""
    return [[kind, " ".join(text)] for kind, text in marked]


def types(tags: Sequence[str]) -> list[str]:
    """Returns the types of spans in a list of IOB2 tags, in order."""
    return list(dict.fromkeys(tag.partition("-")[2] for tag in tags if tag != OUTSIDE))


def spans_shown(pairs: Sequence[Pair]) -> str:
    """Returns spans as they are asked for: one per line, as in `PER: John Lewis`, or `none`."""
    return "\n".join(f"{kind}: {text}" for kind, text in pairs) or NONE


def tags_shown(pairs: Sequence[Pair]) -> str:
    """Returns tagged tokens as they are asked for: one per line, as in `Musa PROPN`."""
    return "\n".join(f"{token} {tag}" for token, tag in pairs)
