"""RadABench's text scores of the conclusion against the reference answer: word F1, BLEU, ROUGE-L, and RaTEScore.

Source: Zheng et al. 2024, arXiv 2412.09529. ``text_metrics`` chooses between the packages of the
reference implementation (MAGIC-AI4Med/RadABench, January 2025: BLEU-1, package ``rouge``) and
maintained ones (sacrebleu's BLEU-4, package ``rouge-score``), which the article's open definitions allow.
RaTEScore (Zhao et al. 2024, arXiv 2406.16845) is computed by a program outside this project with its own models, so it
is not among the default scorers; the first version of the article names it without code or number.
"""

import math
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar

import orjson

from components.core.errors import ConfigError
from components.core.traits import ScorerTraits
from components.core.types import CONTEXT_LENGTH, Sample, Score, Trajectory
from components.radiology.attempt import Attempt, Graded, Published
from components.radiology.execution import Execution, from_log, kind_of
from components.text.overlap import bleu, bleu_unigram, rouge_l, rouge_l_summary, word_f1

NAMES = ("response/f1", "response/bleu", "response/bleu1", "response/rouge_l", "response/rouge_l_recall")
_NOT_PUBLISHED = ("response/bleu1", "response/rouge_l_recall")


def conclusion(answer: str, scope: str) -> str:
    """The part of an answer that is scored; ``first_paragraph`` ends at the first blank line."""
    return (answer.partition("\n\n")[0] if scope == "first_paragraph" else answer).strip()


def overlap(reference: str, response: str, metrics: str) -> dict[str, float | None]:
    """The text scores, 0 to 1; 0 when a text is empty. The published packages have neither BLEU-1 nor recall."""
    code = metrics == "code"
    if not reference or not response:
        return {name: None if code and name in _NOT_PUBLISHED else 0.0 for name in NAMES}
    if code:
        scores = (word_f1, bleu_unigram, None, rouge_l_summary, None)
        return {name: one and one(reference, response) for name, one in zip(NAMES, scores, strict=True)}
    rouge = rouge_l(reference, response)
    found = bleu(reference, response), bleu(reference, response, 1), rouge.f1, rouge.recall
    return dict(zip(NAMES, (word_f1(reference, response), *found), strict=True))


@lru_cache(maxsize=256)
def reference_scores(reference: str, scope: str, metrics: str) -> Mapping[str, float | None]:
    """The text scores of an agent that answers with the reference."""
    return overlap(reference, conclusion(reference, scope), metrics)


def mentions_error(trajectory: Trajectory) -> bool:
    """Whether the reference's log of this episode would hold the word error, as it does after any failure."""
    texts = [step.reply.text for step in trajectory.steps]
    texts += [observed.observation.text for step in trajectory.steps for observed in step.observed]
    return any("Error" in text or "error" in text for text in (*texts, trajectory.answer or ""))


class Response(Graded):
    """Text scores of a sample; an episode without a conclusion scores 0. The reference scores no episode that mentions
    an error."""

    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds=dict.fromkeys(NAMES, "share"))
    names = NAMES
    published: ClassVar[Published] = {"differentiated": NAMES}

    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """The scores of the episode's answer."""
        switches = self.switches
        if from_log(switches) and (execution.faulty or mentions_error(one.trajectory)):
            return dict.fromkeys(NAMES)
        scored = conclusion(one.trajectory.answer or "", switches.conclusion_scope)
        return overlap(str(one.sample.target["answer"]), scored, switches.text_metrics)

    def ceilings(self, one: Attempt) -> Mapping[str, float | None]:
        """The scores of the reference as answer; None where a perfect agent comes to no answer."""
        if not one.perfect.completed:
            return dict.fromkeys(NAMES)
        switches = self.switches
        return reference_scores(str(one.sample.target["answer"]), switches.conclusion_scope, switches.text_metrics)


RATESCORE = "response/ratescore"
PACKAGE = "RaTEScore"
Measure = Callable[[str, str], float]
_ELSE = "point scorer.ratescore.source at a module:function of (reference, response) or a command of yours"


@lru_cache(maxsize=8)
def measure(source: str, seconds: float) -> Measure:
    """The function behind the package's name, a ``module:function``, or a command line. A command reads one line of
    JSON, {"reference", "response"}, and prints the score. Raises ConfigError for what is not installed."""
    if source == PACKAGE:
        scorer = _imported(PACKAGE).RaTEScore()  # its models are loaded once
        return lambda reference, response: float(scorer.compute_score([response], [reference])[0])
    module, colon, name = source.partition(":")
    if colon and all(part.isidentifier() for part in (*module.split("."), name)):
        function = getattr(_imported(module), name, None)
        if not callable(function):
            raise ConfigError(f"scorer ratescore: {module!r} has no function {name!r}")
        return lambda reference, response: float(function(reference, response))
    command = shlex.split(source)
    if not command or shutil.which(command[0]) is None:
        raise ConfigError(f"scorer ratescore: there is no command {source!r}; {_ELSE}")

    def ask(reference: str, response: str) -> float:
        body = orjson.dumps({"reference": reference, "response": response})
        return float(subprocess.run(command, input=body, capture_output=True, timeout=seconds, check=True).stdout)

    return ask


def _imported(module: str) -> Any:
    """The module. Raises ConfigError when it or something it needs is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"scorer ratescore cannot import {error.name!r}: pip install 'wardround[ratescore]', or {_ELSE}"
        ) from error


@dataclass(frozen=True)
class RaTEScore:
    """RaTEScore of a sample, 0 to 1. ``source``: the package, a ``module:function``, or a command, which may take
    ``seconds`` per answer. Raises ConfigError when it is not installed."""

    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={RATESCORE: "share"})
    takes_code: ClassVar[Sequence[str]] = ("source",)  # what a stranger's config must not set unasked

    source: str = PACKAGE
    seconds: float = 60.0
    version: str = "2"

    def __post_init__(self) -> None:
        measure(self.source, self.seconds)

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Unscored without an answer or a reference, and where the program gives no number; 0 for a task that can be
        solved and was longer than the model takes."""
        reference, answer = str(sample.target["answer"]), trajectory.answer
        if reference and trajectory.failure == CONTEXT_LENGTH and kind_of(trajectory) != "insufficient":
            return [Score(RATESCORE, 0.0, f"no answer ({trajectory.failure})")]
        if not reference or not answer:
            return [Score(RATESCORE, None)]
        value = measure(self.source, self.seconds)(reference, answer)
        return [Score(RATESCORE, value if math.isfinite(value) else None)]
