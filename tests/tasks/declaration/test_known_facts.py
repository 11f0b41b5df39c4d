"""Known defects of a task's data: the file, its witnesses, and the rows that they mark."""

import shutil
from pathlib import Path

import pytest
from tests.conftest import ROOT, spec_of

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, EvalConfig, RunConfig, TaskConfig
from afrieval.results.identity import check_same_run
from afrieval.tasks.cells.cell import CellSettings, RunPart
from afrieval.tasks.cells.plan import task_cells
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.lock import read_lock
from afrieval.tasks.data.sampling import ranking
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration import known_facts
from afrieval.tasks.declaration.known_facts import FILE, known_defects, marked, published_scores, witness
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names, translated

ENTRY = """defects:
  - language: yor
    split: test
    what: the text is cut off
    evidence: It ends in a word.
    source: a reader
    witnesses: {{{row}: "{hash}"}}
{more}"""


@pytest.fixture
def spec(tmp_path: Path) -> TaskSpec:
    shutil.copytree(ROOT / "tasks/afrixnli", tmp_path / "afrixnli")
    (tmp_path / "afrixnli/known_defects.yaml").unlink()
    return load_task("afrixnli", tmp_path)


def plan_of(config: RunConfig) -> list[TaskCell]:
    (chosen,) = chosen_tasks(config)
    return task_cells(
        chosen, config.task, CellSettings.of_run(config.model, config.eval, config.data.source), read_lock()
    )[0]


def rows_of(spec: TaskSpec) -> list[Document]:
    found = load_split(spec, "yor", "test", "samples")
    assert found
    return found.documents


def written(spec: TaskSpec, row: int, hash_: str, more: str = "") -> TaskSpec:
    (spec.folder / spec.data.defects).write_text(ENTRY.format(row=row, hash=hash_, more=more), encoding="utf-8")
    return spec


def test_a_row_with_its_witness_is_marked_and_no_example_but_scored(spec: TaskSpec) -> None:
    rows = rows_of(spec)
    split = load_split(written(spec, 2, witness(rows[2])), "yor", "test", "samples")
    assert split and [d.id for d in split.documents if d.defect] == [2] and not split.defect
    assert split.documents[2].defect == "the text is cut off" and split.documents[2].gold == rows[2].gold
    assert 2 not in [d.id for d in ranking(split.documents, 42, "x", "test")]


def test_a_run_is_not_continued_with_other_examples(spec: TaskSpec) -> None:
    task = TaskConfig(task_name="afrixnli", folder=str(spec.folder.parent), languages=["yor"], prompts=[1])
    config = RunConfig(task=task, data=DataConfig("samples"), eval=EvalConfig(num_fewshot=1))

    def described() -> RunPart:
        return plan_of(config)[0].identity

    before = described()
    pool = load_split(spec, "yor", "validation", "samples")
    assert pool
    path = written(spec, 3, witness(pool.documents[3])).folder / "known_defects.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("split: test", "split: validation"), encoding="utf-8")
    with pytest.raises(UserError, match="no_examples"):
        check_same_run(before, described(), "a folder")


def test_a_corrected_row_is_not_marked(spec: TaskSpec) -> None:
    rows = rows_of(spec)
    assert marked(written(spec, 2, witness(rows[1])), "yor", "test", rows) == (rows, "")


def test_a_split_that_is_wholly_affected(spec: TaskSpec) -> None:
    rows = rows_of(spec)
    split = load_split(written(spec, 1, witness(rows[1]), "    rows: all\n"), "yor", "test", "samples")
    assert split and split.defect == "the text is cut off" and all(d.defect for d in split.documents)


def test_other_languages_and_splits_are_not_marked(spec: TaskSpec) -> None:
    rows = rows_of(spec)
    written(spec, 1, witness(rows[1]), "    rows: all\n")
    assert not any(d.defect for d in marked(spec, "hau", "test", rows)[0])
    assert not any(d.defect for d in marked(spec, "yor", "validation", rows)[0])


def test_a_witness_changes_with_text_choices_and_right_answer() -> None:
    one = Document(0, {"question": "a"}, ("b", "c"), 0)
    others = [Document(0, {"question": "A"}, ("b", "c"), 0), Document(0, {"question": "a"}, ("b", "d"), 0)]
    others.append(Document(0, {"question": "a"}, ("b", "c"), 1))
    assert len({witness(d) for d in (one, *others)}) == 4
    assert witness(Document(5, {"question": "a"}, ("b", "c"), 0, "a defect")) == witness(one)


def test_a_row_whose_text_is_not_normalised_has_the_same_witness() -> None:
    """Uncleaned prompts of the paper have texts as they are."""
    verbatim = Document(0, {"question": " e\u0301 a\n"}, ("b ", "c"), 0)
    assert witness(verbatim) == witness(Document(0, {"question": "\u00e9 a"}, ("b", "c"), 0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("language: yor", "language: yro"), "'yro'"),
        (("split: test", "split: tset"), "'tset'"),
        (("what:", "wath:"), "wath"),
        (("    evidence: It ends in a word.\n", ""), "evidence"),
        (('{2: "x"}', "{}"), "witnesses"),
        (('{2: "x"}', '{-1: "x"}'), "witnesses"),
        (('{2: "x"}', "{2: 5}"), "witnesses"),
        (('{2: "x"}', '{2: "x"}\n    rows: some'), "rows"),
    ],
)
def test_a_wrong_file_is_named_with_its_key(spec: TaskSpec, change: tuple[str, str], message: str) -> None:
    path = written(spec, 2, "x").folder / "known_defects.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with pytest.raises(UserError) as e:
        known_defects(spec)
    assert "known_defects.yaml" in e.value.message and message in e.value.message


