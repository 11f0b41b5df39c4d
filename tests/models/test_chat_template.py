"""Chats are written as transformers writes them, to the byte, in time; what fails names the model."""

import json
import sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from lm_eval.models.huggingface import HFLM
from packaging.version import Version
from tests.conftest import Cli
from tests.models.tiny import CHAT, tiny_llama
from transformers.utils import chat_template_utils

from afrieval._util.errors import UserError
from afrieval._util.templates import TemplateFault
from afrieval.config.settings import ChatTags, EvalConfig, ModelConfig
from afrieval.models.backends.vllm import backend
from afrieval.models.chat_template import KeepsSystemText, chat_text, template_of
from afrieval.models.demo import byte_tokenizer
from afrieval.models.registry import load_model
from afrieval.results.run_files import sample_files

LLAMA = (
    "{{- bos_token }}{%- if not date_string is defined %}{%- set date_string = '26 Jul 2024' %}{%- endif %}\n"
    "{%- if messages[0]['role'] == 'system' %}{%- set system = messages[0]['content']|trim %}"
    "{%- set messages = messages[1:] %}{%- else %}{%- set system = '' %}{%- endif %}"
    "{{- '<|system|>\\n\\nToday: ' + date_string + '\\n' + system + '<|eot|>' }}"
    "{%- for message in messages %}{% generation %}\n"
    "    {{- '<|' + message['role'] + '|>\\n\\n' + message['content'] | trim + '<|eot|>' }}{% endgeneration %}\n"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|assistant|>\\n\\n' }}{%- endif %}"
)
QWEN = (
    "{%- for m in messages %}\n    {%- if m.role == 'tool' %}{% continue %}{% endif %}"
    "{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' + '\\n' }}\n{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{ '<think>\\n\\n</think>' }}{% endif %}{% endif %}"
)
DATED = (
    "{{ strftime_now('%d %B %Y') }}{% for m in messages %}{{ m | tojson }}{{ m['content'] }}{{ eos_token }}{% endfor %}"
)
TEMPLATES = {"llama": LLAMA, "qwen": QWEN, "dated": DATED, "own": CHAT}
USER = {"role": "user", "content": "Kínni iyì p?\n "}
EMPTY = {"name": None} if Version(transformers.__version__) >= Version("5.23") else {}  # earlier ones write it
CHATS: tuple[list[dict[str, Any]], ...] = (
    [USER],
    [{"role": "user", "content": "ɓ{{ 1 / 0 }}\u2028"}, {"role": "assistant", "content": "<s>A "}],
    [USER, {"role": "assistant", "content": "B"}, {**USER, **EMPTY}],
)
BEGUN = {"add_generation_prompt": True, "continue_final_message": False}
CONTINUED = {"add_generation_prompt": False, "continue_final_message": True}


