"""The external text score."""

import shlex
import sys
from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from components.core.types import Trajectory
from components.radiology.scorers.ratescore import RaTEScore
from tests.components.radiology.scripted import episode, sample

COMMAND = (
    f"{shlex.quote(sys.executable)} -c \"import json, sys; d = json.load(sys.stdin); print(len(d['response']) / 10)\""
)


def shorter(reference: str, response: str) -> float:
    return len(response) / len(reference) if response != "nan" else float("nan")


def value(source: str, trajectory: Trajectory, reference: str = "ab cd") -> float | None:
    (score,) = RaTEScore(source).score(sample("012", reference), trajectory)
    assert score.name == "response/ratescore"
    return score.value


def test_a_function_and_a_command() -> None:
    assert value(f"{__name__}:shorter", episode([], answer="a")) == 0.2
    assert value(COMMAND, episode([], answer="ab")) == 0.2


def test_a_task_that_was_longer_than_the_model_takes_scores_0_where_it_can_be_solved() -> None:
    source, overflow = f"{__name__}:shorter", replace(episode([], stop="failed"), failure="context_length")
    assert value(source, overflow) == 0.0
    assert value(source, overflow, reference="") is None
    assert value(source, replace(overflow, facts={"kind": "insufficient"})) is None


def test_nothing_to_score() -> None:
    source = f"{__name__}:shorter"
    assert value(source, episode([], stop="failed")) is None
    assert value(source, episode([], answer="a"), reference="") is None
    assert value(source, episode([], answer="nan")) is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("RaTEScore", r"pip install 'wardround\[ratescore\]'"),
        ("no.such.module:f", "cannot import 'no'"),
        (f"{__name__}:missing", "has no function 'missing'"),
        ("no-such-command --x", "there is no command"),
    ],
)
def test_what_is_not_installed_is_a_config_error(source: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RaTEScore(source)
