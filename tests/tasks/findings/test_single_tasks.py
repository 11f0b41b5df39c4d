"""Defects of single published tasks, looked for in ours; numbered as found. And what is our own in them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import REAL_DATA, ROOT, Cli, only_samples, spec_of
from tests.tasks.contract import data_splits, flat, placeholder, sample_splits
from tests.tasks.small_task import write_rows

from afrieval._util.errors import UserError
from afrieval.languages import ENGLISH
from afrieval.scoring.base import ExtractionContext, Question, Response
from afrieval.scoring.metrics import metric
from afrieval.scoring.tagging import NONE
from afrieval.scoring.texts import without_marks
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import documents
from afrieval.tasks.data.files import SAMPLES
from afrieval.tasks.data.sampling import examples, ranking
from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.kinds import UNMARKED
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.paper import paper_prompts
from afrieval.tasks.prompts.prompts import Prompt, load_prompts, prompt_languages, render

SIB, NEWS, HEADLINES, INTENTS = map(spec_of, ("sib200", "masakhanews", "masakhanews_headline", "injongo_intent"))
SENTIMENT = [spec_of("afrisenti"), spec_of("nollysenti")]
LANGUAGES = [(spec, language) for spec in SENTIMENT for language in spec.languages]


@cache
def every_prompt(task: str) -> list[tuple[str, Prompt]]:
    """All prompts of a task, those of the paper in every language, with the language that they are asked in."""
    spec = spec_of(task)
    ours = [(file, prompt) for file in prompt_languages(spec) for prompt in load_prompts(spec, file).values()]
    return ours + [(code, prompt) for code in spec.languages for prompt in paper_prompts(spec, code).values()]


@pytest.mark.parametrize("spec", [spec_of("afrixnli"), spec_of("xnli")], ids=lambda spec: spec.name)
def test_finding_02_numbers_are_the_data_set_s(spec: TaskSpec) -> None:
    rows = [{"premise": "p", "hypothesis": "h", "label": number} for number in (0, 1, 2)]
    names = [spec.labels[d.gold] for d in documents(spec, rows, "a test", "test") if d.gold is not None]
    assert names == ["entailment", "neutral", "contradiction"]


@pytest.mark.parametrize("spec", [SIB, NEWS, HEADLINES], ids=lambda spec: spec.name)
def test_finding_04_the_topics_that_are_listed_are_those_that_are_scored(spec: TaskSpec) -> None:
    """Prompt 4 of MasakhaNEWS lists geography, which is not scored, and leaves out business, which is."""
    for language, prompt in every_prompt(spec.name):
        text = render(prompt, placeholder(spec, 0), language)
        others = {"geography", "travel"} if "business" in spec.labels else {"business", "religion"}
        assert not others & set(re.findall(r"\w+", text)), prompt.title


def test_finding_24_a_blank_follows_the_name_of_the_language() -> None:
    prompts = {code: paper_prompts(INTENTS, code)[4].template for code in INTENTS.languages}
    assert all(re.search(r"[a-z] text: '", text) for text in prompts.values())


@pytest.mark.data
@pytest.mark.parametrize("spec", [SIB, NEWS, INTENTS], ids=lambda spec: spec.name)
def test_finding_36_all_answers_of_the_real_data_are_labels(spec: TaskSpec) -> None:
    """Spelled as the task file spells them."""
    found = {code: flat(data_splits(spec, code, [spec.data.evaluate], str(REAL_DATA))) for code in spec.languages}
    assert any(found.values()) and not [(code, d.id) for code, of in found.items() for d in of if d.gold is None]


def test_a_folder_without_a_language_is_no_error_and_no_other_language_s_rows(tmp_path: Path) -> None:
    """The excerpt of InjongoIntent in Swahili is not taken for another language."""
    write_rows(tmp_path / INTENTS.data.hub / "swa_test.24rows.jsonl", [{"intent": "alarm", "text": "x"}])
    assert load_split(INTENTS, "hau", "test", str(tmp_path)) is None
    swahili = load_split(INTENTS, "swa", "test", str(tmp_path))
    assert swahili and [d.gold for d in swahili.documents] == [0]


def test_articles_and_headlines_have_the_same_sample_rows() -> None:
    for language in ("eng", "amh"):
        whole, short = (flat(sample_splits(spec, language)) for spec in (NEWS, HEADLINES))
        assert [replace(d, fields={"headline": d.fields["headline"]}) for d in whole] == short
    assert load_split(NEWS, "eng", "test", SAMPLES)


@pytest.mark.parametrize("spec", SENTIMENT, ids=lambda spec: spec.name)
def test_finding_25_labels_are_asked_for_by_a_cue(spec: TaskSpec) -> None:
    """The paper has none in its first prompts; that labels are scored as they are shown is in the contract."""
    for language, prompt in every_prompt(spec.name):
        assert prompt.language != ENGLISH or render(prompt, placeholder(spec, 0), language).endswith(":"), prompt.title


@pytest.mark.data
@pytest.mark.parametrize(("spec", "language"), LANGUAGES, ids=lambda value: getattr(value, "name", value))
def test_findings_20_and_36_examples_are_of_one_split_and_have_known_labels(spec: TaskSpec, language: str) -> None:
    """Also in Oromo and Tigrinya, whose data was published without a training split."""
    assert spec.data.fewshot == "validation"
    split = load_split(spec, language, "validation", str(REAL_DATA))
    assert split and len(split.documents) >= 100 and all(d.gold is not None for d in split.documents)


NER, POS = spec_of("masakhaner"), spec_of("masakhapos")
each_tagging = pytest.mark.parametrize("spec", [NER, POS], ids=lambda spec: spec.name)
TAGGED = ("hau", "pcm", "swa", "yor", "zul")
UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"  # of Universal Dependencies


def extracted(spec: Any, text: str) -> Any:
    return spec.scoring.extract(text, Question(None, names=spec.scoring.names), ExtractionContext())


def each_prompt(spec: Any) -> Iterator[tuple[str, str]]:
    """Yields the language of each prompt, and its text for a document without words."""
    for language in prompt_languages(spec):
        for prompt in load_prompts(spec, language).values():
            document = Document(0, dict.fromkeys(spec.fields, "70001"), (), None)
            yield language, f"{prompt.system}\n{render(prompt, document, 'yor')}"


def rows_of(spec: Any, language: str, source: str) -> list[Document]:
    found = load_split(spec, language, "test", source)
    return found.documents if found else []


@each_tagging
@pytest.mark.parametrize("language", TAGGED)
def test_findings_05_to_07_an_echo_is_the_whole_answer_whatever_the_tokens(spec: Any, language: str) -> None:
    """Sample rows have apostrophes, quotes, commas and points in words, which test_every_task.py of scoring echoes."""
    texts = " ".join(d.fields["text"] for d in rows_of(spec, language, "samples"))
    assert all(mark in texts for mark in ("J. D.", '"', "Ochieng'", " , "))


@each_tagging
def test_finding_07_the_format_that_a_prompt_shows_is_parsed(spec: Any) -> None:
    """AfroBench's first prompt asks for another separator than its examples show."""
    shown = r"PER: \w+ \w+|LOC: Mombasa" if spec is NER else r"\w+ PROPN|[.,] PUNCT"
    for language, text in each_prompt(spec):
        parsed = [extracted(spec, example) for example in re.findall(shown, text)]
        assert (spec is POS or NONE in text.split()) and "$" not in text
        assert None not in parsed and (language == ENGLISH or parsed), (language, text)


