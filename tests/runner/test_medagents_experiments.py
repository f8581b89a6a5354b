"""Experiments of MedAgents: the published baselines in its tables and the two curves of Figure 3."""

import os

import pytest
from hydra import compose
from hydra.core.override_parser.overrides_parser import OverridesParser

from runner.config.catalogue import CONF
from runner.job.plan import cells
from runner.results.publications.paper import load
from tests.composing import composing

BASELINES = {
    "table2": ["zero_shot", "zero_shot_cot", "zero_shot_self_consistency", "few_shot", "few_shot_cot",
               "few_shot_self_consistency"],
    "table3": ["zero_shot", "zero_shot_cot"],
}  # fmt: skip


@pytest.fixture(scope="module")
def hydra():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLINICAL_DATA_DIR", os.environ.get("CLINICAL_DATA_DIR", "data"))
        with composing():
            yield


def swept(cfg):
    """The jobs of an experiment."""
    parser = OverridesParser.create()
    return cells(parser.parse_overrides([f"{k}={v}" for k, v in cfg.hydra.sweeper.params.items()]), [])


@pytest.mark.parametrize("name", BASELINES)
def test_tables_compare_the_panel_with_the_published_baselines(name, hydra):
    cfg = compose("config", [f"experiment=medagents/{name}"], return_hydra_config=True)
    agents = list(dict.fromkeys(cell.varied["agent"] for cell in swept(cfg)))
    assert list(cfg.compare.baselines) == BASELINES[name] == agents[: len(BASELINES[name])]
    methods = {line.method for line in load(CONF / "papers", "medagents").rows}
    assert {"zero_shot", "zero_shot_cot", "zero_shot_cot_sc"} <= methods and not {"direct", "cot"} & methods


@pytest.mark.parametrize(("profile", "extract"), [("paper", True), ("code", False)])
def test_self_consistency_samples_the_published_chain_of_thought(profile, extract, hydra):
    alone, inner = (
        compose("config", ["experiment=medagents/table2", f"agent={agent}", f"profile={profile}"]).agent
        for agent in ("zero_shot_cot", "zero_shot_self_consistency")
    )
    assert inner.inner == {"_target_": alone["_target_"], "prompts": "zero_shot", "reason": True, "extract": extract}
    assert alone == {**inner.inner, "confidence": None}
    assert (inner.draws, inner.temperature) == (5, 0.7)


def test_figure_3_is_two_curves_on_four_datasets_and_no_grid(hydra):
    cfg = compose("config", ["experiment=medagents/fig3"], return_hydra_config=True)
    jobs = swept(cfg)
    points = [f"{{question_experts:{m},option_experts:2}}" for m in range(1, 8)]
    points += [f"{{question_experts:5,option_experts:{n}}}" for n in (1, 3, 4)]
    datasets = ["medqa", "medmcqa", "pubmedqa", "mmlu_med"]
    assert [(job.varied["dataset"], job.varied["agent"]) for job in jobs] == [(d, p) for d in datasets for p in points]
    for job in (jobs[0], jobs[-1]):
        cfg = compose("config", ["experiment=medagents/fig3", *job.overrides], return_hydra_config=True)
        assert (cfg.agent.question_experts, cfg.agent.option_experts) == ((1, 2) if job is jobs[0] else (5, 4))
        assert cfg.hydra.runtime.choices["agent"] == "medagents" and cfg.model.temperature == 1.0
        assert (cfg.hydra.runtime.choices["toolset"], cfg.hydra.runtime.choices["scorer"]) == ("none", "choice")
