"""What the server is asked: ReAct-like questions with a tool call between any two model calls.

The system prompt has about 4 kB; agent, toolset, condition and scorer are as small as such parts can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from components.core.messages import Message, ToolSpec
from components.core.protocols import Episode
from components.core.tools import Context, Effect, Offer, Tool
from components.core.types import Answer, Observation, Problem, Refusal, Sample, Score, Trajectory
from components.grammars.bracket_json import BracketJson

CALLS = 5
ANSWER = 'Finish[{"response": "The dose is 40 mg once a day, given the clearance of 62 ml/min."}]'
NATIVE_MODEL = "bench-native"  # replies with calls of the tools that the radiology toolset offers
_SUBJECTS = ("renal function", "liver enzymes", "current drugs", "allergies", "weight and height", "earlier imaging",
             "electrolytes", "blood count", "coagulation", "vital signs")  # fmt: skip


def action(n: int) -> str:
    """The n-th action that the server's model takes."""
    subject = _SUBJECTS[n % len(_SUBJECTS)]
    thought = f"Before I can name the dose I need the patient's {subject}, since the label adjusts for it."
    return f'Thought: {thought}\nAction: lookup_{n % len(_SUBJECTS)}[{{"patient": "p{n}", "unit": "SI"}}]'


def native_call(n: int) -> dict[str, Any]:
    """The n-th native tool call of the server's model, of a tool by the name that RadABench's toolset gives it."""
    arguments = '{"purpose": "Learn what the image shows before the next step.", "input": ["$Image$"]}'
    function = {"name": f"TOOL{n + 1}", "arguments": arguments}
    return {"content": "", "tool_calls": [{"id": f"call_{n}", "type": "function", "function": function}]}


def _spec(n: int) -> ToolSpec:
    parameters = {
        "type": "object",
        "properties": {"patient": {"type": "string"}, "unit": {"type": "string", "enum": ["SI", "conventional"]}},
        "required": ["patient"],
    }
    text = f"Looks up the newest {_SUBJECTS[n]} in the patient's chart, with the day, the unit and what the ward noted."
    return ToolSpec(f"lookup_{n}", text, parameters)


@dataclass(frozen=True)
class Lookup:
    """Tells a line about a patient."""

    spec: ToolSpec
    effect: Effect = "pure"

    async def __call__(self, context: Context, patient: str = "", unit: str = "", **_: Any) -> Observation:
        """Make the line up."""
        return Observation(f"{patient}: within limits on day 3 ({unit}); no note for {context.problem.id}.")


TOOLS: Mapping[str, Tool] = {f"lookup_{n}": Lookup(_spec(n)) for n in range(len(_SUBJECTS))}


@dataclass(frozen=True)
class Chart:
    """The same tools for everybody."""

    def open(self, sample: Sample) -> Offer:
        """Offer them."""
        return Offer(TOOLS)


@dataclass(frozen=True)
class Intact:
    """Nothing is done to the tools."""

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """The offer as it is."""
        return offer


@dataclass(frozen=True)
class Stepper:
    """Acts and observes until there is an answer."""

    async def solve(self, episode: Episode) -> Answer | Refusal:
        """The smallest loop there is."""
        messages = [Message("system", episode.instructions()), Message("user", episode.problem.question)]
        while True:
            step = await episode.act(messages)
            if step.answer is not None:
                return Answer(step.answer)
            messages += [step.message, *await episode.observe(step)]


@dataclass(frozen=True)
class Exact:
    """1 when the answer is the target."""

    version: str = "1"

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Compare."""
        return [Score("score/exact", float(trajectory.answer == sample.target), ceiling=1.0)]


@dataclass(frozen=True)
class Questions:
    """Samples and the prompts of the bare loops, which are the same."""

    n: int
    grammar: BracketJson = field(default_factory=BracketJson)

    def samples(self) -> list[Sample]:
        """All of them."""
        return [Sample(Problem(f"q{n}", self.question(n)), "none", {}, f"p{n // 2}") for n in range(self.n)]

    def question(self, n: int) -> str:
        """The text of one."""
        return f"Patient p{n} is to start an anticoagulant after surgery on day {n % 9}. Which dose is right, and why?"

    def system(self) -> str:
        """The system prompt."""
        return self.grammar.instructions(Chart().open(self.samples()[0]))
