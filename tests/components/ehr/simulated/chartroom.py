"""Runs the real agents on the project's own questions over health records, with a simulated core."""

import atexit
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

from components.acting.solved import Entry, SolvedQuestions, own_seeds
from components.agents.react import ReAct
from components.agents.reflexion import Reflexion
from components.core.messages import Message
from components.core.plain import Accept, Intact
from components.core.types import Sample, Trajectory
from components.ehr import actions as actions
from components.ehr.actions import PythonCell
from components.ehr.agent import EhrAgent, SelfDebugging
from components.ehr.datasets.ehrsql import EhrAgentEdition
from components.ehr.planned import Chameleon, CotPlan
from components.ehr.scorer import Ehr as Scorer
from components.ehr.simulated.case import Case, Gold
from components.ehr.simulated.prompt import prompt_of
from components.ehr.sql_agents import DinSql, Llm2Sql
from components.ehr.toolset import Ehr
from components.grammars.bracket_json import BracketJson, BracketText
from components.grammars.code_block import CodeBlock
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.simulated import Simulated
from components.stages.optimize import Solve
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from runner.learning.stage_context import Practice
from tests.simulated import asked, simulated
from tests.wards import sandbox

DATABASES = ("mimic_iii", "eicu", "treqs")
SIX = (
    actions.LoadDB(), actions.FilterDB(), actions.GetValue(), actions.SQLInterpreter(), actions.Calendar(),
    actions.Calculate(),
)  # fmt: skip
PERFECT = {
    "competence": 1.0, "planning_slip_rate": 0.0, "wrong_tool_rate": 0.0, "malformed_rate": 0.0,
    "ignored_refusal_rate": 0.0,
}  # fmt: skip
REACT = {"prompts": "ehr_react", "max_steps": 10, "shots": 4, "as_lines": True}
TRIALS = {**REACT, "prompts": "ehr_reflexion", "trials": 3, "until": "sound", "kept": 3}
EHRAGENT = EhrAgent()
ABLATIONS = {
    "knowledge": EhrAgent(knowledge=False),
    "memory": EhrAgent(memory=False),
    "code": EhrAgent(code=False),
    "debugger": EhrAgent(debugger=False),
}
AUTOGEN = EhrAgent(knowledge=False, memory=False, debugger=False, feedback="traceback")
BASELINES: dict[str, tuple[Any, Any]] = {
    "ehragent": (EHRAGENT, CodeBlock()),
    "ehragent_function": (EHRAGENT, CodeBlock("function")),
    "no_code": (ABLATIONS["code"], BracketText()),
    "autogen": (AUTOGEN, CodeBlock()),
    "self_debugging": (SelfDebugging(), CodeBlock()),
    "cot_plan": (CotPlan(), BracketText()),
    "chameleon": (Chameleon(), BracketText()),
    "llm2sql": (Llm2Sql(), BracketText()),
    "din_sql": (DinSql(), BracketText()),
    "ehr_react": (ReAct(**REACT), BracketText()),
    "ehr_reflexion": (Reflexion(**TRIALS), BracketText()),
    "react_native": (ReAct(), NativeTools()),
    "react_json": (ReAct(), BracketJson()),
    "react_xml": (ReAct(), XmlCall()),
}


@cache
def columns() -> str:
    """The folder of the tables in columns, created once and removed at the end."""
    folder = TemporaryDirectory(prefix="chartroom-")
    atexit.register(folder.cleanup)
    return folder.name


@cache
def questions(split: str = "test", unanswerable: bool = False) -> Sequence[Sample]:
    """The project's own questions."""
    return tuple(
        EhrAgentEdition(
            "ehr_mini", shipped="ehr_mini", databases=DATABASES, questions="{database}/{split}.json",
            sqlite="{database}/{database}.sqlite", count_joins=True, privacy="open", unanswerable=unanswerable,
        ).load(split)
    )  # fmt: skip


def each(n: int, split: str = "test") -> Sequence[Sample]:
    """Every n-th question."""
    return questions(split)[::n]


def toolset(python: bool = False) -> Ehr:
    """The toolset of the configuration: the six, or the one that runs code."""
    tools = (PythonCell(),) if python else SIX
    return Ehr({tool.spec.name: tool for tool in tools}, sandbox(), columns())


def case(messages: Sequence[Message], sample: Sample, seed: int = 0, **rates: float) -> Case:
    """A question on records as a prompt asks it."""
    given = asked(messages, sample, seed=seed, **rates)
    assert isinstance(given.knowledge, Gold)
    return Case(given, given.knowledge, prompt_of(given))


@dataclass
class ChartRoom:
    """The parts of an experiment on the project's own questions."""

    agent: Any = EHRAGENT
    grammar: Any = field(default_factory=CodeBlock)
    memory: Any = None
    rates: dict[str, float] = field(default_factory=dict)
    seed: int = 0
    python: bool = False
    known: Sequence[Sample] = ()

    def parts(self) -> Parts:
        memory = self.memory or SolvedQuestions("m", own_seeds("ehr_demonstrations", 4))
        return Parts(
            self.agent, Accept(), self.grammar, toolset(self.python), Intact(), {"ehr": Scorer()}, memory=memory,
        )  # fmt: skip

    def door(self, kind: type[Simulated] = Simulated) -> Door:
        model = simulated(kind, **self.rates)
        model.study([*questions(), *questions("train", True), *self.known])
        return Door({"main": model}, None, run_seed=self.seed)

    async def play(
        self, samples: Sequence[Sample], kind: type[Simulated] = Simulated
    ) -> list[tuple[Trajectory, float]]:
        """Each trajectory with its strict score; none may end in an error."""
        door, parts, results = self.door(kind), self.parts(), []
        for sample in samples:
            trajectory, scores = await run_episode(parts, door, sample, 0)
            assert trajectory.stop != "error", trajectory.error
            results.append((trajectory, next(s.value for s in scores if s.name == "score/strict") or 0.0))
        return results

    async def learn(self, samples: Sequence[Sample]) -> SolvedQuestions:
        """What the real stage makes of training questions, next to the demonstrations."""
        files = await Solve().run(Practice(self.agent, self.parts(), self.door()), samples)
        found = [Entry(**values) for values in files["solved.json"]]
        return SolvedQuestions("learnt", (*own_seeds("ehr_demonstrations", 4), *found))