@pytest.fixture(autouse=True)
def a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the day that templates are given; another process does not notice."""
    monkeypatch.setattr(chat_template_utils, "datetime", SimpleNamespace(now=lambda: datetime(2024, 7, 26)))


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return byte_tokenizer()


@pytest.mark.parametrize("arguments", [BEGUN, CONTINUED, {**BEGUN, "enable_thinking": False, "date_string": "today"}])
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_chat_is_the_same_to_the_byte(tokenizer: Any, template: str, arguments: dict[str, Any]) -> None:
    tokenizer.chat_template = TEMPLATES[template]
    for chat in CHATS:
        expected = tokenizer.apply_chat_template(chat, tokenize=False, **arguments)
        assert chat_text(tokenizer, chat, arguments) == expected
        assert all(turn["content"].strip() in expected for turn in chat)


@settings(max_examples=30)
@given(chat=st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": st.text()})))
def test_any_text_goes_through(tokenizer: Any, chat: list[dict[str, str]]) -> None:
    tokenizer.chat_template = QWEN
    said = [USER, *chat]
    assert chat_text(tokenizer, said, BEGUN) == tokenizer.apply_chat_template(said, tokenize=False, **BEGUN)


def test_one_of_several_templates_is_chosen_as_transformers_chooses(tokenizer: Any) -> None:
    tokenizer.chat_template = {"default": QWEN, "other": CHAT}
    for arguments in ({}, {"chat_template": "other"}, {"chat_template": LLAMA}, {"tools": [{"name": "f"}]}):
        expected = tokenizer.apply_chat_template([USER], tokenize=False, **BEGUN, **arguments)
        assert chat_text(tokenizer, [USER], {**BEGUN, **arguments}) == expected
    tokenizer.chat_template = {"one": QWEN, "other": CHAT}
    with pytest.raises(TemplateFault, match="multiple chat templates with no default"):
        chat_text(tokenizer, [USER], BEGUN)


def test_a_tokenizer_with_a_way_of_its_own_goes_it() -> None:
    class Own:
        def apply_chat_template(self, turns: Any, tokenize: bool, **arguments: Any) -> str:
            return f"{turns[0]['content']} {arguments}" if turns else str(1 / 0)

    assert chat_text(Own(), [{"role": "user", "content": "a"}], {"b": 1}) == "a {'b': 1}"
    with pytest.raises(TemplateFault, match="divides by zero"):
        chat_text(Own(), [], {})
    with pytest.raises(TemplateFault, match="surrogates not allowed"):
        chat_text(Own(), [{"role": "user", "content": "\ud800"}], {})


@pytest.mark.parametrize("template", ["qwen", "own"])
def test_the_backend_hands_over_what_the_harness_does(tmp_path: Path, template: str) -> None:
    folder = tiny_llama(tmp_path / "m", chat_template=TEMPLATES[template])
    own = {"backend_args": {"chat_template_args": {"date_string": "today"}, "enable_thinking": False}}
    lm = load_model(ModelConfig(model_name=str(folder), chat_template=True, **own), EvalConfig())  # type: ignore[arg-type]
    for chat in CHATS:
        for begins in (True, False):
            assert lm.apply_chat_template(chat, begins) == HFLM.apply_chat_template(lm, chat, begins)


def test_vllm_hands_over_what_the_harness_does(monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> None:
    class VLLM:
        hf_chat_template, enable_thinking, chat_template_args = QWEN, False, {"date_string": "today"}

        @staticmethod
        def modify_gen_kwargs(options: Any, eos: str | None = None) -> Any:
            return options, [eos], 5

    monkeypatch.setitem(sys.modules, "lm_eval.models.vllm_causallms", SimpleNamespace(VLLM=VLLM))
    lm = backend()()
    lm.tokenizer = tokenizer
    assert lm.template_arguments == {"chat_template": QWEN, "enable_thinking": False, "date_string": "today"}
    assert lm.apply_chat_template([USER]).endswith("</think>")
    assert lm.modify_gen_kwargs({"a": 1}, eos="x") == ({"a": 1}, ["x"], 5)
    lm.turn_ends = [7]
    assert lm.modify_gen_kwargs({"a": 1}, eos="x") == ({"a": 1, "stop_token_ids": [7]}, ["x"], 5)


LLAMA_3_2 = (
    "{%- if not date_string is defined %}{%- set date_string = strftime_now('%d %b %Y') %}{%- endif %}"
    "{{ date_string }} {{ messages[0].content }}"
)


@pytest.mark.parametrize("template", [LLAMA_3_2, "{{ strftime_now('%d %b %Y') }} {{ messages[0].content }}"])
def test_the_date_is_not_todays(tokenizer: Any, template: str) -> None:
    lm = KeepsSystemText()
    lm.tokenizer, tokenizer.chat_template = tokenizer, template
    assert lm.apply_chat_template([{"role": "user", "content": "a"}]) == "26 Jul 2024 a"
    lm.chat_date = "10 Apr 2025"
    assert lm.apply_chat_template([{"role": "user", "content": "a"}]) == "10 Apr 2025 a"


def test_a_system_text_of_the_model_gives_way_to_that_of_a_prompt(tokenizer: Any) -> None:
    lm = KeepsSystemText()
    lm.tokenizer, tokenizer.chat_template, lm.chat_system = tokenizer, QWEN, "be kind"
    own = {"role": "system", "content": "be short"}
    assert "be kind" in lm.apply_chat_template([USER])
    assert "be short" in (text := lm.apply_chat_template([own, USER])) and "be kind" not in text


@pytest.mark.parametrize(
    ("tags", "text"),
    [
        (ChatTags("[INST] ", " [/INST]", assistant_end=" "), "[INST] be short\n\nQ1 [/INST]A1 [INST] Q2 [/INST]"),
        (ChatTags("Q: ", "\n", "A: ", "\n\n"), "Q: be short\n\nQ1\nA: A1\n\nQ: Q2\nA: "),
        (ChatTags('"}}{{\\ 😀', "", "", "", "<<", ">>"), '<<be short>>"}}{{\\ 😀Q1A1"}}{{\\ 😀Q2'),
    ],
)
def test_tags_in_place_of_a_template(tokenizer: Any, tags: ChatTags, text: str) -> None:
    lm = KeepsSystemText()
    lm.tokenizer, tokenizer.chat_template, lm.own_template = tokenizer, CHAT, template_of(tags)
    turns = [("system", "be short"), ("user", "Q1"), ("assistant", "A1"), ("user", "Q2")]
    assert lm.apply_chat_template([{"role": role, "content": said} for role, said in turns]) == text


# A user's, an assistant's and another user's turn, of which the answer is also in the second question.
EXAMPLES = (("user", "Q1: A or B?"), ("assistant", "B"), ("user", "Q2: B\n or  C?"))
PARTS = "{% for p in m.content %}{{ p.text }}{% endfor %}"
SYSTEM = ("system", "Be brief.")


@pytest.mark.parametrize(
    ("template", "turns", "text"),
    {
        "by index": ("{% for m in messages %}[{% if m.content[0].type %}" + PARTS + "{% endif %}]{% endfor %}",
                     EXAMPLES[:1], "[Q1: A or B?]"),
        "a system text as text": ("{% for m in messages %}[{% if m.role == 'system' %}{{ raise_exception('no') }}"
                                  "{% endif %}" + PARTS + "]{% endfor %}", (SYSTEM, EXAMPLES[0]),
                                  "[Be brief.\n\nQ1: A or B?]"),
        "parts are a must": ("{% for m in messages %}{{ m.content | map(attribute='text') | join }}|{% endfor %}",
                             EXAMPLES, "Q1: A or B?|B|Q2: B\n or  C?|"),
        "blanks": ("{% for m in messages %}{{ m.content.split() | join(' ') }} {% endfor %}", EXAMPLES,
                   "Q1: A or B? B Q2: B or C? "),
        "system text last": ("{% for m in messages[1:] %}{{ m.content }}\n{% endfor %}{{ messages[0].content }}",
                             (SYSTEM, *EXAMPLES), "Q1: A or B?\nB\nQ2: B\n or  C?\nBe brief."),
    }.values(),
)  # fmt: skip
def test_what_was_asked_is_in_the_prompt(
    tokenizer: Any, template: str, turns: tuple[tuple[str, str], ...], text: str
) -> None:
    lm = KeepsSystemText()
    lm.tokenizer, tokenizer.chat_template = tokenizer, template
    chat = [{"role": role, "content": said} for role, said in turns]
    assert lm.apply_chat_template(chat) == lm.apply_chat_template(chat) == text


@pytest.mark.parametrize(
    ("template", "what", "cure"),
    {
        "last turn": ("{{ messages[-1].content }}", "few-shot examples", "--shots 0"),
        "users only": ("{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}", "few-shot", "--shots"),
        "first turns": ("{% for m in messages[:-1] %}{{ m.content }}{% endfor %}", "some of the question", "false"),
        "nothing": ("{% for m in messages %}{{ m.text }}{% endfor %}", "few-shot examples", "--model.chat_tags"),
        "some": ("{% for m in messages %}{{ m.content[:8] }}{% endfor %}", "examples: no prompt has 'Q1: A or", "tags"),
        "a list": ("{% for m in messages %}{{ m.content if m.content is not string }}{% endfor %}", "few-shot", "tags"),
    }.values(),
)
def test_a_template_that_loses_some_of_it_is_refused(tokenizer: Any, template: str, what: str, cure: str) -> None:
    lm = KeepsSystemText()
    lm.tokenizer, tokenizer.chat_template = tokenizer, template
    with pytest.raises(UserError, match=f"the chat template of .* loses .*{what}") as caught:
        lm.apply_chat_template([{"role": role, "content": said} for role, said in EXAMPLES])
    assert cure in caught.value.hint


def test_a_run_with_tags_and_dates(run_demo: Cli, tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "model", chat_template=LLAMA_3_2)
    some = ("--model.model_name", model, "--task.languages", "yor", "--task.task_name", "afrixnli", "--eval.limit", 2)
    tags = ("--model.chat_tags.user_start", "[INST] ", "--model.chat_tags.user_end", " [/INST]")
    assert run_demo(*some, *tags).code == 0
    (path, *_) = sample_files(tmp_path / "run")
    first = json.loads(path.read_text().splitlines()[0])
    assert all(prompt.startswith("[INST] ") and prompt.endswith(" [/INST]") for prompt, *_ in first["arguments"])
    for other in ((*tags, "--model.chat_tags.assistant_end", " "), ("--model.chat_template", "true")):
        assert "chat_tags" in run_demo(*some, *other).err
    dated = run_demo(*some, *tags, "--model.chat_date", "10 Apr 2025")
    assert dated.code == 2 and "chat_date was not given and is '10 Apr 2025'" in dated.err
    wrong = run_demo(*some, *tags, "--model.chat_date", "2025-04-10")
    assert wrong.code == 2 and "model.chat_date is '2025-04-10'" in wrong.err and "26 Jul 2024" in wrong.err
    assert "without a chat template" in run_demo(*some, "--model.chat_date", "10 Apr 2025").err


ENDLESS = "{% for i in range(10**5) %}{% for j in range(10**5) %}{% endfor %}{% endfor %}"
HOSTILE = {
    "{{ 1 / 0 }}": "divides by zero",
    "{{ raise_exception('only\n Hausa') }}": "only Hausa",
    "{{ raise_exception('x' * 10**6) }}": "xxxx",
    "{% for m in messages %}{{ m.content": "end of print statement",
    "{% for i in range(10**4) %}{{ 'x' * 10**4 }}{% endfor %}": "more than 10,000,000 characters",
    "{{ ''.__class__ }}{{ ''.__class__.x }}": "unsafe",
    "{{ '\\ud800' }}": "surrogates not allowed",
    ENDLESS: "longer than 0.4 s",
    "{{ 'content' * 10**10 }}": "more than 512 MiB of memory",
}


@pytest.mark.parametrize(("template", "reason"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_what_fails_names_the_model_and_what_to_do(
    tokenizer: Any, template: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "memory" in reason and sys.platform != "linux":
        pytest.skip("the system does not limit memory")
    monkeypatch.setattr(chat_text, "__defaults__", (None, 0.4 if "0.4 s" in reason else 30.0))
    lm = KeepsSystemText()
    lm.tokenizer, tokenizer.chat_template = tokenizer, template
    tokenizer.name_or_path = "org/model"
    with pytest.raises(UserError) as caught:
        lm.apply_chat_template([USER])
    message = caught.value.message
    assert message.startswith("the chat template of org/model cannot be filled in: ") and reason in message
    assert message.isprintable() and len(message) < 400
    assert "--model.chat_template false" in caught.value.hint
