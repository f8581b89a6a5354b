from components.core.protocols import Consulting
from components.rubrics.rubric import Field, Rubric
from components.scorers.choice import Choice
from components.scorers.judged import Judged


def test_a_scorer_that_asks_is_one_and_others_are_not():
    field = Field("Why?", {"a": "x", "b": "y"})
    assert isinstance(Judged(Rubric("mine", "us", "Why?", ["answer"], {"cause": field})), Consulting)
    assert not isinstance(Choice(), Consulting)
