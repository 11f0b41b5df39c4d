"""Whatever a template does, its text or the reason why there is none comes in time and in little memory."""

import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import ROOT

from afrieval._util.templates import WORKER, TemplateFault, ask, fill, is_plain, is_uniform, names
from afrieval.tasks.declaration.spec import load_task, task_names
from afrieval.tasks.prompts.prompts import load_prompts, prompt_languages

# Templates that fail, with words of the reason that is given, and ones that take memory or time without end.
SHORT = {
    "{{ 1 / 0 }}": "divides by zero", "{{ 1 is divisibleby 0 }}": "divides by zero",
    "{{ nothing }}": "'nothing' is undefined", "{{ choices[9] }}": "no element 9",
    "{{ labels.nothing }}": "no attribute 'nothing'",
    "{{ question | nothing }}": "No filter named 'nothing', in line 1",
    "{{ question is nothing }}": "No test named 'nothing'", "{{ choices | spaced }}": "'list' object",
    "{{ 1 | lettered }}": "not iterable", "{{ choices | lettered(choices, choices) }}": "argument",
    "{{ question + 1 }}": "can only concatenate str", "{{ question() }}": "not callable",
    "{{ question.upper }}": "which is not text",
    "{{ choices | map('upper') }}": "which is not text", "{{ '\\ud800' }}": "surrogates not allowed",
    "{% for c in choices %}\ud800{% endfor %}": "surrogates not allowed",
    "{{ none }}": "which is not text", "{{ 10.0 ** 1000 }}": "Numerical result out of range",
    "{{ 10 ** 5000 }}": "4300 digits", "{{ lipsum(n=10**9) }}": "'lipsum' is undefined",
    "{{ choices | random }}": "No filter named 'random'",
    "{% for i in range(10**12) %}x{% endfor %}": "Range too big",
    "{{ ''.__class__ }}": "unsafe", "{{ '{0.__class__}'.format(1) }}": "unsafe",
    "{% include 'a.txt' %}": "include is not supported, in line 1",
    "\n{% import 'a.txt' as a %}": "import is not supported, in line 2",
    "{% from 'a.txt' import a %}": "import is not supported",
    "{% if not question %}{% extends 'a.txt' %}{% endif %}": "extends is not supported",
    "{{ question": "end of print statement", "{% if question %}": "Unexpected end of template",
    "{% nothing %}": "unknown tag 'nothing', in line 1", "{# question": "Missing end of comment",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "calls itself endlessly",
    "{% for c in choices recursive %}{{ loop(choices) }}{% endfor %}": "calls itself endlessly",
    "{% block a %}{{ self.a() }}{% endblock %}": "calls itself endlessly",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}": "nested too deeply",
    "{{ 1" + "+1" * 30000 + " }}": "nested too deeply",
    "{{ question" + "|upper" * 1500 + " }}": "nested too deeply",
    "{% if question %}" * 150 + "x" + "{% endif %}" * 150: "too many",
    "x" * 100_001: "more than 100,000 characters",
    "{% for c in question %}" * 4 + "x" * 1000 + "{% endfor %}" * 4: "has more than 10,000,000 characters",
}  # fmt: skip
LARGE = (
    "{{ 'x' * 10**10 }}",
    "{{ '%1000000000d' | format(1) }}",
    "{{ choices | batch(10**9, 'x') | list }}",
    "{% set x = 'x' * 1000 %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
)
ENDLESS = (
    "{{ 10 ** (10 ** 10) }}",
    "{% for i in range(10**5) %}{% for j in range(10**5) %}{% endfor %}{% endfor %}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
)
VALUES = {
    "question": "Kínni iyì p nínú 24 = 2p? " * 8,
    "choices": ["p = 4", "p = 8"],
    "labels": {"yes": "Bẹ́ẹ̀ni"},
    "language": "Yoruba",
}
linux = pytest.mark.skipif(sys.platform != "linux", reason="the system does not limit memory")


def faulty(source: str, seconds: float) -> TemplateFault:
    with pytest.raises(TemplateFault) as caught:
        names(source, seconds)
        fill(source, VALUES, seconds)
    reason = caught.value.reason
    assert reason.isprintable() and 5 < len(reason) < 400
    return caught.value


@pytest.mark.parametrize(("source", "reason"), SHORT.items(), ids=range(len(SHORT)))
def test_what_fails_says_why(source: str, reason: str) -> None:
    fault = faulty(source, 30)
    assert reason in fault.reason and not fault.ended


@linux
@pytest.mark.parametrize("source", LARGE)
def test_what_needs_too_much_memory_says_so(source: str) -> None:
    assert "more than 512 MiB of memory" in faulty(source, 30).reason


@pytest.mark.parametrize("source", ENDLESS)
def test_what_takes_too_long_is_ended(source: str) -> None:
    begun = time.monotonic()
    fault = faulty(source, 0.3)
    assert "takes longer than 0.3 s" in fault.reason and fault.ended
    assert time.monotonic() - begun < 10
    assert fill("{% for c in choices %}{{ c }};{% endfor %}", VALUES) == "p = 4;p = 8;"  # and the next is filled in