def test_the_files_of_the_suite_are_valid_and_contain_no_row() -> None:
    for task, defect in [(name, of) for name in task_names() for of in known_defects(spec_of(name))]:
        assert all(len(text) == 12 and int(text, 16) >= 0 for text in defect.witnesses.values()), task
        assert len(defect.what) < 90 and not defect.what.endswith("."), task


def test_a_translated_variant_has_other_texts() -> None:
    assert known_defects(load_task("afrixnli")) and not known_defects(translated(load_task("afrixnli")))


def test_tasks_on_the_same_data_have_the_same_known_defects() -> None:
    assert known_defects(load_task("afrimgsm")) == known_defects(load_task("afrimgsm_cot"))


SPEC, SCORES = load_task("mmlu"), published_scores("mmlu")
CATEGORY, SUBCATEGORY = (SPEC.grouped_fields[name].group_of for name in ("category", "subcategory"))
WHOLE = ["Llama-3-8B", "Mistral-7B", "Phi-3-3.8B-4K"]  # those with scores of subjects
QUESTIONS = {  # of each subject's test set
    "abstract_algebra": 100, "anatomy": 135, "astronomy": 152, "business_ethics": 100, "clinical_knowledge": 265,
    "college_biology": 144, "college_chemistry": 100, "college_computer_science": 100, "college_mathematics": 100,
    "college_medicine": 173, "college_physics": 102, "computer_security": 100, "conceptual_physics": 235,
    "econometrics": 114, "electrical_engineering": 145, "elementary_mathematics": 378, "formal_logic": 126,
    "global_facts": 100, "high_school_biology": 310, "high_school_chemistry": 203,
    "high_school_computer_science": 100, "high_school_european_history": 165, "high_school_geography": 198,
    "high_school_government_and_politics": 193, "high_school_macroeconomics": 390, "high_school_mathematics": 270,
    "high_school_microeconomics": 238, "high_school_physics": 151, "high_school_psychology": 545,
    "high_school_statistics": 216, "high_school_us_history": 204, "high_school_world_history": 237,
    "human_aging": 223, "human_sexuality": 131, "international_law": 121, "jurisprudence": 108,
    "logical_fallacies": 163, "machine_learning": 112, "management": 103, "marketing": 234, "medical_genetics": 100,
    "miscellaneous": 783, "moral_disputes": 346, "moral_scenarios": 895, "nutrition": 306, "philosophy": 311,
    "prehistory": 324, "professional_accounting": 282, "professional_law": 1534, "professional_medicine": 272,
    "professional_psychology": 612, "public_relations": 110, "security_studies": 245, "sociology": 201,
    "us_foreign_policy": 100, "virology": 166, "world_religions": 171,
}  # fmt: skip
ROUNDED = 0.05 + 1e-9  # percent


def recomputed(name: str, subjects: list[str]) -> float:
    """The score of a group in percent, from right answers, whose numbers the scores of subjects give exactly."""
    of_subject = SCORES[name].groups["subject"]
    right = {subject: round(of_subject[subject] / 100 * QUESTIONS[subject]) for subject in subjects}
    assert all(abs(100 * right[s] / QUESTIONS[s] - of_subject[s]) <= ROUNDED for s in subjects)
    return 100 * sum(right.values()) / sum(QUESTIONS[s] for s in subjects)


@pytest.mark.parametrize("name", WHOLE)
def test_groups_and_the_whole_follow_from_the_subjects(name: str) -> None:
    """So the mapping of the task file is that of the program: each subject is in the group that it counted it in."""
    scores = SCORES[name]
    assert [len(scores.groups[of]) for of in ("subject", "subcategory", "category")] == [57, 17, 4]
    for group, score in scores.groups["subcategory"].items():
        assert abs(recomputed(name, [s for s, of in SUBCATEGORY.items() if of == group]) - score) <= ROUNDED, group
    for group, score in scores.groups["category"].items():
        members = [s for s, of in SUBCATEGORY.items() if CATEGORY[of] == group]
        assert abs(recomputed(name, members) - score) <= ROUNDED, group
    assert scores.micro and abs(recomputed(name, list(QUESTIONS)) - scores.micro) <= ROUNDED


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("STEM: 55.8", "STEM: 558", "published.Llama-3-8B.groups.category.STEM must be 100 or less, not 558"),
        ("STEM: 55.8", "STEMM: 55.8", "published.Llama-3-8B has category 'STEMM'"),
        ("      category:", "      kind:", "published.Llama-3-8B has kind 'STEM'"),
        ("shots: 5", "shot: 5", "unknown key 'published.Llama-3-8B.shot'"),
        ("micro: 65.0", 'micro: "65"', "published.Llama-3-8B.micro must be a number"),
    ],
)
def test_a_fault_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, message: str) -> None:
    shutil.copytree(ROOT / "tasks/mmlu", tmp_path / "mmlu")
    path = tmp_path / "mmlu" / FILE
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(known_facts, "load_task", lambda name: load_task(name, tmp_path))
    with pytest.raises(UserError) as caught:
        published_scores.__wrapped__("mmlu")
    assert str(path) in caught.value.message and message in caught.value.message
