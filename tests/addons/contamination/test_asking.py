"""What is asked of rows: second halves, whole texts, and unseen rows from samples or a file."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval.addons.contamination.asking import ProbedText, completion, halves, membership
from afrieval.addons.contamination.plan import check_unseen, read_unseen, unseen_rows
from afrieval.addons.contamination.rows import question_text
from afrieval.config.settings import TaskConfig
from afrieval.models.base import UnknownTokenizer
from afrieval.scoring.responses import Scored
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.sampling import ChosenRows
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task

ALL = ChosenRows((), 0)
BASE = ["--model.model_name", "demo", "--data.source", "samples", "--task.task_name"]


@given(st.text("ab ጥ\n", min_size=8).map(str.strip).filter(lambda text: len(text) >= 8))
def test_halves_make_the_whole_and_neither_is_empty(text: str) -> None:
    before, after = halves(text)
    assert before + after == text and before.strip() and after.strip()


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("one two three four five", "one two"),
        ("an an an an an an", "an an an"),
        ("one two\nthree four", "one two"),
        ("ውሃየትነውያለው", "ውሃየት"),
    ],
)
def test_a_text_is_divided_by_words_or_without_them_by_characters(text: str, before: str) -> None:
    assert halves(text)[0] == before


def answer(greedy: list[int]) -> Scored:
    n = len(greedy)
    tokens = {"logprobs": [-2.0] * n, "greedy": greedy, "means": [-4.0] * n, "variances": [4.0] * n, "ends": 0}
    return Scored((-2.0 * n, False, n), {"tokens": tokens})


def test_measures_of_a_second_half() -> None:
    texts = [ProbedText(3, "one two three four", False), ProbedText(0, "five six seven eight", True)]
    (asked, other) = completion(texts, ALL).ask(UnknownTokenizer())
    assert list(asked.requests) == [("one two", " three four", {"tokens": True})]
    measures = asked.measure([answer([1, 0, 1, 1])])
    assert measures["completion"] == [0.75, 0.0] and measures["extraction"] == [0.5, 0.0]
    assert other.measure([answer([1, 1])])["completion_gain"] == [1.0, 1.0] and other.doc["origin"] == "unseen"


def test_measures_of_a_whole_text() -> None:
    (asked,) = membership([ProbedText(3, "one two three four", False)], ALL).ask(UnknownTokenizer())
    assert list(asked.requests) == [("one two three four", {"tokens": True, "vocabulary": True})]
    assert asked.measure([answer([1, 1])]) == {"membership_auc": [-1.0, 0.0], "length_auc": [18.0, 0.0]}


def test_unseen_rows_are_the_samples_but_not_of_themselves() -> None:
    spec = load_task("afrixnli")
    found = unseen_rows(spec, "yor", "hub", None)
    assert len(found) > 9 and "\n" in found[0]
    assert unseen_rows(spec, "yor", SAMPLES, None) == []


def unseen(path: Path, language: str = "yor", languages: str = "yor", of: str = "afrixnli") -> list[str]:
    task = TaskConfig(unseen=str(path), languages=languages.split(), of=of.split())
    return unseen_rows(load_task("afrixnli"), language, "hub", read_unseen(task, ["afrixnli", "afrimmlu"]))


def test_unseen_texts_are_not_those_of_the_test_set() -> None:
    spec = load_task("afrixnli")
    split = load_split(spec, "yor", "test", SAMPLES)
    assert split is not None
    own = [question_text(spec, row) for row in split.documents[:2]]
    check_unseen(spec, "yor", split.documents, ["another text"])
    for texts in ([*own, "another text"], [split.documents[0].fields["premise"]]):
        with pytest.raises(UserError, match="of the test set of afrixnli in yor, such as"):
            check_unseen(spec, "yor", split.documents, texts)


def test_a_file_of_unseen_rows(tmp_path: Path) -> None:
    lines, table, rows = (tmp_path / name for name in ("u.txt", "u.csv", "u.jsonl"))
    lines.write_text("one text\n\n another text \n", encoding="utf-8")
    table.write_text('text,more\n"one text",1\nanother text,2\n', encoding="utf-8")
    given = [{"text": "one text", "language": "yor"}, {"text": "other", "language": "hau"}]
    rows.write_text("".join(json.dumps(row) + "\n" for row in [*given, given[0]]), encoding="utf-8")
    assert unseen(lines) == unseen(table) == ["one text", "another text"]
    assert unseen(rows, languages="yor hau") == ["one text"]
    assert unseen(rows, "hau", languages="yor hau") == ["other"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("u.txt", "", "has no texts"),
        ("u.xlsx", "x", "format .xlsx is not supported"),
        ("u.csv", "question\nx\n", "row 1: it has no text"),
        ("u.jsonl", '{"text": "a"}\n{"text": " "}\n', "row 2: it has no text"),
        ("u.jsonl", '{"text": 3}\n', "row 1: it has no text"),
        ("u.jsonl", "{", "u.jsonl"),
        ("u.parquet", "x", "u.parquet"),
        ("u.txt", "\udcff", "not UTF-8"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=message):
        unseen(path)


def test_a_file_must_say_which_language_and_task_texts_are_of(tmp_path: Path) -> None:
    path = tmp_path / "u.txt"
    path.write_text("one text\n", encoding="utf-8")
    with pytest.raises(UserError, match="which language each text is of"):
        unseen(path, languages="yor hau")
    with pytest.raises(UserError, match="which task each text is of"):
        unseen(path, of="afrixnli xnli")
    with pytest.raises(UserError, match="there is no file"):
        unseen(tmp_path / "none.txt")


def test_a_backend_without_likelihoods_of_tokens_asks_for_the_order_alone(cli: Cli) -> None:
    words = ["memorisation", "--of", "afrixnli", "--task.languages", "yor", "--dry-run"]
    done = cli("run", *BASE, *words, "--model.model_type", "vllm")
    assert (
        done.code == 0 and "no likelihoods of single tokens" in done.err and "memorisation_afrixnli_order" in done.out
    )
    assert "completion" not in done.out


def test_preview_list_and_export(cli: Cli, tmp_path: Path) -> None:
    shown = cli("preview", *BASE[2:], "memorisation", "--of", "afrixnli", "--task.languages", "yor")
    assert shown.code == 0 and shown.out.count("memorisation of afrixnli Yoruba") == 2
    assert "memorisation: asks whether" in " ".join(cli("list", "memorisation").out.split())
    done = cli("export", "--to", "harness", *BASE[2:], "memorisation", "--of", "afrixnli", "-o", tmp_path / "x")
    assert done.code == 2


def test_a_translated_test_set(cli: Cli) -> None:
    words = ["memorisation", "--of", "afrixnli", "--task.languages", "yor", "--task.variant", "translate"]
    shown = cli("preview", *BASE[2:], *words).ok()
    assert "memorisation of afrixnli_translate Yoruba, second halves" in shown.out and " the " in shown.out
