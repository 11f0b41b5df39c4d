"""Task and prompt files: what is wrong in them is named with file and key."""

import shutil
from pathlib import Path

import pytest
import yaml
from tests.conftest import ROOT, put
from tests.tasks.small_task import declaration, write_declaration

from afrieval._util.errors import UserError
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages, render


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    for name in ("afrimmlu", "afrixnli"):
        shutil.copytree(ROOT / "tasks" / name, tmp_path / "tasks" / name)
    return tmp_path / "tasks"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ("licence:", "license:", "unknown key 'license'", "licence"),
        ("title: AfriMMLU\n", "", "'title' is missing", ""),
        ("evaluate: test", "evaluate: tset", "data.evaluate 'tset' has no file", ""),
        ("name: afrimmlu", "name: other", "name is 'other'", ""),
        ("  zul: zul\n", "  zul: zul\n  xxx: xxx\n", "language 'xxx' is not in the language table", ""),
        ("choices: choices\n", "", "either choices or labels", ""),
        ("breakdowns: [subject]", "breakdowns: [topic]", "breakdowns", ""),
        ("name: IrokoBench", "name: IrokoBench\n  metric: f1_macro", "paper.metric must be a metric: acc, ", ""),
        ("prompt_{number}/afri", "prompt_1/afri", "paper.files must have {number}, or there is one prompt", ""),
        ("kind: multiple_choice", "kind: multiple", "kind must be multiple_choice, number", ""),
        ("[text, letter, generate]", "[txt]", "line 8: answer_forms.0 must be text, letter or generate, not", ""),
        ("data/{code}/test.tsv", "data/{lang}/test.tsv", "no placeholders except {code}", ""),
        ("  subject: subject", "  gold: subject", "fields: the name 'gold' is reserved", ""),
        ("choices: choices\n", "labels: [a]\nshuffle: true\n", "choice_labels, shuffle and blank need choices", ""),
        (
            "choices: choices\n",
            "choices: choices\nfewer_choices: true\n",
            "fewer_choices needs a column per choice",
            "",
        ),
        ("licence:", "fit: body\nlicence:", "fit must be a field, not 'body'", ""),
    ],
)
def test_a_fault_in_a_task_file(tasks: Path, old: str, new: str, message: str, hint: str) -> None:
    path = tasks / "afrimmlu/task.yaml"
    change(path, old, new)
    with pytest.raises(UserError) as caught:
        load_task("afrimmlu", tasks)
    assert str(path) in caught.value.message and message in caught.value.message and hint in caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{{ premise }}", "{{ premis }}", "unknown key 'premis'"),
        ("{{ premise }}", "{{ premise }", "template cannot be filled in"),
        ("origin: human", "origin: robot", "origin must be human, machine or paper, not"),
        ("neutral: Neither", "neutrl: Neither", "labels are entailment, neutrl, contradiction"),
        ("{{ premise }}", "{{ premise | nofilter }}", "template cannot be filled in: No filter named"),
        ("{{ labels.neutral }}", "{{ labels.neutrl }}", "cannot be filled in"),
        ('"False"}', "False}", "line 7: prompts.1.labels.contradiction must be text, not false"),
        ("  2:\n", "  1:\n", "key 1 is given twice"),
        ("prompts:", "values: {premis: {a: b}}\nprompts:", "unknown key 'premis'"),
    ],
)
def test_a_fault_in_a_prompt_file(tasks: Path, old: str, new: str, message: str) -> None:
    path = tasks / "afrixnli/prompts/eng.yaml"
    change(path, old, new)
    with pytest.raises(UserError) as caught:
        load_prompts(load_task("afrixnli", tasks), "eng")
    assert str(path) in caught.value.message and message in caught.value.message


def test_a_prompt_file_without_prompts(tasks: Path) -> None:
    faults = {"": "the key 'prompts' is missing", "prompts: []": "prompts must be a map, not", "prompts:": "not null"}
    for text, message in faults.items():
        (tasks / "afrixnli/prompts/eng.yaml").write_text(f"origin: human\n{text}\n")
        with pytest.raises(UserError, match=message):
            load_prompts(load_task("afrixnli", tasks), "eng")


def test_templates_run_in_a_sandbox(tasks: Path) -> None:
    change(tasks / "afrixnli/prompts/eng.yaml", "{{ premise }}", "{{ premise.__class__.__mro__ }}")
    with pytest.raises(UserError, match="unsafe"):
        load_prompts(load_task("afrixnli", tasks), "eng")


