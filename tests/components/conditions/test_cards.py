import re
from random import Random

from components.conditions.cards import Renamed, Undocumented, bare
from components.core.protocols import Condition
from components.radiology.toolset import Radiology
from tests.failing import SAMPLE, STUDY, Tools, call_tools, episode, kinds


def offered(seed, rate=1.0):
    return Renamed(rate).offer(Tools().open(SAMPLE), SAMPLE, Random(seed))


def test_names_say_nothing_and_the_rest_of_the_card_stays():
    assert isinstance(Renamed(), Condition)
    offer = offered(1)
    assert len(offer.tools) == 2 and all(re.fullmatch(r"tool_[0-9a-f]{4}", name) for name in offer.tools)
    assert [tool.spec.name for tool in offer.tools.values()] == list(offer.tools)
    assert {tool.spec.description for tool in offer.tools.values()} == {"says it"}
    assert offer.facts["faults"] == [{"kind": "renamed", "rate": 1.0, "cards": list(offer.tools)}]


def test_the_same_seed_gives_the_same_names():
    assert list(offered(1).tools) == list(offered(1).tools) != list(offered(2).tools)
    assert "echo" in offered(1, 0.0).tools


async def test_the_new_name_works_and_the_old_one_does_not():
    first = await episode(Renamed(1.0, ["echo"]), ["done"])
    name = first.offered[0].name
    calls = [f'call {name} {{"text": "1"}}', f'call {name} {{"text": "no"}}', 'call echo {"text": "1"}', "done"]
    trajectory = await episode(Renamed(1.0, ["echo"]), calls)
    call_tools = [step.observed[0] for step in trajectory.steps[:3]]
    assert [one.error for one in call_tools] == [None, "refused", "unknown_tool"]
    assert call_tools[0].observation.data["faults"] == [{"kind": "renamed", "was": "echo"}]
    assert kinds(call_tools) == [["renamed"], ["renamed"], []]


def test_the_interface_is_left_and_no_prose():
    assert isinstance(Undocumented(), Condition)
    offer = Undocumented(1.0, ["echo"]).offer(Tools().open(SAMPLE), SAMPLE, Random(1))
    spec = offer.tools["echo"].spec
    assert spec.description == "" and spec.parameters == {"type": "object", "properties": {"text": {"type": "string"}}}
    assert offer.tools["other"].spec.description == "says it"
    assert offer.facts["faults"][0]["cards"] == ["echo"]


def test_a_radiology_card_keeps_category_and_variables():
    spec = next(iter(Radiology().open(STUDY).tools.values())).spec
    card = bare(spec).card
    assert {key for key, value in card.items() if value} <= {"Category", "Compulsory Input", "Optional Input", "Output"}
    assert card["Category"] == spec.card["Category"] and card["Performance"] == ""


async def test_the_behaviour_of_the_tool_is_unchanged():
    found = await call_tools(Undocumented(1.0), "echo 1")
    assert found[0].observation.text == "1" and kinds(found) == [["undocumented"]]
