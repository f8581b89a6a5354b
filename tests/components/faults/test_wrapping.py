import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any

import orjson
import pytest

from components.acting.inner_actions import INNER
from components.conditions.cards import Renamed
from components.conditions.failing import Denied, Slow
from components.conditions.offered import Both
from components.conditions.wrong_results import Noisy
from components.core.errors import ConfigError
from components.core.messages import ToolSpec
from components.core.tools import NoState, Offer
from components.core.traits import innermost
from components.core.types import Observation
from components.faults.wrapping import Faulty, Striking, call_context
from components.radiology.conditions import InsufficientConfig1, RedundantRegular
from components.radiology.tasks import CATEGORIES
from components.radiology.toolset import Radiology
from runner.config.build import construct
from runner.config.errors import ConfigErrors
from tests.failing import INTACT, SAMPLE, STUDY, TEXT, Book, Says, Tools, call_tools, episode, kinds
from tests.golden.vectors import PAPER
from tests.slow import slow
from tests.table import each_row


def offer(condition, toolset=None, sample=SAMPLE):
    return condition.offer((toolset or Tools()).open(sample), sample, Random(1))


def test_tools_without_the_fault_are_the_same_objects():
    tools = Tools()
    found = offer(Noisy(1.0, ["other"]), tools)
    assert found.tools["echo"] is tools.tools[0]
    assert isinstance(found.tools["other"], Faulty) and innermost(found.tools["other"]) is tools.tools[1]
    assert found.tools["other"].spec == tools.tools[1].spec and found.tools["other"].effect == "pure"
    assert found.facts == {"kind": "intact", "condition": "intact", "faults": [{"kind": "noisy", "rate": 1.0}]}


def test_radiology_tools_are_named_by_their_category():
    found = offer(Noisy(1.0, ["Anatomy Classifier"]), Radiology(), STUDY)
    assert [name for name, tool in found.tools.items() if isinstance(tool, Faulty)] == ["TOOL1"]


def test_an_agents_own_messages_cannot_fail():
    tools = Tools((*INNER, Says()))
    found = offer(Denied(1.0), tools)
    assert [name for name, tool in found.tools.items() if isinstance(tool, Faulty)] == ["echo"]
    assert found.tools["echo"].others == []
    with pytest.raises(ConfigError, match="there is no tool 'Think'; there are echo"):
        offer(Denied(1.0, ["Think"]), tools)


def test_a_toolset_without_tools_has_nothing_that_could_fail():
    with pytest.raises(ConfigError, match="condition denied: the toolset has no tool that could fail"):
        offer(Denied(), Tools(()))


def test_a_tool_that_this_sample_is_not_offered_is_known_all_the_same():
    given = Offer({"echo": Says()}, facts={"toolset": ["echo", "camera"]})
    assert not isinstance(Denied(1.0, ["camera"]).offer(given, SAMPLE, Random(1)).tools["echo"], Faulty)


def test_a_tool_is_named_as_the_toolset_names_it_whatever_came_first():
    renamed = Both(Renamed(1.0), Denied(1.0, ["echo"]))
    affected = {innermost(tool).spec.name: isinstance(tool, Faulty) for tool in offer(renamed).tools.values()}
    assert affected == {"echo": True, "other": False}
    given = Offer({"echo": Says()}, facts={"toolset": ["echo", "camera"], "withheld": ["camera"]})
    with pytest.raises(ConfigError, match=r"there is no tool 'camera'; there are echo$"):
        Denied(1.0, ["camera"]).offer(given, SAMPLE, Random(1))


def test_categories_name_tools_that_are_renumbered_for_each_sample():
    for first in (RedundantRegular(PAPER), InsufficientConfig1(PAPER)):
        with pytest.raises(
            ConfigError, match=r"there is no tool 'TOOL1'; there are Anatomy Classifier, .* Recommender$"
        ):
            offer(Both(first, Denied(1.0, ["TOOL1"])), Radiology(PAPER), STUDY)
        for category in CATEGORIES:
            found = offer(Both(first, Denied(1.0, [category])), Radiology(PAPER), STUDY)
            affected = {tool.spec.facts["category"] for tool in found.tools.values() if isinstance(tool, Faulty)}
            assert affected <= {category}


CALLS = [f"echo {n}" for n in range(12)]


async def test_the_same_seed_hits_the_same_calls_and_another_seed_others():
    affected = [kinds(await call_tools(Denied(0.5), *CALLS, seed=seed)) for seed in (1, 1, 2)]
    assert affected[0] == affected[1] != affected[2]


async def test_calls_of_other_tools_do_not_change_a_fault():
    alone = kinds(await call_tools(Denied(0.5), *CALLS))
    mixed = await call_tools(Denied(0.5), *(one for call in CALLS for one in ("other 1", call, "other 2")))
    assert [kinds([one])[0] for one in mixed if one.call.name == "echo"] == alone


