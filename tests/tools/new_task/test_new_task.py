"""A task from the name of a data set, or of a file."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import Cli

from afrieval._util.errors import UserError
from afrieval.config.files import task_settings
from afrieval.config.options import NewTask
from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.models.processes import ALONE
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TaskSpec, load_task
from afrieval.tasks.prompts.prompts import answers, load_prompts, render
from afrieval.tools.new_task.new_task import with_new_task

MOOD = "hub:our/mood"
ASKED: dict[str, Any] = {"kind": "classification", "text": ["message"], "label": "mood"}
MESSAGES: list[dict[str, Any]] = [{"message": "Madalla", "mood": "glad"}, {"message": "Ka bar ni!", "mood": "angry"}]
QUIZ: list[dict[str, Any]] = [
    {"question": "2 + 2?", "a": "3", "b": "4", "right": "2"},
    {"question": "1 + 1?", "a": "2", "b": "4", "right": 1},
]
OPTIONS: list[dict[str, Any]] = [{"question": "A fruit?", "options": ["shoe", "mango"], "right": "mango"}]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def written(word: str = MOOD, languages: list[str] | None = None, **asked: Any) -> TaskSpec:
    task = TaskConfig(task_name=[word], languages=languages)
    config = with_new_task(RunConfig(task=task, data=DataConfig(source="data")), NewTask(**ASKED | asked), ALONE)
    (name,) = config.task.names
    return load_task(name, config.task.folders)


def golds(spec: TaskSpec, language: str) -> list[Any]:
    """Returns the right answers as they are scored, after each prompt has been rendered."""
    split = load_split(spec, language, spec.data.evaluate, "data")
    assert split is not None
    prompts = load_prompts(spec, "eng")
    assert len(prompts) == 5
    for document in split.documents:
        assert all(document.fields["text"] in render(prompt, document, language) for prompt in prompts.values())
    return [answers(prompts[1], d, "text")[int(d.gold or 0)] if d.choices else d.gold for d in split.documents]


def test_a_run_from_nothing(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # from where `cli` runs
    for split in ("test", "train"):
        put(f"data/our/mood/{split}/ha.jsonl", MESSAGES)
        put(f"data/our/mood/{split}/yo.jsonl", MESSAGES[::-1])
    words = ("--kind", "classification", "--text", "message", "--label", "mood", "--data", "data", "--prompts", 1)
    run = ("run", "demo", MOOD, *words, "--out", "out", "--shots", 1)
    done = cli(*run, "--languages", "hausa")
    assert done.code == 0 and "labels: [angry, glad]" in done.out and "languages: {hau: ha}" in done.out
    assert "afrieval run MODEL my_tasks/our_mood" in done.err
    path = Path("my_tasks/our_mood/task.yaml")
    path.write_text(path.read_text().replace("title: our/mood", "title: Moods"))
    again = cli(*run, "--languages", "hausa")
    assert (
        "is used as it is" in again.err and "title: Moods" in path.read_text() and "fewshot: train" in path.read_text()
    )
    assert "has no Yoruba (yor)" in cli(*run, "--languages", "yoruba").err
    other = cli("run", "demo", MOOD, *words, "--choices", "mood")
    assert other.code == 2 and "was not written from these options" in other.err
    assert cli("preview", "my_tasks/our_mood", "--data", "data").code == 0
    assert "afrieval run MODEL hub:our/mood --kind" in cli("preview", MOOD).err


def test_languages_labels_and_columns_of_each() -> None:
    others: list[dict[str, Any]] = [{"message": "O dara", "mood": "neither"}]
    for code, rows in {"ha": MESSAGES, "yo": others}.items():
        put(f"data/our/mood/{code}_dev.jsonl", [{f"{code} {{x": row["message"], "mood": row["mood"]} for row in rows])
    spec = written(text=["{code} {x"])
    assert (spec.labels, spec.data.evaluate, spec.data.fewshot) == (["angry", "glad", "neither"], "dev", "dev")
    assert golds(spec, "hau") == ["glad", "angry"] and golds(spec, "yor") == ["neither"]


@pytest.mark.parametrize(("names", "shown"), [(["glad", "angry"], ["glad", "angry"]), (["1", "2"], ["1", "2"])])
def test_names_of_labels_in_parquet(names: list[str], shown: list[str]) -> None:
    """The hub's conversion has numbers; a test set without labels has -1, and the next split is evaluated."""
    features = {"info": {"features": {"mood": {"names": names, "_type": "ClassLabel"}}}}
    for split, values in {"test": [-1, -1], "validation": [0, 1]}.items():
        table = pa.table({"message": ["x", "y"], "mood": values})
        path = Path(f"data/our/mood/default/{split}/0000.parquet")
        path.parent.mkdir(parents=True)
        pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps(features)}), path)
    spec = written(languages=["hau"])
    assert spec.data.evaluate == "validation" and golds(spec, "hau") == shown


