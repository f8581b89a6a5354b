"""An experiment from a plain config: parts, compatibility, privacy, and the samples that models study."""

from itertools import product
from types import SimpleNamespace

import pytest

from components.core.errors import ConfigError
from components.core.traits import ModelTraits, Requirements, ToolsetTraits, ToolTraits
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from runner.experiment.experiment import facts_of
from runner.experiment.privacy import PrivacyRefused, permit
from runner.job.prepare import check
from tests.composing import build


@pytest.fixture
def cfg(home):
    """A config with custom parts."""
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


def test_experiment_has_all_parts(cfg):
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
    assert cfg["agent"]["grammar"] == "native_tools", "the config itself is unchanged"


def test_roles_have_separate_models(cfg):
    cfg["models"] = {"judge": {"_target_": "mine.parts.Echo", "name": "judge"}}
    built = check(cfg)
    assert {role: model.name for role, model in built.models.items()} == {"main": "echo", "judge": "judge"}


def test_model_without_a_price_table_uses_the_reported_price(cfg, monkeypatch):
    import mine.parts

    cfg["budget"]["run"] = {}
    monkeypatch.setattr(mine.parts.Echo, "kind", "live")
    assert not facts_of(check(cfg))["notes"]
    monkeypatch.setattr(mine.parts.Echo, "traits", ModelTraits(price={"input": None}), raising=False)
    assert "the price of echo (main) is not known" in facts_of(check(cfg))["notes"][0]


def test_studying_models_get_the_whole_split(cfg):
    cfg["limit"] = 2
    built = build(cfg)
    assert len(built.samples) == 2
    assert len(built.models["main"].studied) == 4
    cfg["limit"], cfg["run"]["shard"] = None, "2/2"
    built = build(cfg)
    assert [sample.problem.id for sample in built.samples] == ["q1", "q3"]
    assert len(built.models["main"].studied) == 4


def test_checks_pass_no_samples_to_models(cfg):
    assert check(cfg).models["main"].studied == []


@pytest.mark.parametrize(
    ("privacy", "model", "reason"),
    [
        ("phi", {"in_process": True}, "nothing leaves it"),
        ("credentialed", {"in_process": False, "permits": ["credentialed"]}, "every model's permits hold credentialed"),
        ("open", {"in_process": False}, "open"),
    ],
)
def test_data_are_sent_to_permitted_endpoints(cfg, privacy, model, reason):
    cfg["dataset"]["privacy"] = privacy
    cfg["model"] |= model
    decision = check(cfg).privacy
    assert decision["decision"] == "permitted"
    assert reason in decision["reason"]


def test_data_are_not_sent_elsewhere(cfg):
    cfg["dataset"]["privacy"] = "phi"
    cfg["models"] = {
        "judge": {"_target_": "mine.parts.Echo", "name": "far", "in_process": False, "permits": ["credentialed"]}
    }
    with pytest.raises(
        PrivacyRefused, match=r"the dataset is phi and the model 'far'.*models\.judge\.permits=\[phi\]"
    ) as caught:
        check(cfg)
    assert caught.value.decision["decision"] == "refused"


def test_data_are_not_sent_to_a_model_that_only_an_inner_agent_asks(cfg):
    asks = {"_target_": "mine.parts.Asks"}
    cfg["agent"] = {"_target_": "components.agents.self_consistency.Matched", "inner": asks, "to": asks}
    cfg["dataset"]["privacy"] = "phi"
    cfg["models"] = {"panel": {"_target_": "mine.parts.Echo", "name": "far", "in_process": False}}
    with pytest.raises(PrivacyRefused, match=r"model 'far'.*models\.panel\.permits=\[phi\]"):
        check(cfg)


def test_data_are_not_sent_to_the_service_behind_a_tool():
    def parts(*permits, **search):
        toolset = ToolsetTraits(tools={"search": SimpleNamespace(**search)}, permits=permits)
        return SimpleNamespace(toolset=SimpleNamespace(traits=toolset), agent=SimpleNamespace())

    outside = ({"effect": "external"}, {"effect": "pure", "traits": ToolTraits(sends_data_out=True)})
    for permits, search in product(((), ("credentialed",)), outside):
        with pytest.raises(PrivacyRefused, match=r"tool search asks a service.*toolset\.permits=\[phi\]"):
            permit("phi", {}, parts(*permits, **search))
    assert permit("phi", {}, parts("phi", effect="external"))["decision"] == "permitted"


def test_data_are_not_given_to_the_program_of_an_agent():
    def parts(*permits):
        agent = SimpleNamespace(requirements=Requirements(permits=permits))
        return SimpleNamespace(toolset=SimpleNamespace(), agent=agent)

    with pytest.raises(PrivacyRefused, match=r"the program of SimpleNamespace may only get.*agent\.permits=\[phi\]"):
        permit("phi", {}, parts("credentialed"))
    assert permit("phi", {}, parts("phi"))["decision"] == "permitted"


def test_toolset_that_fits_no_sample_is_refused_before_the_run(cfg):
    cfg["toolset"] = {"_target_": "components.radiology.toolset.Radiology"}
    with pytest.raises(ConfigError, match="toolset: "):
        check(cfg)


def test_incompatible_condition_names_a_compatible_one(cfg):
    cfg["condition"] = {"_target_": "components.radiology.conditions.Baseline"}
    with pytest.raises(ConfigError, match=r"condition .*with other toolsets condition=intact"):
        check(cfg)


def test_agent_that_needs_missing_tools_is_refused(cfg):
    cfg["agent"]["controls"] = ["start", "final"]
    with pytest.raises(
        ConfigError, match="agent: Asks needs a toolset with the controls start, final: choose the dataset"
    ):
        check(cfg)


def test_missing_prompt_set_is_refused(cfg):
    cfg["agent"] = {"_target_": "components.agents.direct.Direct", "prompts": "nowhere"}
    with pytest.raises(ConfigError, match="no prompt set 'nowhere'"):
        check(cfg)


def test_missing_groups_are_named(cfg):
    del cfg["agent"], cfg["scorer"]
    with pytest.raises(ConfigError, match=r"(?s)agent: is missing.*scorer: is missing"):
        check(cfg)


DRAWS = "components.agents.self_consistency.SelfConsistency"
REACT = {"_target_": "components.agents.react.ReAct", "grammar": "native_tools"}


def test_wrapped_agent_sets_the_grammar_and_prompts(cfg):
    cfg["agent"] = {"_target_": DRAWS, "draws": 2, "inner": REACT}
    experiment = check(cfg)
    assert type(experiment.parts.grammar).__name__ == "NativeTools"
    assert "react" in experiment.prompts and experiment.parts.agent.inner.prompts == "react"


def test_nested_agents_share_one_grammar(cfg):
    other = {
        "_target_": "components.agents.self_consistency.Matched",
        "inner": REACT,
        "to": {**REACT, "grammar": "xml_call"},
    }
    cfg["agent"] = other
    with pytest.raises(ConfigError, match=r"share one grammar, found agent.inner.grammar=native_tools, agent.to.gr"):
        check(cfg)


def test_nested_agent_is_checked_under_its_own_keys(cfg):
    cfg["agent"] = {"_target_": DRAWS, "inner": {**REACT, "max_steps": 0}}
    with pytest.raises(ConfigError, match=r"agent\.inner\.max_steps"):
        check(cfg)
