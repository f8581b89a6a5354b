"""RadABench's text scores of the conclusion against the reference answer: word F1, BLEU, ROUGE-L.

Source: Zheng et al. 2024, arXiv 2412.09529. ``text_metrics`` chooses between the packages of the
reference implementation (MAGIC-AI4Med/RadABench, January 2025: BLEU-1, package ``rouge``) and
maintained ones (sacrebleu's BLEU-4, package ``rouge-score``), which the article's open definitions allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import from_log, is_scored, kind_of
from components.radiology.grading import attempt, unscored
from components.radiology.switches import Switches
from components.text.overlap import bleu, bleu_unigram, rouge_l, rouge_l_summary, word_f1

NAMES = ("response/f1", "response/bleu", "response/bleu1", "response/rouge_l", "response/rouge_l_recall")
_NONE: Mapping[str, float | None] = dict.fromkeys(NAMES)


def conclusion(answer: str, scope: str) -> str:
    """The part of an answer that is scored; ``first_paragraph`` ends at the first blank line."""
    return (answer.partition("\n\n")[0] if scope == "first_paragraph" else answer).strip()


def overlap(reference: str, response: str, metrics: str) -> dict[str, float | None]:
    """The text scores, 0 to 1; 0 when a text is empty. The published packages have no BLEU-1 beside BLEU, no recall."""
    values: dict[str, float | None] = dict.fromkeys(NAMES, 0.0)
    if metrics == "code":
        values |= {"response/bleu1": None, "response/rouge_l_recall": None}
    if not reference or not response:
        return values
    values["response/f1"] = word_f1(reference, response)
    if metrics == "code":
        values["response/bleu"] = bleu_unigram(reference, response)
        values["response/rouge_l"] = rouge_l_summary(reference, response)
        return values
    values["response/bleu"], values["response/bleu1"] = bleu(reference, response), bleu(reference, response, 1)
    rouge = rouge_l(reference, response)
    values["response/rouge_l"], values["response/rouge_l_recall"] = rouge.f1, rouge.recall
    return values


@lru_cache(maxsize=256)
def ceilings(reference: str, scope: str, metrics: str) -> Mapping[str, float | None]:
    """The text scores of an agent that answers with the reference."""
    return overlap(reference, conclusion(reference, scope), metrics)


def mentions_error(trajectory: Trajectory) -> bool:
    """Whether the reference's log of this episode would hold the word error, as it does after any failure."""
    texts = [step.reply.text for step in trajectory.steps]
    texts += [observed.observation.text for step in trajectory.steps for observed in step.observed]
    return any("Error" in text or "error" in text for text in (*texts, trajectory.answer or ""))


@dataclass(frozen=True)
class Response:
    """Text scores of a sample; an episode without a conclusion scores 0."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds=dict.fromkeys(NAMES, "share"))

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """The reference's profile scores differentiated conditions only, and no episode that mentions an error."""
        switches = self.switches
        scored = is_scored(switches, kind_of(trajectory), ("differentiated",))
        one = attempt(sample, trajectory, switches) if scored else None
        if one is None:
            return unscored(NAMES)
        reference, scope, metrics = str(sample.target["answer"]), switches.conclusion_scope, switches.text_metrics
        excluded = from_log(switches) and (one.execution.faulty or mentions_error(trajectory))
        mine = _NONE if excluded else overlap(reference, conclusion(trajectory.answer or "", scope), metrics)
        most = ceilings(reference, scope, metrics) if one.perfect.completed else _NONE
        return [Score(name, mine[name], ceiling=most[name]) for name in NAMES]
