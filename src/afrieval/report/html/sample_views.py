"""Samples to read: a few documents of each task, language and model, with what was asked and answered."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from afrieval.analysis.selected_samples import GAINED, LOST, MEASURED, RIGHT, WRONG, ShownDocuments
from afrieval.languages import web_code
from afrieval.report.html.frame import filter_attributes, fragment
from afrieval.report.score_tables import WRITTEN, named
from afrieval.report.values import listed, shown_exact
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import read_rows
from afrieval.results.samples import DROPPED, Sample, judgements, verdict
from afrieval.scoring.ifeval.instructions import kept
from afrieval.scoring.labels import NOT_PARSED, REFUSED
from afrieval.scoring.learned import RATINGS
from afrieval.scoring.responses import Generated, is_cut, thinking_and_answer
from afrieval.tasks.cells.sample_lines import prompt_of, text_of, texts_of

SIGNS = {"right": "✓", "wrong": "✗", NOT_PARSED: "?", REFUSED: "⊘"}  # next to the words, never alone
PARTLY = "≈"
RULE = (
    "A few documents of each task, language and model: in turn one that is right under English prompts only, one that "
    "is right under native prompts only, an unparsed one, a wrong one and a right one, each kind spread evenly over "
    "the test set. Where only one prompt language ran, the first two prompts are compared. Answers that are partly "
    "right count as right from 50% on."
)
LONG = 400  # characters of a beginning from which on it is apart
TELLING = 20  # characters of a field from which on its position tells where a question is
BETWEEN = 60  # characters up to which a word that a cut goes through is left out
NAMED = {"answer": "right answer", "paraphrased": "paraphrase", "perturbed": "wrong answer"}  # roles of texts


class Cut(NamedTuple):
    """A text of which the middle may be left out.

    Attributes:
        left_out: number of characters between start and end.
    """

    start: str
    left_out: int = 0
    end: str = ""


def card(row: int, shown: Sequence[tuple[CellScores, Sample]], n_sides: int, room: int) -> dict[str, Any]:
    """Returns what the page shows of a document, under one prompt or two.

    `n_sides` prompts are shown in full, with `room` bytes of text in all; of further ones, the verdict.
    """
    first, sample = shown[0][0], shown[0][1]
    document = sample.get("doc")
    values = document if isinstance(document, dict) else {}
    fields = [*first.declared.get("breakdowns", []), *first.declared.get("grouped_fields", {})]
    sides = [_side(cell, line, room // n_sides) for cell, line in shown[:n_sides]]
    return {
        "row": row,
        "gold": [] if any(side["choices"] for side in sides) else golds(sample),  # choices have marks
        "fields": {name: str(values[name]) for name in fields if values.get(name)},
        "sides": sides,
        "others": [f"{_prompt(cell)}: {_verdict(cell, line)}" for cell, line in shown[n_sides:]],
    }


def _side(cell: CellScores, sample: Sample, room: int) -> dict[str, Any]:
    """Returns what the page shows of a document under one prompt."""
    arguments = sample.get("arguments")
    generated = isinstance(sample["resps"][0][0], str)
    prompt = prompt_of(sample) if arguments and (generated or text_of(arguments[0]) != arguments[0][0]) else None
    before = _beginning(prompt, sample) if prompt else ""
    thinking, answer = "", None
    if generated:
        text = Generated(sample["resps"][0][0], sample.get("details", {}))
        thinking, answer = thinking_and_answer(text, str(cell.recorded_settings.get("thinking_end") or ""))
    folded = len(before) > LONG
    rest = prompt[len(before) :] if prompt and folded else prompt
    outcome, has_roles = _verdict(cell, sample), not generated and bool(sample.get("roles"))
    return {
        "prompt_name": _prompt(cell),
        "language": web_code(cell.language) if cell.prompt_language == "native" else "",
        "verdict": outcome,
        "sign": SIGNS.get(outcome, "" if has_roles or not cell.metric.ranked else PARTLY),
        "beginning": cut(before, room // 4) if folded else None,
        "examples": len(sample.get("fewshot_ids", [])),
        "prompt": None if rest is None else cut(rest, room // 2),
        "choices": [] if generated else _choices(sample, room // 2),
        "has_roles": has_roles,
        "thinking": cut(thinking, room // 8) if thinking else None,
        "answer": None if answer is None else cut(answer, room // 4),
        "extracted": _extracted(sample) if generated else None,
        "notes": _notes(sample),
    }


def _verdict(cell: CellScores, sample: Sample) -> str:
    """Returns right, wrong and the like; of texts whose likelihood was computed, the measure."""
    if sample.get("roles"):
        return f"{cell.main} {shown_exact(sample[cell.main])}"
    return verdict(sample, cell.metric)


def cut(text: str, room: int) -> Cut:
    """Returns a text with its middle left out if it is longer than `room` bytes in UTF-8.

    Words are not cut, unless they are long.
    """
    size = len(text.encode(errors="replace"))
    if size <= room:
        return Cut(text)
    half = max(20, len(text) * room // size // 2)
    start, end = text[:half], text[-half:]
    words, rest = start.rsplit(None, 1), end.split(None, 1)
    start = words[0] if len(words) > 1 and len(words[1]) < BETWEEN else start
    end = rest[1] if len(rest) > 1 and len(rest[0]) < BETWEEN else end
    return Cut(start, len(text) - len(start) - len(end), end)


def _beginning(prompt: str, sample: Sample) -> str:
    """Returns what stands before the question, up to an empty line; empty where the question is not found."""
    document = sample.get("doc")
    fields = [str(value) for value in document.values()] if isinstance(document, dict) else []
    texts = [text for text in fields if " " in text and len(text) >= TELLING]
    starts = [start for text in texts if (start := prompt.rfind(text)) >= 0]
    before, blank, _ = prompt[: min(starts, default=0)].rpartition("\n\n")
    return before + blank


def _choices(sample: Sample, room: int) -> list[dict[str, Any]]:
    """Returns the options with their probabilities among them, or other texts whose likelihood was computed."""
    answers = [answer if isinstance(answer, list) else [answer] for (answer,) in sample["resps"]]
    roles, n = sample.get("roles"), len(answers)
    labels = texts_of(sample) or [f"option {i + 1}" for i in range(n)]
    texts = [  # a letter is followed by the option that it stands for
        f"{text}  ({option})" if len(text.strip()) == 1 and option not in ("", text.strip()) else text
        for text, option in zip(labels, _options(sample, n), strict=True)
    ]
    marks = {"right": sample.get("gold"), "picked": sample.get("picked")}
    odds = [math.exp(answer[0] - max(a[0] for a in answers)) for answer in answers]
    choices = []
    for i, (answer, text) in enumerate(zip(answers, texts, strict=True)):
        picked_or_right = ", ".join(mark for mark, at in marks.items() if at == i)
        tokens = answer[2] if len(answer) > 2 and isinstance(answer[2], int) else None
        choices.append(
            {
                "marks": NAMED.get(roles[i], roles[i]) if roles else picked_or_right,
                "text": cut(text, room // n),
                "likelihood": answer[0],
                "tokens": tokens,
                "per_token": answer[0] / tokens if tokens else None,
                "probability": None if roles else odds[i] / sum(odds),
            }
        )
    return choices


def _options(sample: Sample, n: int) -> list[str]:
    """Returns the options as the data has them; empty texts where documents were not stored."""
    document = sample.get("doc")
    options = document.get("choices", []) if isinstance(document, dict) else []
    return list(map(str, options)) if len(options) == n else [""] * n


def golds(sample: Sample) -> list[str]:
    """Returns the right answers of a document."""
    options, gold = _options(sample, sample.get("n_choices") or 0), sample.get("gold")
    if isinstance(gold, int) and 0 <= gold < len(options):
        return [options[gold]]
    target, document = _as_text(sample.get("target")), sample.get("doc")
    stored = document.get("gold") if isinstance(document, dict) else None
    try:
        answers = json.loads(stored) if isinstance(stored, str) else None  # of several right answers, all
    except (ValueError, RecursionError):
        answers = None
    accepted = list(map(str, answers)) if isinstance(answers, list) else []
    return accepted if target in accepted else [target]


def _extracted(sample: Sample) -> str | None:
    options, picked = _options(sample, sample.get("n_choices") or 0), sample.get("picked")
    if isinstance(picked, int) and 0 <= picked < len(options):
        return options[picked]
    answer = sample.get("answer")
    if isinstance(answer, dict) and any(isinstance(value, list) for value in answer.values()):
        return None  # which instructions were followed
    return None if answer is None else _as_text(answer)


def _as_text(value: Any) -> str:
    """Returns an answer as people read it: spans in lines, tags with blanks between them, labels with numbers."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {of}" for name, of in value.items())
    if isinstance(value, list):
        pairs = bool(value) and all(isinstance(one, list) for one in value)
        return "\n".join(": ".join(map(str, one)) for one in value) if pairs else " ".join(map(str, value))
    return "" if value is None else str(value)