@pytest.mark.parametrize(
    ("new", "message", "hint"),
    [
        ("kind: classification", "of this kind needs labels", ""),
        ("request: generate", "", ""),
        ("request: rolling", "answer form of whole texts is text", ""),
        ("answer_forms: [text]\nrequest: generate", "no answer form supports the request generate", ""),
        ("metrics: [acc, {name: f1, average: micro}, unparsed]", "", ""),
        ("metrics: [acc, ac_norm]", "there is no metric 'ac_norm'", "acc_norm"),
        ("metrics: [{name: f1, average: all}]", "the metric f1: average must be macro, micro or weighted", ""),
        ("metrics: [acc, acc]", "the metric acc is declared twice", ""),
        ("metrics: [acc, chrf]", "the metric chrf cannot score answers of type index", ""),
        ("metrics: [acc, acc_matched]", "the metric acc_matched needs a task with labels", ""),
        ("contrast: acc_norm", "", ""),
        ("contrast: acc_matched", "contrast: the task has no metric 'acc_matched'", ""),
        ("extract: {name: phrase, after: answer is}", "", ""),
        ("extract: phrase", "after' is missing", ""),
        ("extract: frase", "there is no extractor 'frase'", "phrase"),
        ("groups: {stem: {subject: [physics, biology]}}", "", ""),
        ("groups: {stem: {topic: [physics]}}", "groups must name fields: subject, question", ""),
        ("derived: {both: {how: harmonic_mean, of: [acc, acc_norm]}}", "", ""),
        ("derived: {both: {how: harmonic, of: [acc]}}", "there is no derived metric 'harmonic'", "harmonic_mean"),
        ("derived: {both: {how: mean, of: [acc, f1]}}", "derived both: unknown metric 'f1'", ""),
        ("derived: {d: {how: mean, of: acc}, e: {how: mean, of: [d, acc]}}", "", ""),
        ("derived: {e: {how: mean, of: [d, acc]}, d: {how: mean, of: acc}}", "derived e: unknown metric 'd'", ""),
        ("derived: {same: {how: ks_test, of: acc}}", "derived same has 1 inputs", "give ks_test 2"),
        ("derived: {same: {how: ks_test, of: acc, reference: runs/x}}", "", ""),
        ("derived: {acc: {how: mean, of: acc}}", "derived 'acc' has the name of a metric", ""),
    ],
)
def test_what_a_task_file_overrides(tasks: Path, new: str, message: str, hint: str) -> None:
    """Each is sound, or an error that names the file and what is wrong."""
    path = tasks / "afrimmlu/task.yaml"
    for key in ("kind", "answer_forms"):
        if f"{key}:" in new:
            change(path, f"{key}: {'multiple_choice' if key == 'kind' else '[text, letter, generate]'}\n", "")
    change(path, "licence:", f"{new}\nlicence:")
    if not message:
        assert load_task("afrimmlu", tasks).scoring.metrics
        return
    with pytest.raises(UserError) as caught:
        load_task("afrimmlu", tasks)
    assert str(path) in caught.value.message and message in caught.value.message and hint in caught.value.hint


def test_old_task_files_mean_what_they_meant() -> None:
    forms = {"letter": ["acc", "acc_norm", "acc_bytes", "acc_tokens"], "generate": ["acc", "unparsed"]}
    for form, names in forms.items():
        assert [m.name for m in load_task("afrimmlu").scoring.metrics_of(form)] == names
    for name in ("afrimgsm", "meta_bbh", "meta_math"):
        assert [m.name for m in load_task(name).scoring.metrics_of("generate")] == ["exact_match", "unparsed"]
    ifeval = load_task("meta_ifeval").scoring
    assert [m.name for m in ifeval.metrics_of("generate")] == list(FOLLOWED)
    assert list(ifeval.derived) == ["ifeval_recipe_mean", "ifeval_meta_mean"]


def test_a_change_of_scoring_is_a_change_of_the_declaration(tasks: Path) -> None:
    """The hashes of existing task files must stay: folders of runs hold them."""
    assert load_task("afrimmlu").declaration == "00732c10b79c9735"
    before = {load_task("afrimmlu", tasks).declaration}
    for line in ("metrics: [acc]", "extract: {name: phrase, after: answer is}"):
        change(tasks / "afrimmlu/task.yaml", "licence:", f"{line}\nlicence:")
        before.add(load_task("afrimmlu", tasks).declaration)
    assert len(before) == 3


FROM_ENGLISH = declaration(
    "from_eng",
    title="From English",
    kind="text",
    extract="whole",
    data={"hub": "a/b", "fewshot": "test"},
    languages={"hau": "ha", "yor": "yo"},
    fields={"source": "eng"},
    answer="other",
    direction={"from": "eng"},
)
PROMPT = "From {{ source_language }} to {{ target_language }}:\n{{ source }}\n"
NATIVE = "{{ source_language }}: {{ source }}\n{{ target_language }}:\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tasks, in a subfolder as translation tasks are, and a vocabulary."""
    tasks = tmp_path / "tasks"
    home = write(tasks, FROM_ENGLISH)
    (home / "prompts").mkdir()
    (home / "sample").mkdir()
    (home / "prompts" / "eng.yaml").write_text(
        yaml.safe_dump({"origin": "human", "prompts": {1: {"template": PROMPT}}})
    )
    native = {"origin": "machine", "prompts": {1: {"template": NATIVE}}}
    (home / "prompts" / "hau.yaml").write_text(yaml.safe_dump(native))
    (home / "sample" / "hau.jsonl").write_text('{"split": "test", "eng": "Good morning", "other": "Ina kwana"}\n')
    vocabulary = {"origin": "machine", "written_by": "x", "words": {}, "languages": {"eng": "Turanci", "hau": "Hausa"}}
    put(tmp_path / "vocabulary" / "hau.yaml", yaml.safe_dump(vocabulary))
    write(tasks, {"name": "to_eng", "like": "from_eng", "version": 3, **REVERSED})
    return tasks


