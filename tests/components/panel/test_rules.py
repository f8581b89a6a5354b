import pytest

from runner.config.build import construct
from runner.config.errors import ConfigErrors

NODE = {"_target_": "components.panel.agent.MedAgents"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"question_experts": 0}, "agent.question_experts"),
        ({"level": "everything"}, "analysis, consultation, summary"),
        ({"max_tokens": {"vote": "few"}}, "agent.max_tokens.vote"),
        ({"max_tokens": {"votes": 3}}, "vote"),
        ({"readers": "mine"}, "published, repaired"),
    ],
)
def test_a_panel_that_cannot_be_is_refused_by_name(given, told):
    with pytest.raises(ConfigErrors) as error:
        construct({**NODE, **given}, "agent")
    assert told in str(error.value)


def test_limits_of_replies_may_be_left_to_the_model():
    assert construct({**NODE, "max_tokens": {"vote": None}}, "agent").max_tokens.vote is None
