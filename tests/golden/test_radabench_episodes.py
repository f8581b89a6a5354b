"""Golden vectors of RadABench's episodes: every scripted trajectory run by the real agent through the real door."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import orjson
import pytest

from components.core.errors import ModelError
from components.core.messages import Message, Request
from components.core.plain import Accept
from components.core.tools import Offer
from components.core.types import Sample, Step, Trajectory
from components.grammars.xml_call import XmlCall
from components.models.scripted import Scripted
from components.radiology.agent import Radagent
from components.radiology.execution import Suitable, ground_truth, planned_chain, read
from components.radiology.memory import RadiologyMemory, read_inputs
from components.radiology.scorers.refusal import Refusals
from components.radiology.scorers.response import mentions_error
from components.radiology.switches import Switches
from components.radiology.tasks import BQ, IE
from components.radiology.toolset import Radiology
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.episode.shared import Parts
from tests.golden import vectors as vectors_module
from tests.golden.test_radabench_metrics import LABELS, SCORERS, STOPS, cases, check
from tests.golden.test_radabench_tools import CONDITIONS, tools_of
from tests.golden.vectors import CODE, PAPER, Unit, all_vectors, units

# Errors that are found before a tool of the benchmark runs, and the classes that the reference raises for them.
OUTSIDE = {"unknown_tool": "NameError", "unparsable_reply": "AttributeError"}
State = tuple[dict[str, Any], dict[str, float]]


@dataclass
class Given:
    """The vector's condition, with the tools that the vector gives as data in place of its draws."""

    unit: Unit
    memory: RadiologyMemory | None = None

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        made = CONDITIONS[self.unit.data["condition"]](CODE).offer(offer, sample, rng)
        assert isinstance(made.state, RadiologyMemory)
        self.memory = made.state
        return replace(made, tools=tools_of(self.unit))


@dataclass
class Episode:
    """A vector that was run. ``seen`` is (values, scores) of the memory at the time of every model call."""

    unit: Unit
    sample: Sample
    trajectory: Trajectory = field(default_factory=Trajectory)
    requests: list[Request] = field(default_factory=list)
    seen: list[State] = field(default_factory=list)

    def asked(self, purpose: str) -> list[Request]:
        return [request for request in self.requests if request.purpose == purpose]

    def after(self, purpose: str) -> list[State]:
        """The memory after each call of this purpose and what it led to."""
        both = zip(self.requests, self.seen[1:], strict=True)
        return [seen for request, seen in both if request.purpose == purpose]


async def run_vector(unit: Unit) -> Episode:
    """Run the vector's replies, each only for the purpose it was written for."""
    data, turns = unit.data, unit.data["turns"]
    lines = {"plan": [turns["plan"]], "act": list(turns["steps"])}
    lines |= {"validate": [turns["validation"]], "conclude": [turns["conclusion"]]}
    episode, given = Episode(unit, unit.vectors.sample(data["record"], data["chain"])), Given(unit)

    def memory() -> State:
        assert given.memory is not None
        return dict(given.memory.values), dict(given.memory.scores)

    def say(request: Request) -> str | ModelError:
        episode.seen.append(memory())
        left = lines.get(request.purpose)
        return left.pop(0) if left and left[0] is not None else ModelError("not in the vector", request.purpose)

    model = Scripted(say)
    door = Door({"main": model}, None, run_seed=0)
    parts = Parts(Radagent(CODE), Accept(), XmlCall(), Radiology(CODE), given, {s.__name__: s(CODE) for s in SCORERS})
    episode.trajectory, scores = await run_episode(parts, door, episode.sample, 0)
    assert episode.trajectory.error is None or episode.trajectory.stop == "failed", episode.trajectory.error
    assert not [line for left in lines.values() for line in left if line is not None], f"unasked: {lines}"
    assert {score.name for score in scores} > {*LABELS.values()}
    episode.requests = model.requests
    episode.seen.append(memory())
    return episode


