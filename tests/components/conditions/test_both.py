from random import Random

import pytest

from components.conditions.both import Both
from components.conditions.denied import Denied
from components.conditions.noisy import Noisy
from components.conditions.renamed import Renamed
from components.conditions.withhold import Withhold
from components.core.errors import ConfigError
from components.core.plain import Intact
from components.core.protocols import Condition
from components.radiology.conditions.baseline import Baseline
from components.radiology.conditions.differentiated import Differentiated
from components.radiology.conditions.insufficient import InsufficientConfig1, InsufficientConfig2
from components.radiology.conditions.redundant import RedundantHigh
from components.radiology.toolset import Radiology
from tests.failing import STUDY, episode, kinds, seen
from tests.golden.vectors import PAPER


def test_the_first_makes_the_tools_that_it_makes_alone():
    toolset = Radiology(PAPER)
    alone = Differentiated(PAPER).offer(toolset.open(STUDY), STUDY, Random(3))
    pair = Both(Differentiated(PAPER), Denied(0.5))
    assert isinstance(pair, Condition)
    found = pair.offer(toolset.open(STUDY), STUDY, Random(3))
    assert [tool.spec for tool in found.tools.values()] == [tool.spec for tool in alone.tools.values()]
    assert found.facts == {**alone.facts, "faults": [{"kind": "denied", "rate": 0.5}]}


@pytest.mark.parametrize(
    ("first", "name"),
    [
        (Noisy(), "noisy"),
        (Renamed(), "renamed"),
        (Withhold(["Organ Segmentor"]), "withhold"),
        (InsufficientConfig1(PAPER), "insufficient_config1"),
    ],
)
@pytest.mark.parametrize("then", [RedundantHigh(PAPER), Baseline(PAPER), InsufficientConfig2(PAPER)])
def test_a_set_of_tools_that_would_undo_the_first_condition_is_refused(first, name, then):
    with pytest.raises(ConfigError, match=f"nothing is left of '{name}' before it: let it be condition.first"):
        Both(first, then).offer(Radiology(PAPER).open(STUDY), STUDY, Random(3))


def test_a_set_of_tools_may_follow_what_changed_nothing():
    for first in (Intact(), Baseline(PAPER)):
        assert len(Both(first, RedundantHigh(PAPER)).offer(Radiology(PAPER).open(STUDY), STUDY, Random(3)).tools) == 169


async def test_both_faults_strike_one_call():
    found = await seen(Both(Noisy(1.0), Both(Noisy(0.0), Renamed(0.0))), "echo 5")
    assert kinds(found) == [["noisy"]]
    found = await seen(Both(Noisy(1.0), Noisy(1.0)), "echo 100")
    assert kinds(found) == [["noisy", "noisy"]]
    found = await seen(Both(Noisy(1.0), Denied(1.0)), "echo 100")
    assert kinds(found) == [["denied"]]


async def test_a_tool_that_fails_is_told_of_by_the_name_that_it_is_offered_under():
    pair = Both(Denied(1.0), Renamed(1.0))
    name = (await episode(pair, ["done"])).offered[0].name
    trajectory = await episode(pair, [f'call {name} {{"text": "1"}}', "done"])
    assert trajectory.steps[0].observed[0].observation.text.endswith(f"no permission to use {name} for this request.")


def test_a_task_that_cannot_be_done_still_cannot_where_more_is_withheld():
    pair = Both(InsufficientConfig1(PAPER), Withhold(["Report Generator"]))
    facts = pair.offer(Radiology(PAPER).open(STUDY), STUDY, Random(3)).facts
    assert (facts["kind"], facts["condition"]) == ("insufficient", "insufficient_config1")
    assert facts["withheld"] == ["Report Generator"]
