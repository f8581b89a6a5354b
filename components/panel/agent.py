"""MedAgents: experts analyse, a report merges their analyses, they vote on it and revise it until all agree.

Source: Tang et al. 2024, Findings of ACL, arXiv 2311.10537, Algorithm 1; docs/medagents.md. Every call is a fresh
chat of a role and an instruction. Departures: the two calls that gather experts are made at once; key knowledge
stays in the report; questions without options are decided in words; where tools are offered, each expert acts with
them in an attempt of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from unicodedata import category

from components.acting.attempt import blind, held_by
from components.core.protocols import Episode
from components.core.traits import Requirements
from components.core.types import Answer, Failure, Problem
from components.panel.export import exported
from components.panel.published import UnreadableReport
from components.panel.rules import PanelRules
from components.panel.session import Panel
from components.prompts import load


@dataclass(frozen=True)
class MedAgents(PanelRules):
    """The panel (see ``components.panel.rules``)."""

    @property
    def requirements(self) -> Requirements:
        """Nothing; an episode can be exported in the layout of the published records."""
        return Requirements(export=exported)

    async def solve(self, episode: Episode) -> Answer | Failure:
        """The decision; Failure ``unsupported_input`` for images that nobody can see, ``unreadable_report`` only
        where published readers meet a report that they cannot read."""
        if blind(episode):
            return Failure("unsupported_input", "the model takes no images")
        panel = Panel(self, episode, load(self.prompts), await _asked(episode, self.prompts))
        experts = await panel.convene()
        opinions = await panel.analyse(experts)
        try:
            if self.level == "analysis":
                material = panel.text("analyses", analyses=[one.shown for one in opinions])
            else:
                material = await panel.report(opinions)
            if self.level == "consultation":
                material = await panel.consult(experts, material)
        except UnreadableReport as error:
            return Failure("unreadable_report", str(error))
        return Answer(await panel.decide(material))


async def _asked(episode: Episode, prompts: str) -> dict[str, str]:
    """The question and its options as all prompts show them."""
    problem = episode.problem
    shown = [await held_by(episode, name) for name in ("look", "inputs")]
    held = "\n\n".join(filter(None, shown))
    texts = load(prompts)
    question, plain = (texts.render("question", problem=problem, held=h, question=_closed(problem)) for h in (held, ""))
    options = texts.render("options", problem=problem) if problem.choices else ""
    return {"question": question, "plain_question": plain, "options": options}


def _closed(problem: Problem) -> str:
    """The question with a question mark, where it ends without any mark."""
    text = problem.question.strip()
    return text if not text or category(text[-1]).startswith(("P", "S")) else f"{text}?"