PLAIN = {
    "": "",
    "{{ question }}\n": VALUES["question"],
    '{{ choices | lettered(". ") }}': "A. p = 4\nB. p = 8",
    "{{ 'a_b' | spaced | upper }}{{ choices[1] }}{{ labels.yes }}{{ labels['yes'] }}": "A Bp = 8Bẹ́ẹ̀niBẹ́ẹ̀ni",
    "{% if question | length > 50 and choices is defined %}{{ language }}{% else %}b{% endif %}{# no #}": "Yoruba",
    "{{ 'a' if 'p' in question else 'b' }}{{ 1 }}": "a1",
}
NOT_PLAIN = {
    "{% for c in choices %}{{ loop.index }}{{ c }}{% endfor %}": "1p = 42p = 8",
    "{% set x = question[:1] %}{{ x }}": "K",
    "{{ choices | join(', ') }}{{ 1 + 1 }}{{ 'a' ~ 'b' }}": "p = 4, p = 82ab",
    "{% set _ = choices.append('c') %}{{ choices | length }}": "3",
    "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}": "<1>",
    "{{ language.upper() }}": "YORUBA",
    "{{ question | trim(question) }}{{ 'c' | center(3) }}": " c ",
    "{{ choices | lettered('x' * 2) }}": "Axxp = 4\nBxxp = 8",
    "x" * 10_001: "x" * 10_001,
}


@pytest.mark.parametrize(("source", "text"), [*PLAIN.items(), *NOT_PLAIN.items()])
def test_a_plain_template_is_filled_in_here_and_any_other_elsewhere(
    source: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fill(source, VALUES) == text
    monkeypatch.setattr("afrieval._util.templates.ask", lambda *question: "asked")
    assert (fill(source, VALUES) == "asked") is (source in NOT_PLAIN)


def test_values_are_not_changed_by_a_template() -> None:
    fill("{% set _ = choices.append('c') %}{% set _ = labels.update({'yes': 'no'}) %}", VALUES)
    assert VALUES["choices"] == ["p = 4", "p = 8"] and VALUES["labels"] == {"yes": "Bẹ́ẹ̀ni"}


def test_names_are_those_from_outside() -> None:
    assert names("{{ question }}{{ a.b }}") == ["a", "question"]
    assert names("{% for c in choices %}{{ c }}{{ x }}{% endfor %}{% set y = z %}{{ y }}") == ["choices", "x", "z"]


def test_our_own_prompts_are_plain() -> None:
    for task in map(load_task, task_names(ROOT / "tasks")):
        for language in {"eng", "yor"} & {*prompt_languages(task)}:  # prompts of other languages say the same
            for prompt in load_prompts(task, language).values():
                assert is_plain(prompt.template), prompt.title


ATOMS = ("question", "choices", "labels", "language", "nothing", "1", "0", "10**9", "'x'", "[]", "range(9)", "none")
OPERATORS = ("*", "**", "+", "-", "/", "//", "%", "~", "<", "==", "in", "and")
FILTERS = ("length", "join", "list", "upper", "center", "indent", "lettered", "spaced", "format", "int")
PIECES = st.recursive(
    st.sampled_from(ATOMS),
    lambda part: st.one_of(
        st.tuples(part, st.sampled_from(OPERATORS), part).map(" ".join).map("({})".format),
        st.tuples(part, st.sampled_from(FILTERS)).map("|".join).map("({})".format),
        part.map("[{0}, {0}]".format),
        st.tuples(part, part).map(lambda p: f"({p[0]}|replace('p', {p[1]}))"),
        st.tuples(part, part).map(lambda p: f"{p[0]}[{p[1]}]"),
    ),
    max_leaves=6,
)
SOURCES = st.recursive(
    st.one_of(PIECES.map("{{{{ {} }}}}".format), st.text(max_size=5)),
    lambda body: st.one_of(
        st.tuples(PIECES, body).map(lambda p: f"{{% for c in {p[0]} %}}{p[1]}{{% endfor %}}"),
        st.tuples(PIECES, body).map(lambda p: f"{{% if {p[0]} %}}{p[1]}{{% endif %}}"),
        st.tuples(PIECES, body).map(lambda p: f"{{% set choices = {p[0]} %}}{p[1]}"),
        st.tuples(body, body).map("".join),
        body.map(lambda b: b[:-1]),
    ),
    max_leaves=4,
)


@settings(max_examples=60)
@given(SOURCES)
def test_any_template_gives_a_text_or_a_fault(source: str) -> None:
    """And a plain one the same text in either process, or the same fault."""
    try:
        text = fill(source, VALUES, 0.2)
    except TemplateFault as fault:
        assert "\n" not in fault.reason
        if not fault.ended:
            with pytest.raises(TemplateFault):
                ask(WORKER, [source, VALUES], 5)
    else:
        assert text == ask(WORKER, [source, VALUES], 5)


@given(st.dictionaries(st.sampled_from(["question", "language"]), st.text(max_size=20), min_size=2))
def test_a_uniform_template_fails_with_all_values_or_with_none(values: dict[str, str]) -> None:
    assert all(map(is_uniform, ("{{ question }} {{ language | upper }}", "{{ question.nothing }}", "{{ absent }}")))
    assert not any(map(is_uniform, ("{{ question[3] }}", "{{ question or absent }}", "{{ question.upper() }}")))
    assert fill("{{ question }} {{ language }}", values) == "{question} {language}".format(**values)
    for source in ("{{ question.nothing }}", "{{ absent }}"):
        with pytest.raises(TemplateFault):
            fill(source, values)
