"""What ``agent.confidence`` adds to the parts of an experiment."""

import pytest

from components.agents.direct import Direct
from components.agents.self_consistency import Matched, SelfConsistency
from components.core.protocols import Agent, Grammar
from runner.experiment.confidence import with_confidence, with_samples
from runner.experiment.parts import build_parts

AGENT = {"_target_": "components.agents.direct.Direct"}
SCORER = {"_target_": "components.scorers.confidence.Confidence"}


def nodes(kind="absent", agent=AGENT, **more):
    """The nodes by key, and the findings."""
    found, findings = {"agent": (Agent, agent if kind == "absent" else {**agent, "confidence": kind}), **more}, []
    return {key: node for key, (_, node) in with_confidence(found, findings).items()}, findings


@pytest.mark.parametrize("kind", ["absent", None])
def test_without_a_confidence_nothing_is_added(kind):
    assert nodes(kind) == ({"agent": AGENT}, [])


def test_verbal_lets_the_grammar_ask():
    found, _ = nodes("verbal", **{"grammars.mine": (Grammar, {"_target_": "mine.Mine"})})
    assert found["grammars.mine"] == {"_target_": "mine.Mine", "confidence": True}
    assert found["agent"] == AGENT and found["scorer.confidence"] == SCORER


def test_samples_draws_several_times_unless_the_agent_does():
    assert nodes("samples")[0] == {"agent": AGENT, "scorer.confidence": SCORER}
    cfg = {"agent": {"confidence": "samples"}}
    drawn = {
        "_target_": "components.agents.self_consistency.SelfConsistency",
        "draws": 5,
        "temperature": 0.7,
        "inner": AGENT,
    }
    assert with_samples(cfg, Direct(), AGENT) == drawn
    assert with_samples({"agent": {}}, Direct(), AGENT) is AGENT
    for agent in (SelfConsistency(Direct(), draws=9), Matched(Direct(), Direct())):
        assert with_samples(cfg, agent, AGENT) is AGENT
    built = build_parts({"agent": (Agent, {**AGENT, "prompts": "direct"})}, {**cfg, "run": {}}, findings := [])
    assert findings == [] and built["agent"] == SelfConsistency(Direct())


def test_an_unknown_kind_is_refused_with_the_nearest():
    assert [str(one) for one in nodes("verbl")[1]] == [
        "agent.confidence: no confidence 'verbl'; did you mean verbal? valid: logprobs, samples, verbal, or null"
    ]
