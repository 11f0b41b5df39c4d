"""MMLU and MMLU-Pro: the authors' prompts byte for byte, rows in all forms, and scores of recorded answers."""

import csv
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Cli
from tests.tasks.contract import WithExamples
from tests.tasks.small_task import planned_cell, write_rows

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.results.run_folder import RunFolder
from afrieval.run.evaluate import evaluate
from afrieval.run.session import open_run
from afrieval.tasks.cells.harness_tasks import InMemoryTask
from afrieval.tasks.cells.plan import declared_cells, plan_declared
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.known_facts import published_scores
from afrieval.tasks.declaration.selection import switched
from afrieval.tasks.declaration.spec import load_task

DATA = Path(os.environ.get("AFRIEVAL_DATA", "")) / "hendrycks/test"
GOLDEN = Path(__file__).parent / "mmlu_subjects.txt"
SPEC = load_task("mmlu")
SUBJECTS = SPEC.data.parts["subject"]
SHOTS = 5


def config(source: Path | str, shots: int = SHOTS) -> RunConfig:
    task = TaskConfig(task_name=["mmlu"], prompts=[1])
    return RunConfig(task=task, data=DataConfig(str(source)), eval=EvalConfig(num_fewshot=shots))


@cache
def asked(source: Path | str) -> TaskCell:
    (questions,), _ = declared_cells(config(source))
    return questions


def contexts(questions: TaskCell, documents: Sequence[Document]) -> dict[int, str]:
    """Returns document number to what the harness asks a model, without the answer."""
    task = InMemoryTask(questions, documents)
    task.build_all_requests()
    assert {request.args[1] for request in task.instances} == {" A", " B", " C", " D"}
    return {documents[request.doc_id].id: request.args[0] for request in task.instances}


# The authors' program in other words: what it shows of the files in test/ and dev/.


def block(row: Sequence[str]) -> str:
    question, *options, _ = row
    return "\n".join([question, *(f"{'ABCD'[i]}. {option}" for i, option in enumerate(options)), "Answer:"])