async def test_calls_of_one_step_get_the_same_faults_as_sequential_calls():
    alone = kinds(await call_tools(Denied(0.5), *CALLS[:6]))
    step = "call " + "; ".join(f'echo {{"text": "{n}"}}' for n in range(6))
    for effect in ("pure", "episode"):
        tools = Tools((Says(effect=effect), Says("other")))
        trajectory = await episode(Denied(0.5), [step, "done"], toolset=tools)
        assert kinds(trajectory.steps[0].observed) == alone


@dataclass(frozen=True)
class Uneven(Says):
    """Says it after a while of chance."""

    async def __call__(self, context: Any, text: str = "") -> Any:
        await asyncio.sleep(Random(text).random() * 0.02)
        return await super().__call__(context, text)


@slow
async def test_concurrent_episodes_get_the_same_faults_as_sequential_ones():
    tools = Tools((Uneven(), Says("other")))
    alone = [kinds(await call_tools(Denied(0.5), *CALLS, seed=n, toolset=tools)) for n in range(4)]
    at_once = await asyncio.gather(*(call_tools(Denied(0.5), *CALLS, seed=n, toolset=tools) for n in range(4)))
    assert [kinds(one) for one in at_once] == alone


@each_row("condition", [Denied(0.0), Denied(1.0, ["other"]), Noisy(1.0), Renamed(1.0), Slow(1.0, seconds=0)])
async def test_the_journal_holds_what_the_tool_itself_said_under_its_own_key(condition):
    tools, books = Tools((Says(effect="external"), Says("other"))), []
    for one in (INTACT, condition):
        name = (await episode(one, ["done"], toolset=tools)).offered[0].name
        books.append(Book())
        calls = [f'call {name} {{"text": "{n}"}}' for n in (70, 80, 70)]
        await episode(one, [*calls, "done"], toolset=tools, journal=books[-1])
    assert books[0].tools.keys() == books[1].tools.keys() and len(books[0].tools) == 3
    texts = [[orjson.loads(payload)["text"] for payload in book.tools.values()] for book in books]
    assert texts[0] == texts[1] == ["70", "80", "70"]


async def test_a_call_answered_by_a_fault_is_not_journalled():
    book = Book()
    await call_tools(Denied(1.0), "echo 1", toolset=Tools((Says(effect="external"),)), journal=book)
    assert not book.tools


async def test_trials_see_what_the_call_will_see_and_count_for_nothing():
    tools = Tools((Says(effect="episode"), Says("other")))
    trajectory = await episode(Denied(0.5), [*(f'call echo {{"text": "{n}"}}' for n in range(8)), "done"], toolset=tools,
                               verifier=Tries())  # fmt: skip
    tried = [one for step in trajectory.steps for one in step.tried]
    assert kinds(tried) == kinds([one for step in trajectory.steps for one in step.observed])
    assert kinds(tried) == kinds(await call_tools(Denied(0.5), *CALLS[:8]))


class Tries:
    """Tries what is proposed, and takes it."""

    async def choose(self, messages: Any, propose: Any, episode: Any) -> Any:
        action = await propose()
        if action.calls:
            await episode.try_(action)
        return action


@dataclass(frozen=True)
class Places:
    """A tool that reports the position of its call."""

    name: str = "place"
    effect: str = "pure"

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "", TEXT)

    async def __call__(self, context: Any, text: str = "") -> Observation:
        context = call_context(context, self)
        past = [one.observation.text for one in context.past]
        return Observation(f"{text}:{context.line}:{context.number}:{len(past)}:{context.call.name}")


class TwoPlaces:
    def open(self, sample):
        return Offer({"place": Places(), "again": Places("again", "episode")}, NoState())


async def test_a_call_knows_how_many_its_line_made_before():
    step = 'call place {"text": "b"}; place {"text": "c"}'
    replies = ['call place {"text": "a"}', step, 'call again {"text": "d"}', 'call place {"text": "e"}', "done"]
    trajectory = await episode(INTACT, replies, toolset=TwoPlaces())
    texts = [one.observation.text for step in trajectory.steps for one in step.observed]
    assert texts == ["a:main:0:0:place", "b:main:1:1:place", "c:main:2:1:place", "d:main:0:0:again", "e:main:3:3:place"]


async def test_a_tool_that_wraps_cannot_be_called_but_by_an_agent():
    with pytest.raises(TypeError, match="echo wraps a tool and can be called by an agent only"):
        await offer(Denied(1.0)).tools["echo"](None, text="1")


def test_a_rate_is_a_share():
    for rate in (-0.1, 1.5):
        with pytest.raises(ConfigErrors, match="rate"):
            construct({"_target_": "components.conditions.failing.Denied", "rate": rate}, "condition")


async def test_a_rate_of_zero_hits_no_call_and_a_rate_of_one_every_call():
    assert not any(one.error for one in await call_tools(Denied(0.0), *["echo 1"] * 5))
    assert all(one.error for one in await call_tools(Denied(1.0), *["echo 1"] * 5))


def test_each_condition_decides_what_goes_wrong():
    with pytest.raises(TypeError, match="strike"):
        Striking()
