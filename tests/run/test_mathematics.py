"""AfriMGSM from question to score: what is asked, where an answer ends, what of it is read."""

from pathlib import Path

import pytest
from tests.conftest import Cli, only_samples, put, read_config
from tests.models.tiny import CHAT, tiny_llama

from afrieval.config.settings import RunConfig
from afrieval.models.base import LanguageModel
from afrieval.models.registry import load_model
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.task_cell import TaskCell

SOME = ("--task.languages", "yor", "--task.prompts", "1", "--task.prompt_language", "native")


def config(*words: object) -> RunConfig:
    given = ["--data.source", "samples", "--task.task_name", "afrimgsm_cot", *SOME, *words]
    return read_config([str(w) for w in given], command="run", needs_model=False)


def cell(*words: object) -> TaskCell:
    return declared_cells(config(*words))[0][0]


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    return load_model(config("--model.model_name", "demo").model, config().eval)


def answering(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Replaces the model by one that always answers the same."""
    monkeypatch.setattr(
        "afrieval.models.backends.hf.HF.generate_until",
        lambda lm, requests, disable_tqdm=False: [text for _ in requests],
    )


def test_direct_and_worked_examples(run_demo: Cli, tmp_path: Path) -> None:
    words = ("--eval.num_fewshot", 2, "--eval.limit", 1, "--eval.max_gen_toks", 4)
    shown = {}
    for task in ("afrimgsm", "afrimgsm_cot"):
        run_demo(*SOME, *words, "--task.task_name", task, "--run_dir", tmp_path / task).ok()
        (sample,) = only_samples(tmp_path / task)
        shown[task] = sample["arguments"][0][0], sample["fewshot_ids"]
    direct, worked = shown["afrimgsm"][0], shown["afrimgsm_cot"][0]
    assert shown["afrimgsm"][1] == shown["afrimgsm_cot"][1], "both draw the same rows"
    assert direct.count("\nÌdáhùn: ") == 2 and direct.endswith("\nÌdáhùn:")
    assert worked.count("Ìdáhùn lẹ́sẹẹsẹ:") == 3, "the data's own heading is cut off"
    assert worked.count("Ìbéèrè:") == direct.count("Ìbéèrè:") == 3
    assert worked.count("Ìdáhùn náà ni ") == 2 and "Ìdáhùn náà ni" not in direct


@pytest.mark.parametrize(
    ("words", "stop"),
    [
        (("--eval.num_fewshot", 1), ("\n\n", "\nÌbéèrè:")),
        ((), ("\nÌbéèrè:",)),
        (("--task.task_name", "afrimgsm"), ("\n\n", "\nÌbéèrè:")),
        (("--model.chat_template",), ()),
    ],
)
def test_where_an_answer_ends(lm: LanguageModel, words: tuple[object, ...], stop: tuple[str, ...]) -> None:
    assert generation(cell(*words), lm).stop == stop


def test_room_for_an_answer_follows_language_tokenizer_and_form(lm: LanguageModel) -> None:
    """Four times the longest worked solution, in the model's own tokens: bytes and a beginning here."""

    def room(*words: object) -> int:
        return generation(cell(*words), lm).max_tokens

    pool = cell().pool
    assert pool is not None
    longest = max(len(d.worked.encode()) + 1 for d in pool.documents)
    assert room() == room("--eval.num_fewshot", 2) == 4 * longest + 32
    assert room("--task.languages", "amh") > room() > room("--task.languages", "eng", "--task.prompt_language", "eng")
    direct = ("--task.task_name", "afrimgsm")
    assert room(*direct) < 64 and room(*direct, "--model.chat_template") == room()
    assert room("--eval.max_gen_toks", 7) == 7
    assert room(*direct, "--model.thinking_end", "</think>") == 16384, "thoughts need room"


def test_without_worked_solutions_the_questions_tell_the_room(
    lm: LanguageModel, tmp_path: Path, small_tasks: Path
) -> None:
    folder = tmp_path / "masakhane/afrimgsm/data/yor"
    put(folder / "test.tsv", "question\tanswer\nAbc?\t2,125\nÀ?\t3\n")
    words = ("--data.source", tmp_path, "--task.folder", small_tasks)
    assert generation(cell(*words), lm).max_tokens == 2 * 5 + 32


def test_a_short_context_keeps_half_for_the_prompt(run_demo: Cli, tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "model", max_length=600)
    run_demo(*SOME, "--task.task_name", "afrimgsm_cot", "--eval.limit", 1, "--model.model_name", model).ok()
    assert only_samples(tmp_path / "run")[0]["arguments"][0][1]["max_gen_toks"] == 300
    words: tuple[object, ...] = (
        "--task.task_name",
        "afrimgsm_cot",
        "--model.model_name",
        model,
        "--eval.max_gen_toks",
        600,
    )
    assert "the model's context has 600 tokens" in run_demo(*SOME, *words, "--run_dir", tmp_path / "other").err
    model = tiny_llama(tmp_path / "of_2048", max_length=2048)
    short = ("--task.task_name", "mmlu_pro", "--model.model_name", model, "--data.source", "samples")
    assert "answers of mmlu_pro have 2,048 tokens, but" in run_demo(*short, "--run_dir", tmp_path / "third").err


@pytest.mark.parametrize(
    ("text", "right", "unparsed"),
    [
        (" 3 + 15 = 18. Ìdáhùn náà ni 18.\nó 5", True, 0.0),
        (" 15", False, 0.0),
        (" méjìdínlógún", False, 1.0),
    ],
)
def test_what_is_read(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, right: bool, unparsed: float
) -> None:
    answering(monkeypatch, text)
    done = run_demo(*SOME, "--task.task_name", "afrimgsm_cot", "--eval.limit", 1, "--eval.write-out")
    (sample,) = only_samples(tmp_path / "run")
    assert sample["target"] == "18", "the first sample row's answer"
    assert (sample["exact_match"], sample["unparsed"]) == (float(right), unparsed)
    verdict = "right" if right else "unparsed" if unparsed else "wrong"
    assert f"{text!r}  {verdict}" in done.out and "exact" in done.out and "A guess" not in done.out


def test_a_direct_answer_is_read_from_its_line(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "\n18\nBecause 3 x 6 is that, and 5 are left")
    assert run_demo(*SOME, "--task.task_name", "afrimgsm", "--eval.limit", 1).code == 0
    assert [s["exact_match"] for s in only_samples(tmp_path / "run")] == [1.0]


@pytest.mark.parametrize(("text", "unparsed"), [("is it 5? <done> 18", 0.0), ("is it 18? yes, 18", 1.0)])
def test_thinking_is_not_read(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, unparsed: float
) -> None:
    """Thinking that was cut short names a number, but gives no answer."""
    answering(monkeypatch, text)
    words = ("--task.task_name", "afrimgsm", "--eval.limit", 1, "--model.thinking_end", "<done>")
    assert run_demo(*SOME, *words).code == 0
    (sample,) = only_samples(tmp_path / "run")
    assert (sample["exact_match"], sample["unparsed"]) == (1.0 - unparsed, unparsed)
    assert sample["resps"] == [[text]], "all that was written is kept"


def test_worked_examples_where_there_are_none_are_an_error(run_demo: Cli, tmp_path: Path, small_tasks: Path) -> None:
    folder = tmp_path / "masakhane/afrimgsm/data/yor"
    folder.mkdir(parents=True)
    for name in ("test.tsv", "dev.tsv"):
        (folder / name).write_text("question\tanswer_number\nAbc?\t5\nDef?\t6\nGhi?\t7\n", encoding="utf-8")
    words = ("--data.source", tmp_path, "--task.folder", small_tasks, "--eval.num_fewshot", 1, "--eval.limit", 1)
    refused = run_demo(*SOME, *words, "--task.task_name", "afrimgsm_cot")
    assert refused.code == 2 and "no worked solutions in yor" in refused.err
    assert run_demo(*SOME, *words, "--task.task_name", "afrimgsm").code == 0, "bare numbers serve as direct examples"


def test_a_chat_is_asked_for_reasoning_in_its_own_turn(run_demo: Cli, tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "chat", chat_template=CHAT, max_length=8192)
    words = ("--model.model_name", model, "--model.chat_template", "--eval.limit", 1, "--eval.max_gen_toks", 4)
    assert run_demo(*SOME, *words, "--task.task_name", "afrimgsm_cot", "--eval.num_fewshot", 1).code == 0
    (sample,) = only_samples(tmp_path / "run")
    context, options = sample["arguments"][0]
    assert "Ìdáhùn náà ni" in context.split("<user>")[1], "the system text asks for the lead-in"
    assert context.count("<assistant>") == 2 and options["until"] == []


def test_a_missing_few_shot_file_is_no_missing_data(run_demo: Cli, tmp_path: Path, small_tasks: Path) -> None:
    for code in ("yor", "hau"):
        folder = tmp_path / "masakhane/afrimgsm/data" / code
        put(folder / "test.tsv", "question\tanswer\nAbc?\t5\n")
    (folder / "dev.tsv").write_text("question\tanswer_number\nDef?\t6\n", encoding="utf-8")
    where = ("--data.source", tmp_path, "--task.folder", small_tasks)
    words = ("--task.task_name", "afrimgsm", *where, "--eval.num_fewshot", 1, "--task.prompts", 1)
    refused = run_demo(*words, "--task.languages", "yor")
    assert "no train rows of afrimgsm for yor" in refused.err and "give --eval.num_fewshot 0" in refused.err
    done = run_demo(*words)
    assert done.code == 0 and "afrimgsm: no train rows for yor" in done.err and "no test rows for amh" in done.err
