"""The loss of a text relative to how well it can be compressed: a membership attack."""

import math
from zlib import compress

from afrieval.scoring.base import Metric
from afrieval.scoring.measured import ANSWER, of_texts
from afrieval.scoring.tokens import Tokens


def zlib(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the loss divided by the text's compressed length in bytes.

    Carlini et al. 2021, "Extracting Training Data from Large Language Models", section 5.2. Higher values say that
    the model has less likely seen the text. The length is that of the text in UTF-8; where only its first tokens are
    asked for, of the part that they cover. The end of the text never counts.

    Args:
        of: the role of the texts.
    """
    return of_texts("zlib", of, _value, math.inf, higher_is_better=False)


def _value(tokens: Tokens, text: str) -> float:
    return tokens.of_text.loss / len(compress(text[: tokens.characters].encode()))
