from dataclasses import replace
from random import Random

import pytest

from components.conditions.cards import Recarded, Renamed, change_cards
from tests.failing import SAMPLE, Says, Tools, call_tools


def test_only_drawn_tools_change_and_keep_their_places():
    offer = Tools((Says("a"), Says("b", "episode"), Says("c"))).open(SAMPLE)
    found = change_cards(Renamed(1.0, ["b"]), offer, Random(1), lambda spec, _: replace(spec, name="z"))
    assert list(found.tools) == ["a", "z", "c"] and found.tools["a"] is offer.tools["a"]
    assert isinstance(found.tools["z"], Recarded) and found.tools["z"].effect == "episode"
    assert found.facts["faults"] == [{"kind": "renamed", "rate": 1.0, "cards": ["z"]}]


def test_the_rate_is_that_of_tools():
    offer = Tools(tuple(Says(f"t{n}") for n in range(100))).open(SAMPLE)
    found = change_cards(Renamed(0.3), offer, Random(1), lambda spec, _: spec)
    assert 15 < len(found.facts["faults"][0]["cards"]) < 45


async def test_it_can_be_called_only_by_an_agent():
    tool = Recarded(Says(), Says("z").spec, "renamed")
    with pytest.raises(TypeError, match="z wraps a tool and can be called by an agent only"):
        await tool(None)


async def test_a_tool_that_is_not_drawn_is_unmarked():
    assert "faults" not in (await call_tools(Renamed(0.0), "echo 1"))[0].observation.data
