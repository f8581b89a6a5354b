import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.types import Answer, Problem, Sample
from components.radiology.agent import Radagent
from components.stages.prompt_report import scatter
from components.stages.prompt_trials import Gate, Tried, parts_of, per_record, record_of, run_version, with_prompts
from tests.golden.vectors import PAPER
from tests.slow import slow
from tests.stage_bench import CAREFUL, Asking, Class, Halves, base_set, bench


def test_parts_are_drawn_by_whole_records_and_by_the_seed(tmp_path):
    desk = bench(Class().say, base_set(tmp_path / "base"))
    parts = parts_of(desk, None, 2, 1, 0)
    assert [len(part) for part in (parts.train, parts.validation, parts.compared)] == [4, 2, 0]
    assert parts.records == parts_of(desk, "train", 2, 1, 0).records and parts.split == "train"
    assert record_of(Sample(Problem("p", "?"), None)) == "p"


@dataclass(frozen=True)
class Echoes(Halves):
    """The same question of every record."""

    def load(self, split):
        rows = super().load(split)
        return rows if split == "test" else [replace(one, problem=replace(one.problem, question="?")) for one in rows]


def test_a_task_that_occurs_in_two_parts_under_two_names_is_refused(tmp_path):
    desk = bench(Class().say, base_set(tmp_path / "base"), Echoes())
    with pytest.raises(ConfigError, match="for validation has the same text as one for training"):
        parts_of(desk, None, 2, 2, 0)
    assert parts_of(desk, None, 2, 0, 0).train


def test_a_dataset_without_a_split_to_learn_from_is_refused(tmp_path):
    desk = bench(Class().say, base_set(tmp_path / "base"), Halves(splits=("test",)))
    with pytest.raises(ConfigError, match="no split to learn from"):
        parts_of(desk, None, 1, 1, 0)
    with pytest.raises(ConfigError, match=r"stage\.split='test'"):
        parts_of(desk, "test", 1, 1, 0)


async def test_samples_are_run_repeatedly_with_the_prompts_of_a_folder(tmp_path):
    careful = base_set(tmp_path / "careful", ask=CAREFUL)
    room = Class()
    desk = bench(room.say, base_set(tmp_path / "base"))
    samples = Halves().load("train")[:2]
    plain, refined = [await run_version(desk, Path(folder), samples, 3) for folder in (desk.agent.prompts, careful)]
    assert (len(plain.failed()), len(refined.failed("score/right"))) == (6, 0)
    assert (plain.mean("solved"), refined.mean("score/right")) == (0.0, 1.0)
    assert sorted({one.epoch for one in room.asked}) == [0, 1, 2]
    assert per_record(plain, refined, "score/right") == [{"record": "t0", "plain": 0.0, "refined": 1.0, "n": 6}]
    assert desk.gain(refined.records, plain.records, "score/right")["gain"] == 1.0


def test_an_agent_without_prompts_cannot_be_given_others():
    class Mute:
        async def solve(self, episode):
            return Answer("")

    assert with_prompts(Asking("a"), "b") == Asking("b")
    with pytest.raises(ConfigError, match="Mute has no prompt set"):
        with_prompts(Mute(), "b")
    with pytest.raises(
        ConfigError, match=r"Radagent cannot run with other prompts as it is set .* refine them without"
    ):
        with_prompts(Radagent(PAPER, strategies=["refined_prompts"]), "b")


def test_a_score_that_is_missing_everywhere_has_no_mean():
    scored = Tried([], [{"scores": {"a": 1.0, "b": None, "solved": None}}])
    with pytest.raises(ConfigError, match=r"stage\.metric: 'b' scores no episode here; these do: a"):
        scored.mean("b")
    with pytest.raises(ConfigError, match=r"stage\.solved_by: the score that decides scores no episode here"):
        scored.failed()
    assert scored.mean("a") == 1.0


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_a_plot_has_a_point_per_record_where_it_belongs_and_the_line(better):
    points = [{"record": "a <b>", "plain": 1.0, "refined": 0.5}, {"record": "c", "plain": 0.0, "refined": 0.0}]
    drawing = ElementTree.fromstring(scatter(points, "planning/levenshtein", better))
    of = {}
    for one in drawing:
        of.setdefault(one.tag.rpartition("}")[2], []).append(one)
    line, (first, second) = of["line"][0].attrib, of["circle"]
    assert (line["x1"], line["y1"]) == (second.attrib["cx"].removesuffix(".0"), second.attrib["cy"].removesuffix(".0"))
    across = (float(first.attrib["cx"]) - float(line["x1"])) / (float(line["x2"]) - float(line["x1"]))
    up = (float(line["y1"]) - float(first.attrib["cy"])) / (float(line["y1"]) - float(line["y2"]))
    assert (across, up) == (1.0, 0.5) and first[0].text == "a <b>: plain 1, refined 0.5"
    side = {"lower": "below", "higher": "above"}[better]
    assert f"{side} the line refined is better" in [one.text for one in of["text"]]
    assert [one.text for one in of["text"] if one.attrib.get("text-anchor") == "end"][:3] == ["0", "0.5", "1"]