REVERSED = {"fields": {"source": "other"}, "answer": "eng", "direction": {"to": "eng"}, "data": {"hub": "a/c"}}


def write(tasks: Path, declared: dict[str, object]) -> Path:
    return write_declaration(tasks / "translation", declared).parent


def test_numbers_of_rows_are_those_of_the_same_data_set(folder: Path) -> None:
    path = folder / "translation" / "from_eng" / "task.yaml"
    declared = yaml.safe_load(path.read_text())
    declared["data"]["rows"] = {"test": 5}
    path.write_text(yaml.safe_dump(declared))
    write(folder, {"name": "same", "like": "from_eng", "version": 1})
    assert [load_task(name, folder).data.rows for name in ("same", "to_eng")] == [{"test": 5}, None]


def test_keys_are_its_own_or_the_others(folder: Path) -> None:
    spec = load_task("to_eng", folder)
    assert (spec.version, spec.data.hub, spec.direction) == (3, "a/c", {"to": "eng"})
    assert (spec.title, spec.languages, spec.data.files) == (
        "From English",
        {"hau": "ha", "yor": "yo"},
        {"test": "{code}.jsonl"},
    )
    assert spec.shares_prompts and not load_task("from_eng", folder).shares_prompts


@pytest.mark.parametrize(
    ("task", "expected"), [("from_eng", ("eng", "Good morning", "hau")), ("to_eng", ("hau", "Ina kwana", "eng"))]
)
def test_prompts_and_samples_are_shared_in_both_directions(
    folder: Path, task: str, expected: tuple[str, str, str]
) -> None:
    spec = load_task(task, folder)
    split = load_split(spec, "hau", "test", "samples")
    assert split
    source, text, target = expected
    names = {"eng": ("English", "Turanci"), "hau": ("Hausa", "Hausa")}
    english = render(load_prompts(spec, "eng")[1], split.documents[0], "hau")
    assert english == f"From {names[source][0]} to {names[target][0]}:\n{text}"
    native = render(load_prompts(spec, "hau")[1], split.documents[0], "hau")
    assert native == f"{names[source][1]}: {text}\n{names[target][1]}:"
    assert spec.answers_in("hau") == target


def test_prompts_of_its_own_come_first(folder: Path) -> None:
    own = folder / "translation" / "to_eng" / "prompts"
    put(own / "eng.yaml", yaml.safe_dump({"origin": "human", "prompts": {1: {"template": "{{ source }}"}}}))
    spec = load_task("to_eng", folder)
    assert prompt_languages(spec) == ["eng"] and not spec.shares_prompts
    assert render(load_prompts(spec, "eng")[1], Document(0, {"source": "x"}, (), "y"), "hau") == "x"
    assert load_split(spec, "hau", "test", "samples"), "samples are still shared"


def test_a_direction_changes_the_hash_of_a_prompt(folder: Path) -> None:
    hashes = {load_prompts(load_task(name, folder), "eng")[1].hash for name in ("from_eng", "to_eng")}
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"like": "form_eng"}, "line 1: like is 'form_eng', an unknown task"),
        ({"like": "to_eng"}, "to_eng is itself like another task"),
        ({"direction": {"from": "english"}}, "language 'english' is not in the language table"),
        ({"direction": {"from": "eng", "to": "fra"}}, "direction must be either `from` or `to` a language"),
        ({"direction": {"between": "eng"}}, "direction.between must be from or to"),
        ({"answer_language": {"hau": "xyz"}}, "language 'xyz' is not in the language table"),
        ({"data": {"hubb": "a/b"}}, "unknown key 'data.hubb'"),
    ],
)
def test_errors(folder: Path, change: dict[str, object], message: str) -> None:
    write(folder, {"like": "from_eng", "version": 1, **change, "name": "third"})
    with pytest.raises(UserError) as error:
        load_task("third", folder)
    assert message in str(error.value)


def test_a_task_may_be_like_one_of_the_suites(tmp_path: Path) -> None:
    write(tmp_path, {"name": "alone", "like": "sib200", "version": 1})
    assert load_prompts(load_task("alone", tmp_path), "hau") == load_prompts(load_task("sib200"), "hau")


def test_a_vocabulary_without_the_name_of_a_language(folder: Path) -> None:
    write(folder, {"name": "from_fra", "like": "from_eng", "direction": {"from": "fra"}})
    with pytest.raises(UserError, match=r"hau\.yaml has no name of French"):
        load_prompts(load_task("from_fra", folder), "hau")
