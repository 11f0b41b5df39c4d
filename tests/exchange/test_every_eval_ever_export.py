"""Records of Every Eval Ever: schema, files, instances, and the way back."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.cells import scored
from tests.exchange.conftest import export

from afrieval.addons.readers.every_eval_ever import READER
from afrieval.exchange.every_eval_ever_export import instance
from afrieval.results.comparable_runs import read_runs

# Facts of schema 0.3.0: keys that are required, those that are allowed where no others are, and maps of texts.
REQUIRED = {
    "": "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results",
    "source_metadata": "source_type source_organization_name evaluator_relationship",
    "eval_library": "name version",
    "model_info": "name id additional_details",
    "model_info.additional_details": "deployment_type model_availability",
    "detailed_evaluation_results": "format file_path",
}
ALLOWED = {*REQUIRED[""].split(), "evaluation_timestamp", "detailed_evaluation_results"}
OF_RESULT = {"evaluation_name", "source_data", "metric_config", "score_details"}
OF_LINE = {"schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "interaction_type"}
OF_LINE |= {"input", "output", "answer_attribution", "evaluation"}
OPTIONAL = {"evaluation_result_id", "sample_hash", "messages", "token_usage", "performance", "error", "metadata"}
ATTRIBUTION = {"turn_idx", "source", "extracted_value", "extraction_method", "is_terminal"}
UUID4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


@pytest.fixture(scope="module")
def records(choices: Path, texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both runs as records."""
    folder = tmp_path_factory.mktemp("records") / "out"
    export("every-eval-ever", folder, choices, texts)
    return folder


