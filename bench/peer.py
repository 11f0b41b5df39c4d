"""One program's part of bench/peers.py, in a process of its own: python bench/peer.py JOB ANSWERS

JOB is JSON: program, batch, device, dtype, and cases, each with folder (of the model), method and requests.
ANSWERS gets a line of JSON per case, as soon as it is measured: version, seconds, tokens (null if not known), memory in
bytes, answers; or version and error. A program may have a Python of its own: needed are torch, lm_eval and the program;
and afrieval for vllm-well and sglang-well, its backends.
"""

import functools
import gc
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.utils import handle_stop_sequences, postprocess_generated_text
from machine import clock, peak_memory, used

Job = dict[str, Any]
Count = Callable[[Any], None]
LONGEST = 8192  # tokens of a prompt and its answer
PAGE = 256  # tokens of a page of transformers' continuous batching
WELL = "-well"  # ends the names of programs that afrieval's backends ask, not lm_eval's
SHARE = 0.85  # of a GPU's memory, for programs that take all of theirs at the start


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    job["used"] = used(job["device"]) if job["device"].startswith("cuda") else 0
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    with Path(sys.argv[2]).open("w") as out, torch.no_grad():
        for case in job["cases"]:
            out.write(json.dumps({"version": release(job["program"])} | outcome(job, case)))
            out.write("\n")
            out.flush()


def outcome(job: Job, case: Job) -> Job:
    """Returns what a case gave, or its error: a GPU that is too small for one case may do for another."""
    try:
        return measured(job, case)
    except Exception as e:
        traceback.print_exc()
        return {"error": f"{type(e).__name__}: {str(e).strip().splitlines()[:1]}"}
    finally:
        gc.collect()
        if job["device"].startswith("cuda"):
            torch.cuda.empty_cache()


def measured(job: Job, case: Job) -> Job:
    build, counted, keeps = PROGRAMS[job["program"]]
    device = job["device"]
    lm = build(job, case["folder"])
    requests = [instance(case["method"], tuple(args), i) for i, args in enumerate(case["requests"])]
    warm_up(lm, case["method"], requests[0].args)
    with counted(lm) as tokens, peak_memory(device) as peak:
        begin = clock(device)
        answers = getattr(lm, case["method"])(requests, disable_tqdm=True)
        seconds = clock(device) - begin
    memory = used(device) - job["used"] - weights(case["folder"]) if keeps and device.startswith("cuda") else peak[0]
    known = device == "cpu" or job["program"] != "continuous"  # CUDA graphs look up embeddings without a call
    return {"seconds": seconds, "tokens": tokens[0] if known else None, "memory": memory, "answers": answers}


def weights(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).glob("*.safetensors"))


def instance(method: str, args: tuple[Any, ...], number: int) -> Any:
    return Instance(request_type=method, doc={}, arguments=args, idx=number)


def warm_up(lm: Any, method: str, args: tuple[Any, ...]) -> None:
    """Lets libraries set themselves up: two requests of the same kind, which share nothing with those measured."""
    few = {**args[1], "max_gen_toks": 4} if isinstance(args[1], dict) else args[1]
    getattr(lm, method)([instance(method, (text, few), i) for i, text in enumerate(("1 2 3", "4 5"))], True)


def release(program: str) -> str:
    """Returns the name and version of the package that computes."""
    package = {"hf": "lm_eval", "continuous": "transformers"}.get(program, program.removesuffix(WELL))
    return f"{package} {version(package)}"


# Models


@functools.lru_cache(1)
def model_and_tokenizer(folder: str, device: str, dtype: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype), device_map=device)
    return model.eval(), AutoTokenizer.from_pretrained(folder)


def loaded(kind: Any, job: Job, folder: str) -> Any:
    model, tokenizer = model_and_tokenizer(folder, job["device"], job["dtype"])
    made = {"batch_size": job["batch"], "device": job["device"], "softmax_dtype": "float32", "max_length": LONGEST}
    return kind(pretrained=model, tokenizer=tokenizer, **made)


def afrieval(job: Job, folder: str) -> Any:
    from afrieval.models.backends.hf import HF

    lm = loaded(HF, job, folder)
    lm.choose_engine("tree")
    return lm


def hf(job: Job, folder: str) -> Any:
    from lm_eval.models.huggingface import HFLM

    return loaded(HFLM, job, folder)


