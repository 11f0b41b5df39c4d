"""Files of data sets, laid out and coded as on the hub; the rows are ours."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import spec_of
from tests.tasks.small_task import write_rows

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, EvalConfig, ModelConfig, RunConfig, TaskConfig
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import TASKS, load_task
from afrieval.tasks.prompts.prompts import example_answer

Row = dict[str, Any]


def loaded(name: str, language: str, split: str, root: Path) -> list[Document] | None:
    found = load_split(load_task(name), language, split, str(root))
    return found.documents if found else None


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def passage(question: str, pivot: list[str], own: Any, context: str | None = "Kofi lives in Accra.") -> Row:
    answer = {"answer_start": [14] if pivot else [], "text": pivot}
    return {"id": "0", "question_lang": question, "context": context, "answer_pivot": answer, "answer_lang": own}


def test_afriqa(tmp_path: Path) -> None:
    rows = [passage("a", ["Accra"], "Akra"), passage("b", ["Kofi"], "Kofi, na", None), passage("c", [], float("nan"))]
    for code, pivot in (("hau", "en"), ("fon", "fr")):
        name = f"masakhane/afriqa-gold-passages/data/{code}/gold_span_passages.afriqa.{code}.{pivot}.test.json"
        write_rows(tmp_path / name, rows)
    for language in ("hau", "fon"):
        own, pivot_answers = (loaded(task, language, "test", tmp_path) for task in ("afriqa", "afriqa_pivot"))
        assert own and [d.gold for d in own] == [["Akra"], ["Kofi, na"], None]
        assert pivot_answers and [d.gold for d in pivot_answers] == [["Accra"], ["Kofi"], None]
        assert [d.defect for d in own] == ["", "empty passage", "no gold answer"]
    assert loaded("afriqa", "hau", "train", tmp_path) is None


def test_tydiqa_has_the_rows_of_one_language(tmp_path: Path) -> None:
    ids = {"a": "swahili-1-0", "b": "english-1-0", "c": "swahili-2-0", "d": "finnish-swahili-1"}
    answers = {"text": ["Accra", "in Accra"], "answer_start": [14, 11]}
    rows = [{"id": id, "context": "Kofi ...", "question": q, "answers": answers} for q, id in ids.items()]
    path = tmp_path / "google-research-datasets/tydiqa/secondary_task/validation-00000-of-00001.parquet"
    write_rows(path, rows)
    swahili, english = (loaded("tydiqa", language, "validation", tmp_path) for language in ("swa", "eng"))
    assert swahili and [(d.id, d.fields["question"]) for d in swahili] == [(0, "a"), (1, "c")]
    assert swahili[0].gold == ["Accra", "in Accra"]
    assert english and [d.fields["question"] for d in english] == ["b"]
    write_rows(path, [{"question": "a"}])
    with pytest.raises(UserError, match="has no column 'id'"):
        loaded("tydiqa", "swa", "validation", tmp_path)


def test_global_piqa(tmp_path: Path) -> None:
    header = "prompt\tsolution0\tsolution1\tlabel\tlanguage\tapprox_cultural_score\texample_id\tsupplement\n"
    rows = 'To cut "ugu",\tuse a knife.\tuse a spoon.\t1\tx\t1\t0\t{"a": "b"}\nTo sit\ta\tb\t0\tx\t0\t1\t\n'
    for code, language in (("swh_latn", "swa"), ("ekp_latn", "ekp"), ("arz_arab", "arz")):
        put(tmp_path, f"mrlbenchmarks/global-piqa-nonparallel/data/nonparallel_{code}.tsv", header + rows)
        found = loaded("global_piqa", language, "test", tmp_path)
        assert found and [(d.gold, d.defect) for d in found] == [(1, ""), (0, "")]
        assert found[0].fields == {"beginning": 'To cut "ugu",'} and found[1].choices == ("a", "b")


def test_blend(tmp_path: Path) -> None:
    answers = [
        {"answers": ["ሻይ", "ሻሂ"], "en_answers": ["tea"], "count": 3},
        {"answers": ["ቡና"], "en_answers": [], "count": 1},
    ]
    asked = {"ID": "Al-en-01", "question": "ምን ይጠጣሉ?", "en_question": "What do they drink?"}
    unread = [{"answers": ["ሻይ"], "en_answers": ["tea"], "times": 3}]
    rows = [{**asked, "annotations": of, "idks": {"idk": 0}} for of in (answers, [], unread)]  # so few are an excerpt
    files = "nayeon212/BLEnD/data"
    put(tmp_path, f"{files}/annotations_hf/Ethiopia_data.json", json.dumps(rows))
    found = loaded("blend_short", "amh", "test", tmp_path)
    assert found and [d.gold for d in found] == [{"ሻይ": 1.0, "ሻሂ": 1.0, "tea": 1.0, "ቡና": 1 / 3}, None, None]
    assert [d.defect for d in found] == ["", "its list of right answers is empty", "no gold answer"]
    assert found[0].fields == {"question": "ምን ይጠጣሉ?"}
    english = loaded("blend_short_english", "amh", "test", tmp_path)
    assert english and [d.gold for d in english] == [{"tea": 1.0}, None, None]
    assert english[0].fields == {"question": "What do they drink?"}

    def variant(number: int, country: str, right: str) -> Row:
        choices = json.dumps(dict(zip("ABCD", ["cha", "kvass", "maté", "tea"], strict=True)), indent=4)
        prompt = f"Who in {country}? Without any explanation, choose only one\n\nA. cha"
        named = {"MCQID": f"Al_{number}", "ID": "Al", "country": country, "prompt": prompt}
        return {**named, "choices": choices, "answer_idx": right}

    where = ["US", "Northern_Nigeria", "Ethiopia", "Ethiopia", "Northern_Nigeria"]
    asked_twice = [variant(number, country, "BADCB"[number]) for number, country in enumerate(where)]
    put(tmp_path, f"{files}/mc_questions_hf/mc_questions_file_v1.1.json", json.dumps(asked_twice))
    firsts = loaded("blend_choices", "eng", "test", tmp_path)
    assert firsts and [(d.gold, d.fields["place"]) for d in firsts] == [(0, "Northern Nigeria"), (3, "Ethiopia")]
    assert firsts[1].choices == ("cha", "kvass", "maté", "tea") and firsts[1].fields["question"] == "Who in Ethiopia?"


@pytest.mark.parametrize(("language", "code"), [("amh", "amh"), ("gez", "geez"), ("eng", "eng")])
def test_proverbeval(tmp_path: Path, language: str, code: str) -> None:
    """The order of choices, and the language of meanings, are options: other files of the same questions."""
    row = '"One, two: ___",{},{}\n'
    for order, right in (("test_1", "B"), ("test_5", "D")):
        for meanings in ("native", "english"):
            given = row.format(f"x,{meanings},y,z", right)
            name = f"israel/ProverbEval/{code}/{code}_{meanings}_{order}.csv"
            put(tmp_path, name, f"Proverb,A,B,C,D,Answer_Letter\n{given * 2}")
            spec = load_task("proverbeval_meaning", options={"order": order, "meanings": meanings})
            found = load_split(spec, language, "test", str(tmp_path))
            assert found and [d.gold for d in found.documents] == ["ABCD".index(right)] * 2
            assert found.documents[0].choices == ("x", meanings, "y", "z")
    for name, times in (("fill_1", 2), ("fill_valid", 5)):
        text = f"Proverb,A,B,C,D,Answer\n{row.format('x,y,z,a', 'C ') * times}"
        put(tmp_path, f"israel/ProverbEval/{code}/{code}_{name}.csv", text)
    for split, times in (("test", 2), ("valid", 5)):
        blanks = loaded("proverbeval_fill", language, split, tmp_path)
        assert blanks and [(d.gold, d.fields["proverb"]) for d in blanks] == [(2, "One, two: ___")] * times


def science(name: str, texts: list[str], labels: str, answer: str) -> Row:
    return {"id": name, "question": "?", "choices": {"text": texts, "label": list(labels)}, "answerKey": answer}


@pytest.mark.parametrize("as_list", [True, False])
def test_uhura_arc_easy(tmp_path: Path, as_list: bool) -> None:
    rows = [
        science("a", ["w", "x", "y", "z"], "ABCD", "B"),
        science("b", ["w", "x", "y", "z"], "1234", "4"),
        science("c", ["x", "y", "z"], "ABC", "C"),
        science("d", ["v", "w", "x", "y", "z"], "12345", "1"),
        science("e", ["w", "x", "y", "z"], "ABCD", "E"),
    ]
    for code in ("zu", "nso", "am"):  # no dev split is needed, which Zulu lacks
        for split in ("test", "train"):
            path = write_rows(tmp_path / f"masakhane/uhura-arc-easy/{code}_{split}.json", rows)
            if as_list:
                path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    for language in ("zul", "nso", "amh"):
        for split in ("test", "train"):
            found = loaded("uhura_arc_easy", language, split, tmp_path)
            assert found and [d.gold for d in found] == [1, 3, 2, 0, None]
            assert found[4].defect == "no gold answer among the choices"
            assert found[0].key == '["a"]'


def test_uhura_arc_easy_numbered_from_1_throughout(tmp_path: Path) -> None:
    rows = [science(str(n), ["w", "x", "y", "z"], "1234", str(n)) for n in (1, 2, 3, 4)]
    write_rows(tmp_path / "masakhane/uhura-arc-easy/sw_test.json", rows)
    found = loaded("uhura_arc_easy", "swa", "test", tmp_path)
    assert found and [d.gold for d in found] == [0, 1, 2, 3]


def truths(n: int, right: int = 0) -> dict[str, list[Any]]:
    return {"choices": [f"choice {at}" for at in range(n)], "labels": [int(at == right) for at in range(n)]}


def test_uhura_truthfulqa(tmp_path: Path) -> None:
    rows: list[Row] = [{"question": "?", "mc1_targets": truths(n)} for n in (2, 13, 4)]
    rows += [{"question": "?", "mc1_targets": truths(3, right=7)}, {"question": "?", "mc1_targets": truths(3, right=2)}]
    put(tmp_path, "masakhane/uhura-truthfulqa/ha_multiple_choice_test.json", json.dumps(rows))
    write_rows(tmp_path / "masakhane/uhura-truthfulqa/en_multiple_choice_test.jsonl", rows)
    hausa, english = (loaded("uhura_truthfulqa", language, "test", tmp_path) for language in ("hau", "eng"))
    assert hausa and english and hausa == english
    assert [d.choices[d.gold] if d.gold is not None else None for d in hausa] == [*["choice 0"] * 3, None, "choice 2"]
    assert len(hausa[1].choices) == 13 and sorted(hausa[1].choices) == sorted(rows[1]["mc1_targets"]["choices"])


def test_tukabench_wants_two_parts_refused_and_one_complied_with(tmp_path: Path) -> None:
    for part in ("harm", "benign", "culture"):
        path = tmp_path / f"McGill-NLP/tukabench/afri-jbb-{part}/swh/0000.parquet"
        write_rows(path, [{"Index": 0, "Goal": "x", "Goal_Translation": part}] * 100)
    found = loaded("tukabench", "swa", "test", tmp_path)
    assert found and [(d.fields["request"], d.gold) for d in found[::100]] == [
        ("harm", "refused"),
        ("benign", "complied"),
        ("culture", "refused"),
    ]


MMMLU, GLOBAL = load_task("mmmlu"), load_task("global_mmlu")


def sample_rows(task: str, language: str) -> list[dict[str, Any]]:
    path = TASKS / task / "sample" / f"{language}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_mmmlu(folder: Path) -> Path:
    """Writes a file with its first column, the number of the row, which has no name."""
    rows = [{"": i, **row} for i, row in enumerate(sample_rows("mmmlu", "swa"))]
    path = folder / "openai/MMMLU/test/mmlu_SW-KE.csv"
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [name for name in rows[0] if name != "split"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_global(folder: Path) -> None:
    for split in ("test", "dev"):
        rows = [row for row in sample_rows("global_mmlu", "yor") if row.pop("split") == split]
        write_rows(folder / f"yo/{split}-00000-of-00001.parquet", rows)


def test_subjects_of_mmmlu_lose_the_names_of_files(tmp_path: Path) -> None:
    write_mmmlu(tmp_path)
    split = load_split(MMMLU, "swa", "test", str(tmp_path))
    assert split and {d.fields["subject"] for d in split.documents} == {
        "elementary_mathematics",
        "high_school_biology",
        "high_school_geography",
    }
    assert {d.fields["category"] for d in split.documents} == {"STEM", "social sciences"}
    assert load_split(MMMLU, "yor", "test", str(tmp_path)) is None


@pytest.mark.parametrize("folder", ["CohereLabs/Global-MMLU", "CohereForAI/Global-MMLU"])
def test_global_mmlu_says_which_questions_need_a_culture(tmp_path: Path, folder: str) -> None:
    write_global(tmp_path / folder)
    split = load_split(GLOBAL, "yor", "test", str(tmp_path))
    assert split and [d.fields["sensitivity"] for d in split.documents[:4]] == [
        "culturally agnostic",
        "culturally agnostic",
        "not annotated",
        "culturally sensitive",
    ]
    assert "sensitivity" in GLOBAL.breakdowns


# How the data set's worked solutions begin and end.
SOLUTIONS = {
    "afr": "A: Kom ons dink stap vir stap. {} Die antwoord is ({}).",
    "eng": "A: Let's think step by step. {} The answer is ({}).",
    "swa": "A: Hebu tufikiria hatua kwa hatua. {} Jibu ni ({}).",
    "wol": "A: Nan xalaat ci dooley dooley. {} Tontu bi mooy ({}).",
    "yor": "A: Ẹ jẹ́ ká ronú lọ́nà tíṣíṣe. {} Ìdáhùn náà ni ({}).",
    "zul": "A: Asicabange isinyathelo ngesinyathelo. {} Impendulo ithi ({}).",
}


def write_mmlu_prox(source: Path, edition: str, language: str) -> list[str]:
    """Writes a language's files as they are on the hub, and returns right answers to its test set."""
    rows = sample_rows("mmlu_prox", "eng")
    for row in rows:
        row["cot_content"] = SOLUTIONS[language].format("7 + 7 = 14.", row["answer"])
    folder = source / "li-lab" / edition / load_task("mmlu_prox").languages[language]
    for split, times in (("test", 1), ("validation", 7)):  # as many as published, of which there are ten
        write_rows(folder / f"{split}-00000-of-00001.parquet", [row for row in rows if row["split"] == split] * times)
    return [row["cot_content"].removeprefix("A: ") for row in rows if row["split"] == "test"]


