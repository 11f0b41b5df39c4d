"""The issue form is one that GitHub accepts, and asks for what a sheet asks for."""

import re
from typing import Any

import yaml
from tests.conftest import ROOT

from afrieval.tasks.prompts.reviews import VERDICTS

# GitHub's schema of issue forms: what each kind of element must and may have.
TEXT = {"label", "description", "placeholder", "value"}
ATTRIBUTES = {
    "markdown": ({"value"}, {"value"}),
    "input": ({"label"}, TEXT),
    "textarea": ({"label"}, TEXT | {"render"}),
    "dropdown": ({"label", "options"}, {"label", "description", "multiple", "options", "default"}),
}


def form() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/review.yml").read_text(encoding="utf-8"))
    return content


def test_github_accepts_it() -> None:
    content = form()
    assert {"name", "description", "body"} <= {*content} <= {"name", "description", "title", "labels", "body"}
    for element in content["body"]:
        needed, known = ATTRIBUTES[element["type"]]
        assert needed <= {*element["attributes"]} <= known
        assert {*element} <= {"type", "id", "attributes", "validations"}
        assert element["type"] == "markdown" or re.fullmatch(r"[\w-]+", element["id"])
        assert {*element.get("validations", {})} <= {"required"}
    for what in ("id", "label"):
        names = [e.get(what) or e["attributes"].get(what) for e in content["body"] if e["type"] != "markdown"]
        assert len({*names}) == len(names)


def test_it_has_the_fields_of_a_sheet() -> None:
    fields = {element.get("id"): element for element in form()["body"]}
    assert {"language", "id", "verdict", "new_text", "comment", "dialect", "reviewer"} <= {*fields}
    assert fields["verdict"]["attributes"]["options"] == [*VERDICTS]