def table(split: str, subject: str) -> list[list[str]]:
    with (DATA / split / f"{subject}_{split}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@cache
def above(subject: str, shots: int) -> str:
    words = "".join(f" {word}" for word in subject.split("_"))
    examples = "".join(f"{block(row)} {row[-1]}\n\n" for row in table("dev", subject)[:shots])
    return f"The following are multiple choice questions (with answers) about {words}.\n\n{examples}"


def authors_prompts() -> Iterator[tuple[str, str]]:
    """Yields subject and prompt of each test row, as the authors' program goes through them."""
    for subject in SUBJECTS:
        yield from ((subject, above(subject, SHOTS) + block(row)) for row in table("test", subject))


@pytest.mark.data
def test_first_rows_of_each_subject_are_shown_as_by_the_authors() -> None:
    questions = asked(DATA)
    shown = [*authors_prompts()]
    first = {subject: number for number, (subject, _) in reversed([*enumerate(shown)])}
    chosen = [d for d in questions.documents if d.id - first[d.fields["subject"]] < 3]
    assert len(chosen) == 3 * len(SUBJECTS)
    for number, context in contexts(questions, chosen).items():
        assert context == shown[number][1]


@pytest.mark.alldata
def test_all_rows_are_shown_as_by_the_authors() -> None:
    (cell,) = plan_declared(config(DATA)).cells
    questions = asked(DATA)
    found = contexts(questions, questions.documents)
    assert (cell.n, cell.n_requests) == (14_042, 4 * 14_042)
    assert [*found.values()] == [prompt for _, prompt in authors_prompts()]
    golds = [row[-1] for subject in SUBJECTS for row in table("test", subject)]
    assert ["ABCD"[d.gold] for d in questions.documents if d.gold is not None] == golds


@pytest.mark.data
def test_rows_whose_cells_pandas_takes_for_missing_keep_their_text() -> None:
    """Newer versions of pandas show `nan` for these options in the authors' program."""
    rows = [d for d in asked(DATA).documents if "None" in d.choices]
    assert len(rows) == 10 and all(not d.defect for d in rows)


def test_prompt_of_each_subject_is_as_reviewed() -> None:
    questions = asked(SAMPLES)
    first = questions.documents[0]
    of_subject = [replace(first, id=i, fields=first.fields | {"subject": name}) for i, name in enumerate(SUBJECTS)]
    examples = questions.examples(first)
    requests = WithExamples(questions, of_subject, lambda document: examples).of_documents
    text = "".join(f"=== {SUBJECTS[r.doc_id]}\n{r.args[0]}{r.args[1]}\n" for r in requests if r.args[1] == " C")
    if os.environ.get("AFRIEVAL_REWRITE_GOLDEN") == "1":
        GOLDEN.write_text(text, encoding="utf-8", newline="\n")
    assert GOLDEN.read_text(encoding="utf-8") == text
    assert text.count("=== ") == 57 and " about  high school us history.\n\n" in text


# The forms in which the data are distributed


def rows(split: str) -> list[dict[str, object]]:
    """Returns five rows for each subject, with all that a csv file has to enclose, and blanks at the ends."""
    texts = (" two blanks ", 'a "mark"', "two\nlines", "a, comma", "None")
    return [
        {
            "question": f"{split} {n}: {text}",
            "subject": subject,
            "choices": ["0.10", text, f" {n}", "NA"],
            "answer": n % 4,
        }
        for subject in SUBJECTS
        for n, text in enumerate(texts)
    ]


def write_csv(folder: Path) -> None:
    for split in ("test", "dev"):
        (folder / split).mkdir(parents=True)
        for subject in SUBJECTS:
            with (folder / split / f"{subject}_{split}.csv").open("w", encoding="utf-8", newline="") as file:
                own = (row for row in rows(split) if row["subject"] == subject)
                cells = ([r["question"], *r["choices"], "ABCD"[r["answer"]]] for r in own)  # type: ignore[misc,index]
                csv.writer(file, lineterminator="\n").writerows(cells)


@pytest.fixture
def authors_files(tmp_path: Path) -> Path:
    """Returns a folder with test/ and dev/."""
    write_csv(tmp_path / "data")
    return tmp_path / "data"


def test_hub_and_authors_files_have_the_same_documents(tmp_path: Path, authors_files: Path) -> None:
    write_csv(tmp_path / "mirror/hendrycks/test")
    for split in ("test", "dev"):
        write_rows(tmp_path / f"hub/cais/mmlu/all/{split}-00000-of-00001.parquet", rows(split))
        found = [load_split(SPEC, "eng", split, str(tmp_path / name)) for name in ("hub", "mirror", "data")]
        of_hub, *others = [split.documents for split in found if split]
        assert others == [of_hub, of_hub] and len(of_hub) == 5 * 57
        assert [d.fields["subject"] for d in of_hub] == [name for name in SUBJECTS for _ in range(5)]
        assert of_hub[1].choices == ("0.10", 'a "mark"', " 1", "NA") and of_hub[3].gold == 3
        assert of_hub[0].choices[1] == " two blanks ", "as the authors' program shows it"


def test_a_wrong_number_of_rows_is_of_all_files(authors_files: Path) -> None:
    with (authors_files / "dev/virology_dev.csv").open("a") as file:
        file.write("What?,a,b,c,d,A\n")
    named = r"dev \(57 files, abstract_algebra_dev.csv to world_religions_dev.csv\) has 286 rows instead of 285"
    with pytest.raises(UserError, match=named):
        load_split(SPEC, "eng", "dev", str(authors_files))


def test_without_rows_for_examples_there_is_a_cure(cli: Cli, authors_files: Path) -> None:
    for path in (authors_files / "dev").iterdir():
        path.unlink()
    done = cli("preview", "--task.task_name", "mmlu", "--data.source", authors_files, "--eval.num_fewshot", 5)
    assert done.code == 2 and "mmlu: no dev rows for eng, needed for examples" in " ".join(done.err.split())
    assert "give --eval.num_fewshot 0, or choose other" in " ".join(done.err.split())


Row = dict[str, Any]
REAL_DATA = Path(os.environ.get("AFRIEVAL_DATA", "")) / "TIGER-Lab" / "MMLU-Pro"
SAMPLE = Path(__file__).parents[2] / "tasks/mmlu_pro/sample/eng.jsonl"
ABOUT = (
    "The following are multiple choice questions (with answers) about {}. Think step by step and then finish "
    'your answer with "the answer is (X)" where X is the correct letter choice.'
)


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _by_authors(test: Row, validation: list[Row], shots: int) -> str:
    """Returns a question's prompt as evaluate_from_local.py makes it: three line ends of its file, and one more."""
    alike = [row for row in validation if row["category"] == test["category"]][:shots]
    prompt = ABOUT.format(test["category"]) + "\n" * 4
    for row in [*alike, test]:
        prompt += f"Question:\n{row['question']}\nOptions:\n"
        prompt += "".join(f"{chr(ord('A') + at)}. {option}\n" for at, option in enumerate(row["options"]))
        begin = "Answer: Let's think step by step."
        worked = row["cot_content"].replace("A: Let's think step by step.", begin)
        prompt += begin if row is test else f"{worked}\n\n"
    return prompt


@pytest.mark.parametrize("shots", [0, 1, 5])
def test_the_prompt_is_the_authors(shots: int) -> None:
    rows = _rows(SAMPLE)
    of_split = {split: [row for row in rows if row["split"] == split] for split in ("test", "validation")}
    questions = planned_cell("mmlu_pro", "samples", shots)
    assert len(questions.documents) == len(of_split["test"])
    for document, row in zip(questions.documents, of_split["test"], strict=True):
        assert questions.prompt_text(document, None) == _by_authors(row, of_split["validation"], shots)


def test_text_of_the_data_is_shown_as_it_is(tmp_path: Path) -> None:
    """Blanks around texts reach the model, as in the authors' program; so do texts that are not in NFC."""
    rows = _rows(SAMPLE)
    for row in rows:
        row |= {"question": f"  {row['question']}e\u0301 ", "options": [f" {option}" for option in row["options"]]}
        row["cot_content"] += " \n" if row["cot_content"] else ""
    of_split = {split: [row for row in rows if row["split"] == split] for split in ("test", "validation")}
    for split, some in of_split.items():
        write_rows(tmp_path / f"TIGER-Lab/MMLU-Pro/{split}.jsonl", some)
    questions = planned_cell("mmlu_pro", str(tmp_path), 5)
    for document, row in zip(questions.documents, of_split["test"], strict=True):
        assert questions.prompt_text(document, None) == _by_authors(row, of_split["validation"], 5)


def test_limits_are_the_authors() -> None:
    spec = load_task("mmlu_pro")
    assert spec.generation and (spec.generation.max_tokens, spec.generation.stop) == (2048, ["Question:"])


def test_options_are_part_of_the_identity_and_count_guesses() -> None:
    plain, switched = (planned_cell("mmlu_pro", extract=of) for of in ({}, {"lone": True, "guess": False}))
    assert [m.name for m in plain.metrics] == ["acc", "unparsed"]
    assert [m.name for m in switched.metrics] == ["acc", "unparsed", "guessed"]
    found = [q.identity["tasks"]["mmlu_pro"] for q in (plain, switched)]
    assert [of["extract"]["lone"] for of in found] == [False, True]
    assert found[0]["declaration"] != found[1]["declaration"]  # older versions stored no options
    assert switched.facts["declared"]["mmlu_pro"]["extract"] == {"lone": True}


@pytest.mark.parametrize("begun", [(), ("--task.extract.lone",)])
def test_a_folder_has_the_answers_of_one_set_of_options(run_demo: Cli, begun: tuple[str, ...]) -> None:
    words = ("--task.task_name", "mmlu_pro", "--eval.limit", 1, "--eval.max_gen_toks", 1)
    assert run_demo(*words, *begun).code == 0
    for other in (("--task.extract.guess",), ("--task.extract.lone", "--task.extract.guess")):
        assert "holds another run: tasks.mmlu_pro.extract" in run_demo(*words, *other).err


def test_published_scores_of_categories_are_between_those_of_the_data() -> None:
    of_llama = published_scores("mmlu_pro")["Llama-3.1-8B-Instruct"]
    categories = of_llama.groups["category"]
    assert len(categories) == 14 and of_llama.extract == {"lone": True, "guess": True}
    assert min(categories.values()) < (of_llama.micro or 0) < max(categories.values())


@pytest.mark.data
def test_the_prompt_of_real_rows_is_the_authors() -> None:
    rows, questions = _rows(REAL_DATA / "test.jsonl"), planned_cell("mmlu_pro", os.environ["AFRIEVAL_DATA"], 0)
    assert len(questions.documents) == len(rows) == 1400
    for document, row in zip(questions.documents, rows, strict=True):
        assert f"{questions.header(document)}\n\n{questions.text(document)}" == _by_authors(row, [], 0)


@pytest.mark.parametrize(
    ("task", "options", "hint"),
    [
        ("mmlu_pro", {"lon": True}, "did you mean lone?"),
        ("mmlu_pro", {"after": True}, "choose from bare, lone, guess"),
        ("afrimgsm", {"lone": True}, "leave task.extract out; it has no options to switch"),
    ],
)
def test_an_option_that_the_extractor_does_not_have(task: str, options: dict[str, bool], hint: str) -> None:
    with pytest.raises(UserError, match="has no option") as caught:
        switched(load_task(task), options)
    assert caught.value.hint == hint


@pytest.mark.data
def test_the_documented_run_of_recorded_answers(tmp_path: Path) -> None:
    given = {"file": str(REAL_DATA / "test.jsonl"), "column": "generated_text"}
    config = RunConfig(
        ModelConfig("Llama-3.1-8B-Instruct", "recorded", backend_args=given),
        TaskConfig(task_name="mmlu_pro", extract={"lone": True, "guess": True}),
        EvalConfig(),
        DataConfig(os.environ["AFRIEVAL_DATA"]),
        str(tmp_path),
    )
    with open_run(config) as session:
        evaluate(session)
    samples, rows = RunFolder(tmp_path).samples("mmlu_pro_eng_eng_1"), _rows(REAL_DATA / "test.jsonl")
    assert [sample["acc"] for sample in samples] == [float(row["pred"] == row["answer"]) for row in rows]
    assert [sample["resps"][0][0] for sample in samples] == [row["generated_text"] for row in rows]
    assert Counter(sample.get("guess") for sample in samples) == {None: 1299, "lone": 36, "drawn": 65}
    assert sum(sample["guessed"] for sample in samples) == 101
