"""Stored answers that are scored again by unchanged code give the same files, byte by byte, whatever the task."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.conftest import Cli, content
from tests.models.loopback import serving
from tests.models.tiny import CHAT, tiny_llama

from afrieval.models.backends.hf import HF
from afrieval.results.run_files import sample_files

ROOM = "--eval.max_gen_toks 64 --model.backend_args.max_length 600"
IN_ENGLISH = "--task.suite all --task.languages eng --task.prompts 1 --eval.limit 2 --task.task_name"
IN_YORUBA = IN_ENGLISH.replace("eng", "yor")
IN_BOTH = IN_ENGLISH.replace("eng", "yor,eng")  # for tasks that one of them lacks
KINDS = {
    "likelihoods of answers": f"{IN_YORUBA} afrixnli,afrisenti,belebele --task.prompt_language both",
    "letters, examples": "--task.task_name afrixnli --task.prompts 6 --task.languages hau --eval.limit 2 "
    "--eval.num_fewshot 2 --eval.fewshot_selection per_document --task.answer_form letter",
    "a blank": "--task.task_name idm_winogrande --task.prompts 1 --eval.num_fewshot 1",
    "generated answers": f"{IN_YORUBA} afrixnli,afrimmlu,afrimgsm --task.answer_form generate --eval.num_fewshot 1",
    "texts, spans, tags": f"{IN_BOTH} afriqa,masakhaner,masakhapos,mafand_from_eng,diacritics,tydiqa",
    "reasoning": f"{IN_BOTH} afrimgsm_cot,mgsm_cot --eval.num_fewshot 2 --model.thinking_end so",
    "translations": f"{IN_YORUBA} afrixnli --task.variant translate",
    "whole texts": f"{IN_ENGLISH} tofu_forget,tofu_facts,tofu_retain_text,muse_holdout,tofu_forget_gradient",
    "Meta's": "--task.task_name meta_math,meta_ifeval,meta_mmlu,meta_gpqa_cot --eval.limit 4",
    "without texts": f"{IN_YORUBA} afrixnli,afriqa --eval.log_samples false --eval.use_cache false",
    "fewer examples": f"{IN_ENGLISH} mmlu,mmlu_pro --eval.num_fewshot 2 {ROOM}",
    "shortened": f"{IN_BOTH} xlsum --eval.num_fewshot 2 --model.backend_args.max_length 1300",
    "chats": f"{IN_YORUBA} afrimmlu,afriqa,afrixnli --model.chat_template --eval.num_fewshot 1",
}


def plausible(lm: HF, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
    """Answers every other document rightly, and the others in words that extractors have to take apart."""
    return [_answer(request.doc.document) for request in requests]


def _answer(document: Any) -> str:
    right = str(document.choices[document.gold] if document.choices else document.gold_cell)
    return f" {right}" if document.id % 2 == 0 else f"I think so. The answer is B, 4 or {right[:3]}.\n\nQuestion:"


@pytest.mark.parametrize("kind", KINDS)
def test_unchanged_code_gives_the_same_files(
    run_demo: Cli, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(HF, "generate_until", plausible)
    words = KINDS[kind].split()
    words += ["--model.model_name", str(tiny_llama(tmp_path / "chat", chat_template=CHAT))] if kind == "chats" else []
    run_demo(*words).ok()
    check_same(cli, monkeypatch, tmp_path / "run", fitted=kind in ("shortened", "fewer examples"))


@pytest.mark.parametrize(
    "words",
    [
        "--task.task_name afrimmlu --task.answer_form generate --model.thinking_end so --eval.num_fewshot 1",
        "--task.task_name afrimmlu --task.answer_form letter --model.api.top_logprobs 5 --eval.num_fewshot 1",
        "--task.task_name afrixnli --model.api.endpoint completions",
    ],
)
def test_answers_of_a_server_keep_what_they_took(
    run_demo: Cli, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    with serving() as server:
        server.usage = usage
        _ = server.options  # loads the model in this thread
        if "top_logprobs" in words:
            listed = [{"token": letter, "logprob": -1.0 - i} for i, letter in enumerate("BAC")]
            server.choice = {"logprobs": {"content": [{"token": "B", "logprob": -1, "top_logprobs": listed}]}}
        some = "--task.languages yor --eval.limit 2 --task.prompts 1"
        done = run_demo(*server.api_options, *some.split(), *words.split())
    assert done.code == 0, done.err
    check_same(cli, monkeypatch, tmp_path / "run")
    assert b"prompt_tokens" in next((tmp_path / "run").glob("samples_*")).read_bytes()


def check_same(cli: Cli, monkeypatch: pytest.MonkeyPatch, folder: Path, fitted: bool = False) -> None:
    before = content(folder)
    again = cli("score", folder)
    assert (again.code, again.out) == (0, ""), again.err
    assert "no score moved" in again.err
    assert content(folder) == before, "nothing is written"
    written = {path: path.stat().st_mtime_ns for path in sample_files(folder)}
    monkeypatch.setattr("afrieval.tasks.cells.rescored.alike", lambda one, other: False)
    assert cli("score", folder).code == 0
    scored = [p for p in written if b'"resps": [[' in before[p.name]]
    assert scored and all(path.stat().st_mtime_ns != written[path] for path in scored), "all were written again"
    now = content(folder)
    assert now.keys() == before.keys()
    assert {name for name in now if now[name] != before[name]} == {"run.yaml"}
    assert fitted == (b'"fitted": {' in b"".join(before.values()))


def test_answers_are_read_with_other_options(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text('{"out": "B"}\n{"out": "The answer is B"}\n')
    model = ["--model.model_type", "recorded", "--model.backend_args.column", "out", "--model.model_name", "someone"]
    model += ["--model.backend_args.file", str(tmp_path / "answers.jsonl"), "--data.source", "samples"]
    words = "--task.task_name afrimmlu --task.languages hau --task.prompts 1 --task.answer_form generate --eval.limit 2"
    run = tmp_path / "run"
    assert cli("run", *model, *words.split(), "--run_dir", str(run)).code == 0

    def scored(*more: str) -> list[int | None]:
        cli("score", str(run), *more).ok()
        return [sample["answer"] for path in sample_files(run) for sample in map(orjson.loads, path.open("rb"))]

    assert scored() == [1, 1]
    assert scored("--task.extract.strict", "true") == [1, None] == scored()
    assert scored("--task.extract.strict", "false") == [1, 1] == scored()
    wrong = cli("score", str(run), "--task.extract.lenient", "true")
    assert wrong.code == 2 and "has no option 'lenient' to switch" in wrong.err