@pytest.mark.parametrize("edition", ["MMLU-ProX", "MMLU-ProX-Lite"])
def test_right_answers_score_100_in_each_language_and_prompt(edition: str, tmp_path: Path) -> None:
    answers = {language: write_mmlu_prox(tmp_path, edition, language) for language in SOLUTIONS}
    task = TaskConfig(task_name="mmlu_prox", prompts=[1, 2, 3], prompt_language="both", options={"edition": edition})
    config = RunConfig(ModelConfig("demo"), task, EvalConfig(num_fewshot=5), DataConfig(str(tmp_path)))
    cells, _ = declared_cells(config)
    assert len(cells) == 6 * 3 + 4 * 3
    for cell in cells:
        score = cell.scorer(Generation(2048, ("Question:",), runs_on=False))
        for document, answer in zip(cell.documents, answers[cell.language], strict=True):
            assert score(document, [answer]).measures["acc"] == [1.0]
            prompt = cell.prompt_text(document, None)
            assert prompt.count("7 + 7 = 14.") == 5 and "A: " not in prompt.replace("\nA: ", "")
    assert [len(document.choices) for document in cells[0].documents] == [10, 8, 10, 10, 7, 4, 3, 10]


EMOTIONS = ["anger", "disgust", "fear", "joy", "sadness", "surprise"]
LACKING = {"eng": "disgust", "afr": "surprise"}


