from dataclasses import dataclass

import pytest

from components.core.errors import ConfigError
from components.core.messages import Message, ToolCall, ToolSpec, Usage
from components.core.protocols import Scorer
from components.core.traits import ScorerTraits
from components.core.types import Observation, Observed, Score, Step, Trajectory
from components.scorers.building import NAMES, Building
from runner.results.rows import headline
from tests.parts import Right, Rows
from tests.table import each_row

SAMPLE = Rows().load("test")[0]
PASSED = {"specified": True, "passed": True, "reason": ""}
FAILED = {"specified": True, "passed": False, "reason": "it is endless"}
VAGUE = {"specified": False, "passed": False, "reason": "names nothing"}


def episode(*builds, used=(), answer="answer 0", facts=None, stop="answered"):
    seen = [Observed(ToolCall("c", "BuildTool", "{}"), Observation("", {"build": one})) for one in builds]
    seen += [Observed(ToolCall("c", "Bmi", "{}"), Observation("", {"built": True}), error) for error in used]
    step = Step("act", "main", "main", 0, 0, (), Message("assistant", ""), Usage(), observed=seen)
    offered = (ToolSpec("Bmi", "", facts={"built": True}),)
    return Trajectory([step], offered, {"build_tools": "code"} if facts is None else facts, stop, answer)


def values(trajectory, solved=None):
    recovered, *others = [score.value for score in Building(solved or Right()).score(SAMPLE, trajectory)]
    return [*others, recovered]


def test_it_is_a_scorer():
    assert isinstance(Building(), Scorer)


CASES = {
    "built, used and right": (episode(PASSED, used=[None]), [1, 1, 1, 1, 1]),
    "used after a failed call": (episode(PASSED, used=["bad_arguments", None]), [1, 1, 1, 1, 1]),
    "used and wrong": (episode(PASSED, used=[None], answer="x"), [1, 1, 1, 1, 0]),
    "built and not used": (episode(PASSED), [1, 1, 1, 0, 0]),
    "only failed calls": (episode(PASSED, used=["built_tool_failed"]), [1, 1, 1, 0, 0]),
    "not built, right all the same": (episode(FAILED), [1, 1, 0, None, 0]),
    "the second of two requests": (episode(VAGUE, PASSED, used=[None]), [1, 0.5, 0.5, 1, 1]),
    "never asked": (episode(), [0, None, None, None, 0]),
    "no building here": (episode(facts={}), [None] * 5),
    "an error": (episode(PASSED, stop="error"), [None] * 5),
}


@each_row("trajectory, expected", CASES.values())
def test_requests_tools_and_recovery(trajectory, expected):
    assert values(trajectory) == expected


def test_reasons_are_kept_and_names_are_fixed():
    scores = Building().score(SAMPLE, episode(FAILED, PASSED))
    assert tuple(score.name for score in scores) == NAMES
    assert scores[3].explanation == "it is endless; passed"
    assert scores[0].value is None and "names no scorer" in scores[0].explanation


@pytest.mark.parametrize(("rate", "shown"), [(0.5, "building/recovered"), (None, "building/correct_requests")])
def test_next_to_other_runs_the_recovery_rate_is_shown_where_it_is_known(rate, shown):
    metrics = {name: {"value": rate if name == "building/recovered" else 0.25} for name in NAMES}
    assert headline([metrics], 1, [{"neither": list(Building().traits.neither)}]) == [shown]


@dataclass(frozen=True)
class Two:
    """Two scores, of which the second decides; it asks a model."""

    version: str = "1"
    traits = ScorerTraits(decides="b", blocking=True, asks="judge")

    def score(self, sample, trajectory):
        return [Score("a", 0.0), Score("b", 1.0)]


class Silent:
    """A scorer without scores."""

    version = "1"

    def score(self, sample, trajectory):
        return [Score("a", None)]


def test_the_named_score_decides_and_unscored_stays_unscored():
    worked = episode(PASSED, used=[None])
    assert values(worked, Silent())[4] is None
    with pytest.raises(ConfigError, match="choose a scorer that does not"):
        Building(Two())
    assert not Building().traits.blocking
