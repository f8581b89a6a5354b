from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from components.core.messages import Image, Message, Usage
from components.core.types import Problem, Sample, Step, Trajectory
from components.rubrics.rubric import Draw, Field, Rubric
from components.scorers.judged import Judged
from tests.table import each_row

CAUSE = Field("Why?", {"facts": "A fact is wrong.", "logic": "A step is wrong."})
RUBRIC = Rubric("mine", "us", "Why?", ["question", "answer", "reference"], {"cause": CAUSE, "also": CAUSE})
FAILURES = Rubric("mine", "us", "Why?", ["answer"], {"cause": CAUSE}, draw=Draw(which="failures", score="right"))
SAMPLE = Sample(Problem("p", "Which?", images=(Image("data:image/png;base64,x"),)), "B")


class Judge:
    """An episode that records its requests."""

    sees_images = True

    def __init__(self):
        self.asked, self.branches = [], []

    def branch(self, name, tools="shared", sampling=None, role=None):
        self.branches.append((name, role))
        return self

    async def ask(self, messages, purpose, sampling=None, role="main"):
        self.asked.append((messages, purpose))
        return Message("assistant", "cause: facts")


def said(text, branch="judge/mine"):
    return Step("judge", "judge", branch, 0, 0, (), Message("assistant", text), Usage())


def scores(*steps, stop="answered"):
    return {score.name: score.value for score in Judged(RUBRIC).score(SAMPLE, Trajectory(list(steps), stop=stop))}


def test_the_value_the_judge_picks_scores_1_and_all_others_0():
    assert scores(said("Both hold.\ncause: logic\nalso: facts")) == {
        "judged/mine/cause/facts": 0.0, "judged/mine/cause/logic": 1.0,
        "judged/mine/also/facts": 1.0, "judged/mine/also/logic": 0.0,
    }  # fmt: skip


def test_an_unreadable_field_is_unscored_and_never_zero():
    found = Judged(RUBRIC).score(SAMPLE, Trajectory([said("cause: logic\nalso: who knows")], stop="answered"))
    assert [score.value for score in found] == [0.0, 1.0, None, None]
    assert found[2].explanation == "unreadable: cause: logic\nalso: who knows"


@each_row("steps", [(), (said("cause: facts\nalso: facts", "judge/other"),), (said("", "main"),)])
def test_a_question_that_was_not_asked_is_unscored(steps):
    assert set(scores(*steps).values()) == {None}


def test_an_errored_episode_is_unscored():
    assert set(scores(said("cause: facts\nalso: facts"), stop="error").values()) == {None}


async def test_the_judge_sees_what_the_rubric_shows_and_its_images():
    judge = Judge()
    await Judged(RUBRIC).consult(SAMPLE, Trajectory(stop="answered", answer="It is A."), {}, judge)
    (((message,), purpose),) = judge.asked
    assert judge.branches == [("mine", "judge")] and purpose == "judge"
    assert '<text title="Answer">\nIt is A.\n</text>' in message.text and "cause: <facts | logic>" in message.text
    assert message.content[1] == SAMPLE.problem.images[0]


async def test_a_judge_without_eyes_gets_no_images():
    judge = Judge()
    judge.sees_images = False
    await Judged(RUBRIC).consult(SAMPLE, Trajectory(stop="answered"), {}, judge)
    assert isinstance(judge.asked[0][0][0].content, str)


@each_row("value, asked", [(0.0, 1), (1.0, 0), (None, 0)])
async def test_only_what_the_rubric_draws_is_asked(value, asked):
    judge = Judge()
    await Judged(FAILURES).consult(SAMPLE, Trajectory(stop="answered"), {"right": value}, judge)
    assert len(judge.asked) == asked


async def test_a_rubric_for_failures_needs_the_score_that_defines_them():
    with pytest.raises(ConfigError, match="failures are decided by right, which is not a score here; there are none"):
        await Judged(FAILURES).consult(SAMPLE, Trajectory(stop="answered"), {}, Judge())


def test_the_version_changes_with_the_rubric():
    assert Judged(RUBRIC).version != Judged(FAILURES).version


def test_only_the_ends_of_an_ordered_field_have_a_direction():
    ordered = replace(RUBRIC, fields={"cause": CAUSE, "grade": replace(CAUSE, ordered=True)})
    assert Judged(ordered).traits.lower == ["judged/mine/grade/logic"]
    causes = [f"judged/mine/cause/{one}" for one in CAUSE.categories]
    between = [f"judged/mine/grade/{one}" for one in list(CAUSE.categories)[1:-1]]
    assert Judged(ordered).traits.neither == [*causes, *between], (
        "of an ordered field only the best and the worst say how well"
    )
