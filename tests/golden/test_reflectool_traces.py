"""Golden vectors of ReflecTool's traces: verifiers, whole episodes, optimisation, memory, suggestions.

Every ``reflectool_*.json`` in GOLDEN_DIR (default: this folder); an unknown section fails.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.acting.inner_actions import INNER
from components.agents.react import ReAct
from components.agents.reflectool import ReflecTool
from components.agents.reflexion import Reflexion
from components.cab.scorers import Cab
from components.core.errors import ToolError
from components.core.messages import Completion, Message, Request, Sampling, ToolSpec, Usage
from components.core.plain import Accept
from components.core.tools import Offer
from components.core.types import Action, Observation, Problem, Sample, Score, Trajectory
from components.grammars.bracket_json import BracketJson, read_call
from components.memory.learnt import chain_of
from components.stages.optimize import Optimize
from components.text.structured import array_in, object_in
from components.verifiers.refine import Refine
from components.verifiers.select import Select
from runner.episode.door import Door
from runner.episode.episode import Episode, run_episode
from runner.episode.shared import Parts, Shared
from runner.learning.stage_context import Practice
from tests.parts import Intact

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
SECTIONS = {
    "README", "action_parsing", "scoring", "databases", "bm25", "verifier_traces", "episode_traces",
    "optimisation_traces", "sql_cleaning", "sql_result_text", "suggestion_parsing", "memory_views", "aggregation",
    "tool_distribution", "official_quirks",
}  # fmt: skip


def vectors(section: str) -> list[Any]:
    return list(_vectors(section))


def _vectors(section: str) -> Iterator[Any]:
    for path in sorted(FOLDER.glob("reflectool_*.json")):
        for case in orjson.loads(path.read_bytes()).get(section, ()):
            yield pytest.param(case, id=case["id"])


def test_every_section_is_read():
    files = list(FOLDER.glob("reflectool_*.json"))
    assert files
    for path in files:
        assert set(orjson.loads(path.read_bytes())) <= SECTIONS


def spec(name: str, parameter: str) -> ToolSpec:
    properties = {parameter: {"type": "string"}}
    return ToolSpec(name, name, {"type": "object", "properties": properties, "required": [parameter]})


@dataclass
class Noted:
    """A tool that notes its runs; UMLS always fails."""

    spec: ToolSpec
    runs: list[tuple[str, dict[str, Any]]]
    effect: str = "pure"

    async def __call__(self, context: Any, **arguments: Any) -> Observation:
        self.runs.append((self.spec.name, arguments))
        if self.spec.name == "UMLS":
            raise ToolError("the service is down", "unavailable")
        return Observation("found")


@dataclass
class Box:
    runs: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def open(self, sample: Sample) -> Offer:
        tools = [
            Noted(spec("Medrag", "query"), self.runs),
            Noted(spec("UMLS", "medical_terminology"), self.runs),
            *INNER,
        ]
        return Offer({tool.spec.name: tool for tool in tools})


@dataclass
class Replies:
    """A model that replays the replies of the vector; candidates drawn at once are one generation, as in the reference."""

    texts: list[str]
    asked: list[Request] = field(default_factory=list)
    name: str = "replies"
    identity: str = "replies"
    kind: str = "simulated"
    in_process: bool = True
    permits: tuple[str, ...] = ()
    deterministic: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    max_connections: int = 1

    async def generate(self, request: Request) -> Completion:
        self.asked.append(request)
        return Completion(Message("assistant", self.texts.pop(0)), Usage(1, 1, 0.0))

    async def close(self) -> None:
        return None


@dataclass
class Guide:
    """A memory without tasks that notes whose experience was looked up."""

    looked: list[str] = field(default_factory=list)
    digest: str = ""

    def search(self, problem: str) -> tuple[()]:
        return ()

    def experience(self, tool: str) -> list[str]:
        self.looked.append(tool)
        return ["be brief"]


def flat(replies: list[Any]) -> list[str]:
    return [one for reply in replies for one in (reply if isinstance(reply, list) else [reply])]


def table(
    agent: Any, replies: list[Any], verifier: Any, memory: Any = None, scorers: Any = None
) -> tuple[Parts, Door, Replies, Box]:
    model, box = Replies(flat(replies)), Box()
    parts = Parts(agent, verifier, BracketJson(), box, Intact(), scorers or {}, memory=memory)
    return parts, Door({"main": model}, None, run_seed=0), model, box


def generations(model: Replies, replies: list[Any]) -> int:
    """Model calls, the candidates of one step counted once."""
    return len(model.asked) - sum(len(one) - 1 for one in replies if isinstance(one, list))


def verifier(case: Any) -> Any:
    if case["mode"] == "select":
        return Select(n=case["n"])
    return Refine(n=case["n"], counting="total", history="latest")


def read(action: Action) -> dict[str, Any]:
    if action.error is not None:
        return {"ok": False, "name": None, "params": {}}
    if action.answer is not None:
        return {"ok": True, "name": "Finish", "params": {"response": action.answer}}
    (call,) = action.calls
    return {"ok": True, "name": call.name, "params": call.parsed}


@pytest.mark.parametrize("case", vectors("verifier_traces"))
async def test_verifier_trace(case):
    memory = Guide()
    parts, door, model, box = table(ReAct(), case["llm_replies"], verifier(case), memory)
    shared = Shared(parts, door, Sample(Problem("p", "q"), None), 0, (trajectory := Trajectory()))
    episode = Episode(shared, shared.open())
    action = await episode.act([Message("user", "q")])
    expected = case["expected"]
    assert read(action) == expected["chosen"]
    assert generations(model, case["llm_replies"]) == expected["llm_calls"]
    assert sorted(map(json.dumps, box.runs)) == sorted(map(json.dumps, expected["tool_runs_before_commit"]))
    known = {"Medrag", "UMLS", "Plan", "Think", "Finish"}
    assert sorted(set(memory.looked) & known) == sorted(
        {name for names in expected["experience_lookups"] for name in names}
    )
    assert [step.committed for step in trajectory.steps if step.action is action] == [True]


def kinds(trajectory: Any, branch: str) -> list[str]:
    """The result of each committed step of a trial."""
    found = []
    for step in trajectory.steps:
        if step.action is None or not step.committed or step.branch != branch:
            continue
        if step.action.error is not None:
            found.append("unknown_action")
        elif step.action.answer is not None:
            found.append("result")
        else:
            (seen,) = step.observed
            inner = seen.call.name in ("Plan", "Think")
            kind = {"unknown_tool": "unknown_action", None: "ok" if inner else "result"}
            found.append(kind.get(seen.error, "error"))
    return found


def offered(request: Request) -> list[str]:
    """The actions that a request's prompt lists."""
    text = request.messages[0].text
    cards = [line for line in text.splitlines() if line.startswith('{"') and "name" in line[:8].lower()]
    return sorted(
        [*(next(iter(json.loads(line).values())) for line in cards), *(["Finish"] if "Finish[" in text else [])]
    )


