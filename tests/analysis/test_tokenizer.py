"""Tokens per word come from stored numbers alone, and only where these are of the language."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import scored

from afrieval.analysis.tokenizer import OPTIONS, PROMPTS, Fertility, fertilities
from afrieval.results.cell_scores import CellScores

PARALLEL: Any = {"parallel": [["yor", "eng"]]}


def cell(tmp_path: Path, options: list[list[tuple[str, int]]], language: str = "yor", **changes: Any) -> CellScores:
    """A cell whose documents have options of these texts and tokens."""
    lines = [
        {
            "doc_id": row, "task": "t", "language": language, "prompt": 1, "prompt_language": "eng", "metrics": ["acc"],
            "arguments": [["Q", text] for text, _ in texts], "resps": [[[-1.0, False, n]] for _, n in texts],
        }
        for row, texts in enumerate(options)
    ]  # fmt: skip
    return stored(tmp_path, lines, language=language, **changes)


def stored(tmp_path: Path, lines: list[dict[str, Any]], **changes: Any) -> CellScores:
    path = tmp_path / f"samples_{changes['language']}_{changes.get('model', 'm')}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return scored([1.0] * len(lines), path=path, **changes)


def test_tokens_are_divided_by_words_characters_and_bytes(tmp_path: Path) -> None:
    [found] = fertilities([cell(tmp_path, [[(" ọmọ kan", 6), (" ilé", 3)], [(" ajá", 3)]])])
    assert (found.texts, found.n, found.premium) == (OPTIONS, 2, None)
    assert (found.tokens, found.words, found.characters, found.bytes) == (12, 4, 16, 22)
    assert (found.per_word, found.per_character, found.per_byte) == (3.0, 0.75, 12 / 22)


def test_the_same_documents_in_english_give_a_premium(tmp_path: Path) -> None:
    yoruba = cell(tmp_path, [[(" ilé", 6)], [(" ajá", 2)]], declared=PARALLEL)
    english = cell(tmp_path, [[(" house", 2)], [(" dog", 2)]], "eng", declared=PARALLEL)
    found = {of.language: of.premium for of in fertilities([yoruba, english])}
    assert found == {"yor": 2.0, "eng": None}


def test_documents_that_are_not_parallel_have_no_premium(tmp_path: Path) -> None:
    cells = [cell(tmp_path, [[(" ilé", 6)]]), cell(tmp_path, [[(" house", 2)]], "eng")]
    assert [of.premium for of in fertilities(cells)] == [None, None]


def test_documents_with_keys_are_parallel_by_key(tmp_path: Path) -> None:
    yoruba = cell(tmp_path, [[(" a", 9)], [(" b", 4)]], declared=PARALLEL, keys=np.array([7, 8]))
    english = cell(tmp_path, [[(" b", 2)], [(" c", 1)]], "eng", declared=PARALLEL, keys=np.array([8, 9]))
    [of_yoruba, _] = fertilities([yoruba, english])
    assert (of_yoruba.n, of_yoruba.premium) == (1, 2.0)


@pytest.mark.parametrize(
    "changes",
    [
        {"declared": {"labels": ["yes", "no"]}},  # the same words in each document
        {"comparable_on": {"variant": "translate"}},  # in English
        {"answer_form": "letter"},
        {"answer_form": "generate"},  # without the numbers of a server
    ],
)
def test_texts_that_say_nothing_of_the_language_are_not_counted(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert fertilities([cell(tmp_path, [[(" a", 1)]], **changes)]) == []


def test_samples_without_tokens_have_no_fertility(tmp_path: Path) -> None:
    line = {
        "doc_id": 0, "task": "t", "language": "yor", "prompt": 1, "prompt_language": "eng", "metrics": ["acc"],
        "resps": [[[-1.0, False]]],
    }  # fmt: skip
    assert fertilities([stored(tmp_path, [line | {"arguments": [["Q", " a"]]}], language="yor")]) == []
    assert fertilities([stored(tmp_path, [line], language="yor")]) == []


def test_servers_count_native_prompts(tmp_path: Path) -> None:
    def lines(tokens: int) -> list[dict[str, Any]]:
        line = {"task": "t", "language": "yor", "prompt": 1, "prompt_language": "native", "metrics": ["acc"]}
        details = {"prompt_tokens": tokens, "requests": 1}
        sent = {"arguments": [["Kí ni?", {}]], "resps": [["x"]]}
        return [
            {"doc_id": 0, **line, **sent, "details": details},
            {"doc_id": 1, **line, **sent, "details": details | {"requests": 2}},  # a repeated one counts twice
            {"doc_id": 2, **line, **sent, "details": {"prompt_tokens": 0}},  # from the cache
        ]

    known: dict[str, Any] = {"answer_form": "generate", "usage": {"answers": 3}}
    native = stored(tmp_path, lines(8), language="yor", prompt_language="native", **known)
    [found] = fertilities([native])
    assert (found.texts, found.n, found.per_word) == (PROMPTS, 1, 4.0)
    assert fertilities([stored(tmp_path, lines(8), language="yor", **known)]) == []  # a template in English


def test_large_cells_are_sampled_evenly(tmp_path: Path) -> None:
    [found] = fertilities([cell(tmp_path, [[(" a", 1)]] * 950)])
    assert 40 <= found.n <= 50


def test_models_and_tasks_are_apart(tmp_path: Path) -> None:
    cells = [cell(tmp_path, [[(" a", n)]], model=str(n)) for n in (1, 2)]
    found: list[Fertility] = fertilities(cells)
    assert [(of.model, of.per_word) for of in found] == [("1", 1.0), ("2", 2.0)]
