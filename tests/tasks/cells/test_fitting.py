"""A task's long field is shortened where a prompt does not fit the model's context, and nothing else is changed."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.conftest import Cli, only_samples, put, read_config
from tests.models.tiny import CHAT, tiny_llama, tiny_t5
from tests.tasks.small_task import declaration, write_declaration
from transformers import AutoTokenizer

from afrieval.results.samples import Sample
from afrieval.tasks.cells.limits import cut, cutting, longest
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.data.document import Document

LABELS = ["weather", "sport"]
TASK = declaration(
    "articles",
    kind="classification",
    data={"fewshot": "test"},
    fields={"title": "title", "text": "text"},
    labels=LABELS,
    answer="about",
    prompts={1: {"template": "Title: {{ title }}\nArticle: {{ text }}\nweather or sport:"}},
    fit="text",
)
LENGTHS = (3, 400, 20, 1, 900)  # in words
MOST = 512


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """Options that name a task with short and long articles."""
    write_declaration(tmp_path / "tasks", TASK)
    texts = [" ".join(f"word{i}{n}" for n in range(length)) for i, length in enumerate(LENGTHS)]
    rows = [{"title": f"Title {i}", "text": text, "about": LABELS[i % 2]} for i, text in enumerate(texts)]
    data = tmp_path / "data/ours/articles/en.jsonl"
    put(data, "".join(json.dumps(row) + "\n" for row in rows))
    named = {"--task.task_name": "articles", "--task.folder": tmp_path / "tasks", "--data.source": tmp_path / "data"}
    return [str(word) for pair in (named | {"--run_dir": tmp_path / "run"}).items() for word in pair]


def elsewhere(words: list[str]) -> list[str]:
    """Returns the options with the run folder 2/run instead of run."""
    return [*words[:-1], str(Path(words[-1]).parent / "2/run")]


def run(cli: Cli, words: list[str], folder: Path, model: Path, *more: object) -> tuple[list[Sample], Any]:
    done = cli("run", *words, "--model.model_name", model, *more).ok()
    assert "lose their beginning" not in done.err, "the backend has cut prompts"
    return only_samples(folder / "run"), done


@pytest.mark.parametrize(("form", "shots", "chat"), [("text", 0, False), ("text", 2, True), ("generate", 2, False)])
def test_prompt_and_answer_fit(cli: Cli, words: list[str], tmp_path: Path, form: str, shots: int, chat: bool) -> None:
    model = tiny_llama(tmp_path / "model", max_length=MOST, chat_template=CHAT if chat else None)
    options = ["--task.answer_form", form, "--eval.num_fewshot", shots, *(["--model.chat_template"] if chat else [])]
    samples, done = run(cli, words, tmp_path, model, *options)
    tokenizer = AutoTokenizer.from_pretrained(model)
    cut_short = []
    for sample, length in zip(samples, LENGTHS, strict=True):
        for context, answer in sample["arguments"]:
            room = answer["max_gen_toks"] if form == "generate" else 0
            text = context if form == "generate" else context + answer
            used = len(tokenizer(text).input_ids) + room
            assert used <= MOST
            assert "fitted" not in sample or used > 0.9 * MOST, "no more is left out than has to be"
        assert f"Title {sample['doc_id']}" in context and "weather or sport:" in context
        shown, whole = sample.get("fitted", {}).get("text", [0, 0])
        article = sample["doc"]["text"]
        assert len(article.split()) == length, "the sample has the whole document"
        cut_short.append("fitted" in sample)
        if "fitted" in sample:
            assert whole == len(article) and f"Article: {article[:shown]}\nweather" in context
            assert shown == whole or article[shown] == " ", "a word was cut"
    assert cut_short[1] and cut_short[4] and (shots or cut_short == [False, True, False, False, True])
    assert f"{sum(cut_short)} of 5 prompts were shortened to fit the model's context (English)" in " ".join(
        done.out.split()
    )


def test_requests_are_the_same_where_all_fits(cli: Cli, words: list[str], tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "model", max_length=32768)
    options = ["--task.answer_form", "generate", "--eval.num_fewshot", 2, "--eval.limit", 2]
    fitted, done = run(cli, words, tmp_path, model, *options)
    write_declaration(tmp_path / "tasks", {name: value for name, value in TASK.items() if name != "fit"})
    plain, _ = run(cli, elsewhere(words), tmp_path / "2", model, *options)
    assert [s["arguments"] for s in fitted] == [s["arguments"] for s in plain]
    assert not any("fitted" in s for s in fitted) and "shortened" not in done.out


def test_examples_are_shortened_like_the_question_and_stay_the_same_rows(
    cli: Cli, words: list[str], tmp_path: Path
) -> None:
    model = tiny_llama(tmp_path / "model", max_length=MOST)
    short, _ = run(cli, words, tmp_path, model, "--eval.num_fewshot", 3)
    config = read_config([*words, "--eval.num_fewshot", "3"], command="run", needs_model=False)
    (cell,), _ = declared_cells(config)
    assert [s["fewshot_ids"] for s in short] == [[e.id for e in cell.examples(d)] for d in cell.documents]
    for sample in short:
        articles = [part.partition("\n")[0] for part in sample["arguments"][0][0].split("Article: ")[1:]]
        rows = [*sample["fewshot_ids"], sample["doc_id"]]
        lengths = {row: len(text.split()) for row, text in zip(rows, articles, strict=True)}
        cut_rows = [row for row in rows if lengths[row] < LENGTHS[row]]
        assert cut_rows, "three examples of five articles include a long one"
        sizes = [len(text) for row, text in zip(rows, articles, strict=True) if row in cut_rows]
        assert max(sizes) - min(sizes) < len("word1234 "), "long articles get the same room"
        assert all(len(text) <= max(sizes) + 8 for text in articles), "a whole article is shorter than a cut one"


def test_no_warning_about_texts_that_are_shortened(
    cli: Cli, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_llama(tmp_path / "model", max_length=MOST)
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.model_max_length = MOST
    tokenizer.save_pretrained(model)
    said: list[str] = []
    monkeypatch.setattr("transformers.tokenization_utils_base.logger.warning", lambda text, *more: said.append(text))
    run(cli, words, tmp_path, model)
    assert not said
    AutoTokenizer.from_pretrained(model)("x" * 2 * MOST)
    assert "longer than the specified maximum" in said[0]


def test_an_encoder_decoder_fits(cli: Cli, words: list[str], tmp_path: Path) -> None:
    model = tiny_t5(tmp_path / "model")
    samples, _ = run(cli, words, tmp_path, model, "--model.backend_args.max_length", MOST)
    assert [("fitted" in s) for s in samples] == [False, True, False, False, True]


def test_a_context_without_room_for_any_text_is_an_error(cli: Cli, words: list[str], tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "model", max_length=48)
    done = cli("run", *words, "--model.model_name", model, "--eval.num_fewshot", 2)
    assert done.code == 2
    assert "without its text, prompt and answer of row 0 may have" in done.err and "context has 48" in done.err
    assert "hint: give a smaller --eval.num_fewshot" in done.err and "Traceback" not in done.err


def test_preview_shows_all_of_it_and_says_so(cli: Cli, words: list[str]) -> None:
    shown = cli("preview", *words[:-2], "--eval.num_fewshot", 1).ok()
    assert "text: whole here; a run shortens it if the prompt does not fit the model's context" in shown.out


@pytest.mark.parametrize(
    ("text", "length", "kept"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two"),
        ("one two three", 8, "one two"),
        ("one two three", 7, "one two"),
        ("one two\n\nthree", 8, "one two"),
        ("one two three", 2, ""),
        ("one two three", 0, ""),
        ("文" * 200, 100, "文" * 100),
        ("e\u0301" * 200, 101, "e\u0301" * 50),
        ("ሰላም ለዓለም ሁሉ", 9, "ሰላም ለዓለም"),
    ],
)
def test_words_stay_whole(text: str, length: int, kept: str) -> None:
    assert cut(text, length) == kept


@given(st.text("aé̀ \n文", max_size=300), st.integers(0, 300))
def test_a_cut_text_is_a_beginning_of_the_text(text: str, length: int) -> None:
    kept = cut(text, length)
    assert text.startswith(kept)
    assert len(kept) <= max(length, 0) or kept == text


@given(st.lists(st.integers(0, 30_000), min_size=1, max_size=6), st.integers(700, 8000), st.floats(0.1, 4))
@example([191, 334, 15680], 984, 2.140625)  # which needs all twelve
def test_few_tries_find_the_longest(sizes: list[int], room: int, rate: float) -> None:
    """Texts of a mixed prompt, cut to a length, have a number of tokens each; the prompt's own words have 50."""
    tries = 0

    def tokens(length: int) -> int:
        nonlocal tries
        tries += 1
        return 50 + int(sum(min(size, length // 6 * 6) for size in sizes) * rate)  # words of six letters

    whole = max(sizes)
    if (most := tokens(whole)) <= room:
        return
    found = longest(tokens, room, (0, tokens(0)), (whole, most))
    assert tries <= 2 + 12, "two before the search, and at most twelve in it"
    step = 6 * rate * len(sizes)
    assert room >= tokens(found) >= 0.99 * room - step


def test_a_prompt_that_fits_is_counted_once() -> None:
    counted = []

    def tokens(text: str, document: Document) -> int:
        counted.append(text)
        return len(text)

    shown = [Document(0, {"text": "a b c"}, (), 0)]
    assert cutting("text", "cell", tokens, 10)(shown, lambda documents: documents[0].fields["text"]) is shown
    assert counted == ["a b c"]


def test_an_export_says_that_the_harness_does_not_shorten(cli: Cli, words: list[str], tmp_path: Path) -> None:
    """The harness names no tokenizer to a task."""
    done = cli("export", "--to", "harness", tmp_path / "exported", *words[:-2]).ok()
    assert "articles: the harness does not shorten text, and may cut the beginning of prompts" in done.err
