"""An experiment from a plain config: parts, fit, privacy, what models are told."""

import pytest

from components.core.errors import ConfigError
from components.core.traits import ModelTraits
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from runner.experiment.checks import PrivacyRefused
from runner.experiment.experiment import facts_of
from runner.job.prepare import check
from tests.composing import build


@pytest.fixture
def cfg(home):
    """A config whose parts are the user's own."""
    return {
        "name": "x", "seed": 0, "limit": None, "epochs": 1,
        "budget": {"sample": {"calls": 7}, "run": {"usd": 2.0}},
        "run": {"allow_targets": ["mine"], "replay": False, "shard": None},
        "profile": {}, "tracking": {"uri": None}, "models": {},
        "grammars": {
            "xml_call": {"_target_": "components.grammars.xml_call.XmlCall"},
            "native_tools": {"_target_": "components.grammars.native_tools.NativeTools"},
            "broken": {"_target_": "components.grammars.nowhere.Nothing"},
        },
        "model": {"_target_": "mine.parts.Echo"},
        "agent": {"_target_": "mine.parts.Asks"},
        "verifier": {"_target_": "components.core.plain.Accept"},
        "toolset": {"_target_": "components.core.plain.NoTools"},
        "condition": {"_target_": "components.core.plain.Intact"},
        "dataset": {"_target_": "mine.parts.Numbers"},
        "scorer": {"right": {"_target_": "mine.parts.Right"}},
    }  # fmt: skip


def test_all_parts_are_there(cfg):
    built = build(cfg)
    assert list(built.parts.scorers) == ["right"]
    assert built.parts.budget.calls == 7
    assert built.budget.usd == 2.0
    assert [sample.problem.id for sample in built.samples] == ["q0", "q1", "q2", "q3"]
    assert built.prompts.keys() == {"xml_call"}
    assert built.privacy == {
        "dataset": "open", "model": "echo", "decision": "permitted", "reason": "the data are open",
    }  # fmt: skip


def test_the_agents_node_names_the_grammar(cfg):
    assert isinstance(check(cfg).parts.grammar, XmlCall)
    cfg["agent"]["grammar"] = "native_tools"
    assert isinstance(check(cfg).parts.grammar, NativeTools)
    assert cfg["agent"]["grammar"] == "native_tools", "the config itself stays as it is"


def test_roles_have_models_of_their_own(cfg):
    cfg["models"] = {"judge": {"_target_": "mine.parts.Echo", "name": "judge"}}
    built = check(cfg)
    assert {role: model.name for role, model in built.models.items()} == {"main": "echo", "judge": "judge"}


def test_the_price_of_a_model_without_a_price_table_is_what_its_replies_report(cfg, monkeypatch):
    import mine.parts

    cfg["budget"]["run"] = {}
    monkeypatch.setattr(mine.parts.Echo, "kind", "live")
    assert not facts_of(check(cfg))["notes"]
    monkeypatch.setattr(mine.parts.Echo, "traits", ModelTraits(price={"input": None}), raising=False)
    assert "the price of echo (main) is not known" in facts_of(check(cfg))["notes"][0]


def test_models_that_study_get_the_whole_split_whatever_is_drawn(cfg):
    cfg["limit"] = 2
    built = build(cfg)
    assert len(built.samples) == 2
    assert len(built.models["main"].studied) == 4
    cfg["limit"], cfg["run"]["shard"] = None, "2/2"
    built = build(cfg)
    assert [sample.problem.id for sample in built.samples] == ["q1", "q3"]
    assert len(built.models["main"].studied) == 4


def test_checking_tells_models_nothing(cfg):
    assert check(cfg).models["main"].studied == []


@pytest.mark.parametrize(
    ("privacy", "model", "reason"),
    [
        ("phi", {"in_process": True}, "nothing leaves it"),
        ("credentialed", {"in_process": False, "permits": ["credentialed"]}, "every model's permits hold credentialed"),
        ("open", {"in_process": False}, "open"),
    ],
)
def test_data_go_where_they_are_permitted(cfg, privacy, model, reason):
    cfg["dataset"]["privacy"] = privacy
    cfg["model"] |= model
    decision = check(cfg).privacy
    assert decision["decision"] == "permitted"
    assert reason in decision["reason"]


def test_data_go_nowhere_else(cfg):
    cfg["dataset"]["privacy"] = "phi"
    cfg["models"] = {
        "judge": {"_target_": "mine.parts.Echo", "name": "far", "in_process": False, "permits": ["credentialed"]}
    }
    with pytest.raises(
        PrivacyRefused, match=r"the dataset is phi and the model 'far'.*models\.judge\.permits=\[phi\]"
    ) as caught:
        check(cfg)
    assert caught.value.decision["decision"] == "refused"


def test_a_toolset_that_fits_no_sample_is_refused_before_the_first_one(cfg):
    cfg["toolset"] = {"_target_": "components.radiology.toolset.Radiology"}
    with pytest.raises(ConfigError, match="toolset: "):
        check(cfg)


def test_a_condition_that_does_not_fit_says_what_would(cfg):
    cfg["condition"] = {"_target_": "components.radiology.conditions.Baseline"}
    with pytest.raises(ConfigError, match=r"condition .*with other toolsets condition=intact"):
        check(cfg)


def test_an_agent_that_needs_more_than_the_toolset_has(cfg):
    cfg["agent"]["controls"] = ["start", "final"]
    with pytest.raises(
        ConfigError, match="agent: Asks needs a toolset with the controls start, final; this one has none"
    ):
        check(cfg)


def test_a_prompt_set_that_is_not_there(cfg):
    cfg["agent"] = {"_target_": "components.agents.direct.Direct", "prompts": "nowhere"}
    with pytest.raises(ConfigError, match="no prompt set 'nowhere'"):
        check(cfg)


def test_missing_groups_are_named(cfg):
    del cfg["agent"], cfg["scorer"]
    with pytest.raises(ConfigError, match=r"(?s)agent: is missing.*scorer: is missing"):
        check(cfg)


DRAWS = "components.agents.self_consistency.SelfConsistency"
REACT = {"_target_": "components.agents.react.ReAct", "grammar": "native_tools"}


def test_an_agent_may_play_another_one_whose_grammar_and_prompts_count(cfg):
    cfg["agent"] = {"_target_": DRAWS, "draws": 2, "inner": REACT}
    experiment = check(cfg)
    assert type(experiment.parts.grammar).__name__ == "NativeTools"
    assert "react" in experiment.prompts and experiment.parts.agent.inner.prompts == "react"


def test_agents_that_play_each_other_share_one_grammar(cfg):
    other = {
        "_target_": "components.agents.self_consistency.Matched",
        "inner": REACT,
        "to": {**REACT, "grammar": "xml_call"},
    }
    cfg["agent"] = other
    with pytest.raises(ConfigError, match=r"share one grammar, found agent.inner.grammar=native_tools, agent.to.gr"):
        check(cfg)


def test_an_agent_within_an_agent_is_checked_by_its_own_keys(cfg):
    cfg["agent"] = {"_target_": DRAWS, "inner": {**REACT, "max_steps": 0}}
    with pytest.raises(ConfigError, match=r"agent\.inner\.max_steps"):
        check(cfg)
