"""MCP servers and what is recorded: journals, resumed and forked episodes, epochs."""

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from components.core.plain import Accept
from components.core.types import Answer, Problem, Sample, Trajectory
from components.grammars.native_tools import NativeTools
from components.models.scripted import Scripted
from components.tools.mcp import Mcp
from components.tools.mcp.servers import Server
from runner.episode.door import Door
from runner.episode.episode import record_errors, run_episode, solve, solve_sample
from runner.episode.prefix import Prefix
from runner.episode.shared import Parts, Shared
from runner.storage.journal import Journal
from tests import parts as kit
from tests.components.conftest import AsItIs

SERVER = str(Path(__file__).with_name("server.py"))
SAMPLE = Sample(Problem("p1", "?"), None)


@pytest.fixture
def journal(tmp_path):
    """A journal for all episodes of a test."""
    with Journal(tmp_path) as journal:
        yield journal


def serving(*words, stateful=True, **settings):
    """The toolset of a server that behaves so."""
    server = Server([sys.executable, "-S", SERVER, *words], env=["PATH"], stateful=stateful, grace_seconds=0.02)
    return Mcp({"calc": server}, timeout_seconds=20.0, **settings)


@dataclass
class Counts:
    """An agent whose answer are the results of so many calls; it waits before its end, if it may not yet."""

    n: int
    called: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event | None = None

    async def solve(self, episode):
        seen = [(await episode.call("count", f'{{"n": {n}}}')).observation.text for n in range(self.n)]
        self.called.set()
        if self.may_end is not None:
            await self.may_end.wait()
        return Answer(" ".join(seen))


async def count(toolset, agent, journal=None, epoch=0):
    """The trajectory of an episode that counts."""
    parts = Parts(agent, Accept(), NativeTools(), toolset, AsItIs())
    return await solve_sample(parts, Door({"main": Scripted([])}, journal, run_seed=0), SAMPLE, epoch)


@pytest.mark.parametrize("stateful, answer", [(True, "1 2 3 4"), (False, "1 2 1 2")])
async def test_a_new_session_repeats_the_journalled_calls_where_results_depend_on_them(journal, stateful, answer):
    assert (await count(serving("plain", stateful=stateful), Counts(2), journal)).answer == "1 2"
    assert (await count(serving("plain", stateful=stateful), Counts(4), journal)).answer == answer


async def test_a_call_with_another_result_when_it_is_repeated_is_an_error_of_the_server(journal):
    first = (await count(serving("process"), Counts(1), journal)).answer
    assert (
        await count(serving("process"), Counts(1), journal)
    ).answer == first  # without a live call nothing is repeated
    trajectory = await count(serving("process"), Counts(2), journal)
    assert trajectory.stop == "error"
    assert trajectory.error.startswith("mcp_server: the MCP server 'calc' (")
    assert 'when the session was repeated: count({"n": 0}) gave \'' in trajectory.error
    assert (
        f"had given {first!r}; if nothing depends on earlier calls: toolset.servers.calc.stateful=false"
        in trajectory.error
    )


async def test_a_forked_episode_repeats_the_recorded_calls():
    toolset, replies = serving("plain"), ["call count {}", "call count {}", "answer 0"]
    parts, left = kit.parts(toolset=toolset), [*replies, "call count {}", "done"]
    door = kit.door(kit.Speaker(lambda _: left.pop(0)))
    recorded, _ = await run_episode(parts, door, SAMPLE, 0)
    trajectory = Trajectory()
    with record_errors(trajectory):
        fork = Prefix(recorded.steps, 2, Accept(), "fork/1/0")
        await solve(Shared(parts, door, SAMPLE, 0, trajectory, fork=fork))
    seen = [one.observation.text for step in trajectory.steps for one in step.observed]
    assert (seen, trajectory.error) == (["1", "2", "3"], None)


async def test_results_of_a_server_are_not_those_of_another_with_the_same_cards(journal):
    one, other = serving("plain"), serving("structured")
    assert one.traits.identities == other.traits.identities
    answers = [(await count(toolset, Counts(1), journal)).answer for toolset in (one, other)]
    assert answers == ["1", '{"rate":3,"dose":NaN}']


async def test_epochs_of_a_sample_are_episodes_that_wait_for_each_other():
    toolset, first, second = serving("plain", max_samples=1), Counts(1, may_end=asyncio.Event()), Counts(1)
    running = asyncio.create_task(count(toolset, first, epoch=0))
    await asyncio.wait_for(first.called.wait(), 20)
    waiting = asyncio.create_task(count(toolset, second, epoch=1))
    await asyncio.sleep(0.2)
    assert not second.called.is_set()
    first.may_end.set()
    assert [one.answer for one in await asyncio.wait_for(asyncio.gather(running, waiting), 20)] == ["1", "1"]
