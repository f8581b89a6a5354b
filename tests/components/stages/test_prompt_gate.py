from random import Random

import pytest

from components.core.errors import ConfigError
from components.stages.prompt_gate import Gate
from components.stages.prompt_trials import Tried
from tests.stage_bench import Class, base_set, bench


def played(*values):
    """One question of each record."""
    told = {"epoch": 0, "strata": {}, "stop": "answered"}
    records = [
        {"sample_id": f"s{n}", "cluster": f"p{n}", "scores": {"m": value}, **told} for n, value in enumerate(values)
    ]
    return Tried([], records)


@pytest.fixture
def desk(tmp_path):
    return bench(Class().say, base_set(tmp_path / "base"))


def test_a_gain_that_one_round_would_pass_is_not_enough_where_three_have_tried(desk):
    before, after = played(*[0.0] * 6), played(*[1.0] * 6)
    one, three = (Gate("m", 0.05, rounds).decision(desk, before, after) for rounds in (1, 3))
    assert one["kept"] and one["why"] == "gain in m 1 over 6 pairs, permutation p 0.0312 <= 0.05"
    assert not three["kept"] and three["why"].endswith("p 0.0312: not below 0.0167 (0.05 over 3 rounds)")
    assert (one["before"], one["after"], three["level"]) == (0.0, 1.0, 0.05 / 3)


def test_rounds_that_try_what_is_no_better_keep_one_with_no_more_than_alpha(desk):
    rng, gate = Random(0), Gate("m", 0.4, 5)
    before = played(*[0.5] * 11)

    def any_kept():
        return any(
            gate.decision(desk, before, played(*[0.5 + rng.choice((-1, 1)) for _ in range(11)]))["kept"]
            for _ in range(5)
        )

    kept = sum(any_kept() for _ in range(40))
    assert 1 <= kept <= 16, "half of it is for sets that are worse"


def test_what_is_worse_or_cannot_be_told_is_not_kept(desk):
    gate = Gate("m", 0.05, 1)
    assert gate.decision(desk, played(*[1.0] * 6), played(*[0.0] * 6))["why"].endswith("no gain")
    only = gate.decision(desk, played(0.0, 0.0), played(1.0, 1.0))
    assert not only["kept"] and only["why"].endswith("p 0.5: not below 0.05")


def test_a_set_under_which_less_can_be_scored_is_not_kept_whatever_it_gains(desk):
    told = Gate("m", 0.05, 1).decision(desk, played(*[0.0] * 8), played(*[1.0] * 6, None, None))
    assert not told["kept"] and told["why"].endswith("but 2 episodes fewer have that score")


def test_without_alpha_or_validation_records_each_set_is_kept(desk):
    gate = Gate("m", None, 3)
    assert gate.decision(desk, None, None) == {"kept": True, "why": "there is no gate"}
    worse = gate.decision(desk, played(1.0, 1.0), played(0.0, 0.0))
    assert worse["kept"] and worse["gain"]["gain"] == -1.0 and gate.level is None
    gate.check(0)


def test_a_gate_that_no_gain_could_pass_is_refused_with_what_would_be_enough():
    Gate("m", 0.05, 3).check(7)
    with pytest.raises(ConfigError, match=r"validation_records=6: .* no p below 0.0312, .* give 7 or more"):
        Gate("m", 0.05, 3).check(6)
    with pytest.raises(ConfigError, match="alpha=null"):
        Gate("m", 0.05, 3).check(0)


def test_a_set_under_which_nothing_can_be_scored_is_not_kept_and_ends_no_stage(desk):
    before, after = played(*[0.0] * 8), played(*[None] * 8)
    told = Gate("m", 0.05, 1).decision(desk, before, after)
    assert (told["kept"], told["after"]) == (False, None) and "8 episodes fewer have that score" in told["why"]
    assert Gate("m", None, 1).decision(desk, before, after)["kept"]


def test_a_very_small_alpha_is_told_how_many_records_it_takes():
    with pytest.raises(ConfigError, match="give 143 or more, or alpha=null"):
        Gate("m", 1e-42, 3).check(11)
    assert 0.5**142 <= 1e-42 / 3 < 0.5**141