def test_choices_and_questions_of_a_file() -> None:
    put("quiz.jsonl", QUIZ)
    asked: dict[str, Any] = {"kind": "multiple_choice", "text": ["question"], "label": "right"}
    spec = written("file:quiz.jsonl", ["swa"], **asked, choices=["a", "b"])
    assert golds(spec, "swa") == ["4", "2"] and spec.answer_forms[0] == "letter"
    with Path("quiz.jsonl").open("a") as file:
        file.write("\n" + json.dumps(QUIZ[0]))
    with pytest.raises(UserError, match="has changed since it was copied"):
        written("file:quiz.jsonl", ["swa"], **asked, choices=["a", "b"])
    put("Ọ̀kan.jsonl", OPTIONS)
    assert golds(written("file:Ọ̀kan.jsonl", ["yor"], **asked, choices=["options"]), "yor") == ["mango"]
    put("ask.jsonl", [{"context": "Musa", "question": "Wa?", "right": ["Musa", "Malam Musa"]}])
    spec = written("file:ask.jsonl", ["hau"], kind="question", text=["context", "question"], label="right")
    assert golds(spec, "hau") == [["Musa", "Malam Musa"]]
    assert "Context: {{ text }}\n\nQuestion: {{ text_2 }}" in load_prompts(spec, "eng")[1].template


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ({"label": "moo"}, "no column 'moo' in Hausa", "mood"),
        ({"label": None, "text": None}, "--text, --label must be given", "columns are message, mood, list, none, id"),
        ({"label": "list"}, "has lists, such as ['a']", "one label in each row"),
        ({"label": "none"}, "column 'none' of our/mood is empty in test", "another --label"),
        ({"text": ["none"]}, "column 'none' is empty", "choose from message"),
        ({"label": "id"}, "has 30 labels, but there must be 2 to 26", "--kind question"),
        ({"text": ["{x}"]}, "has brackets", "rename"),
        ({"kind": "multiple_choice"}, "--choices must be given", "kinds are classification"),
        ({"choices": ["list"]}, "--choices is given for kind classification", "leave it out"),
        (
            {"kind": "multiple_choice", "choices": ["list", "id"]},
            "must have letters, numbers or texts",
            "other --choices",
        ),
        ({"config": "law"}, "no configuration or file 'law'", "ha_test.jsonl"),
        ({"languages": ["yor"]}, "our/mood has no Yoruba (yor)", "choose from hau"),
        ({"languages": ["tlh"]}, "unknown language 'tlh'", ""),
        ({"word": "file:mood.txt"}, "there is no file mood.txt", ".csv"),
        ({"word": "file:data/our/mood/test.csv"}, "says which language it is in", "--languages hausa"),
        ({"word": "file:data/notes.txt"}, "is not a table", ".csv"),
        ({"word": "afrixnli"}, "--kind is for hub:ORG/NAME or file:FILE", "name one"),
    ],
)
def test_errors(asked: dict[str, Any], message: str, hint: str) -> None:
    more = {"list": ["a"], "none": None}
    put("data/our/mood/ha_test.jsonl", [{**MESSAGES[n % 2], **more, "id": n, "{x}": "x"} for n in range(30)])
    put("data/our/mood/test.csv", [{"message": 1}])
    put("data/notes.txt", [])
    with pytest.raises(UserError) as caught:
        written(**asked)
    assert message in caught.value.message and hint in caught.value.hint and not Path("my_tasks").exists()


