"""Groups of a field's values, as they follow from stored samples."""

from typing import Any, cast

import numpy as np
import pytest
from tests.results.test_run_folder import line

from afrieval._util.errors import UserError
from afrieval.analysis.subgroups import parts
from afrieval.results.derived import derived_from, derived_metric, levels, ordered, smallest, with_groups
from afrieval.results.document_columns import Labels
from afrieval.results.sample_columns import cell_scores
from afrieval.results.schema import Declared
from afrieval.scoring.base import Derived
from afrieval.scoring.metrics import METRICS

GROUPS = {
    "area": {"of": "subject", "groups": {"science": ["physics", "maths"], "arts": ["music"]}},
    "branch": {"of": "area", "groups": {"all": ["science", "arts"]}},
}
GROUPED = cast(Declared, {"grouped_fields": GROUPS})
DECLARED = cast(Declared, {"breakdowns": ["subject"], "macro": "subject", "grouped_fields": GROUPS})


def sample(row: int, subject: str, acc: float = 1.0, **changes: Any) -> dict[str, Any]:
    return line(row, {"acc": [acc]}, "quiz", part=subject, **changes)


def test_levels_lead_from_the_largest_groups_to_the_field() -> None:
    assert levels(DECLARED, "subject") == ["branch", "area", "subject"] and levels(DECLARED, "branch") == ["branch"]
    assert levels(Declared(), "topic") == ["topic"] and smallest(DECLARED) == ["subject"] and not smallest(Declared())
    assert smallest(Declared(macro="topic")) == ["topic"] and smallest(Declared(macro="area", **GROUPED)) == ["subject"]


def test_a_circle_in_a_changed_file_ends() -> None:
    groups = {"a": {"of": "b", "groups": {"x": ["y"]}}, "b": {"of": "a", "groups": {"y": ["x"]}}}
    declared = cast(Declared, {"grouped_fields": groups})
    assert levels(declared, "a") == ["b", "a"] and smallest(declared) == []


def test_values_are_in_the_order_of_the_task_file() -> None:
    assert ordered(DECLARED, "subject") == ["physics", "maths", "music"]
    assert ordered(DECLARED, "area") == ["science", "arts"] and ordered(DECLARED, "topic") == []


def test_groups_are_known_without_documents() -> None:
    """--eval.log_samples false stores the part that a macro mean is over, and no field."""
    cell = cell_scores("quiz_eng_eng_1", [sample(0, "music"), sample(1, "maths")], DECLARED)
    found = {name: [labels.names[code] for code in labels.codes] for name, labels in cell.fields.items()}
    assert found == {"subject": ["music", "maths"], "area": ["arts", "science"], "branch": ["all", "all"]}


def test_groups_in_documents_are_taken_as_they_are() -> None:
    doc: Any = {"doc": {"subject": "music", "area": "science", "branch": "all"}}
    cell = cell_scores("quiz_eng_eng_1", [sample(0, "music", **doc)], DECLARED)
    assert cell.fields["area"].names == ("science",)


def test_values_of_no_group_and_documents_without_a_value_are_in_none() -> None:
    labels = Labels(np.array([0, 1, -1]), ("maths", "sport"))
    found = with_groups({"subject": labels}, DECLARED, None)
    assert found["area"].codes.tolist() == [0, -1, -1] and found["branch"].codes.tolist() == [0, -1, -1]


def test_a_document_without_a_value_is_no_part_of_a_macro_mean() -> None:
    doc: Any = {"doc": {"subject": "", "area": "", "branch": ""}, "acc": 0.0}
    rows = [sample(0, "music", doc={"subject": "music", "area": "arts", "branch": "all"}), sample(1, "", **doc)]
    cell = cell_scores("quiz_eng_eng_1", rows, DECLARED)
    assert cell.macro and (cell.macro.value, cell.macro.n) == (1.0, 1)
    assert cell.fields["area"].names == ("arts",) and cell.fields["area"].codes.tolist() == [0, -1]
    assert [part.path for tree in parts([cell], "subject") for part in tree.branches] == [{"subject": "music"}]


@pytest.mark.parametrize(("how", "of"), [("auc", ["a"]), ("auc", ["a", "b", "c"]), ("mean", [])])
def test_a_changed_number_of_inputs_is_refused(how: str, of: list[str]) -> None:
    with pytest.raises(UserError, match=f"the derived metric x, {how}, takes .* inputs, not {len(of)}"):
        derived_from("x", {"how": how, "of": of}, len(of))


def test_a_metric_of_derived_metrics_has_the_value_of_each_document() -> None:
    """As docs/adding-a-metric.md says; only suites, which draw often, leave them out."""
    accuracy = METRICS["acc"]()
    mean = Derived("mean", lambda inputs: inputs[0].scores)
    spread = Derived("spread", lambda inputs: np.repeat(np.std(inputs[0].values), len(inputs[0].scores)))
    measures = np.array([[1.0], [0.0], [0.0], [1.0], [1.0]])
    metric, stacked = derived_metric(spread, [derived_metric(mean, [(accuracy, measures)])])
    assert metric.score(stacked, np.ones((1, 5))) == pytest.approx([np.std(measures)])
