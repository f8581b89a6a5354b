"""What the simulated model knows of a sample: its answer, right or wrong, as an opinion in words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.core.types import Sample
from components.simulation.draws import Draws, Rates
from components.text.answers import parse_letter

_LED = re.compile(r"([A-Z])[.):](?:\s|$)")
_DECISIONS = ("yes", "no", "maybe")


@dataclass(frozen=True)
class Knowledge:
    """Knowledge of a sample with options, a decision, or an answer in words. Families override what differs."""

    sample: Sample

    @property
    def choices(self) -> Mapping[str, str]:
        """The options, by their letters."""
        return self.sample.problem.choices

    @property
    def open_ended(self) -> bool:
        """Whether the answer is text, without options."""
        return isinstance(self.sample.target, Mapping)

    def by_heart(self, rates: Rates) -> float:
        """How often an answer is right for which nothing was looked up."""
        return rates.competence

    def opinion(self, known: bool, draws: Draws, besides: str = "") -> str:
        """The answer in words, right or wrong, and not the option of the opinion ``besides``."""
        if isinstance(self.sample.target, str):
            return self.option(known, draws, self.option_in(besides))
        words = _words(self.sample.target)
        return " ".join(words if known else words[: max(1, len(words) * 2 // 3)])

    def option(self, right: bool, draws: Draws, besides: str = "") -> str:
        """An option with its text, or a decision; a wrong one is not ``besides``."""
        target = str(self.sample.target)
        if self.choices:
            others = [letter for letter in self.choices if letter not in (target, besides)]
            letter = target if right or not others else draws.pick("wrong option", others)
            return f"{letter}. {self.choices[letter]}" if letter in self.choices else letter
        decisions = [word for word in self.sample.metadata.get("decisions", ()) if word not in (target, besides)]
        return target if right or not decisions else draws.pick("wrong option", decisions)

    def marked(self, rates: Rates, reasons: bool, draws: Draws) -> str:
        """An option or decision by heart, marked on the last line; ``reasons``: below a line of reasoning."""
        options, right = tuple(self.choices) or _DECISIONS, str(self.sample.target)
        letter = right
        if not draws.happens("competence", self.by_heart(rates)):
            others = [option for option in options if option.lower() != right.lower()]
            letter = draws.pick("wrong option", others) if others else right
        lead = f"The findings that the question describes fit {self.choices.get(letter, letter)} best.\n"
        return f"{lead if reasons else ''}Answer: {letter}"

    def is_right(self, opinion: str) -> bool:
        """Whether an opinion is the right one."""
        if isinstance(self.sample.target, str):
            said = self.option_in(opinion).strip().strip('".').casefold()
            return said.removeprefix("answer:").strip().split(".")[0] == self.sample.target.casefold()
        return opinion.split() == _words(self.sample.target)

    def option_in(self, opinion: str) -> str:
        """The letter of the option that an opinion names; without options the opinion itself."""
        if not self.choices:
            return opinion
        led = _LED.match(opinion)
        return led[1] if led and led[1] in self.choices else parse_letter(opinion, self.choices) or ""


def _words(target: Any) -> list[str]:
    """The words of an answer without options."""
    return str(target.get("answer", "") if isinstance(target, Mapping) else target).split()