@pytest.mark.parametrize(
    ("choices", "right", "expected"),
    [
        (["p", "q", "r"], [0, 2], {}),
        (["p", "q", "r"], [1.0, 3.0, -1], {"first_answer": 1}),
        (["p", "q", "r"], [[0, 0, 1], [1, 0, 0]], {}),
        (["p", "q", "r"], [1, 2], "set first_answer in"),
        (["p", "q", "r"], [0, 1, 3], "set first_answer in"),  # 0 may stand for no answer
        (["10", "20", "3"], ["10", "3"], {"choice_labels": "options"}),
        (["3", "1", "2"], ["1", "3"], "a choice's text or its place"),
        (["1", "2", "3"], ["1", "3"], {"first_answer": 1}),  # both are the same
        (["B", "A"], ["A", "B"], "a choice's text or its place"),
        ('["p", "q"]', ["q", "p"], {"choice_labels": "options"}),
        (["p", "q"], ["A", "1"], "must have letters, numbers or texts"),
    ],
)
def test_answers_are_never_guessed(choices: Any, right: list[Any], expected: Any) -> None:
    put("quiz.jsonl", [{"question": f"{n}?", "options": choices, "right": one} for n, one in enumerate(right)])
    asked: dict[str, Any] = {"kind": "multiple_choice", "text": ["question"], "label": "right", "choices": ["options"]}
    if isinstance(expected, str):
        for message in (expected, "first_answer must be 0 or 1" if "first" in expected else expected):
            with pytest.raises(UserError, match=message):
                written("file:quiz.jsonl", ["hau"], **asked)
        return
    spec = written("file:quiz.jsonl", ["hau"], **asked)
    assert {"first_answer": spec.first_answer, "choice_labels": spec.choice_labels or ""} == {
        "first_answer": 0,
        "choice_labels": "",
    } | expected
    if spec.choice_labels:
        assert golds(spec, "hau") == right


def test_rows_and_columns_that_are_wrong() -> None:
    asked: dict[str, Any] = {"languages": ["hau"], "text": ["text"], "label": "mood"}
    Path("mood.csv").write_text("text,mood\na,glad\nb,angry\nc, d,shifted\n")
    assert written("file:mood.csv", **asked).labels == ["angry", "glad"]
    Path("again.csv").write_text("text,mood\na,glad\n")
    Path("none.csv").write_text("text,mood\n")
    with pytest.raises(UserError, match="has no rows"):
        written("file:none.csv", **asked)
    with pytest.raises(UserError, match="both name the column 'mood'"):
        written("file:again.csv", **asked | {"text": ["mood"]})
    put("maps.jsonl", [{"text": "x", "mood": {"start": [0], "text": ["glad"]}}])
    with pytest.raises(UserError, match=r"has maps.* as in mood\.text"):
        written("file:maps.jsonl", **asked, kind="question")
    Path("fixed.csv").write_text("text,wrong,mood\na,p,q\n")
    spec = written("file:fixed.csv", **asked, kind="multiple_choice", choices=["mood", "wrong"])
    assert golds(spec, "hau") == ["q"] and spec.shuffle


def test_labels_that_differ_in_invisible_characters_are_one() -> None:
    put(
        "marks.jsonl",
        [{"text": "x", "mood": mood} for mood in ("burú\u200f", "\u200bdára", "dára", "bu\u00adrú \u200d")],
    )
    spec = written("file:marks.jsonl", ["hau"], text=["text"], label="mood", kind="classification")
    assert spec.labels == ["burú", "dára"] and golds(spec, "hau") == ["burú", "dára", "dára", "burú"]


