"""Gains over a baseline by a stratum, next to the published ones."""

import json
from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from runner.config.catalogue import CONF
from runner.results.publications.gains import Gains, PublishedGain, load_gains, show_gains
from runner.results.publications.ledger import ledger, of_gains
from runner.results.runs import Run
from tests.runner.results.sweeps import job

SETTINGS = {"[]": [], "[few_shot]": ["few_shot"], "[b,few_shot]": ["multi_agent", "few_shot"]}
VALUES = {"[]": [0.0, 1, 0, 1, 0, 1], "[few_shot]": [1.0, 1, 1, 1, 0, 1], "[b,few_shot]": [0.0, 1, 0, 1, 0, 0]}


@pytest.fixture
def sweep(tmp_path):
    """Three jobs that differ in their strategies, samples in two levels of complexity; the gains of RadABench."""

    def make(gains="radabench", baselines=("agent.strategies=[]",)):
        runs = []
        for word, names in SETTINGS.items():
            run = job(tmp_path / str(baselines) / str(gains), VALUES[word], "radagent", score="completion/rate", by={"completion/rate": ["complexity"]},
                      varied={"agent.strategies": word})  # fmt: skip
            lines = [json.loads(line) for line in (run.folder / "records.jsonl").read_text().splitlines()]
            for n, line in enumerate(lines):
                line["strata"] = {"complexity": "simple" if n < 2 else "complex"}
            (run.folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            cfg = {**run.cfg, "agent": {"strategies": names}, "compare": {"gains": gains, "baselines": list(baselines)}}
            runs.append(Run.at(run.folder, cfg))
        return runs

    return make


def test_gains_by_complexity_are_shown_with_the_published_ones(sweep, tmp_path, capsys):
    show_gains(sweep(), tmp_path)
    out = capsys.readouterr().out
    assert "completion/rate on cab: gains over agent.strategies=[]" in out and "Zheng et al. 2024" in out
    assert "+0.3333" in out and "+66.67" in out and "+0.5000" in out and "+100.00" in out and "+0.2500" in out
    assert "planning/levenshtein" not in out  # no run has it
    gains_by_level = json.loads((tmp_path / "gains.json").read_text())["completion/rate"]["cab"]
    assert list(gains_by_level) == ["total", "complex", "simple"] and len(gains_by_level["total"]) == 2
    first = next(iter(gains_by_level["complex"].values()))
    assert (first["gain"], first["pairs"], first["wins"], first["losses"]) == (0.25, 4, 1, 0)


def fitting(runs, **notes):
    """These runs with the published data and tools."""
    choices = {"agent": "radagent", "toolset": "radiology", "verifier": "accept"}
    notes = {"dataset": {"name": "radabench", "split": "test"}, "choices": choices, **notes}
    parts = {"toolset": {"kind": "x"}, "verifier": {"kind": "x"}}
    return [replace(run, manifest={**run.manifest, **notes}, cfg={**run.cfg, **parts}) for run in runs]


def test_ledger_has_published_gains_next_to_measured_ones(sweep):
    shots = {"agent.strategies": ["few_shot"]}
    of = Gains("c", "w", "radabench", "Claude-3.7-Sonnet", [
        PublishedGain("completion/rate", shots, absolute=0.3, relative=0.6), PublishedGain("completion/rate", shots, value=0.8),
        PublishedGain("completion/rate", shots, part="complex", absolute=2.0), PublishedGain("completion/rate", shots, won="3:1:0"),
        PublishedGain("completion/rate", {"agent.strategies": ["self_reflection"]}, absolute=0.1),
        PublishedGain("completion/rate", shots, absolute=0.3, relation="about"),
    ])  # fmt: skip
    runs = sweep()
    real = {"models": {"main": "claude-3-7-sonnet-20250219"}, "model_kind": "live"}
    found = list(of_gains(of, fitting(runs, **real), CONF / "papers"))
    assert [(one.published, one.verdict.word) for one in found] == [
        (30.0, "within"), (60.0, "untestable"), (80.0, "within"), (200.0, "outside"), (None, "untestable"),
        (10.0, "untestable"), (30.0, "untestable"),
    ]  # fmt: skip
    gain, relative, score, *_, other, about = found
    assert gain.ours.value == pytest.approx(100 / 3) and relative.ours.value == pytest.approx(200 / 3)
    assert score.ours.value == pytest.approx(250 / 3) and gain.method == "agent.strategies=[few_shot]"
    assert (other.verdict.why, other.run) == (
        "no run given",
        "",
    ) and about.verdict.why == "published approximately only"
    assert not any("agent.strategies" in text for text in gain.deviations), "the strategies are the compared setting"
    simulated = fitting(runs, **real | {"model_kind": "simulated"})
    assert {one.verdict.word for one in of_gains(of, simulated, CONF / "papers")} == {"untestable"}
    assert any(one.source == "gain, execution/ots" for one in ledger([]))


def test_five_trials_match_figure_6b_and_one_trial_is_a_deviation(sweep):
    shipped = [one for one in load_gains("radabench", CONF / "papers").gains if one.metric == "planning/levenshtein"]
    assert [one.settings for one in shipped] == [{"epochs": 5}] * 4
    printed = PublishedGain(
        "completion/rate", {"agent.strategies": ["few_shot"]}, absolute=0.3, settings=shipped[0].settings
    )
    of, runs = Gains("c", "w", "radabench", "Claude-3.7-Sonnet", [printed]), sweep()
    (one,), (five,) = (list(of_gains(of, fitting(runs, epochs=n), CONF / "papers")) for n in (1, 5))
    assert "epochs: 1; published: 5" in one.deviations and not any("epochs" in text for text in five.deviations)


def test_settings_fit_a_published_gain_in_any_order(sweep):
    runs = sweep()
    four = PublishedGain("m", {"agent.strategies": ["few_shot", "multi_agent"]}, relative=0.482, note="p < 0.001")
    assert [four.fits(run) for run in runs] == [False, False, True] and four.text == "+48.2%, p < 0.001"
    assert PublishedGain("m", {}, absolute=0.095, won="17:2:1").text == "+0.095, 17:2:1"


def test_gains_need_a_name_and_a_baseline(sweep, tmp_path, capsys):
    show_gains(sweep(gains=None), tmp_path)
    assert capsys.readouterr().out == "" and not (tmp_path / "gains.json").exists()
    show_gains(sweep(baselines=["direct"]), tmp_path)
    assert capsys.readouterr().out.startswith("compare.gains: no run is one of compare.baselines")


def test_shipped_gains_are_read_and_unknown_names_reported():
    gains = load_gains("radabench", CONF / "papers").gains
    assert {one.metric for one in gains} >= {"completion/rate", "planning/levenshtein", "execution/ots", "refusal/uar"}
    whole = [one for one in gains if len(one.where["agent.strategies"]) == 4 and one.metric == "completion/rate"]
    assert [(one.part, one.relative) for one in whole] == [
        ("total", 0.198), ("simple", 0.144), ("moderate", 0.139), ("complex", 0.482),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="did you mean radabench"):
        load_gains("radbench", CONF / "papers")
