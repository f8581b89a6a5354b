"""Scores beside ceilings."""

from dataclasses import replace

from components.core.types import Score
from components.radiology.perfect import Attempt, attempt, grade, unscored
from tests.components.radiology.scripted import PAPER, episode, exact, sample

NAMES = ("x/calls", "x/other")


def calls(one: Attempt, execution: object) -> dict[str, float | None]:
    return {"x/calls": float(len(one.task.chain)), "x/other": None}


def test_an_episode_is_read_once_for_all_scorers() -> None:
    one, trajectory = sample("012"), exact("012")
    first = attempt(one, trajectory, PAPER)
    assert first is not None and attempt(one, trajectory, replace(PAPER)) is first
    assert attempt(one, exact("012"), PAPER) is not first


def test_scores_come_with_ceilings() -> None:
    found = grade(sample("012"), exact("012"), PAPER, NAMES, NAMES[:1], calls)
    assert list(found) == [Score("x/calls", 3.0, ceiling=3.0), Score("x/other", None)]


def test_what_is_of_another_benchmark_is_unscored() -> None:
    other = replace(sample("012"), metadata={})
    assert grade(other, episode([]), PAPER, NAMES, NAMES, calls) == unscored(NAMES)
    assert [score.value for score in unscored(NAMES)] == [None, None]