@pytest.mark.parametrize("case", vectors("episode_traces"))
async def test_episode_trace(case):
    pace = {"max_steps": case["max_steps"], "force_finish": case["force_finish"]}
    agents: dict[str, ReAct] = {
        "react": ReAct(**pace), "reflexion": Reflexion(**pace, trials=case.get("reflect_iter", 0) + 1), "reflectool": ReflecTool(**pace),
    }  # fmt: skip
    checks = verifier(case) if case["agent"] == "reflectool" else Accept()
    parts, door, model, box = table(agents[case["agent"]], case["llm_replies"], checks)
    trajectory, _ = await run_episode(parts, door, Sample(Problem("p", "q"), None), 0)
    expected = case["expected"]
    trials = 1 + expected["previous_trials"]
    branch = "main" if trials == 1 else f"trial/{trials}"
    assert generations(model, case["llm_replies"]) == expected["llm_calls"]
    assert (trajectory.stop == "answered", trajectory.answer) == (expected["completed"], expected["answer"])
    found = kinds(trajectory, branch)
    assert (len(found), found) == (expected["steps"], expected["observation_kinds"])
    ran = [name for name, _ in box.runs]
    if "tool_runs" in expected:
        assert ran == expected["tool_runs"]
    else:
        assert set(ran) == set(expected["tool_runs_without_attempt_cache"])
    acted = [request for request in model.asked if request.purpose == "act"]
    assert offered(acted[-1]) == expected["actions_offered_last_step"]


class Judge(Cab):
    """Scores as the reference does."""

    def score(self, sample: Sample, trajectory: Any) -> list[Score]:
        return [one for one in super().score(sample, trajectory) if one.name == "score/official"]


def trained(case: Any) -> Sample:
    """The vector's task as a sample: choices have letter and text apart."""
    key = case["eval"]
    choices = {key["answer_idx"]: key["answer"]} if "answer_idx" in key else {}
    return Sample(Problem("p", "q", choices), key.get("answer_idx", key), {"task": case["dataset"]})


@pytest.mark.parametrize("case", vectors("optimisation_traces"))
async def test_optimisation_trace(case):
    expected = case["expected"]
    pace = {"max_steps": case["max_steps"], "force_finish": case["force_finish"]}
    after = ['{"UMLS": ["name the concept"], "Finish": ["name the letter"]}', '["one"]', '["one"]']
    parts, door, model, _ = table(
        ReflecTool(**pace), [*case["llm_replies"], *after], Accept(), scorers={"judge": Judge()}
    )
    practice = Practice(parts.agent, parts, door)
    files = await Optimize().run(practice, [trained(case)])
    items = [value for name, value in files.items() if name.startswith("long_term/")]
    assert bool(items) == expected["stored"]
    learnt = [
        request
        for request in model.asked
        if "Known so far" in request.messages[-1].text or "Compare the two" in request.messages[-1].text
    ]
    assert len(model.asked) - len(learnt) == expected["llm_calls"]
    for item in items:
        assert [did.partition("[")[0] for did, _ in item["act_obs"]] == expected["final_trajectory"]
        assert [did.partition("[")[0] for did, _ in item["task"]["prev_act_obs"][-1]] == expected["first_trajectory"]
        assert (item["score"], item["act_obs"][-1][1]) == (
            pytest.approx(expected["final_score"]),
            expected["final_answer"],
        )
        assert files["experience/step-1.json"]


@pytest.mark.parametrize("case", vectors("memory_views"))
def test_memory_view(case):
    for view, reflected in (("with_reflection", True), ("without_reflection", False)):
        chain = [(read_call(did), saw) for did, saw in chain_of(case["item"], reflected)]
        assert [[call.name, call.params, saw] for call, saw in chain] == case["expected"][view]


@pytest.mark.parametrize("case", vectors("suggestion_parsing"))
def test_suggestion(case):
    reader = {"object": object_in, "array": array_in}[case["expected_kind"]]
    assert reader(case["raw"]) == case["expected"]