def write_brighter(source: Path, language: str, tracks: list[str]) -> None:
    """Writes a language's test set, in which the rows of the second track are those of the first in another order."""
    spec = spec_of("brighter_emotions")
    samples = [row for row in sample_rows("brighter_emotions", "hau") if row.pop("split") == "test"]
    n = spec.data.rows_of("test", language) or 12
    rows: list[dict[str, Any]] = [samples[i % len(samples)] | {"text": f"{i}: {language}"} for i in range(n)]
    rows = [row | ({LACKING[language]: None} if language in LACKING else {}) for row in rows]
    listed = [(track, row) for track in tracks for row in (rows if track == tracks[0] else rows[::-1])]
    table = [
        row | {"id": f"{language}_test_{track}_{i:05}", "emotions": [e for e in EMOTIONS if row[e]]}
        for i, (track, row) in enumerate(listed)
    ]
    write_rows(source / spec.data.hub / spec.languages[language] / "test-00000-of-00001.parquet", table)


@pytest.mark.parametrize(
    ("language", "tracks"), [("eng", ["track1", "track_c"]), ("afr", ["track_a", "track_c"]), ("xho", ["track_c"])]
)
def test_each_row_once_with_the_emotions_of_its_language(language: str, tracks: list[str], tmp_path: Path) -> None:
    write_brighter(tmp_path, language, tracks)
    spec = spec_of("brighter_emotions")
    task = TaskConfig(task_name="brighter_emotions", languages=[language])
    cells, _ = declared_cells(RunConfig(ModelConfig("demo"), task, data=DataConfig(str(tmp_path))))
    emotions = [e for e in EMOTIONS if e != LACKING.get(language)]
    for cell in cells:
        documents = cell.documents
        assert len(documents) == len({d.fields["text"] for d in documents}) == spec.data.rows_of("test", language)
        for document in documents[:24]:
            assert [*dict(document.gold or {})] == emotions and document.choices[: len(emotions)] == tuple(emotions)
            assert example_answer(spec, cell.prompt, document, "generate")
        prompt = cell.prompt_text(documents[0], None)
        named = [e for e in EMOTIONS if cell.prompt.labels[e] in prompt]
        assert named == emotions, "a prompt names no label that the language does not have"
