import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from components.agents.direct import Direct
from components.agents.react import ReAct
from components.core.errors import ConfigError, ModelError
from components.core.types import Problem, Sample
from components.stages.optimize import Optimize
from runner.learning.stage_context import Practice
from tests.attempts import Attempt, Echo
from tests.parts import Right
from tests.table import each_row

A, B = 'Action: Finish[{"response": "A"}]', 'Action: Finish[{"response": "B"}]'
LESSONS = '{"Finish": ["name the letter"], "echo": ["be brief"], "Unknown": ["x"], "Plan": "no list"}'


@dataclass
class Class:
    """A practice whose replies depend on the request: attempts answer A first and then what ``second`` says."""

    second: str = B
    lessons: str = LESSONS
    fused: str = '["fused"]'
    agent: Any = field(default_factory=lambda: ReAct("reflectool"))
    asked: list[str] = field(default_factory=list)

    def say(self, request: Any) -> str:
        text = request.messages[-1].text
        kind = next(
            (
                k
                for k, words in (
                    ("merge", "Known so far"),
                    ("suggest", "Compare the two"),
                    ("reflect", "state no answer"),
                )
                if words in text
            ),
            "act",
        )
        self.asked.append(kind)
        said = {"merge": self.fused, "suggest": self.lessons, "reflect": "look closer"}
        return said.get(kind) or (self.second if "[Previous_Trial]" in text else A)

    def practice(self) -> Practice:
        attempt = Attempt(tool=Echo(), scorers={"right": Right()})
        episode, _, _ = attempt.episode(self.say, None, self.agent)
        return Practice(self.agent, episode.shared.parts, episode.shared.door)


def samples(n: int) -> list[Sample]:
    return [
        Sample(Problem(f"t{i}", f"question {i}", {"A": "gout", "B": "scurvy"}), "B", {"task": "medqa"})
        for i in range(n)
    ]


async def test_a_task_solved_at_the_second_attempt_is_remembered():
    room = Class()
    files = await Optimize().run(room.practice(), samples(1))
    item = files["long_term/example_1.json"]
    assert item["contents"] == "Instruction:\nquestion 0\nA. gout\nB. scurvy" and item["score"] == 1.0
    assert [did for did, _ in item["task"]["prev_act_obs"][-1]] == [
        'Finish[{"response":"A"}]',
        'Reflection[{"response":"look closer"}]',
    ]
    assert item["act_obs"] == [['Finish[{"response":"B"}]', "B"]]
    assert files["experience/step-1.json"] == {"Finish": ["fused"], "echo": ["fused"]}
    assert files["provenance.json"] == [{"id": "t0", "lessons": {"Finish": ["name the letter"], "echo": ["be brief"]}}]
    assert json.dumps(files)


async def test_a_task_that_fails_twice_is_not_remembered():
    room = Class(second=A)
    assert await Optimize().run(room.practice(), samples(2)) == {"provenance.json": []}
    assert room.asked.count("reflect") == 2 and "suggest" not in room.asked


@each_row("every, steps", [(1, [1, 2, 3, 4, 5]), (2, [2, 4, 5]), (10, [5])])
async def test_lessons_are_merged_in_batches_and_the_last_is_not_lost(every, steps):
    files = await Optimize(merge_every=every).run(Class().practice(), samples(5))
    assert [int(name[16:-5]) for name in files if name.startswith("experience/step-")] == steps
    assert [name for name in files if name.startswith("long_term")] == [
        f"long_term/example_{n}.json" for n in range(1, 6)
    ]


async def test_unreadable_replies_are_asked_for_again_and_an_empty_merge_erases_nothing():
    room = Class(lessons="prose", fused="[]")
    files = await Optimize(draws=3).run(room.practice(), samples(1))
    assert room.asked.count("suggest") == 3 and files["experience/step-1.json"] == {}
    room = Class(fused="[]")
    files = await Optimize(draws=2).run(room.practice(), samples(1))
    assert files["experience/step-1.json"] == {"Finish": ["name the letter"], "echo": ["be brief"]}
    assert room.asked.count("merge") == 4


async def test_several_rounds_reflect_several_times():
    room = Class()
    files = await Optimize(reflect_rounds=2).run(room.practice(), samples(1))
    assert room.asked.count("reflect") == 2 and len(files["long_term/example_1.json"]["task"]["prev_act_obs"]) == 2


async def test_an_agent_that_cannot_try_again_is_refused():
    with pytest.raises(ConfigError, match="Direct cannot try a task again"):
        await Optimize().run(Class(agent=Direct()).practice(), samples(1))


async def test_a_fault_of_the_model_stops_the_stage():
    room = Class()
    practice = room.practice()
    room.second = ModelError("down", "server")
    with pytest.raises(ModelError, match="training sample 't0'"):
        await Optimize().run(practice, samples(2))


async def test_each_task_is_learnt_from_its_own_samples_alone():
    parted = [replace(one, strata={"task": "ab"[n % 2]}) for n, one in enumerate(samples(5))]
    class_ = Class()
    files = await Optimize(merge_every=10).run(class_.practice(), parted)
    assert {name for name in files if "/" in name} == {
        *(f"tasks/a/long_term/example_{n}.json" for n in (1, 2, 3)), "tasks/a/experience/step-3.json",
        *(f"tasks/b/long_term/example_{n}.json" for n in (1, 2)), "tasks/b/experience/step-2.json",
    }  # fmt: skip
    asked = {
        task: [files[name]["task"]["task_id"] for name in files if name.startswith(f"tasks/{task}/long")]
        for task in "ab"
    }
    assert asked == {"a": ["t0", "t2", "t4"], "b": ["t1", "t3"]}
    assert files["tasks.json"] == {"a": {"tried": 3, "solved": 3}, "b": {"tried": 2, "solved": 2}}
    assert [(one["task"], one["id"]) for one in files["provenance.json"]][2:4] == [("a", "t4"), ("b", "t1")]
    together = await Optimize(per="all").run(Class().practice(), parted)
    assert "long_term/example_5.json" in together and "tasks.json" not in together