def continuous(job: Job, folder: str) -> Any:
    """Returns a model that generates by transformers' continuous batching, which ends answers at no stop text."""
    from lm_eval.models.huggingface import HFLM
    from transformers import ContinuousBatchingConfig, GenerationConfig

    class Continuous(HFLM):
        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            prompts = [self.tok_encode(request.args[0]) for request in requests]
            (most,) = {request.args[1]["max_gen_toks"] for request in requests}
            ends = {"eos_token_id": self.eot_token_id, "pad_token_id": self.tokenizer.pad_token_id}
            greedy = GenerationConfig(do_sample=False, max_new_tokens=most, **ends)
            outputs = self.model.generate_batch(prompts, greedy, ContinuousBatchingConfig(**pages(job, prompts, most)))
            eos = self.tok_decode(self.eot_token_id, skip_special_tokens=False)
            stops = [handle_stop_sequences(request.args[1]["until"], eos=eos) for request in requests]
            written = [self.tok_decode(output.generated_tokens) for output in outputs.values()]
            return [postprocess_generated_text(text, stop, None) for text, stop in zip(written, stops, strict=True)]

    return loaded(Continuous, job, folder)


def pages(job: Job, prompts: list[list[int]], most: int) -> Job:
    """Returns how much transformers' continuous batching may take on a CPU, where it would take most of the memory."""
    each = (max(map(len, prompts)) + most) // PAGE + 1
    return {"num_blocks": job["batch"] * each, "max_batch_tokens": 512} if job["device"] == "cpu" else {}


@functools.lru_cache(1)
def vllm(device: str, dtype: str, folder: str, well: bool) -> Any:
    if device == "cpu":
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")  # GiB
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")  # as many threads as the others
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # its memory is this process' memory
    from lm_eval.models.vllm_causallms import VLLM

    kind = VLLM
    if well:
        from afrieval.models.backends.vllm import backend

        kind = backend()
    share = {} if device == "cpu" else {"gpu_memory_utilization": SHARE}
    return kind(folder, dtype=dtype, batch_size="auto", max_model_len=LONGEST, enable_prefix_caching=True, **share)


def fresh_vllm(job: Job, folder: str) -> Any:
    lm = vllm(job["device"], job["dtype"], folder, job["program"].endswith(WELL))
    lm.model.reset_prefix_cache()
    return lm


@functools.lru_cache(1)
def sglang(dtype: str, folder: str, well: bool) -> Any:
    from lm_eval.models.sglang_causallms import SGLangLM

    kind = SGLangLM
    if well:
        from afrieval.models.backends.shared_prefixes import SGLangLikelihoods
        from afrieval.models.base import LanguageModel

        kind = type("SGLang", (LanguageModel, SGLangLikelihoods, SGLangLM), {})
    made = {"max_model_len": LONGEST, "mem_fraction_static": SHARE, "add_bos_token": True}
    return kind(folder, dtype=dtype, batch_size="auto", **made)


def fresh_sglang(job: Job, folder: str) -> Any:
    lm = sglang(job["dtype"], folder, job["program"].endswith(WELL))
    lm.model.flush_cache()
    return lm


# Counts of the tokens that are computed, padding included


@contextmanager
def embedded(lm: Any) -> Iterator[list[int]]:
    """Counts the tokens whose embeddings are looked up."""
    ran = [0]

    def count(module: Any, args: tuple[Any, ...]) -> None:
        ran[0] += args[0].numel()

    hook = lm.model.get_input_embeddings().register_forward_pre_hook(count)
    try:
        yield ran
    finally:
        hook.remove()


def reported(computed: Callable[[Any], int]) -> Callable[[Any], Any]:
    """Returns a counter of what each output says that was computed for it."""

    @contextmanager
    def counter(lm: Any) -> Iterator[list[int]]:
        ran, plain = [0], lm._model_generate

        def count(*args: Any, **kwargs: Any) -> Any:
            outputs = plain(*args, **kwargs)
            ran[0] += sum(map(computed, outputs))
            return outputs

        lm._model_generate = count
        try:
            yield ran
        finally:
            del lm._model_generate

    return counter


def of_vllm(output: Any) -> int:
    return len(output.prompt_token_ids) - (output.num_cached_tokens or 0) + len(output.outputs[0].token_ids) - 1


def of_sglang(output: Any) -> int:
    about = output["meta_info"]
    return int(about["prompt_tokens"] - about["cached_tokens"] + about["completion_tokens"] - 1)


# How each is built, how its tokens are counted, and whether it takes all its memory at the start.
PROGRAMS: dict[str, tuple[Callable[[Job, str], Any], Callable[[Any], Any], bool]] = {
    "hf": (hf, embedded, False),
    "afrieval": (afrieval, embedded, False),
    "continuous": (continuous, embedded, False),
    "vllm": (fresh_vllm, reported(of_vllm), True),
    "vllm-well": (fresh_vllm, reported(of_vllm), True),
    "sglang": (fresh_sglang, reported(of_sglang), True),
    "sglang-well": (fresh_sglang, reported(of_sglang), True),
}

if __name__ == "__main__":
    main()
