"""How long a generated answer may be, and where it ends: in the language's own measure, not one number for all."""

from typing import TYPE_CHECKING, Any

from afrieval.config.settings import RunConfig
from afrieval.errors import UserError
from afrieval.scoring.scorers import Generation
from afrieval.tasks.prompts import answers, question_label
from afrieval.tasks.schema import GenerationSpec

if TYPE_CHECKING:
    from afrieval.tasks.sources.templated import TemplatedQuestions

SOME_WORDS, THOUGHTS = 32, 16_384
BLANK_LINE = "\n\n"


def generation(questions: "TemplatedQuestions", lm: Any) -> Generation:
    """Returns how the answers of a cell end.

    Args:
        questions: what the cell asks.
        lm: the model; its tokenizer measures the lengths, or where it is not known, their bytes.

    Raises:
        UserError: if the answer is to be longer than the model's whole context.
    """
    config = questions.config
    chat = config.model.chat_template
    if (config.eval.max_gen_toks or 0) >= lm.max_length:
        raise UserError(
            f"eval.max_gen_toks is {config.eval.max_gen_toks}, but the model takes {lm.max_length} tokens in all",
            "give less, so that the prompt has room",
        )
    if questions.task.generation:
        return _declared(questions.task.generation, config)
    return Generation(
        max_tokens=config.eval.max_gen_toks or min(_room(questions, lm), lm.max_length // 2),
        stop=() if chat else _stop(questions),
        thinking_end=config.model.thinking_end or "",
        runs_on=not chat,
    )


def _declared(declared: GenerationSpec, config: RunConfig) -> Generation:
    """Returns the task's own ends; a smaller limit would move its scores, so nothing but the user makes it smaller."""
    most = config.eval.max_gen_toks or declared.max_tokens
    return Generation(most, tuple(declared.stop), config.model.thinking_end or "", runs_on=False)


def _room(questions: "TemplatedQuestions", lm: Any) -> int:
    """Returns a limit in tokens.

    A number that suits English cuts Amharic short: its letters take several tokens each in most models. A bare answer
    gets twice its own length and room for a few words. An answer with its reasoning gets four times the longest worked
    solution of the few-shot split, since models write more than teachers, or where there is none, twice the longest
    question. Chat models reason in mathematics whether they are asked to or not, and models that think first need room
    for their thoughts.
    """
    model = questions.config.model
    if model.thinking_end:
        return THOUGHTS

    def longest(texts: list[str]) -> int:
        return max((lm.count_tokens(text) for text in texts), default=0)

    answer = questions.task.scoring.answer
    if answer.is_choice:
        names = [a for d in questions.documents[:1] for a in answers(questions.prompt, d, "generate")]
        return 2 * longest(names) + SOME_WORDS
    if not answer.is_worked_out or not (questions.task.chain_of_thought or model.chat_template):
        return 2 * longest([answer.shown(d.gold) for d in questions.data.documents if d.gold is not None]) + SOME_WORDS
    worked = longest([d.worked for d in questions.pool.documents if d.worked]) if questions.pool else 0
    question = next(iter(questions.task.fields))
    return (4 * worked or 2 * longest([d.fields[question] for d in questions.data.documents])) + SOME_WORDS


def _stop(questions: "TemplatedQuestions") -> tuple[str, ...]:
    """Returns texts that begin another example, which is what a model without chat template goes on with.

    A worked solution may have empty lines in it, unless examples show that it has none.
    """
    if not questions.task.scoring.answer.is_worked_out:
        return (BLANK_LINE,)
    label = question_label(questions.task, questions.prompt, questions.task.text_language or questions.language)
    ends = (f"\n{label}",) if label else ()
    return ends if questions.task.chain_of_thought and not questions.shots else (BLANK_LINE, *ends)