@each_tagging
def test_finding_24_a_prompt_names_the_tags_that_are_scored_and_no_other(spec: Any) -> None:
    """AfroBench's list of tags lacks a quotation mark."""
    expected = sorted(spec.scoring.names) if spec is NER else UPOS.split()
    for language, text in each_prompt(spec):
        named = {word for word in re.findall(r"\b[A-Z]+\b", text) if word in expected or len(word) > 2}
        assert sorted(named - {"UPOS"}) == expected, (language, text)
        assert text.count('"') % 2 == 0 and text.count("(") == text.count(")")


def test_the_tags_are_those_of_universal_dependencies() -> None:
    assert sorted(set(POS.tags) - {"_"}) == UPOS.split()


@pytest.mark.data
@each_tagging
def test_all_tags_of_the_data_are_declared(spec: Any) -> None:
    """MasakhaNER has dates too, and MasakhaPOS no tag but the seventeen."""
    found = {tag for path in (Path(str(REAL_DATA)) / spec.data.hub).rglob("*.txt") for tag in _tags(path)}
    assert found == set(spec.tags) - {"_"}


def _tags(path: Path) -> set[str]:
    return {line.split(" ")[1] for line in path.read_text(encoding="utf-8").splitlines() if line}


DIACRITICS = spec_of("diacritics")


