"""Text scores."""

from dataclasses import replace

import pytest

from components.core.types import Trajectory
from components.radiology.scorers.response import NAMES, Response, conclusion, mentions_error
from components.radiology.switches import Switches
from components.radiology.tasks import AC, OS
from tests.components.radiology.scripted import CODE, PAPER, act, episode, exact, sample

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


def test_where_it_is_scored() -> None:
    assert set(values(exact("012", kind="redundant_high"), CODE).values()) == {None}
    assert set(values(exact("012", kind="insufficient_config3"), PAPER).values()) == {None}
