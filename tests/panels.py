"""A panel of scripted experts, with dissent by round and unreadable replies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.core.messages import Request
from components.core.types import Problem, Trajectory
from components.panel.agent import Level, MedAgents
from tests.attempts import Attempt

QUESTION = Problem("q", "A man of 40 cannot swallow. What comes next", {"A": "Biopsy", "B": "Rest"}, "He smokes.")
SAYS = {
    "plan": "Medical Field: Surgery | Oncology | Radiology | Genetics | Dentistry",
    "knowledge": "It looks like a tumour.",
    "summarise": "Key Knowledge: tumours need tissue.\nTotal Analysis: Biopsy is most plausible.",
    "vote": "YES",
    "reflect": "Revisions: say why.",
    "report": "Total Analysis: Biopsy, since rest does not help.",
    "answer": "Option: A",
}


@dataclass
class Script:
    """Replies by purpose. ``doubts``: number of no votes in each round; ``says`` replaces replies."""

    doubts: Sequence[int] = ()
    says: Mapping[str, str | Callable[[Request], Any]] = field(default_factory=dict)

    def __call__(self, request: Request) -> Any:
        reply = {**SAYS, **self.says}[request.purpose]
        if callable(reply):
            return reply(request)
        if request.purpose == "vote" and "vote" not in self.says:
            _, number, _, expert = request.branch.split("/")
            doubts = self.doubts[int(number) - 1] if int(number) <= len(self.doubts) else 0
            return "NO" if int(expert) <= doubts else "YES"
        return reply


async def panel(script: Script | None = None, agent: MedAgents | None = None, **desk: Any) -> Any:
    """The outcome, the model with its requests, the trajectory with sorted steps."""
    agent = agent or MedAgents()
    episode, model, trajectory = Attempt(**{"problem": QUESTION, "target": "A", "tool": None, **desk}).episode(
        script or Script(), None, agent
    )
    try:
        outcome = await agent.solve(episode)
    finally:
        episode.shared.close()
    return outcome, model, trajectory


def votes(trajectory: Trajectory) -> list[list[str]]:
    """The votes of each round, in order."""
    rounds: dict[int, list[str]] = {}
    for step in trajectory.steps:
        if step.remarks.get("stage") == "vote":
            rounds.setdefault(step.remarks["round"], []).append(step.remarks["vote"])
    return list(rounds.values())


def calls_needed(level: Level, m: int, n: int, dissents: Sequence[int] = ()) -> int:
    """Calls of a panel that ended without error (Tang et al. 2024, algorithm 1 and table 3, counted).

    ``m`` and ``n``: experts of the question and of the options that were really gathered. ``dissents``: the number of
    no votes in each round of a consultation, the last round included; the other levels have no rounds.
    """
    gathering, analyses, decision = 2, m + n, 1
    calls = gathering + analyses + decision
    if level == "analysis":
        return calls
    calls += 1  # the report
    if level == "summary":
        return calls
    return calls + sum(m + n + dissent + (dissent > 0) for dissent in dissents)
