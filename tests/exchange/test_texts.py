"""Strict JSON and names of files, of any text."""

import json

from afrieval.exchange.stored_runs import file_name, strict_json, unicode_text


def test_halves_of_pairs_are_escapes() -> None:
    assert unicode_text("a \ud800 \U0001f600") == "a \\ud800 \U0001f600"
    assert json.loads(strict_json({"a": "\ud800", "b": "ọ"})) == {"a": "\\ud800", "b": "ọ"}


def test_names_of_files() -> None:
    assert file_name("org/model:1") == "org__model__1"
    assert file_name("../..") == "..__" and file_name("..") == "_"
    assert file_name("") == "_" and file_name("a\n\ud800") == "a__ud800"
