"""Samples as the instance-level records of Every Eval Ever."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from afrieval.exports.rows import as_text
from afrieval.results.columns import continuations
from afrieval.results.samples import RIGHT, Sample, document_score
from afrieval.results.scores import CellScores
from afrieval.scoring.labels import REFUSED

OURS = ("id", "choices", "roles", "gold", "worked", "prompt")  # keys of a document that are not fields of the data
Instance = dict[str, Any]


def instance(line: Sample, cell: CellScores) -> Instance:
    """Returns a sample without the ids of its record.

    Args:
        line: the sample, with texts.
        cell: its cell.
    """
    output, asked = _output(line), _input(line)
    answer = _answer(line, asked.get("choices", []))
    found = {
        "sample_id": str(line["doc_id"]),
        "sample_hash": _hash(asked),
        "interaction_type": "single_turn",
        "input": asked,
        "output": {"raw": output},
        "answer_attribution": [] if answer is None or not output else [_attribution(line, answer, output, cell)],
        "evaluation": _evaluation(line, cell),
        "metadata": _metadata(line),
    }
    found |= {"token_usage": usage} if (usage := _usage(line.get("details") or {})) else {}
    return found | ({"error": "refused"} if line.get(REFUSED) else {})


def _input(line: Sample) -> Instance:
    """Returns the question without a prompt, the prompt as sent, and the right answer."""
    document = line["doc"] if isinstance(line["doc"], dict) else {"text": line["doc"]}
    fields = {name: value for name, value in document.items() if name not in OURS}
    choices = list(map(str, document.get("choices") or []))
    whole = "\n".join(f"{name}: {as_text(value)}" for name, value in fields.items())
    prompt = line["arguments"][0]
    return {
        "raw": str(next(iter(fields.values()))) if len(fields) == 1 else whole,
        **({"formatted": str(prompt[0])} if len(prompt) > 1 else {}),
        "reference": _right(line, choices),
        **({"choices": choices} if choices and not line.get("roles") else {}),
    }


def _right(line: Sample, choices: list[str]) -> list[str]:
    """Returns the right answers; of texts whose likelihood is measured, those with the role of the first."""
    if roles := line.get("roles"):
        return [text for text, role in zip(choices, roles, strict=False) if role == roles[0]]
    gold = line.get("gold")
    right = choices[gold] if choices and type(gold) is int else as_text(line.get("target"))
    return [] if right is None else [right]


def _hash(asked: Instance) -> str:
    """Returns the hash by which the database finds the same question elsewhere."""
    text = json.dumps({"raw": asked["raw"], "reference": asked["reference"]}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _output(line: Sample) -> list[str]:
    """Returns what the model generated, or the choice that it found most likely."""
    first = line["resps"][0][0]
    if isinstance(first, str):
        return [answers[0] for answers in line["resps"]]
    picked = line.get("picked")
    return [str(continuations(line)[picked])] if type(picked) is int else []


def _answer(line: Sample, choices: list[str]) -> str | None:
    """Returns the answer as a text; that of a question with choices is stored as the choice's number."""
    answer = line.get("answer")
    return choices[answer] if type(answer) is int and answer < len(choices) else as_text(answer)


def _attribution(line: Sample, answer: str, output: list[str], cell: CellScores) -> Instance:
    generated = isinstance(line["resps"][0][0], str)
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": answer if generated else output[0].strip(),
        "extraction_method": f"{cell.task}, version {cell.must['task version']}" if generated else "highest likelihood",
        "is_terminal": True,
    }


def _evaluation(line: Sample, cell: CellScores) -> Instance:
    """Returns a document's score; where a score has no highest value, no answer is right by it."""
    bounded = all(map(math.isfinite, cell.metric.bounds))
    measure = (line.get("measures") or {}).get(cell.main) or [0.0]
    score = document_score(line, cell.metric) if bounded else float(measure[0])
    return {"score": score, "is_correct": bounded and cell.metric.higher_is_better and score >= RIGHT}


def _metadata(line: Sample) -> dict[str, str]:
    names = ("task", "language", "prompt_language", "prompt", "defect", "part", "guess")
    hashes = ("doc_hash", "prompt_hash", "target_hash")
    lists = {name: line.get(name) for name in ("fewshot_ids", "measures", "roles")}
    answers = [answers[0] for answers in line["resps"]]
    if not isinstance(answers[0], str):
        lists["log_likelihoods"] = [answer[0] if isinstance(answer, list) else answer for answer in answers]
        lists["continuations"] = continuations(line)
    known = {name: str(line[name]) for name in (*names, *hashes) if line.get(name) not in (None, "")}
    return known | {name: json.dumps(value, ensure_ascii=False) for name, value in lists.items() if value}


def _usage(details: Mapping[str, Any]) -> Instance:
    """Returns the tokens of a request, if a server counted both sides."""
    sent, got = details.get("prompt_tokens"), details.get("completion_tokens")
    if type(sent) is not int or type(got) is not int:
        return {}
    others = {"cached_tokens": "input_tokens_cache_read", "reasoning_tokens": "reasoning_tokens"}
    more = {theirs: details[ours] for ours, theirs in others.items() if type(details.get(ours)) is int}
    return {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got, **more}
