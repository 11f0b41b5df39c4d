"""Converts documents to questions, scores responses, and limits the length of generated answers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from afrieval._util.errors import UserError
from afrieval.config.settings import RunConfig
from afrieval.models.base import ModelFacts
from afrieval.models.registry import backend_of
from afrieval.scoring.base import ExtractionContext, Likelihood, Metric, Question, Response, Score
from afrieval.scoring.responses import Generation, details_of, of_likelihoods, of_text, scored
from afrieval.scoring.tokens import tokens_of
from afrieval.tasks.data.documents import Document
from afrieval.tasks.declaration.presets import by_likelihood
from afrieval.tasks.declaration.schema import GenerationSpec
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tasks.prompts.prompts import Prompt, answers, choice_texts, question_label

if TYPE_CHECKING:
    from afrieval.tasks.cells.templated import TemplateCell


UNENDED = Generation(32)  # if no limits are given
Scorer = Callable[..., Score]


def scorer(
    spec: TaskSpec,
    prompt: Prompt,
    announced: Sequence[str],
    answer_form: str,
    ends: Generation = UNENDED,
    answer_language: str = "",
    metrics: Sequence[Metric] | None = None,
) -> Scorer:
    """Returns a function that scores a response: a likelihood per choice, or a list with a text.

    Args:
        spec: the task.
        prompt: template and words.
        announced: words that may announce an answer.
        answer_form: `text`, `letter` or `generate`.
        ends: limits of generated answers; not needed for likelihoods.
        answer_language: the language that answers should be in.
        metrics: those to measure; by default all of the task that apply.
    """
    scoring = spec.scoring
    measured = scoring.metrics_of(answer_form, language=answer_language) if metrics is None else metrics
    asked = ExtractionContext(announced if scoring.answer.is_worked_out else (), ends.runs_on, spec.chain_of_thought)

    def score(document: Document, given: Sequence[Any], neutral: Sequence[Sequence[float]] = ()) -> Score:
        names, texts = scoring.names or answers(prompt, document, answer_form), choice_texts(prompt, document)
        question = Question(document.gold, texts, names, document.fields, answer_language, document.roles)
        if document.roles:
            response = Response(None, likelihoods=[*map(_with_tokens, given)])
        elif by_likelihood(answer_form):
            response = of_likelihoods([Likelihood(*likelihood) for likelihood in given], neutral)
        else:
            response = of_text(given[0], question, scoring.extract, asked, ends.thinking_end)
            if response.answer is None and prompt.lettered and prompt.labels:
                worded = replace(question, names=texts)  # chat models may write the word that a letter stands for
                response = of_text(given[0], worded, scoring.extract, asked, ends.thinking_end)
        return scored(response, question, measured)

    return score


def _with_tokens(given: Any) -> Likelihood:
    """Returns the likelihood of a text, which is a number if nothing else was asked for."""
    known = Likelihood(*given) if isinstance(given, tuple | list) else Likelihood(given, False)
    return known._replace(tokens=tokens_of(details_of(given)))


SOME_WORDS, THOUGHTS = 32, 16_384
BLANK_LINE, LINE_END = "\n\n", "\n"


def generation(questions: "TemplateCell", lm: ModelFacts) -> Generation:
    """Returns the limits of a cell's generated answers.

    Args:
        questions: the cell's questions.
        lm: the model; lengths are measured by its tokenizer, or in bytes if it has none.

    Raises:
        UserError: if max_gen_toks fills the model's whole context.
    """
    config = questions.config
    chat = config.model.chat_template
    if (config.eval.max_gen_toks or 0) >= lm.max_length:
        raise UserError(
            f"eval.max_gen_toks is {config.eval.max_gen_toks}, but the model's context has {lm.max_length} tokens",
            "give a smaller number, to leave room for the prompt",
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
    """Returns the task's own limits; only the user lowers them, since that changes scores.

    The thinking that a server keeps apart counts as well, and was not meant by the task.
    """
    room = THOUGHTS if backend_of(config.model.model_type).served and config.model.thinks else 0
    most = config.eval.max_gen_toks or max(declared.max_tokens, room)
    return Generation(most, tuple(declared.stop), config.model.thinking_end or "", runs_on=False)


def _room(questions: "TemplateCell", lm: ModelFacts) -> int:
    """Returns a limit in tokens.

    A limit that suits English truncates Amharic, whose letters need several tokens each in most
    models. A bare answer gets twice its length plus a few words. An answer with reasoning gets four
    times the longest worked solution of the few-shot split, since models write more than teachers,
    or twice the longest question if there is none. Chat models reason in mathematics even if not
    asked to, and models that think first need room for it.
    """
    model = questions.config.model
    if model.thinks:
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


def _stop(questions: "TemplateCell") -> tuple[str, ...]:
    """Returns texts that begin another example, which a model without chat template would write next.

    A text ends with its line if all right answers are of one line, as translations of sentences are: prompts
    without empty lines would go on with the next sentence. A worked solution may contain empty lines, unless
    examples show otherwise.
    """
    if not questions.task.scoring.answer.is_worked_out:
        golds = [d.gold for d in questions.data.documents if d.gold is not None]
        return (LINE_END if all(isinstance(gold, str) and LINE_END not in gold for gold in golds) else BLANK_LINE,)
    label = question_label(questions.task, questions.prompt, questions.task.text_language or questions.language)
    ends = (f"\n{label}",) if label else ()
    return ends if questions.task.chain_of_thought and not questions.shots else (BLANK_LINE, *ends)
