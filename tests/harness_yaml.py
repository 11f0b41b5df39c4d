"""A small collection of harness tasks in YAML files, over our own sample rows laid out as on the hub."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT, put
from tests.forks import Fork

UTILS = '''
import ast
from lm_eval.utils import weighted_f1_score


def doc_to_choice(doc):
    return ast.literal_eval(doc["choices"])


def doc_to_text(doc):
    return f"""Questions about  {doc["subject"]}\\t:
            Question: {doc["question"]}


            {chr(10).join(doc_to_choice(doc))}

            Answer:  """


def faulty(doc, results):
    return {"acc": doc["nothing"]}


def broken(doc):
    return (doc["question"],)
'''


class Function(str):
    """A value written as `!function NAME`."""


yaml.SafeDumper.add_representer(Function, lambda dumper, name: dumper.represent_scalar("!function", str(name)))


def write_data(folder: Path) -> Path:
    """Writes ORG/rows with a config per language, each with test and dev rows, and returns the folder."""
    root = folder / "org" / "rows"
    configs = []
    for language in ("yor", "hau"):
        rows = [
            json.loads(line) for line in (ROOT / f"tasks/afrimmlu/sample/{language}.jsonl").read_text().splitlines()
        ]
        files = []
        for split in ("test", "dev"):
            path = root / "data" / language / f"{split}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            # hau has fewer rows, so that a mean weighted by size is another than one that is not
            of_split = [r for r in rows if r["split"] == split and r["answer"] in "ABCD"][
                : 5 if language == "hau" else 9
            ]
            path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in of_split))
            files.append({"split": split, "path": str(path.relative_to(root))})
        configs.append({"config_name": language, "data_files": files})
    (root / "README.md").write_text(f"---\n{yaml.safe_dump({'configs': configs})}---\n")
    return folder


Configs = dict[str, dict[str, Any]]
ACC = {"metric": "acc", "aggregation": "mean", "higher_is_better": True}
EXACT = {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}
FIRST = {"function": "take_first"}


def tasks(dataset_path: str) -> Configs:
    """Returns the configs by name; `dataset_path` is a hub id or a folder."""
    shared = {"dataset_path": dataset_path, "test_split": "test", "fewshot_split": "dev", "metadata": {"version": 1.0}}
    f1 = {"metric": "f1", "aggregation": Function("utils.weighted_f1_score"), "higher_is_better": True}
    choice: dict[str, Any] = {
        **shared,
        "dataset_name": "yor",
        "output_type": "multiple_choice",
        "doc_to_text": Function("utils.doc_to_text"),
        "doc_to_choice": Function("utils.doc_to_choice"),
        "doc_to_target": "{{['A', 'B', 'C', 'D'].index(answer)}}",
        "metric_list": [ACC, {**f1, "hf_evaluate": True, "average": "weighted"}, {**ACC, "metric": "acc_norm"}],
    }
    generate: dict[str, Any] = {
        **shared,
        "dataset_name": "yor",
        "output_type": "generate_until",
        "doc_to_text": "Question: {{question}}\nAnswer:",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 6, "do_sample": False},
        "metric_list": [EXACT],
    }
    perplexity = {
        **{k: v for k, v in shared.items() if k != "fewshot_split"},
        "dataset_name": "yor",
        "output_type": "loglikelihood_rolling",
        "doc_to_text": "",
        "doc_to_target": "{{question}}",
        "metric_list": [{"metric": m} for m in ("word_perplexity", "bits_per_byte")],
    }
    return {**_choosing(choice), **_generating(generate), "perplexity": perplexity, **_groups(choice)}


def _choosing(choice: dict[str, Any]) -> Configs:
    numbers = {"doc_to_choice": "{{['a', 'b'] if 'Amina' in question else [1, 'two', -3.5]}}", "doc_to_target": 0}
    untidy = {"description": "Answer   these.\n\n\n\n", "doc_to_choice": "{{['p  =  4', 'q']}}", "doc_to_target": 0}
    return {
        "mc_yor_1": {**choice, "tag": "mc_tag"},
        "mc_hau_1": {**choice, "dataset_name": "hau", "tag": "mc_tag", "num_fewshot": 0},
        "untidy": {**choice, **untidy, "num_fewshot": 2},
        "broken_prompt": {**choice, "doc_to_text": Function("utils.broken")},
        "numbers": {**choice, **numbers, "target_delimiter": ""},
        "faulty": {**choice, "process_results": Function("utils.faulty")},
        "missing": {**choice, "dataset_name": "zul", "tag": "partly"},
        "no_data": {**choice, "dataset_path": "org/nowhere"},
    }


def _generating(generate: dict[str, Any]) -> Configs:
    filters = [
        {"name": "strict", "filter": [{"function": "regex", "regex_pattern": "([ABCD])"}, FIRST]},
        {"name": "anything", "filter": [{"function": "regex", "regex_pattern": "(.)"}, FIRST]},
    ]
    bleu = [{"metric": m, "aggregation": m, "higher_is_better": True} for m in ("bleu", "chrf")]
    drawn = {"generation_kwargs": {**generate["generation_kwargs"], "do_sample": True, "temperature": 1.0}}
    vote = [{"name": "vote", "filter": [{"function": "majority_vote"}, FIRST]}]
    return {
        "two_filters": {**generate, "num_fewshot": 2, "filter_list": filters},
        "translation": {**generate, "doc_to_target": "{{question}}", "metric_list": bleu},
        "begun_llama": {**generate, "gen_prefix": "The best answer is", "num_fewshot": 1},
        "told": {**generate, "doc_to_target": "  {{answer}} \n", "target_delimiter": ""},
        "drawn": {**generate, **drawn, "repeats": 3, "filter_list": vote},
        "online_metric": {**generate, "metric_list": [{**EXACT, "metric": "nosuch", "hf_evaluate": True}]},
        "runs_code": {**generate, "unsafe_code": True},
    }


def _groups(choice: dict[str, Any]) -> Configs:
    mean = {"metric": "acc", "aggregation": "mean"}
    strict = {"metric": "exact_match", "aggregation": "mean", "filter_list": ["strict"]}
    inline = {**choice, "task": "inline", "dataset_name": "hau"}
    groups: Configs = {
        "partly_there": {"task": ["missing", "mc_hau_1"], "aggregate_metric_list": [mean]},
        "by_size": {"task": ["mc_tag"], "aggregate_metric_list": [{**mean, "weight_by_size": True}]},
        "outer": {
            "task": ["by_size", "two_filters"],
            "aggregate_metric_list": [{**mean, "weight_by_size": False}, strict],
        },
        "no_score": {"task": ["translation", inline]},
        "other_shots": {"task": [{"task": "mc_yor_1", "num_fewshot": 1}]},
    }
    return {name: {"group": name, **group} for name, group in groups.items()}


def write_tasks(folder: Path, dataset_path: str = "org/rows") -> Path:
    """Writes a YAML file per task and group and returns the folder."""
    put(folder / "utils.py", UTILS)
    for name, config in tasks(dataset_path).items():
        named = config if "group" in config else {"task": name, **config}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(named, sort_keys=False, allow_unicode=True))
    return folder


def lm_eval_without_its_tasks(*words: object, cwd: Path) -> None:
    """Runs the harness' own command in a fork, on the tasks of `--include_path` alone.

    It then reads none of its 14,000 task files, which takes 12 s.
    """

    def command() -> int:
        from lm_eval.__main__ import cli_evaluate
        from lm_eval.tasks import TaskManager

        made = TaskManager.__init__

        def without_defaults(*given: Any, **options: Any) -> None:
            made(*given, **{**options, "include_defaults": False})

        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(cwd)
            patch.setattr("sys.argv", ["lm_eval", *map(str, words)])
            patch.setattr(TaskManager, "__init__", without_defaults)
            cli_evaluate()
        return 0

    with tempfile.TemporaryDirectory() as folder:
        code, _, err = Fork(command, Path(folder) / "said").wait(300)
    assert code == 0, err