SPOKEN = [("ha", "Madalla", "glad"), ("ha", "Ka bar ni!", "angry"), ("yo", "O dara", "glad"), ("de", "Gut", "glad")]


def spoken(rows: list[tuple[str, str, str]] = SPOKEN, column: str = "lang", **more: str) -> None:
    keys = (column, "message", "mood")
    put("mood.jsonl", [dict(zip(keys, row, strict=True)) | more for row in rows])


def test_a_column_may_say_which_language_a_row_is_in() -> None:
    spoken(origin="eng")
    spec = written("file:mood.jsonl")
    assert spec.data.where == {"lang": "{code}"} and spec.languages == {"hau": "ha", "yor": "yo"}
    assert golds(spec, "hau") == ["glad", "angry"] and golds(spec, "yor") == ["glad"]
    spoken([("Nigerian Pidgin", *row[1:]) if row[0] == "yo" else row for row in SPOKEN], "Language")
    Path("mood.jsonl").rename("other.jsonl")
    assert golds(written("file:other.jsonl", ["pcm", "hau"]), "pcm") == ["glad"]
    for split, n in (("test", 4), ("train", 1), ("dev", 3)):  # train has no Yoruba
        put(
            f"data/our/mood/{split}.jsonl", [{"l": row[0], "message": row[1], "mood": row[2]} for row in SPOKEN[:3][:n]]
        )
    spec = written(languages=["hau", "yor"])
    assert (spec.data.where, spec.data.fewshot) == ({"l": "{code}"}, "dev")


@pytest.mark.parametrize(
    ("rows", "languages", "message"),
    [
        (SPOKEN, ["ibo"], "no row is in Igbo (ibo): column 'lang' has de, ha, yo"),
        ([*SPOKEN, ("hausa", "Madalla", "glad")], ["hau"], "has both 'ha' and 'hausa'"),
        ([*SPOKEN, ("yo-x", "O dara", "glad")], ["yor"], "has both 'yo' and 'yo-x'"),
        ([*SPOKEN, ("ha", "Madalla", "Glad")], ["hau"], "labels that differ in case only: Glad, glad"),
    ],
)
def test_what_rows_do_not_make_clear_is_asked(rows: Any, languages: list[str], message: str) -> None:
    spoken(rows)
    with pytest.raises(UserError) as caught:
        written("file:mood.jsonl", languages)
    assert message in caught.value.message and "file:FILE" in caught.value.hint and not Path("my_tasks").exists()


def test_two_columns_of_languages_must_agree() -> None:
    rows = [{"from": code, "to": to, "message": f"{n}", "mood": mood} for n, (code, to, mood) in enumerate(SPOKEN[:3])]
    put("mood.jsonl", [row | {"to": name} for row, name in zip(rows, ["yor", "hau", "yor"], strict=True)])
    with pytest.raises(UserError, match="columns 'from' and 'to' name different languages"):
        written("file:mood.jsonl", ["hau", "yor"])
    put("mood.jsonl", [row | {"to": name} for row, name in zip(rows, ["Hausa", "Hausa", "Yoruba"], strict=True)])
    assert written("file:mood.jsonl", ["hau", "yor"]).data.where == {"from": "{code}"}


def test_examples_come_from_a_split_with_answers_and_keep_their_labels() -> None:
    columns: dict[str, list[Any]] = {"test": [None, None, None], "dev": [1, 2, 3], "train": [0, 3, 1]}
    for split, moods in columns.items():
        put(f"data/our/mood/{split}/ha.jsonl", [{"message": f"{n}", "mood": mood} for n, mood in enumerate(moods)])
    spec = written()
    assert (spec.data.evaluate, spec.data.fewshot, spec.labels) == ("dev", "train", ["1", "2", "3"])
    examples = load_split(spec, "hau", "train", "data")
    assert examples is not None and [d.gold for d in examples.documents] == [None, 2, 0]  # 0 is not the label 1
    put("data/our/other/test/ha.jsonl", [{"message": "x", "mood": None}])
    put("data/our/other/dev/ha.jsonl", MESSAGES)
    assert written("hub:our/other").data.fewshot == "dev"