def test_finding_17_the_same_task_from_text_that_is_there(cli: Cli, tmp_path: Path) -> None:
    """AfroBench's data set is missing from the hub: the rows of MAFAND, which it was made from, are stripped here."""
    assert set(spec_of("adr").languages) <= set(spec_of("diacritics_mafand").languages)
    texts = ["Ó dára.", "Ẹ káàbọ̀.", "Bola", "Ọjọ́ ti lọ."]
    rows = [{"translation": {"en": "x", "yor": text}} for text in texts]
    for name in ("test", "dev"):
        write_rows(tmp_path / f"data/masakhane/mafand/data/en-yor/{name}.json", rows)
    words = ("--task.task_name", "diacritics_mafand", "--data.source", tmp_path / "data", "--task.prompts", 1)
    cli("run", *words, "--model.model_name", "demo", "--eval.num_fewshot", 1, "--run_dir", tmp_path / "run").ok()
    samples = only_samples(tmp_path / "run")
    assert [s["target"] for s in samples] == ["Ó dára.", "Ẹ káàbọ̀.", None, "Ọjọ́ ti lọ."]
    assert [s["doc"]["text"] for s in samples] == ["O dara.", "E kaabo.", "Bola", "Ojo ti lo."]
    assert samples[2]["defect"] == UNMARKED and all(2 not in s["fewshot_ids"] for s in samples)
    assert samples[0]["metrics"] == ["chrf", "bleu", "word_acc", "tone_acc", "dot_acc", "empty", "copied"]


@pytest.mark.parametrize("language", ["yor", "ibo", "wol", "fra"])
def test_prompts_show_the_text_without_its_marks(language: str) -> None:
    split = load_split(DIACRITICS, language, "test", "samples")
    assert split
    for document in split.documents:
        assert document.fields["text"] == without_marks(str(document.gold)) != document.gold
        assert str(document.gold) not in render(load_prompts(DIACRITICS, "eng")[1], document, language)


@pytest.mark.parametrize("language", ["yor", "ibo", "wol"])
def test_a_copy_of_the_input_restores_nothing(language: str) -> None:
    split = load_split(DIACRITICS, language, "test", "samples")
    assert split
    scores = copied(DIACRITICS.scoring.metrics_of("generate", language=language), split.documents, language)
    assert {scores[name] for name in ("tone_acc", "dot_acc") if name in scores} == {0}
    assert scores["copied"] == 1 and scores["word_acc"] < 0.8


def copied(metrics: list, documents: list[Document], language: str) -> dict[str, float]:  # type: ignore[type-arg]
    """Scores of the input as an answer."""
    scores = {}
    for known in metrics:
        given = [
            (Response(d.fields["text"], d.fields["text"]), Question(d.gold, (), (), d.fields, language))
            for d in documents
        ]
        measures = np.array([known.measure(*pair) for pair in given])
        scores[known.name] = float(known.score(measures, np.ones((1, len(given))))[0])
    return scores


@pytest.mark.alldata
@pytest.mark.parametrize("task", ["diacritics", "diacritics_mafand"])
def test_the_table_of_the_page(task: str) -> None:
    """docs/tables/diacritics.md says how many words have marks, and what a copy of the input scores."""
    page = (ROOT / "docs/tables/diacritics.md").read_text(encoding="utf-8").partition(f"\n`{task}`:\n\n")[2]
    rows = dict(re.findall(r"^\|.*?`(\w+)` \| (.*) \|$", page.partition("\n\n")[0], re.M))
    assert rows.keys() == spec_of(task).languages.keys()
    for language, shown in rows.items():
        split = load_split(spec_of(task), language, "test", str(REAL_DATA))
        assert split
        documents = [d for d in split.documents if d.gold is not None]
        words = [w for d in documents for w in d.gold.split() if any(map(str.isalpha, w))]  # type: ignore[union-attr]
        share = sum(without_marks(w) != w for w in words) / len(words)
        scores = copied(
            [m for m in spec_of(task).scoring.metrics if m.name in ("chrf", "bleu", "word_acc")], documents, language
        )
        found = [
            f"{len(documents):,}", f"{share:.1%}", f"{scores['chrf']:.1f}", f"{scores['bleu']:.1f}",
            f"{scores['word_acc']:.1%}",
        ]  # fmt: skip
        assert " | ".join(found).replace("%", " %") == shown


AFRIQA, PIVOT, TYDIQA = (spec_of(name) for name in ("afriqa", "afriqa_pivot", "tydiqa"))
NAIJARC, ARC, TRUTH = (spec_of(name) for name in ("naijarc", "uhura_arc_easy", "uhura_truthfulqa"))


def asked(spec: TaskSpec, prompt: Prompt, n_choices: int = 0, language: str = "yor") -> str:
    fields = {name: f"9{at}" for at, name in enumerate(spec.fields)}
    return render(prompt, Document(0, fields, tuple(f"8{at}" for at in range(n_choices)), 0), language)


