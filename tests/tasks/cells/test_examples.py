"""The same examples whatever the limit, batch size, order of cells, earlier calls and number of processes."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Cli, only_samples, read_config
from tests.models.tiny import tiny_llama
from tests.tasks.small_task import declaration, write_declaration
from transformers import AutoTokenizer

from afrieval._util.errors import UserError
from afrieval.results.samples import Sample
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.sampling import examples, ranking


def pool(n: int, defective: frozenset[int] = frozenset()) -> list[Document]:
    return [Document(i, {"q": f"row {i}"}, ("a", "b"), 0, "bad" if i in defective else "") for i in range(n)]


def ids(rows: list[Document]) -> list[int]:
    return [row.id for row in rows]


OTHER = Document(0, {"q": "a test row"}, ("a", "b"), 0)


def test_known_choice() -> None:
    """A change of this list changes every few-shot score: raise the tasks' versions with it.

    The hashes of Python's own differ between processes; these must not.
    """
    assert ids(ranking(pool(25), 42, "afrimmlu", "dev"))[:5] == [21, 19, 6, 3, 24]


def test_seed_task_and_split_decide_and_nothing_else() -> None:
    first = ids(ranking(pool(25), 42, "t", "dev"))
    random.seed(0)
    assert ids(ranking(pool(25)[::-1], 42, "t", "dev")) == first
    others = [(43, "t", "dev"), (42, "u", "dev"), (42, "t", "validation")]
    assert all(ids(ranking(pool(25), *other)) != first for other in others)
    assert sorted(first) == list(range(25))


@given(st.integers(1, 40), st.integers(0, 39))
def test_a_shorter_pool_ranks_its_rows_the_same(n: int, cut: int) -> None:
    whole = ids(ranking(pool(n), 42, "t", "dev"))
    kept = n - min(cut, n)
    assert ids(ranking(pool(kept), 42, "t", "dev")) == [i for i in whole if i < kept]


def test_defective_rows_and_the_document_itself_never_serve() -> None:
    ranked = ranking(pool(6, frozenset({2, 4})), 1, "t", "test")
    assert set(ids(ranked)) == {0, 1, 3, 5}
    own = ranked[0]
    assert ids(examples(ranked, 3, own)) == ids(ranked[1:])
    copy = Document(99, own.fields, own.choices, own.gold)
    assert own not in examples(ranked, 3, copy)


def test_too_many_shots_is_an_error_that_says_how_many_there_are() -> None:
    ranked = ranking(pool(3), 1, "t", "dev")
    with pytest.raises(UserError, match="only 3 examples are usable") as caught:
        examples(ranked, 4, OTHER)
    assert caught.value.hint == "give 3 or fewer"
    with pytest.raises(UserError, match="only 0 examples are usable") as caught:
        examples([], 1, OTHER)
    assert caught.value.hint == "give 0"


def cells(*words: str) -> dict[str, TaskCell]:
    base = ["--task.task_name", "afrimmlu,afrixnli", "--data.source", "samples", "--eval.num_fewshot", "3"]
    config = read_config([*base, "--task.prompt_language", "both", *words], command="run", needs_model=False)
    return {cell.name: cell for cell in declared_cells(config)[0]}


def chosen(cell: TaskCell, document: int = 0) -> list[int]:
    return ids(cell.examples(cell.data.documents[document]))


def test_the_same_rows_in_every_language_and_prompt() -> None:
    for task in ("afrimmlu", "afrixnli"):
        rows = {tuple(chosen(c)) for name, c in cells().items() if name.startswith(task)}
        assert len(rows) == 1, rows


def test_neither_limit_nor_order_nor_earlier_calls_matter() -> None:
    first = cells()
    again = cells("--eval.limit", "1", "--task.languages", "zul,eng", "--eval.batch_size", "3")
    for name, cell in reversed(again.items()):
        chosen(cell, 0)
        assert chosen(cell, 0) == chosen(first[name], 0) == chosen(first[name], 5)


def test_per_document_follows_the_document_and_nothing_else() -> None:
    whole, limited = (
        cells("--eval.fewshot_selection", "per_document"),
        cells("--eval.fewshot_selection=per_document", "--eval.limit=3"),
    )
    cell, same = whole["afrixnli_yor_eng_1"], limited["afrixnli_yor_eng_1"]
    rows = [chosen(cell, i) for i in range(9)]
    assert len({tuple(r) for r in rows}) > 1
    assert [chosen(same, i) for i in (2, 0)] == [rows[2], rows[0]]
    assert chosen(whole["afrixnli_swa_native_2"], 4) == rows[4]


SUBJECTS = ("abstract_algebra", "world_religions")
PROMPT = {
    "header": "Questions about  {{ subject | spaced }}.\n",
    "template": '{{ question }}\n{{ choices | lettered(". ") }}\nAnswer:\n',
}
TASK = declaration(
    "subjects",
    kind="multiple_choice",
    answer_forms=["letter", "generate"],
    data={"files": {"test": "test.jsonl", "dev": "dev.jsonl"}, "fewshot": "dev"},
    fields={"subject": "subject", "question": "question"},
    choices="choices",
    answer="answer",
    prompts={1: PROMPT},
    examples={"order": "file", "same": ["subject"], "drop": True},
)
ASSISTANT = "{% if add_generation_prompt %}<assistant>{% endif %}"
CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}" + ASSISTANT
ROWS = {  # subject and number of words of a question; the dev rows of the two subjects alternate
    "test": [(SUBJECTS[0], 3), (SUBJECTS[1], 3), (SUBJECTS[0], 150), (SUBJECTS[1], 600)],
    "dev": [(SUBJECTS[i % 2], 5 + 10 * i) for i in range(10)],
}


def question(split: str, number: int) -> str:
    return " ".join(f"{split}{number}w{n}" for n in range(ROWS[split][number][1]))


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    """Options that name the task and its data."""
    write_declaration(tmp_path / "tasks", TASK)
    folder = tmp_path / "data/ours/subjects"
    folder.mkdir(parents=True)
    for split, rows in ROWS.items():
        lines = [
            {"subject": s, "question": question(split, i), "choices": ["one", "two", "three"], "answer": i % 3}
            for i, (s, _) in enumerate(rows)
        ]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    named = {"--task.task_name": "subjects", "--task.folder": tmp_path / "tasks", "--data.source": tmp_path / "data"}
    return [str(word) for pair in named.items() for word in pair]


def run(cli: Cli, options: list[str], folder: Path, model: Path, *more: object) -> tuple[list[Sample], str]:
    done = cli("run", *options, "--run_dir", folder, "--model.model_name", model, *more).ok()
    return only_samples(folder), " ".join(f"{done.out} {done.err}".split())


def block(split: str, number: int, answer: str = "") -> str:
    return f"{question(split, number)}\nA. one\nB. two\nC. three\nAnswer:{answer}"


def expected(number: int, shots: int) -> str:
    """Returns the prompt of a test row with the first rows of its subject."""
    subject = ROWS["test"][number][0]
    of_subject = [i for i, (other, _) in enumerate(ROWS["dev"]) if other == subject][:shots]
    examples = "".join(block("dev", i, f" {'ABC'[i % 3]}\n\n") for i in of_subject)
    return f"Questions about  {subject.replace('_', ' ')}.\n\n{examples}{block('test', number)}"


@pytest.mark.parametrize("form", ["letter", "generate"])
def test_header_and_examples_of_the_subject_in_the_order_of_the_file(
    cli: Cli, options: list[str], tmp_path: Path, form: str
) -> None:
    model = tiny_llama(tmp_path / "model", max_length=65536)
    samples, said = run(
        cli, options, tmp_path / "run", model, "--eval.num_fewshot", 4, "--task.answer_form", form, "--eval.limit", 2
    )
    assert [s["arguments"][0][0] for s in samples] == [expected(0, 4), expected(1, 4)]
    assert [s["fewshot_ids"] for s in samples] == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert "fewer examples" not in said
    record = yaml.safe_load((tmp_path / "run/run.yaml").read_text(encoding="utf-8"))
    assert record["fewshot_ids"] == {"subjects_eng_eng_1": "per subject, in the sample file"}


@pytest.mark.parametrize(("form", "most"), [("letter", 2048), ("generate", 2100)])
def test_last_examples_are_left_out_while_the_prompt_is_too_long(
    cli: Cli, options: list[str], tmp_path: Path, form: str, most: int
) -> None:
    model = tiny_llama(tmp_path / "model", max_length=most)
    samples, said = run(cli, options, tmp_path / "run", model, "--eval.num_fewshot", 4, "--task.answer_form", form)
    tokenizer = AutoTokenizer.from_pretrained(model)
    shown = [len(s["fewshot_ids"]) for s in samples]
    for number, sample in enumerate(samples):
        context, answer = sample["arguments"][0]
        assert context == expected(number, shown[number])
        room = most - answer["max_gen_toks"] if form == "generate" else most + 1 - len(tokenizer(" A").input_ids) + 1
        fits = [k for k in range(5) if len(tokenizer(expected(number, k)).input_ids) <= room]
        assert shown[number] == max(fits, default=0), "as many as fit"
        assert sample.get("fitted") == (None if shown[number] == 4 else {"examples": [shown[number], 4]})
    few = [k for k in shown if k < 4]
    assert 0 < len(few) < 4 and min(few) < max(few), "some prompts fit whole, the others need different numbers"
    assert (
        f"{len(few)} of 4 prompts have fewer examples, to fit the model's context (English): {min(few)} at lea" in said
    )


@pytest.mark.parametrize(("room", "shown"), [(0, 4), (-1, 3)])
def test_a_prompt_may_fill_the_context_if_the_answer_is_only_scored(
    cli: Cli, options: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture, room: int, shown: int
) -> None:
    """The last token of an answer is not fed to a causal model: the context may hold everything else."""
    tokenizer = AutoTokenizer.from_pretrained(tiny_llama(tmp_path / "any"))
    most = len(tokenizer(expected(0, 4) + " A").input_ids) - 1 + room
    model = tiny_llama(tmp_path / "model", max_length=most)
    samples, _ = run(cli, options, tmp_path / "run", model, "--eval.num_fewshot", 4, "--eval.limit", 1)
    assert len(samples[0]["fewshot_ids"]) == shown
    assert "lose their beginning" not in caplog.text


def test_a_prompt_too_long_without_examples_loses_its_beginning_and_the_run_says_so(
    cli: Cli, options: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = tiny_llama(tmp_path / "model", max_length=512)
    samples, _ = run(cli, options, tmp_path / "run", model, "--eval.num_fewshot", 1)
    assert samples[3]["fewshot_ids"] == [] and samples[3]["fitted"] == {"examples": [0, 1]}
    assert "6 of 12 requests are longer than the model's 512 tokens and lose their beginning" in caplog.text


def test_with_a_chat_template_the_header_is_the_system_text(cli: Cli, options: list[str], tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "model", max_length=65536, chat_template=CHAT)
    chat = ["--model.chat_template", "--eval.num_fewshot", 1, "--eval.limit", 1]
    samples, _ = run(cli, options, tmp_path / "run", model, *chat)
    messages = [("system", "Questions about  abstract algebra."), ("user", block("dev", 0)), ("assistant", "A")]
    chats = [{"role": role, "content": text} for role, text in [*messages, ("user", block("test", 0))]]
    tokenizer = AutoTokenizer.from_pretrained(model)
    wanted = tokenizer.apply_chat_template(chats, tokenize=False, add_generation_prompt=True)
    assert samples[0]["arguments"][0][0] == wanted


def test_a_header_follows_the_system_text_of_the_file(cli: Cli, options: list[str], tmp_path: Path) -> None:
    prompts = TASK["prompts"]
    path = write_declaration(tmp_path / "tasks", {key: value for key, value in TASK.items() if key != "prompts"})
    (path.parent / "prompts").mkdir()
    file = {"origin": "human", "written_by": "us", "system": "Be brief.", "prompts": prompts}
    (path.parent / "prompts/eng.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
    shown = cli("preview", *options, "--model.chat_template", "--eval.limit", 1)
    assert "[system]\nBe brief.\n\nQuestions about  abstract algebra.\n\n[user]\n" in shown.out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"examples": {"same": ["topic"]}}, "examples.same must be a list of fields, not ['topic']"),
        ({"examples": {"drop": True}, "fit": "question"}, "fit and examples.drop must not both be given"),
        ({"examples": {"order": "random"}}, "examples.order must be file or seed"),
        ({"examples": {"sames": ["subject"]}}, "unknown key 'examples.sames'"),
        ({"fields": {"examples": "question"}}, "fields: the name 'examples' is reserved"),
        ({"prompts": {1: {"header": "{{ topic }}", "template": "{{ question }}"}}}, "unknown key 'topic'"),
        ({"prompts": {1: {"header": "{{ subject", "template": "{{ question }}"}}}, "the template cannot be filled in"),
    ],
)
def test_a_wrong_declaration_is_an_error(
    cli: Cli, options: list[str], tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    write_declaration(tmp_path / "tasks", TASK | change)
    done = cli("preview", *options)
    assert done.code == 2 and message in " ".join(done.err.split())


def test_a_subject_without_enough_examples_is_an_error_before_anything_runs(
    cli: Cli, options: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "data/ours/subjects/dev.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:9]), encoding="utf-8")
    done = cli("run", *options, "--model.model_name", "none", "--run_dir", tmp_path / "run", "--eval.num_fewshot", 5)
    assert done.code == 2
    assert "eval.num_fewshot is 5, but only 4 examples are usable for world_religions" in " ".join(done.err.split())


def test_with_per_document_the_seed_decides_among_the_rows_of_the_subject(cli: Cli, options: list[str]) -> None:
    chosen = ["--eval.fewshot_selection", "per_document", "--eval.num_fewshot", 4]
    shown = [cli("preview", *options, *chosen, "--document", number).out for number in (0, 2)]
    rows = [text.partition("few-shot rows ")[2].partition("\n")[0] for text in shown]
    assert rows[0] != rows[1] and all(set(json.loads(each)) <= {0, 2, 4, 6, 8} for each in rows)
