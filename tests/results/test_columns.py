"""Columns of samples: what is in lines that nothing of ours has written."""

import pytest

from afrieval.results.sample_columns import _lengths


@pytest.mark.parametrize("tokens", [{"<b>": 1}, [2], "three", None])
def test_tokens_that_are_not_numbers_are_not_lengths(tokens: object) -> None:
    choices = [[[-1.0, True, 2]], [[-2.0, False, tokens]]]
    line = {"resps": choices, "arguments": [["q", " yes"], ["q", " no"]]}
    assert _lengths(line) == (4, 3)