def files(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    return [(path, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.rglob("*.json"))]


def maps_of_texts(value: Any) -> list[dict[str, Any]]:
    """Returns all maps whose values must be texts."""
    if isinstance(value, list):
        return [found for each in value for found in maps_of_texts(each)]
    if not isinstance(value, dict):
        return []
    inner = [found for each in value.values() for found in maps_of_texts(each)]
    return inner + [
        of for key in ("additional_details", "details", "metadata") if isinstance(of := value.get(key), dict)
    ]


def test_records_have_what_the_schema_requires(records: Path) -> None:
    found = files(records)
    assert len(found) == 5
    for _, record in found:
        assert set(record) <= ALLOWED and record["schema_version"] == "0.3.0"
        for place, keys in REQUIRED.items():
            of = record
            for key in filter(None, place.split(".")):
                of = of[key]
            assert set(keys.split()) <= set(of), place
        assert record["source_metadata"]["source_type"] == "evaluation_run"
        assert record["retrieved_timestamp"].isdecimal() and record["evaluation_timestamp"].isdecimal()
        assert all(isinstance(value, str) for of in maps_of_texts(record) for value in of.values())
        for result in record["evaluation_results"]:
            metric, score = result["metric_config"], result["score_details"]["score"]
            assert set(result) >= OF_RESULT and metric["score_type"] == "continuous"
            assert float(metric["min_score"]) <= score <= float(metric["max_score"])
            assert result["source_data"]["source_type"] == "hf_dataset" and result["source_data"]["hf_repo"]


def test_samples_belong_to_their_record(records: Path) -> None:
    for path, record in files(records):
        of = record["detailed_evaluation_results"]
        samples = path.with_name(f"{path.stem}_samples.jsonl")
        assert re.fullmatch(rf"data/[^/]+/unknown/demo/{UUID4}\.json", path.relative_to(records).as_posix())
        assert of["file_path"] == samples.relative_to(records).as_posix()
        assert of["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
        lines = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
        assert len(lines) == of["total_rows"] > 0
        ids = {result["evaluation_result_id"] for result in record["evaluation_results"]}
        for line in lines:
            assert OF_LINE <= set(line) <= OF_LINE | OPTIONAL and line["evaluation_result_id"] in ids
            assert line["evaluation_id"] == record["evaluation_id"] and line["model_id"] == record["model_info"]["id"]
            assert all(set(each) == ATTRIBUTION for each in line["answer_attribution"])
            assert all(isinstance(text, str) for text in [*line["output"]["raw"], *line["input"]["reference"]])
            assert all(isinstance(value, str) for value in line["metadata"].values())


def test_a_question_is_the_same_under_every_prompt(records: Path) -> None:
    lines = [json.loads(line) for line in next(records.glob("data/afrixnli/**/*.jsonl")).read_text().splitlines()]
    of_yoruba = [line for line in lines if line["metadata"]["language"] == "yor" and line["sample_id"] == "0"]
    assert len(of_yoruba) == 4 and len({line["sample_hash"] for line in of_yoruba}) == 1
    assert len({line["input"]["formatted"] for line in of_yoruba}) == 4
    for line in lines:  # by the hash, the database finds a question elsewhere
        same = {name: line["input"][name] for name in ("raw", "reference")}
        whole = json.dumps(same, sort_keys=True, separators=(",", ":"))
        assert line["sample_hash"] == hashlib.sha256(whole.encode()).hexdigest()
    right = [line for line in lines if line["evaluation"]["is_correct"]]
    assert all(line["evaluation"]["score"] == 1 for line in right) and 0 < len(right) < len(lines)


def test_the_way_back_gives_the_same_scores(records: Path, choices: Path, texts: Path) -> None:
    rows = READER.read(records).rows
    found = {
        (row.task, language, row.prompt_language, row.prompt.split()[-1]): (score, row.n[language], row.shots)
        for row in rows
        for language, score in row.scores.items()
    }
    cells = {(c.task, c.language, c.prompt_language, str(c.prompt)): c for c in read_runs([choices, texts])}
    assert set(found) == set(cells) and {row.model for row in rows} == {"demo"}
    for place, (score, n, shots) in found.items():
        cell = cells[place]
        assert score == pytest.approx(100 * cell.score / cell.metric.bounds[1], abs=1e-9)
        assert (n, shots) == (cell.n, cell.shots)


def test_the_same_run_has_the_same_name(records: Path, choices: Path, texts: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    export("every-eval-ever", again, choices, texts)
    assert [p.relative_to(again) for p, _ in files(again)] == [p.relative_to(records) for p, _ in files(records)]


def test_no_path_of_this_machine_leaves_it(records: Path, choices: Path) -> None:
    for path in records.rglob("*.json*"):
        assert str(choices.parent) not in path.read_text(encoding="utf-8")


def sample(**changes: Any) -> dict[str, Any]:
    """A generated answer to a question with two fields."""
    return {
        "doc_id": 7,
        "doc": {"id": 7, "question": "2 + 2?", "hint": 4, "choices": [], "gold": 4, "worked": ""},
        "target": "4",
        "arguments": [["Question: 2 + 2?\nAnswer:", {"max_gen_toks": 5}]],
        "resps": [["It is 4."]],
        "metrics": ["exact_match"],
        "measures": {"exact_match": [1.0]},
        "exact_match": 1.0,
        "answer": 4,
        "task": "afrimgsm",
        "language": "yor",
        "prompt": 1,
        "prompt_language": "eng",
        "defect": "",
        **changes,
    }


CELL = scored([1.0], task="afrimgsm", of="exact_match", ids=[7])


def test_a_generated_answer() -> None:
    found = instance(sample(), CELL)
    assert found["input"]["raw"] == "question: 2 + 2?\nhint: 4" and found["input"]["reference"] == ["4"]
    assert found["output"]["raw"] == ["It is 4."] and found["evaluation"] == {"score": 1.0, "is_correct": True}
    (of,) = found["answer_attribution"]
    assert of["extracted_value"] == "4" and of["extraction_method"] == "afrimgsm, version 1"
    assert "token_usage" not in found and "error" not in found and found["sample_id"] == "7"


def test_a_generated_answer_to_a_question_with_choices_is_the_choice() -> None:
    doc = {"id": 7, "question": "2 + 2?", "choices": ["3", "four"], "gold": 1, "worked": ""}
    found = instance(sample(doc=doc, gold=1, answer=1, picked=1, resps=[["B"]]), CELL)
    assert found["answer_attribution"][0]["extracted_value"] == "four" == found["input"]["reference"][0]


def test_tokens_that_a_server_counted() -> None:
    details = {"prompt_tokens": 9, "completion_tokens": 3, "reasoning_tokens": 2, "cost": 0.1}
    usage = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12, "reasoning_tokens": 2}
    assert instance(sample(details=details), CELL)["token_usage"] == usage
    assert "token_usage" not in instance(sample(details={"prompt_tokens": 9}), CELL)


def test_refused_and_unparsed_answers_have_no_extracted_value() -> None:
    refused = instance(sample(answer=None, refused=1.0, measures={"exact_match": [0.0]}), CELL)
    assert refused["error"] == "refused" and refused["answer_attribution"] == []
    assert refused["evaluation"] == {"score": 0.0, "is_correct": False}
    assert "error" not in instance(sample(answer=None, refused=0.0), CELL)


@pytest.mark.parametrize("metric", ["probability", "loss"])
def test_texts_whose_likelihood_is_measured_have_no_right_choice(metric: str) -> None:
    cell = scored([0.5], task="tofu_forget", of=metric, ids=[0])
    texts = ["is in Kano", "stands in Kano", "is in Gao"]
    found = instance(
        sample(
            doc={"id": 0, "question": "Where?", "choices": texts, "gold": 0, "worked": ""},
            roles=["answer", "answer", "perturbed"],
            arguments=[["Where?", f" {text}"] for text in texts],
            resps=[[[-1.5, False, 3]], [[-2.0, False, 3]], [[-2.5, False, 3]]],
            measures={metric: [0.5]},
            answer=None,
        ),
        cell,
    )
    assert found["input"]["reference"] == texts[:2] and "choices" not in found["input"]
    assert found["output"]["raw"] == [] and found["evaluation"] == {"score": 0.5, "is_correct": False}
    assert json.loads(found["metadata"]["log_likelihoods"]) == [-1.5, -2.0, -2.5]
