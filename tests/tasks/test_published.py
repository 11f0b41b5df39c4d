"""The published scores of MMLU: they agree with one another, and faults in the file are named."""

import csv
import shutil
from pathlib import Path

import pytest
from tests.conftest import REAL_DATA, ROOT

from afrieval._util.errors import UserError
from afrieval.tasks.declaration import known_facts
from afrieval.tasks.declaration.known_facts import FILE, published_scores
from afrieval.tasks.declaration.spec import load_task

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


def test_the_tables_in_the_source() -> None:
    """The table of categories: STEM, humanities, social sciences, other."""
    printed = {
        "Llama-3-8B": (65.0, [55.8, 58.9, 76.3, 71.6]),
        "Llama-2-7B": (46.0, [37.0, 43.3, 51.8, 52.4]),
        "Mistral-7B": (62.6, [52.6, 56.5, 73.5, 70.4]),
        "Phi-3-3.8B-4K": (69.2, [59.8, 65.4, 80.1, 73.1]),
        "Llama3-8B-Chinese-Chat-deepeval": (None, [48, 65, 69]),
        "Llama-3-8B-deepeval": (None, [43, 60, 61]),
        "Llama-2-7B-deepeval": (None, [30, 37, 37]),
        "Phi-3-3.8B-4K-deepeval": (None, [41, 54, 55]),
    }
    assert {name: (of.micro, list(of.groups["category"].values())) for name, of in SCORES.items()} == printed
    assert {name for name, of in SCORES.items() if of.doubt} == {name for name in SCORES if name.endswith("deepeval")}
    assert all(of.n == sum(QUESTIONS.values()) == 14042 for of in SCORES.values() if not of.doubt)


@pytest.mark.data
def test_the_numbers_of_questions_are_those_of_the_files() -> None:
    for subject, n in QUESTIONS.items():
        path = Path(str(REAL_DATA)) / f"hendrycks/test/test/{subject}_test.csv"
        with path.open(encoding="utf-8", newline="") as file:
            assert sum(1 for _ in csv.reader(file)) == n, subject


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