def shown(message: Message) -> dict[str, Any]:
    """The memory that a message shows."""
    return dict(orjson.loads(message.text[message.text.index('{"$') : message.text.rindex("}") + 1]))


@cases("trajectories")
async def test_planning_and_start_memory(unit: Unit) -> None:
    episode, expected = await run_vector(unit), unit.data["expected"]
    start = (expected["start"]["values"], pytest.approx(expected["start"]["scores"], abs=unit.vectors.tolerance))
    assert episode.after("plan") == [start]
    plan = episode.requests[0]
    assert [m.role for m in plan.messages] == ["system", "user"]
    assert plan.messages[1].text == f"Question: {episode.sample.problem.question}"
    first = episode.asked("act")[0].messages
    assert [m.role for m in first] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert episode.trajectory.steps[0].observed[0].observation.data["plan"] == expected["runtime_plan"]
    echo = first[2].text.partition("\nPlan: ")
    assert shown(first[2]) == expected["start"]["values"]
    assert (echo[2].split(" -> ") if echo[1] else None) == expected["runtime_plan"]


@cases("trajectories")
async def test_steps_and_end(unit: Unit) -> None:
    episode, expected = await run_vector(unit), unit.data["expected"]
    before, memories, asked = expected["start"], episode.after("act"), episode.asked("act")
    acts = [step for step in episode.trajectory.steps if step.purpose == "act"]
    for step, seen, request, wanted in zip(acts, memories, asked, expected["steps"], strict=True):
        action = step.action
        assert action is not None
        assert shown(request.messages[-1]) == before["values"]
        if wanted["outcome"] == "denied":
            assert wanted["tag"] == "NoCall" and action.refusal and action.refusal.grounds == wanted["fields"]
        elif wanted["tag"] is None:
            assert action.error == wanted["error_reason"] and not action.calls and wanted["fields"] is None
        else:
            (call,) = action.calls
            assert ("EndCall" if action.last else "Call") == wanted["tag"]
            given = {"purpose": action.purpose, "tool": call.name, "input": read_inputs(call.parsed["input"])}
            assert given == wanted["fields"]
        assert error_of(step) == (wanted.get("error_reason"), wanted.get("error_class"))
        before = wanted if wanted["outcome"] == "ok" else before
        assert seen == (before["values"], pytest.approx(before["scores"], abs=unit.vectors.tolerance))
    assert episode.trajectory.stop == STOPS[expected["end_state"]]
    assert episode.trajectory.failure == expected["steps"][-1].get("error_reason")
    assert episode.trajectory.answer == unit.data["turns"]["conclusion"]


@cases("trajectories")
async def test_only_the_final_memory_shows_the_patients_information(unit: Unit) -> None:
    episode = await run_vector(unit)
    expected_value = episode.sample.metadata["record"]["Information"]
    expected_value = "PLACEHOLDER_INFORMATION" if unit.data["condition"] == "baseline" else expected_value
    for request in episode.asked("conclude"):
        assert shown(request.messages[-1])["$Information$"] == expected_value
        assert request.messages[-2].text == unit.data["turns"]["steps"][-1]
    assert len(episode.asked("validate")) == (unit.data["turns"]["validation"] is not None)


def error_of(step: Step) -> tuple[str | None, str | None]:
    """Label and class of the error in a step."""
    assert step.action is not None
    for one in step.observed:
        if one.error is not None:
            return one.error, one.observation.data.get("error_class", OUTSIDE.get(one.error))
    return step.action.error, OUTSIDE.get(step.action.error or "")


def scores(episode: Episode, switches: Switches) -> dict[str, float | None]:
    """The results of the real scorers for an episode, each metric in a condition that publishes it."""
    found: dict[str, float | None] = {}
    for kind in ("baseline", "differentiated", "redundant"):
        one = replace(episode.trajectory, facts={**episode.trajectory.facts, "kind": kind})
        for score in (score for scorer in SCORERS[:-1] for score in scorer(switches).score(episode.sample, one)):
            found[score.name] = found.get(score.name) if score.value is None else score.value
    return found | {score.name: score.value for score in Refusals(switches).score(episode.sample, episode.trajectory)}


