"""llama.cpp's part of bench/peers.py, in a process of its own: python bench/peer_llamacpp.py JOB ANSWERS

What several requests begin with is computed once: a token of a batch belongs to all sequences that continue it, and
what earlier batches left in the cache is lent to them, which copies no numbers. Logits are computed where they are
scored.
JOB and ANSWERS are as for bench/peer.py, but JOB has tokens instead of texts, and a GGUF file. Needed are numpy and
llama_cpp only. The settings below were the fastest on two cores.
"""

import ctypes
import json
import sys
import time
import traceback
from collections import deque
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import llama_cpp
import numpy as np

Job = dict[str, Any]
SIZE = 512  # tokens of a batch, unless one sequence has more
SEQUENCES = {"loglikelihood": 32, "generate_until": 8}  # side by side
STOP = 16  # tokens that a stop text is looked for in
CELLS = 256  # the cache has a multiple of this
FLASH, FLOAT16 = 1, 1  # in float32, without flash attention, likelihoods are closer and take longer


class Token(NamedTuple):
    """A token of a batch, with the sequences that it belongs to."""

    token: int
    position: int
    sequences: list[int]


class Llama:
    """A model and its cache, in which sequence 0 holds what others begin with.

    Attributes:
        sequences: how many others there may be.
        before: bytes that were resident without the cache.
        tokens: how many were computed.
    """

    def __init__(self, case: Job, threads: int, longest: int):
        llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
        weights = llama_cpp.llama_model_default_params()
        weights.use_mmap = False  # so that its memory is this process' memory
        self._model = llama_cpp.llama_model_load_from_file(case["gguf"].encode(), weights)
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of resident memory
        self.before, self.tokens = resident("VmRSS"), 0
        self._vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self._model))
        self.sequences, room = SEQUENCES[case["method"]], max(SIZE, longest)
        settings = llama_cpp.llama_context_default_params()
        cells = longest * (self.sequences + 1) if writes(case) else longest + room
        settings.n_ctx = -(-cells // CELLS) * CELLS
        settings.n_batch, settings.n_ubatch = room, SIZE
        settings.n_seq_max, settings.kv_unified = self.sequences + 1, True
        settings.n_threads = settings.n_threads_batch = threads
        settings.flash_attn_type, settings.type_k, settings.type_v = FLASH, FLOAT16, FLOAT16
        self._context = llama_cpp.llama_init_from_model(self._model, settings)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(room, 0, self.sequences + 1)

    def read(self, tokens: list[Token], scored: list[int]) -> np.ndarray:
        """Computes some tokens, and returns the logits after those whose numbers, in increasing order, are given."""
        batch, wanted = self._batch, {*scored}
        batch.n_tokens = len(tokens)
        for i, (token, position, sequences) in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.logits[i] = token, position, i in wanted
            batch.n_seq_id[i] = len(sequences)
            for j, sequence in enumerate(sequences):
                batch.seq_id[i][j] = sequence
        if code := llama_cpp.llama_decode(self._context, batch):
            raise RuntimeError(f"llama_decode returned {code}")
        self.tokens += len(tokens)
        if not scored:
            return np.zeros((0, self._vocabulary), np.float32)
        return np.ctypeslib.as_array(llama_cpp.llama_get_logits(self._context), (len(scored), self._vocabulary))

    def lend(self, source: int, sequence: int, length: int) -> None:
        """Lets a sequence begin as another one does."""
        if length:
            llama_cpp.llama_memory_seq_cp(self._memory, source, sequence, 0, length)

    def forget(self, sequence: int) -> None:
        """Removes a sequence."""
        llama_cpp.llama_memory_seq_rm(self._memory, sequence, -1, -1)

    def clear(self) -> None:
        """Removes everything."""
        llama_cpp.llama_memory_clear(self._memory, False)
        self.tokens = 0


def silence(level: int, text: bytes, user: ctypes.c_void_p) -> None:
    """Takes what llama.cpp logs."""


quiet = llama_cpp.llama_log_callback(silence)  # as long as it is called, it must exist


def resident(name: str) -> int:
    """Returns the bytes that a line of /proc/self/status names."""
    lines = dict(text.split(":", 1) for text in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


def writes(case: Job) -> bool:
    return bool(case["method"] == "generate_until")


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    with Path(sys.argv[2]).open("w") as out:
        for case in job["cases"]:
            out.write(json.dumps({"version": f"llama-cpp-python {llama_cpp.__version__}"} | outcome(job, case)))
            out.write("\n")
            out.flush()


def outcome(job: Job, case: Job) -> Job:
    """Returns what a case gave, or its error."""
    try:
        return measured(job, case)
    except Exception as e:
        traceback.print_exc()
        return {"error": f"{type(e).__name__}: {e}"}


def measured(job: Job, case: Job) -> Job:
    requests = case["tokens"]
    longest = max(len(context) + case.get("most", len(answer)) for context, answer in requests)
    llama = Llama(case, job["threads"], longest)
    compute = generated if writes(case) else likelihoods
    compute(llama, [[[1, 2, 3], [4, 5]]], case | {"most": 4})  # lets libraries set themselves up
    llama.clear()
    clock = time.process_time if job["threads"] == 1 else time.perf_counter  # as in machine.py
    begin = clock()
    answers = compute(llama, requests, case)
    seconds = clock() - begin
    return {
        "seconds": seconds,
        "tokens": llama.tokens,
        "memory": resident("VmHWM") - llama.before,
        "answers": answers,
    }


# Likelihoods


def likelihoods(llama: Llama, pairs: list[list[list[int]]], case: Job) -> list[list[Any]]:
    """Returns the log-likelihood of each answer after its context, and whether each token is the most probable one."""
    answers: list[list[Any]] = [[] for _ in pairs]
    past: list[int] = []
    for pack in packs(llama.sequences, pairs):
        sequence_of = {i: (*pairs[i][0], *pairs[i][1][:-1]) for i in pack}
        sequences = sorted({*sequence_of.values()})
        unscored = {s: min(len(pairs[i][0]) - 1 for i in pack if sequence_of[i] == s) for s in sequences}
        paths, tokens = grown(past, unscored)
        for j, path in enumerate(paths, 1):
            llama.lend(0, j, path.count(-1))
        llama.forget(0)
        scored_of = {i: paths[sequences.index(s)][len(pairs[i][0]) - 1 :] for i, s in sequence_of.items()}
        scored = sorted({token for tokens_of_answer in scored_of.values() for token in tokens_of_answer})
        logits = llama.read(tokens, scored)
        largest = logits.max(axis=1)
        total = largest + np.log(np.exp(logits - largest[:, None]).sum(axis=1))
        for i, tokens_of_answer in scored_of.items():
            rows = np.searchsorted(scored, tokens_of_answer)
            chosen = logits[rows, pairs[i][1]]
            answers[i] = [float((chosen - total[rows]).sum()), bool((chosen == largest[rows]).all())]
        past = [*sequences[-1]]
        llama.lend(len(sequences), 0, len(past))
        for j in range(1, len(sequences) + 1):
            llama.forget(j)
    return answers


def packs(most: int, pairs: list[list[list[int]]]) -> Iterator[list[int]]:
    """Yields the numbers of requests that are computed together; those with the same context are."""
    order = sorted(range(len(pairs)), key=lambda i: pairs[i])
    pack: list[int] = []
    size, sequences, last = 0, 0, tuple[int, ...]()
    for _, group in groupby(order, key=lambda i: pairs[i][0]):
        alike = [*group]
        distinct = sorted({(*pairs[i][0], *pairs[i][1][:-1]) for i in alike})
        new = sum(len(sequence) - common(before, sequence) for before, sequence in pairwise([last, *distinct]))
        if pack and (size + new > SIZE or sequences + len(distinct) > most):
            yield pack
            pack, size, sequences = [], 0, 0
        pack, size, sequences, last = pack + alike, size + new, sequences + len(distinct), distinct[-1]
    yield pack


def grown(past: list[int], sequences: dict[tuple[int, ...], int]) -> tuple[list[list[int]], list[Token]]:
    """Returns the path of each sequence through the tokens to compute, and these tokens.

    Args:
        past: what has been computed, and is -1 in paths.
        sequences: in the order of their tokens, each with how many of its first tokens are not scored; only of these
            those in the past are not computed again.
    """
    tokens: list[Token] = []
    paths: list[list[int]] = []
    last: tuple[int, ...] = ()
    for j, (sequence, unscored) in enumerate(sequences.items(), 1):
        path = paths[-1][: common(last, sequence)] if paths else []
        path += [-1] * (min(common(past, sequence), unscored) - len(path))
        for depth in range(len(path), len(sequence)):
            path.append(len(tokens))
            tokens.append(Token(sequence[depth], depth, []))
        for token in path:
            if token >= 0:
                tokens[token].sequences.append(j)
        paths.append(path)
        last = sequence
    return paths, tokens


def common(a: Any, b: Any) -> int:
    """Returns how many tokens two sequences begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


# Generated answers


class Slot(NamedTuple):
    """An answer that is written: its number, and from which position which tokens are still to be read."""

    answer: int
    position: int
    pending: list[int]


def generated(llama: Llama, requests: list[list[list[int]]], case: Job) -> list[list[int]]:
    """Returns the tokens of each answer; as soon as one ends, the next prompt takes its sequence."""
    prompts = [prompt for prompt, _ in requests]
    shared = min(common(min(prompts), max(prompts)), min(map(len, prompts)) - 1)
    for begin in range(0, shared, SIZE):
        positions = range(begin, min(begin + SIZE, shared))
        llama.read([Token(prompts[0][position], position, [0]) for position in positions], [])
    waiting = deque(sorted(range(len(prompts)), key=lambda i: -len(prompts[i])))
    answers: list[list[int]] = [[] for _ in prompts]
    slots: dict[int, Slot] = {}
    while slots or waiting:
        for sequence in range(1, llama.sequences + 1):
            if sequence not in slots and waiting:
                number = waiting.popleft()
                slots[sequence] = Slot(number, shared, prompts[number][shared:])
                llama.lend(0, sequence, shared)
        tokens, last = next_tokens(slots)
        logits = llama.read(tokens, [*last])
        for token in tokens:
            number, _, pending = slots[token.sequences[0]]
            slots[token.sequences[0]] = Slot(number, token.position + 1, pending[1:])
        for sequence, best in zip(last.values(), logits.argmax(axis=1).tolist(), strict=True):
            number, position, _ = slots[sequence]
            answers[number].append(best)
            slots[sequence] = Slot(number, position, [best])
            if len(answers[number]) == case["most"] or ended(answers[number], case):
                llama.forget(sequence)
                del slots[sequence]
    return answers


def next_tokens(slots: dict[int, Slot]) -> tuple[list[Token], dict[int, int]]:
    """Returns the next batch, first of answers that are being written, and the sequences of tokens that end theirs."""
    tokens: list[Token] = []
    last = {}
    for sequence, slot in sorted(slots.items(), key=lambda pair: len(pair[1].pending) > 1):
        part = slot.pending[: SIZE - len(tokens)]
        tokens += [Token(token, slot.position + i, [sequence]) for i, token in enumerate(part)]
        if part and len(part) == len(slot.pending):
            last[len(tokens) - 1] = sequence
    return tokens, last


def ended(answer: list[int], case: Job) -> bool:
    """Returns whether an answer has come to an end."""
    text = "".join(case["pieces"][token] for token in answer[-STOP:])
    return answer[-1] in case["ends"] or any(stop in text for stop in case["stops"])


if __name__ == "__main__":
    main()
