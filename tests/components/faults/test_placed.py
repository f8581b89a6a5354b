from dataclasses import dataclass
from typing import Any

import pytest

from components.core.messages import ToolSpec
from components.core.tools import NoState, Offer
from components.core.types import Observation
from components.faults.placed import placed
from tests.failing import INTACT, TEXT, episode


@dataclass(frozen=True)
class Origins:
    """A tool that tells where its call stands."""

    name: str = "place"
    effect: str = "pure"

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "", TEXT)

    async def __call__(self, context: Any, text: str = "") -> Observation:
        context = placed(context, self)
        past = [one.observation.text for one in context.past]
        return Observation(f"{text}:{context.line}:{context.number}:{len(past)}:{context.call.name}")


class Both:
    def open(self, sample):
        return Offer({"place": Origins(), "again": Origins("again", "episode")}, NoState())


async def test_a_call_knows_how_many_its_line_made_before():
    step = 'call place {"text": "b"}; place {"text": "c"}'
    replies = ['call place {"text": "a"}', step, 'call again {"text": "d"}', 'call place {"text": "e"}', "done"]
    trajectory = await episode(INTACT, replies, toolset=Both())
    told = [one.observation.text for step in trajectory.steps for one in step.observed]
    assert told == ["a:main:0:0:place", "b:main:1:1:place", "c:main:2:1:place", "d:main:0:0:again", "e:main:3:3:place"]


def test_where_a_call_has_no_place_it_is_a_bug():
    with pytest.raises(TypeError, match="place is called where its call has no place"):
        placed(object(), Origins())
