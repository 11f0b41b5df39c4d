"""The numbers of a cell as columns of a packed file, and back: scores without a line of JSON."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afrieval.results.cell_scores import CellScores, Labels
from afrieval.results.identity import selection
from afrieval.results.packed import About, Arrays, packed
from afrieval.results.sample_columns import STORED_BY, Stored
from afrieval.results.schema import Declared

NUMBERS = (
    1  # what the numbers mean; if lines are read in another way, raise it, and older files are read by their lines
)
PLACE = ("name", "task", "language", "prompt_language", "prompt", "rows")
# Columns with a number in each line, and what they have in lines that were not scored.
FILLS: dict[str, Any] = {
    **{"scored": False, "gold": -1, "picked": -1, "n_choices": 0, "key": 0, "verdict": np.nan, "part": -1},
}
LISTS = {"fields": np.int64, "groups": np.bool_, "sent": np.int64, "measures": np.float64}


def about(stored: Stored) -> About:
    """Returns what a packed file says of a cell in its metadata, but for its file and its number of lines."""
    cell = stored.cell
    if _by_lines(cell):
        return {"name": cell.name, "n": 0, "columns": [], "widths": {}}
    optional = {"key": cell.keys, "verdict": cell.verdicts, "part": cell.parts}
    widths = {
        "fields": len(cell.fields),
        "groups": len(stored.groups),
        "sent": len(cell.sent),
        "measures": sum(values.shape[1] for values in cell.measures.values()),
    }
    return {
        **{name: getattr(cell, name) for name in PLACE},
        "n": cell.n,
        "columns": [
            *(["scored"] if cell.n < cell.rows else []),
            *("gold", "picked", "n_choices"),
            *(name for name, values in optional.items() if values is not None),
            *(name for name, width in widths.items() if width),
        ],
        "widths": widths,
        "measures": [[name, values.shape[1]] for name, values in cell.measures.items()],
        "fields": [[name, labels.names] for name, labels in cell.fields.items()],
        "groups": list(stored.groups),
        "sent": list(cell.sent),
        "parts": cell.parts and cell.parts.names,
        "defects": cell.defects.tolist(),
        "kept": cell.kept,
        "fewer_examples": cell.fewer_examples,
        "usage": dict(cell.usage),
        "lengths": cell.lengths,
        "read_by": _digest(cell.declared),
    }


def numbers(stored: Stored, lines: int) -> Arrays:
    """Returns the columns of a cell: a number for each line, or the lists of all scored lines, shape (n, width).

    Args:
        stored: the cell.
        lines: of its sample file.
    """
    cell, groups = stored
    if _by_lines(cell):
        cell, groups = CellScores(cell.name, cell.task, cell.language, cell.prompt_language, cell.prompt), {}
    given = {
        "scored": np.ones(cell.n, dtype=bool),
        "gold": cell.golds,
        "picked": cell.picked,
        "n_choices": cell.n_choices,
        "key": cell.keys,
        "verdict": cell.verdicts,
        "part": cell.parts and cell.parts.codes,
    }
    found: Arrays = {}
    for name, fill in FILLS.items():
        found[name] = np.full(lines, fill)
        if given[name] is not None:
            found[name][cell.ids] = given[name]
    lists: dict[str, list[NDArray[Any]]] = {
        "fields": [labels.codes for labels in cell.fields.values()],
        "groups": list(groups.values()),
        "sent": list(cell.sent.values()),
        "measures": list(cell.measures.values()),
    }
    for name, parts in lists.items():
        columns = [part.reshape(cell.n, -1) for part in parts] if cell.n else []
        found[name] = np.hstack(columns) if columns else np.zeros((cell.n, 0), LISTS[name])
    return found


def _by_lines(cell: CellScores) -> bool:
    """Returns whether a cell is read by its lines: it is of the harness, or its lines are of some rows only."""
    return cell.harness is not None or cell.selection.kind == "sample"


def packed_scores(path: Path, declared: Mapping[str, Declared], sent: bool) -> Stored | None:
    """Returns what a packed file says of a cell; None if its lines have to be read.

    They have to be where the cell has a sample file, is of the harness or a sample of rows, or was packed by a version
    that read lines in another way, or with other declarations.

    Args:
        path: its sample file.
        declared: task to what run.yaml says of it.
        sent: whether to keep hashes of what was sent to the model.

    Raises:
        UserError: if the packed file is damaged.
    """
    if os.path.lexists(path) or (file := packed(path.parent)) is None or file.numbers != NUMBERS:
        return None
    found = file.cells.get(path.name)
    if found is None or "task" not in found:
        return None
    of_task = declared.get(found["task"], Declared())
    if found["read_by"] != _digest(of_task):
        return None
    return _restored(found, file.columns(path.name, sent), of_task, path, sent)


def _restored(of: About, columns: Arrays, declared: Declared, path: Path, sent: bool) -> Stored:
    n, names = of["n"], set(of["columns"])
    ids = np.arange(n) if n == of["lines"] else np.flatnonzero(columns["scored"])

    def values(column: str) -> NDArray[Any]:
        return columns[column][ids]

    def listed(column: str) -> NDArray[Any]:
        width = of["widths"][column]
        return columns[column].reshape(n, width) if width else np.zeros((n, 0), LISTS[column])

    stops = np.cumsum([width for _, width in of["measures"]]).tolist()
    measures, fields, groups = listed("measures"), listed("fields"), listed("groups")
    hashes = listed("sent") if sent else None
    cell = CellScores(
        **{name: of[name] for name in PLACE},
        measures={
            name: measures[:, stop - width : stop].copy()
            for (name, width), stop in zip(of["measures"], stops, strict=True)
        },
        selection=selection(of["rows"], declared.get("test_set", {}).get(of["language"], 0), sampled=False),
        ids=ids,
        golds=values("gold"),
        picked=values("picked"),
        n_choices=values("n_choices"),
        defects=np.array(of["defects"], dtype=np.int64),
        keys=values("key") if "key" in names else None,
        verdicts=values("verdict") if "verdict" in names else None,
        parts=None if of["parts"] is None else Labels(values("part"), tuple(of["parts"])),
        fields={name: Labels(fields[:, at].copy(), tuple(texts)) for at, (name, texts) in enumerate(of["fields"])},
        sent={} if hashes is None else {name: hashes[:, at].copy() for at, name in enumerate(of["sent"])},
        kept=tuple(of["kept"]),
        fewer_examples=tuple(of["fewer_examples"]),
        usage=Counter(of["usage"]),
        lengths=tuple(of["lengths"]),
        declared=declared,
        path=path,
    )
    return Stored(cell, {name: groups[:, at].copy() for at, name in enumerate(of["groups"])})


def _digest(declared: Declared) -> str:
    """Returns a hash of what run.yaml declares of a task, as far as lines are read by it."""
    text = json.dumps([declared.get(key) for key in STORED_BY], sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
