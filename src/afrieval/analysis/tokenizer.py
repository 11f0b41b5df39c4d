"""How many tokens a model's tokenizer makes of the words of a language, from the numbers that samples hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.languages import ENGLISH
from afrieval.results.cell_key import prompt_order
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Numbers
from afrieval.results.run_folder import read_rows
from afrieval.results.samples import Sample
from afrieval.scoring.texts import words
from afrieval.tasks.cells.sample_lines import text_of

OPTIONS, PROMPTS = "options", "prompts"  # the texts whose tokens are known
MOST = 50  # documents of a cell that are read


@dataclass(frozen=True)
class Fertility:
    """Tokens and texts of some documents of a task in a language.

    Attributes:
        texts: what was counted: `options`, whose likelihood was computed; or `prompts`, as a server counts them.
        premium: tokens over tokens of the same documents in English; None where these are not known.
    """

    task: str
    language: str
    model: str
    texts: str
    n: int
    tokens: int
    words: int
    characters: int
    bytes: int
    premium: float | None = None

    @property
    def per_word(self) -> float:
        """Tokens per word."""
        return self.tokens / self.words

    @property
    def per_character(self) -> float:
        """Tokens per character."""
        return self.tokens / self.characters

    @property
    def per_byte(self) -> float:
        """Tokens per byte of the text in UTF-8."""
        return self.tokens / self.bytes


def fertilities(cells: Iterable[CellScores]) -> list[Fertility]:
    """Returns the fertility of each task, language and model, as far as its texts are in the language."""
    per_cell = []
    fitting = [cell for cell in cells if cell.n and cell.path and _texts(cell)]
    for of_model in grouped(fitting, lambda c: (c.task, c.model)).values():
        chosen = {  # to count in: the cell with the fewest examples, and the first prompt
            code: min(of_code, key=lambda c: (c.shots, prompt_order(c.prompt), c.prompt_language))
            for code, of_code in grouped(of_model, lambda c: c.language).items()
        }
        for cell in chosen.values():
            english = chosen.get(ENGLISH)
            per_cell += _fertility(cell, english if english and _parallel(cell, english) else None)
    return per_cell


def _texts(cell: CellScores) -> str:
    """Returns which texts that a model gets are in the language, and differ between documents; empty if none do."""
    if cell.comparable_on.get("variant", "direct") != "direct":
        return ""
    if cell.answer_form == "text" and not cell.declared.get("labels"):
        return OPTIONS
    return (
        PROMPTS if cell.usage.get("answers") and (cell.prompt_language == "native" or cell.language == ENGLISH) else ""
    )


def _parallel(cell: CellScores, english: CellScores) -> bool:
    """Returns whether documents are declared to be translations of English ones."""
    groups = cell.declared.get("parallel", [])
    alike = _texts(cell) == _texts(english) and (cell.keys is None) == (english.keys is None)
    return alike and cell.language != ENGLISH and any({cell.language, ENGLISH} <= set(group) for group in groups)


def _fertility(cell: CellScores, english: CellScores | None) -> list[Fertility]:
    """Returns the fertility in a cell; nothing where tokens are not known."""
    questions = _questions(cell) if english is None else np.intersect1d(_questions(cell), _questions(english))
    chosen = np.unique(questions)[:: -(-len(questions) // MOST) or 1]
    counts = _counts(cell, chosen)
    n_tokens, n_words, characters, n_bytes = sum(counts.values(), np.zeros(4, dtype=np.int64)).tolist()
    premium = None
    if english and (others := _counts(english, np.array(list(counts)))):
        premium = float(sum(counts[name][0] for name in others) / sum(tokens for tokens, *_ in others.values()))
    head = cell.task, cell.language, cell.model, _texts(cell), len(counts)
    return [Fertility(*head, n_tokens, n_words, characters, n_bytes, premium)] if n_words else []


def _questions(cell: CellScores) -> Numbers:
    """Returns the number of each document's question, which parallel languages share."""
    return cell.ids if cell.keys is None else cell.keys


def _counts(cell: CellScores, questions: Numbers) -> dict[int, Numbers]:
    """Returns what `counted` does of documents whose tokens are stored, by question."""
    positions = np.flatnonzero(np.isin(_questions(cell), questions))
    samples = read_rows(Path(str(cell.path)), cell.ids[positions].tolist())
    count = _of_options if _texts(cell) == OPTIONS else _of_prompt
    names = {int(cell.ids[place]): int(_questions(cell)[place]) for place in positions}
    numbers = {names[row]: count(sample) for row, sample in samples.items()}
    return {name: of for name, of in numbers.items() if of is not None}


def _of_options(sample: Sample) -> Numbers | None:
    """Returns the counts of the texts whose likelihood was computed."""
    tokens = [answer[0][2] for answer in sample["resps"] if isinstance(answer[0], list) and len(answer[0]) > 2]
    texts = list(map(text_of, sample.get("arguments", [])))
    if len(tokens) != len(texts) or not all(isinstance(n, int) and n > 0 for n in tokens):
        return None
    return counted(texts, sum(tokens))


def _of_prompt(sample: Sample) -> Numbers | None:
    """Returns the counts of a prompt that was sent once, as its server counted it."""
    details, arguments = sample.get("details", {}), sample.get("arguments")
    tokens = details.get("prompt_tokens")
    if not arguments or type(tokens) is not int or tokens <= 0 or details.get("requests", 1) != 1:
        return None
    return counted([str(arguments[0][0])], tokens)


def counted(texts: Sequence[str], tokens: int) -> Numbers:
    """Returns how many tokens, words, characters and bytes texts have, of which the tokens are known."""
    encoded = (text.encode(errors="replace") for text in texts)
    n_words = sum(len(words(text)) for text in texts)
    return np.array([tokens, n_words, sum(map(len, texts)), sum(map(len, encoded))], dtype=np.int64)
