"""Skill: opinions of a panel's experts: what one believes, how an analysis says it, how a reader finds it again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from components.core.messages import Message
from components.core.types import Problem, Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.answers import answer_text, is_clinical, is_right
from components.models.simulated.skills.consult import by_heart
from components.models.simulated.skills.record_key import BY_HEART, gold_of, is_records
from components.text.answers import parse_letter

MARK = "Most plausible: "
_FAVOURED = re.compile(r"most plausible(?: option| answer)?(?: is\b:?|:)[ \t]*(\S.*)", re.IGNORECASE)
_LED = re.compile(r"([A-Z])[.):](?:\s|$)")
_ON_QUESTION = "Do not settle on an answer"
_ON_ANSWERS = re.compile(r"Close with the (?:option|answer) that you find most plausible")
_FIELD = re.compile(r"point of view of ([^:,\n]+)[:,]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_QUOTED = 160  # longest piece of a question that an analysis quotes, in characters


@dataclass(frozen=True)
class Voice:
    """Who speaks. ``field`` is empty for whoever sits on no panel; an expert on the question is ``neutral`` and
    quotes what the question tells, one on the answers names the one it believes in.
    """

    field: str = ""
    neutral: bool = False
    problem: Problem | None = None

    def worded(self, answer: str, draws: Draws) -> str:
        """How an answer is said: an expert's as an analysis; empty where it knows none."""
        if not self.field:
            return answer
        if self.neutral:
            return f"{self._finding(draws)}\nAn answer has to account for this, as {self.field} sees it."
        if not answer:
            return f"From what {self.field} knows, nothing sets the answers apart."
        choices = self.problem.choices if self.problem is not None else {}
        others = [f"{letter}. {text}" for letter, text in choices.items() if letter != letter_in(choices, answer)]
        out = f"Ruled out: {'; '.join(others)}.\n" if others else ""
        return f"From what {self.field} knows, one answer fits what is described best.\n{out}{marked(answer)}"

    def _finding(self, draws: Draws) -> str:
        """A sentence of the question that tells something, where there is one."""
        question = self.problem.question if self.problem is not None else ""
        sentences = [one for one in _SENTENCE.split(" ".join(question.split())) if one]
        telling = [one for one in sentences if not one.endswith("?")] or sentences
        if not telling:
            return "The question tells nothing that is known."
        return f'The finding that counts is "{shorten(draws.pick("finding", telling), _QUOTED, placeholder=" ...")}"'

    def serves(self, sample: Sample, text: str) -> bool:
        """Whether a final answer that was worded so is good."""
        if not self.field:
            return right(sample, text)
        return self.neutral or any(right(sample, one) for one in favoured(text))


def voice_of(messages: Sequence[Message], sample: Sample | None) -> Voice:
    """An expert's, where the messages before the first reply ask for an analysis."""
    for message in messages:
        if message.role == "assistant":
            break
        text, neutral = message.text, _ON_QUESTION in message.text
        if message.role == "user" and (neutral or _ON_ANSWERS.search(text)):
            found = _FIELD.search(text)
            return Voice(found[1] if found else "this field", neutral, sample.problem if sample is not None else None)
    return Voice()


def marked(answer: str) -> str:
    """The line that names an answer."""
    return MARK + " ".join(answer.split())


def favoured(text: str) -> list[str]:
    """The answers that a text finds most plausible, in its order."""
    return [" ".join(found.split()) for found in _FAVOURED.findall(text)]


def heart(sample: Sample, rates: Rates) -> float:
    """How often an opinion is right that nothing was looked up for: as often as a direct answer."""
    if is_records(sample):
        return float(rates.competence**BY_HEART) if gold_of(sample).sql else rates.competence
    return by_heart(sample, rates) if is_clinical(sample) else rates.competence


def believed(sample: Sample | None, known: bool, draws: Draws, besides: str | None = None) -> str:
    """An opinion in words, right or wrong, and not ``besides``; empty on a question that the key lacks."""
    if sample is None:
        return ""
    target = sample.target
    if is_records(sample):
        return gold_of(sample).by_heart(known, draws)
    if isinstance(target, str) or is_clinical(sample):
        return answer_text(sample, known, draws, letter_in(sample.problem.choices, besides or ""))
    words = _words(target)
    return " ".join(words if known else words[: max(1, len(words) * 2 // 3)])


def letter_in(choices: Mapping[str, str], text: str) -> str:
    """The option that an opinion names; of a question without options the opinion itself."""
    if not choices:
        return text
    led = _LED.match(text)
    return led[1] if led and led[1] in choices else parse_letter(text, choices) or ""


def right(sample: Sample, text: str) -> bool:
    """Whether an opinion is the key's."""
    if is_records(sample):
        return text.split() == gold_of(sample).by_heart(True, Draws(0, ())).split()
    if isinstance(sample.target, str) or is_clinical(sample):
        return is_right(sample, letter_in(sample.problem.choices, text))
    return text.split() == _words(sample.target)


def _words(target: Any) -> list[str]:
    """The words of an answer that has no options."""
    return str(target.get("answer", "") if isinstance(target, Mapping) else target).split()