def of_answer(name: str, given: str, gold: list[str]) -> Any:
    return metric(name).measure(Response(given), Question(gold))


def test_finding_11_punctuation_is_ignored_by_a_declared_rule() -> None:
    """The harness' list of marks to ignore became one text. Ours has no options: the metrics' rule holds."""
    for spec in (AFRIQA, PIVOT, TYDIQA):
        assert spec.metrics is None and {"exact_match", "token_f1"} <= {m.name for m in spec.scoring.metrics}
    for given in ("Doha.", "doha", '"Doha"', "Doha,", " Doha "):
        assert of_answer("exact_match", given, ["Doha"]) == [1.0], given


@pytest.mark.parametrize("gold", ["a Kano", "An", "the", "ሙሳ።", "Ọ̀yọ́", "ní Ìbàdàn", "«Kinshasa»", "1,234"])
def test_finding_12_an_echoed_answer_is_right_in_every_language(gold: str) -> None:
    for name in ("exact_match", "token_f1", "rouge_l"):
        assert of_answer(name, gold, [gold]) == [pytest.approx(1.0)], name


def test_finding_12_words_like_english_articles_are_words() -> None:
    """Hausa a ("in") was removed, so that "a Kano" was "Kano"."""
    assert of_answer("exact_match", "Kano", ["a Kano"]) == [0.0]
    assert 0.0 < of_answer("token_f1", "Kano", ["a Kano"])[0] < 1.0


def test_finding_19_an_example_has_neither_the_question_nor_its_passage() -> None:
    """AfriQA has questions and passages in train and test."""

    def row(number: int, question: str, passage: str) -> Document:
        return Document(number, {"question": question, "passage": passage}, (), ["x"])

    pool = [row(0, "q", "other"), row(1, "other", "p"), row(2, "r", "s"), row(3, "t", "u")]
    ranked = ranking(pool, 1, "data", "train")
    assert {d.id for d in examples(ranked, 2, row(9, "q", "p"), AFRIQA.apart)} == {2, 3}
    with pytest.raises(UserError, match="only 2 examples"):
        examples(ranked, 3, row(9, "q", "p"), AFRIQA.apart)


@pytest.mark.data
def test_finding_19_swahili_has_no_examples_in_afriqa() -> None:
    assert REAL_DATA and load_split(AFRIQA, "yor", "train", REAL_DATA)
    assert load_split(AFRIQA, "swa", "test", REAL_DATA) and load_split(AFRIQA, "swa", "train", REAL_DATA) is None


@pytest.mark.parametrize("spec", [AFRIQA, PIVOT, TYDIQA, NAIJARC, ARC, TRUTH], ids=lambda spec: spec.name)
def test_finding_20_all_languages_have_the_same_splits(spec: TaskSpec) -> None:
    """A split's files differ by language code alone, or by English and French passages; see also test_layouts.

    Uhura's examples were from train in two languages and from validation in five.
    """
    for files in spec.data.files.values():
        patterns = files if isinstance(files, list) else [files]
        assert not any(re.search(rf"(?<![a-z]){code}(?![a-z])", str(p)) for p in patterns for code in spec.languages)


def test_answers_are_asked_for_in_the_language_that_is_scored() -> None:
    """AfroBench scores English or French answers, and asks for none of them."""
    for spec, expected in ((AFRIQA, "Hausa"), (PIVOT, "English"), (TYDIQA, "Swahili")):
        language = "swa" if spec is TYDIQA else "hau"
        for prompt in load_prompts(spec, ENGLISH).values():
            assert expected in asked(spec, prompt, language=language), prompt.title
    assert "French" in asked(PIVOT, load_prompts(PIVOT, ENGLISH)[1], language="fon")
    assert "(Turanci)" in asked(PIVOT, load_prompts(PIVOT, "hau")[1], language="hau")
    assert PIVOT.answers_in("fon") == "fra" and AFRIQA.answers_in("fon") == "fon"


@pytest.mark.parametrize("language", ["eng", "amh", "zul"])
def test_no_letter_is_right_more_often_than_others(language: str) -> None:
    """TruthfulQA has the right choice first: unshuffled, A would be right always."""
    choices, labels = ["right", "x", "y", "z"], [1, 0, 0, 0]
    given = [{"question": f"q{n}", "mc1_targets.choices": choices, "mc1_targets.labels": labels} for n in range(400)]
    found = documents(TRUTH, given, language, "test")
    assert all(d.choices[d.gold] == "right" for d in found if d.gold is not None)
    assert all(70 < sum(d.gold == letter for d in found) < 130 for letter in range(4))
    assert found == documents(TRUTH, given[:200], language, "test") + found[200:]