CHOICES: dict[str, Any] = {"kind": "multiple_choice", "text": ["q"], "label": "right"}


@pytest.mark.parametrize(
    "right", [["b", "a"], ["B", "A"], ["\u0662", "\u0661"], ["2", "1"], ["yo", "xi"], ["2.0", "1.0"]]
)
@pytest.mark.parametrize("columns", [["a", "b"], ["list"]])
def test_a_choice_is_named_in_many_ways(columns: list[str], right: list[str]) -> None:
    """By letters in both cases, digits of any script, and the text of one of several columns."""
    put("quiz.jsonl", [{"q": "?", "a": "xi", "b": "yo", "list": ["xi", "yo"], "right": one} for one in right])
    spec = written("file:quiz.jsonl", ["hau"], **CHOICES, choices=columns)
    assert golds(spec, "hau") == ["yo", "xi"]


@pytest.mark.parametrize("right", ["E", "zu", "5"])
def test_an_answer_that_is_no_choice_is_said(right: str, capsys: pytest.CaptureFixture[str]) -> None:
    sound = {"E": "A", "zu": "xi", "5": "2"}[right]
    put("quiz.jsonl", [{"q": "?", "a": "xi", "b": "yo", "right": one} for one in (sound, right, sound)])
    spec = written("file:quiz.jsonl", ["hau"], **CHOICES, choices=["a", "b"])
    assert f"column 'right': 1 of 3 answers are no choice of their row, such as '{right}'" in capsys.readouterr().err
    split = load_split(spec, "hau", spec.data.evaluate, "data")
    assert split and [d.gold is None for d in split.documents] == [False, True, False]


def test_letters_and_numbers_next_to_each_other_are_labels() -> None:
    """As in ARC."""
    labels = (["A", "B", "C"], ["1", "2", "3"])
    rows = [{"q": "?", "options": {"text": ["x", "y", "z"], "label": of}, "right": of[2]} for of in labels]
    put("arc.jsonl", rows)
    spec = written("file:arc.jsonl", ["hau"], **CHOICES, choices=["options.text"])
    assert spec.choice_labels == "options.label" and golds(spec, "hau") == ["z", "z"]


def test_names_and_labels_of_files() -> None:
    put("my quiz.jsonl", QUIZ)
    assert task_settings(["file:my quiz.jsonl"]) == {"task.task_name": "file:my quiz.jsonl"}
    assert task_settings(["file:no quiz.jsonl"]) == {"task.task_name": "file:no quiz.jsonl"}
    with pytest.raises(UserError, match="--config is 'x', but a file has no configurations"):
        written("file:my quiz.jsonl", ["hau"], **CHOICES, choices=["a", "b"], config="x")
    with pytest.raises(UserError, match="a workbook of Excel"):
        Path("quiz.xlsx").write_bytes(b"PK\x03\x04")
        written("file:quiz.xlsx", ["hau"])
    put("long.jsonl", [{"message": "x", "mood": "m" * 2**20}, {"message": "y", "mood": "good"}])
    with pytest.raises(UserError, match="a text of 1048576 characters, which is no label"):
        written("file:long.jsonl", ["hau"])
    put("caf\udce9.jsonl", QUIZ)
    with pytest.raises(UserError, match="is not valid text"):
        written("file:caf\udce9.jsonl", ["hau"])
    put("digits.jsonl", [{"q": "?", "a": "1" * 5000, "b": "y", "right": "1" * 5000}])
    assert golds(written("file:digits.jsonl", ["hau"], **CHOICES, choices=["a", "b"]), "hau") == ["1" * 5000]
