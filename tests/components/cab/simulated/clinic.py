"""Runs the real agents on tasks of ClinicalAgent Bench that the project ships, with its own toolbox."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import yaml

from components.agents.reflectool import ReflecTool
from components.cab.datasets.cab import Cab
from components.cab.scorers import Cab as Scorer
from components.core.messages import Completion, Request
from components.core.plain import Accept, Intact
from components.core.types import Sample, Trajectory
from components.grammars.bracket_json import BracketJson
from components.memory.learnt import Learnt
from components.models.simulated import Simulated
from components.models.simulated.serve import Server
from components.stages.optimize import Optimize
from runner.config.build import construct
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from runner.learning.stage_context import Practice
from runner.serve import model_of
from tests.simulated import simulated

CONF = Path(__file__).parents[4] / "conf" / "toolset" / "clinical.yaml"
QUICK = ("Medrag", "HuatuoGPT", "Calculator", "SQLCoder", "LongDocRAG")
STEADY = {"wrong_tool_rate": 0.0, "malformed_rate": 0.0}
ALL = tuple(Cab(shipped="cab_mini").load("test"))


@cache
def toolset(*use: str) -> Any:
    """The shipped toolbox with these of its tools."""
    node = yaml.safe_load(CONF.read_text())
    return construct({**node, "use": list(use or QUICK)}, "toolset")


def of(*tasks: str, split: str = "test", each: int = 16) -> list[Sample]:
    """The first samples of each task."""
    return [
        one for task in tasks for one in list(Cab(shipped="cab_mini", tasks=(task,), split=split).load(split))[:each]
    ]


@dataclass
class Clinic:
    """The parts of an experiment on shipped tasks."""

    agent: Any = field(default_factory=ReflecTool)
    verifier: Any = field(default_factory=Accept)
    grammar: Any = field(default_factory=BracketJson)
    tools: Sequence[str] = QUICK
    memory: Any = None
    rates: dict[str, float] = field(default_factory=lambda: dict(STEADY))
    seed: int = 0

    def parts(self) -> Parts:
        return Parts(
            self.agent,
            self.verifier,
            self.grammar,
            toolset(*self.tools),
            Intact(),
            {"cab": Scorer()},
            memory=self.memory,
        )

    def door(self, samples: Sequence[Sample], kind: type[Simulated] = Simulated) -> Door:
        model = simulated(kind, **self.rates)
        model.study(samples)
        return Door({"main": model}, None, run_seed=self.seed)

    async def play(
        self, samples: Sequence[Sample], kind: type[Simulated] = Simulated
    ) -> list[tuple[Trajectory, float]]:
        """Each trajectory with its strict score; none may end in an error."""
        door, parts, results = self.door(samples, kind), self.parts(), []
        for sample in samples:
            trajectory, scores = await run_episode(parts, door, sample, 0)
            assert trajectory.stop != "error", trajectory.error
            results.append((trajectory, next(s.value for s in scores if s.name == "score/strict") or 0.0))
        return results

    async def learn(self, samples: Sequence[Sample], folder: Path, **shown: Any) -> Any:
        """What the real stage makes of training samples, as a memory."""
        practice = Practice(self.agent, self.parts(), self.door(samples))
        for name, value in (await Optimize().run(practice, samples)).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(orjson.dumps(value))
        return Learnt(Optimize(), **shown).open(folder, "clinic")


def noting() -> tuple[list[tuple[Request, Completion]], type[Simulated]]:
    """A list, and a simulated model that writes its requests and replies into it."""
    asked: list[tuple[Request, Completion]] = []

    class Noting(Simulated):
        async def generate(self, request: Request) -> Completion:
            asked.append((request, await super().generate(request)))
            return asked[-1][1]

    return asked, Noting


async def served_alike(asked: Sequence[tuple[Request, Completion]]) -> None:
    """Whether the core behind HTTP, given its dataset, replies to all of them as it did in process."""
    server = Server(model_of(["dataset=cab_mini"]))
    url = await server.start()
    async with aiohttp.ClientSession() as session:
        for request, completion in asked:
            body = {"messages": [orjson.loads(m.wire) for m in request.messages], "seed": request.seed}
            body |= {"tools": [orjson.loads(t.wire) for t in request.tools]} if request.tools else {}
            async with session.post(f"{url}/chat/completions", json=body) as got:
                said = (await got.json())["choices"][0]["message"]
            assert said == orjson.loads(completion.message.wire)
    await server.stop()
