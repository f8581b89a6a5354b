"""Scores next to ceilings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from components.core.types import Score
from components.radiology.attempt import Attempt, Graded, Published, attempt
from components.radiology.execution import Execution
from tests.components.radiology.scripted import CODE, PAPER, episode, exact, sample


@dataclass(frozen=True)
class Calls(Graded):
    """The length of the chain, published in the redundant conditions."""

    names = ("x/calls", "x/other")
    published: ClassVar[Published] = {"redundant": ("x/calls",)}

    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """One value per name."""
        return {"x/calls": float(len(one.task.chain)), "x/other": None}


def test_an_episode_is_read_once_for_all_scorers() -> None:
    one, trajectory = sample("012"), exact("012")
    first = attempt(one, trajectory, PAPER)
    assert first is not None and attempt(one, trajectory, replace(PAPER)) is first
    assert attempt(one, trajectory, CODE) is not first
    assert attempt(one, exact("012"), PAPER) is not first


def test_scores_come_with_ceilings_where_they_are_scored() -> None:
    scored, nothing = Score("x/calls", 3.0, ceiling=3.0), [Score("x/calls", None), Score("x/other", None)]
    assert list(Calls(PAPER).score(sample("012"), exact("012"))) == [scored, Score("x/other", None)]
    assert Calls(CODE).score(sample("012"), exact("012", kind="redundant_high"))[0] == scored
    assert list(Calls(CODE).score(sample("012"), exact("012", kind="baseline"))) == nothing
    assert list(Calls(PAPER).score(sample("012"), exact("012", kind="insufficient_config1"))) == nothing
    assert list(Calls(PAPER).score(replace(sample("012"), metadata={}), episode([]))) == nothing
