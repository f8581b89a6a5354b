"""ReflecTool's selection among several proposals.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657, §4.3, and the published code. The paper samples, the code takes
a beam of width n; here candidates are sampled. Departures: equal candidates are tried once and, when all are equal,
nothing is asked; a choice that cannot be read falls back on the first candidate that worked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Interval

from components.core.messages import Message, Purpose, Sampling, continued
from components.core.protocols import Episode, Propose
from components.core.task_text import action_text
from components.core.traits import PromptSetName, VerifierTraits
from components.core.types import Action, Verdict
from components.prompts import load
from components.verifiers.refine import guide, result_of

_LABEL = re.compile(r"^(?:(?:selected )?action:|#?\d+[.):]|\s)*", re.IGNORECASE)

_NUMBER = re.compile(r"\s*+(?:candidate|option|number|no\.)?\s*+#?(\d{1,3})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A proposal and what it would give (None: not tried)."""

    action: Action
    text: str
    saw: str | None


@dataclass(frozen=True)
class Select:
    """``n`` candidates at ``temperature`` (0 to 2) and one choice: n + 1 calls, or n when all are equal. ``curve``:
    also ask which of the first 2 to n - 1 would have been chosen, with calls of purpose judge that the sample's budget
    does not count; the verdict of the step records it."""

    n: Annotated[int, Interval(ge=1, le=64)] = 2
    temperature: Annotated[float, Interval(ge=0, le=2)] = 0.7
    try_actions: bool = True
    curve: bool = False
    prompts: PromptSetName = "verify"
    traits = VerifierTraits(reads_lessons=True)

    async def choose(self, messages: Sequence[Message], propose: Propose, episode: Episode) -> Action:
        """Propose at once, try in order, choose."""
        if self.n == 1:
            return await propose()
        proposed = await propose.at_once(self.n, Sampling(temperature=self.temperature))
        distinct: dict[str, Candidate] = {}
        for action in proposed:
            if (text := action_text(action)) not in distinct:
                saw = await result_of(episode, action) if self.try_actions else None
                distinct[text] = Candidate(action, text, saw)
        among = list(distinct.values())
        chosen, why = await self._choice(messages, among, episode, episode, "verify")
        verdict = Verdict("select", "candidate", chosen + 1, len(among), why)
        if self.curve:
            places = [list(distinct).index(action_text(action)) for action in proposed]
            picks = {1: places[0], self.n: chosen}
            for n in range(2, self.n):
                first = among[: max(places[:n]) + 1]
                if len(first) == len(among):
                    picks[n] = chosen
                else:
                    picks[n], _ = await self._choice(messages, first, episode, episode.branch(f"curve/{n}"), "judge")
            verdict = replace(verdict, picks={n: picks[n] + 1 for n in sorted(picks)})
        episode.note(among[chosen].action, verdict)
        return among[chosen].action

    async def _choice(
        self, messages: Sequence[Message], among: Sequence[Candidate], episode: Episode, line: Episode, purpose: Purpose
    ) -> tuple[int, str]:
        """Which candidate the model picks, and how that was found."""
        if len(among) == 1:
            return 0, "all were equal"
        shown = guide(episode, [one.action for one in among])
        ask = load(self.prompts).user("select", guide=shown, candidates=among)
        reply = (await line.ask(continued(messages, ask), purpose, role="verifier")).text
        if (found := _picked(reply, among, episode)) is not None:
            return found, "picked"
        worked = (n for n, one in enumerate(among) if one.action.error is None and one.saw)
        return next(worked, 0), "the choice could not be read"


def _picked(reply: str, among: Sequence[Candidate], episode: Episode) -> int | None:
    """The candidate that a reply names: by its text, as an action in any spacing, by its number, or as the only one
    that is mentioned. What could not be read is never found inside a reply."""
    last = _LABEL.sub("", reply.strip().splitlines()[-1]) if reply.strip() else ""
    for text in (last, _LABEL.sub("", reply.strip())):
        action = episode.parse(Message("assistant", text))
        said = (text, action_text(action)) if action.error is None else (text,)
        if same := [n for n, one in enumerate(among) if one.text in said]:
            return same[0]
    number = _NUMBER.match(reply)
    if number and 0 < int(number[1]) <= len(among):
        return int(number[1]) - 1
    mentioned = [n for n, one in enumerate(among) if one.action.error is None and one.text in reply]
    return mentioned[0] if len(mentioned) == 1 else None
