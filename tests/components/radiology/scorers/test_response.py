"""Text scores."""

import shlex
import sys
from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from components.core.types import Trajectory
from components.radiology.attempt import attempt
from components.radiology.scorers.response import (
    NAMES,
    RaTEScore,
    Response,
    conclusion,
    mentions_error,
    reference_scores,
)  # fmt: skip
from components.radiology.switches import Switches
from components.radiology.tasks import AC, OS
from tests.components.radiology.scripted import CODE, PAPER, act, episode, exact, sample
from tests.table import each_row

ANSWER = "The lung holds a nodule."


def values(trajectory: Trajectory, switches: Switches, answer: str = ANSWER) -> dict[str, float | None]:
    return {s.name: s.value for s in Response(switches).score(sample("012", answer), trajectory)}


def test_the_reference_as_answer() -> None:
    assert values(exact("012"), PAPER) == dict.fromkeys(NAMES, 1.0)
    found = values(exact("012", kind="differentiated"), CODE)
    assert found["response/f1"] == found["response/bleu"] == 1.0
    assert found["response/rouge_l"] == pytest.approx(0.999999995, abs=1e-12)
    assert found["response/bleu1"] is found["response/rouge_l_recall"] is None


def test_the_reference_reads_the_first_paragraph() -> None:
    text = f" {ANSWER}\n\nAnd more."
    assert conclusion(text, "first_paragraph") == ANSWER and conclusion(text, "full") == text.strip()
    assert values(exact("012", kind="differentiated", answer=text), CODE)["response/f1"] == 1.0
    assert values(exact("012", answer=text), PAPER)["response/f1"] != 1.0


def test_the_ceiling_is_what_the_profile_lets_the_reference_reach() -> None:
    two = "First part.\n\nSecond part."
    scores = Response(CODE).score(sample("012", two), exact("012", kind="differentiated", answer=two))
    assert scores[0].ceiling is not None and scores[0].ceiling < 1.0 and scores[0].value == scores[0].ceiling
    assert Response(PAPER).score(sample("012", two), exact("012"))[0].ceiling == 1.0


def test_the_reference_is_scored_once_whatever_the_agents_answer() -> None:
    reference_scores.cache_clear()
    for answer in ("", ANSWER, "No nodule."):
        scores = Response(PAPER).score(sample("012", ANSWER), exact("012", answer=answer))
        assert {one.ceiling for one in scores} == {1.0} and (scores[0].value == 1.0) == (answer == ANSWER)
    assert reference_scores.cache_info().misses == 1


def test_the_episode_is_scored_where_its_execution_is_the_perfect_one() -> None:
    one = attempt(sample("012", ANSWER), exact("012", answer="No nodule."), PAPER)
    assert one is not None
    assert Response(PAPER).values(one, one.perfect) == Response(PAPER).values(one, one.execution)
    assert Response(PAPER).ceilings(one) == dict.fromkeys(NAMES, 1.0)


def test_episodes_without_an_answer_score_zero_in_the_article() -> None:
    for stop in ("failed", "limit", "refused"):
        assert values(episode([], stop=stop), PAPER) == dict.fromkeys(NAMES, 0.0)
    assert values(exact("012"), PAPER, answer="")["response/f1"] == 0.0


def test_the_reference_leaves_out_episodes_that_mention_an_error() -> None:
    kind = "differentiated"
    assert set(values(exact("012", kind=kind, answer="a refractive error"), CODE).values()) == {None}
    failed = episode([act(("TOOL1", AC)), act(("TOOL3", OS, "missing_value"))], stop="failed", kind=kind)
    assert set(values(failed, CODE).values()) == {None}
    assert values(episode([], stop="refused", kind=kind), CODE)["response/f1"] == 0.0
    assert values(exact("012", answer="a refractive error"), PAPER)["response/f1"] != 0.0


def test_an_error_may_stand_in_a_reply_or_an_observation() -> None:
    trajectory = exact("012")
    assert not mentions_error(trajectory)
    trajectory.steps[0].reply = replace(trajectory.steps[0].reply, content="Error?")
    assert mentions_error(trajectory)


def test_conditions_in_which_the_response_is_scored() -> None:
    assert set(values(exact("012", kind="redundant_high"), CODE).values()) == {None}
    assert set(values(exact("012", kind="insufficient_config3"), PAPER).values()) == {None}


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


def test_episodes_without_a_text_to_score() -> None:
    source = f"{__name__}:shorter"
    assert value(source, episode([], stop="failed")) is None
    assert value(source, episode([], answer="a"), reference="") is None
    assert value(source, episode([], answer="nan")) is None


@each_row(
    "source, message",
    [
        ("RaTEScore", r"pip install 'wardround\[ratescore\]'"),
        ("no.such.module:f", "cannot import 'no'"),
        (f"{__name__}:missing", "has no function 'missing'"),
        ("no-such-command --x", "there is no command"),
    ],
)
def test_a_missing_dependency_is_a_config_error(source: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RaTEScore(source)