def test_a_plot_without_data_is_still_a_plot():
    assert ElementTree.fromstring(scatter([], "m", "lower")) is not None
    assert ">1.6</text>" in scatter([{"record": "a", "plain": 1.47, "refined": 0.1}], "m", "lower")


def episodes_with(*values):
    """One question of each record."""
    fields = {"epoch": 0, "strata": {}, "stop": "answered"}
    records = [
        {"sample_id": f"s{n}", "cluster": f"p{n}", "scores": {"m": value}, **fields} for n, value in enumerate(values)
    ]
    return Tried([], records)


@pytest.fixture
def desk(tmp_path):
    return bench(Class().say, base_set(tmp_path / "base"))


def test_a_gain_that_one_round_would_pass_is_not_enough_where_three_have_tried(desk):
    before, after = episodes_with(*[0.0] * 6), episodes_with(*[1.0] * 6)
    one, three = (Gate("m", 0.05, rounds).decision(desk, before, after) for rounds in (1, 3))
    assert one["kept"] and one["why"] == "gain in m 1 over 6 pairs, permutation p 0.0312 <= 0.05"
    assert not three["kept"] and three["why"].endswith("p 0.0312: not below 0.0167 (0.05 over 3 rounds)")
    assert (one["before"], one["after"], three["level"]) == (0.0, 1.0, 0.05 / 3)


@slow
def test_rounds_without_improvement_keep_a_set_with_probability_at_most_alpha(desk):
    rng, gate = Random(0), Gate("m", 0.4, 5)
    before = episodes_with(*[0.5] * 11)

    def any_kept():
        return any(
            gate.decision(desk, before, episodes_with(*[0.5 + rng.choice((-1, 1)) for _ in range(11)]))["kept"]
            for _ in range(5)
        )

    kept = sum(any_kept() for _ in range(40))
    assert 1 <= kept <= 16, "half of it is for sets that are worse"


def test_a_worse_or_indistinguishable_set_is_not_kept(desk):
    gate = Gate("m", 0.05, 1)
    assert gate.decision(desk, episodes_with(*[1.0] * 6), episodes_with(*[0.0] * 6))["why"].endswith("no gain")
    only = gate.decision(desk, episodes_with(0.0, 0.0), episodes_with(1.0, 1.0))
    assert not only["kept"] and only["why"].endswith("p 0.5: not below 0.05")


def test_a_set_with_fewer_scorable_episodes_is_not_kept_whatever_its_gain(desk):
    verdict = Gate("m", 0.05, 1).decision(desk, episodes_with(*[0.0] * 8), episodes_with(*[1.0] * 6, None, None))
    assert not verdict["kept"] and verdict["why"].endswith("but 2 episodes fewer have that score")


def test_without_alpha_or_validation_records_each_set_is_kept(desk):
    gate = Gate("m", None, 3)
    assert gate.decision(desk, None, None) == {"kept": True, "why": "there is no gate"}
    worse = gate.decision(desk, episodes_with(1.0, 1.0), episodes_with(0.0, 0.0))
    assert worse["kept"] and worse["gain"]["gain"] == -1.0 and gate.level is None
    gate.check(0)


def test_a_gate_that_no_gain_could_pass_is_refused_with_what_would_be_enough():
    Gate("m", 0.05, 3).check(7)
    with pytest.raises(ConfigError, match=r"validation_records=6: .* no p below 0.0312, .* give 7 or more"):
        Gate("m", 0.05, 3).check(6)
    with pytest.raises(ConfigError, match="alpha=null"):
        Gate("m", 0.05, 3).check(0)


def test_an_unscorable_set_is_not_kept_and_does_not_end_the_stage(desk):
    before, after = episodes_with(*[0.0] * 8), episodes_with(*[None] * 8)
    verdict = Gate("m", 0.05, 1).decision(desk, before, after)
    assert (verdict["kept"], verdict["after"]) == (False, None) and "8 episodes fewer have that score" in verdict["why"]
    assert Gate("m", None, 1).decision(desk, before, after)["kept"]


def test_a_very_small_alpha_is_reported_with_the_number_of_records_it_requires():
    with pytest.raises(ConfigError, match="give 143 or more, or alpha=null"):
        Gate("m", 1e-42, 3).check(11)
    assert 0.5**142 <= 1e-42 / 3 < 0.5**141