def chains(episode: Episode, switches: Switches) -> dict[str, list[str]]:
    execution, chain = read(episode.trajectory, switches), episode.unit.data["chain"]
    return {
        "ground_truth": list(ground_truth(chain, switches.category_typing)),
        "decision_chain": list(planned_chain(execution.plan or "", switches)),
        "execution_chain": list(execution.categories(switches)),
    }


@cases("trajectories")
async def test_metrics_of_the_reference(unit: Unit) -> None:
    found = scores(episode := await run_vector(unit), CODE)
    success, refusal = bool(found["execution/ecr"]), episode.trajectory.refusal
    grounds = refusal.grounds if refusal else {}
    record, facts = episode.sample.metadata["record"], episode.trajectory.facts
    values = {label: found[name] for label, name in LABELS.items()} | {
        **chains(episode, CODE),
        "success": success,
        "error_class": [error_of(step)[1] for step in episode.trajectory.steps if step.action][-1],
        "target_hit": bool(found["execution/thr"]) if success else None,
        "failed_length_ratio": found["execution/pfsp"],
        "milestone": bool(found["execution/mhr"]),
        "log_mentions_error": not success or mentions_error(episode.trajectory),
        "optimal_tool_score": found["execution/ots"],
        "aware": bool(found["refusal/uar"]),
        "grounded": bool(found["refusal/ugr"]),
        "ground_truth_category": facts.get("ground_truth_code"),
        **{f"{p.lower()}_match": grounds.get(p.lower()) in (record[p], "Universal") for p in ("Anatomy", "Modality")},
    }
    for name in ("f1", "bleu", "rouge_l"):  # what the reference leaves out of its means stands as 0 in the vectors
        assert (found[f"response/{name}"] is None) == values["log_mentions_error"]
        values[name] = found[f"response/{name}"] or 0
    check(values, unit.data["expected"]["code_metrics"], unit)


@cases("trajectories")
async def test_metrics_of_the_article(unit: Unit) -> None:
    found = scores(episode := await run_vector(unit), PAPER)
    every = scores(episode, replace(PAPER, ots_include_single=True))
    values = {label: found[name] for label, name in LABELS.items()} | {
        **chains(episode, PAPER),
        "execution_completed": bool(found["execution/ecr"]),
        "pre_failure_success": found["execution/pfsp"],
        "target_hit": bool(found["execution/thr"]),
        "optimal_tool_score": found["execution/ots"],
        "optimal_tool_score_all_steps": every["execution/ots"],
        "optimal_tool_steps": choices(episode),
        "aware_strict": bool(found["refusal/uar"]),
        "grounded_strict": bool(found["refusal/ugr"]),
    }
    check(values, unit.data["expected"]["paper_metrics"], unit)


def choices(episode: Episode) -> int:
    """How many successful steps had a choice among suitable tools."""
    suitable = Suitable(episode.trajectory.offered, episode.sample.metadata["record"])
    calls = [call for call in read(episode.trajectory, PAPER).calls if call.ok and call.category]
    return sum(len(suitable.tools(str(c.category), c.variant if c.category in (BQ, IE) else None)) > 1 for c in calls)


def test_an_unknown_kind_of_vector_fails_loudly(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(all_vectors()[0].data)
    monkeypatch.setenv("GOLDEN_DIR", str(tmp_path))
    for change, text in (({"units": {"tool_names": []}}, "unknown kinds of units"), ({"new": []}, "unknown top keys")):
        (tmp_path / "radabench_new.json").write_bytes(orjson.dumps({**known, **change}))
        with pytest.raises(ValueError, match=text):
            vectors_module.all_vectors.__wrapped__()
    with pytest.raises(ValueError, match="unknown kind 'dialogues'"):
        next(units("dialogues"))