def _notes(sample: Sample) -> list[str]:
    details: Mapping[str, Any] = sample.get("details", {})
    notes = []
    if "arguments" not in sample:
        notes.append("The prompt was not kept: eval.log_samples is false.")
    for name, (shown, total, *_) in sample.get("fitted", {}).items():
        what = "few-shot examples were left out" if name == DROPPED else f"the field {name} was shortened"
        unit = "examples" if name == DROPPED else "characters"
        notes.append(f"To fit the model's context, {what}: {shown:,} of {total:,} {unit} were sent.")
    if is_cut(details):
        notes.append("The answer was cut off at its limit of tokens.")
    if sample.get("guess"):
        notes.append(f"The answer was guessed from a letter in the text ({sample['guess']}).")
    if followed := kept(sample):
        notes.append(f"Instructions followed: {', '.join('yes' if one else 'no' for one in followed)}.")
    if "published_correct" in sample:
        notes.append(f"Published answer of the authors' model: {'right' if sample['published_correct'] else 'wrong'}.")
    notes += judgements(sample)
    if ratings := sample.get(RATINGS):
        notes.append(f"People rated it {listed([*ratings.values()])}.")
    return [*notes, *([f"Known defect of this row: {sample['defect']}."] if sample.get("defect") else [])]


def samples_html(chosen: ShownDocuments, several: Sequence[str], room: int) -> Markup:
    """Returns the samples of a task, language and model.

    `several` has the dimensions to name; `room` is how many bytes of text each document may have.
    """
    first = chosen.cells[0]
    varied = [d for d in several if d in ("shots", "answer_form")]
    names = [first.model, *(f"{named(first.dimensions, d)}{'-shot' if d == 'shots' else ''}" for d in varied)]
    rows = [row for of_kind in chosen.chosen.values() for row in of_kind]
    read = [(cell, read_rows(Path(str(cell.path)), rows)) for cell in chosen.cells]  # no other lines are parsed
    cards = [
        card(row, [(cell, lines[row]) for cell, lines in read], len(read) if kind in (LOST, GAINED) else 1, room)
        for kind, of_kind in chosen.chosen.items()
        for row in of_kind
    ]
    return fragment(
        "samples.html",
        attributes=filter_attributes({"task": first.task, "language": first.language, "model": first.model}),
        title=", ".join(names),
        shown=chosen.n,
        total=sum(chosen.counts.values()),
        kinds=list(
            dict.fromkeys(
                "flipped" if kind in (LOST, GAINED) else kind if first.metric.ranked else "neither right nor wrong"
                for kind in chosen.chosen
            )
        ),
        counts=[f"{n:,} {_in_words(kind, chosen.cells)}" for kind, n in chosen.counts.items()],
        cards=cards,
        language=web_code(first.language),
    )


def _in_words(kind: str, cells: Sequence[CellScores]) -> str:
    both = f" under both prompts, {_prompt(cells[0])} and {_prompt(cells[-1])}" if len(cells) > 1 else ""
    words = {
        LOST: f"right under {_prompt(cells[0])} only",
        GAINED: f"right under {_prompt(cells[-1])} only",
        NOT_PARSED: "without an answer that could be parsed, and not right",
        WRONG: f"wrong{both}",
        RIGHT: f"right{both}",
        MEASURED: "texts whose likelihood was computed" if cells[0].answer_form != "generate" else "answers",
    }
    return words[kind]


def _prompt(cell: CellScores) -> str:
    return f"{WRITTEN[cell.prompt_language]} prompt {cell.prompt}"
