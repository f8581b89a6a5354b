"""Main effects and interactions, by hand and against a regression with clustered covariance."""

from itertools import product

import numpy as np
import pytest

from runner.results.effects import effects_of, factors_of
from runner.results.runs import Run
from tests.runner.results.sweeps import job
from tests.slow import slow

AGENTS, CONDITIONS, N = ("react", "direct"), ("few", "many", "all"), 24
CLUSTERS = [f"p{n // 2}" for n in range(N)]


def value(n, agent, condition):
    """Cell means 3, 5 (react, direct) + 0, 1, 2 (conditions) + 4 for direct in all, and something of each sample's."""
    noise = ((7 * n + 3 * AGENTS.index(agent) * n + 5 * CONDITIONS.index(condition) * (n // 2)) % 11 - 5) / 10
    return (
        3
        + 2 * (agent == "direct")
        + CONDITIONS.index(condition)
        + 4 * (agent == "direct" and condition == "all")
        + noise
    )


@pytest.fixture
def runs(tmp_path):
    return [
        job(
            tmp_path,
            [value(n, agent, condition) for n in range(N)],
            agent,
            clusters=CLUSTERS,
            varied={"condition": condition},
        )
        for agent, condition in product(AGENTS, CONDITIONS)
    ]


def test_complete_grid_has_all_contrasts(runs):
    factors = factors_of(runs, "cab")
    assert factors.levels == {"agent": ["react", "direct"], "condition": ["few", "many", "all"]}
    found = effects_of(factors, "score/x")
    assert [one.name for one in found.effects] == [
        "agent direct less react", "condition many less few", "condition all less few",
        "agent direct less react x condition many less few", "agent direct less react x condition all less few",
    ]  # fmt: skip
    assert (found.samples, found.left_out, found.notes) == (N, 0, [])
    by_name = {one.name: one.difference for one in found.effects}
    cells = {cell: np.mean([value(n, *cell) for n in range(N)]) for cell in product(AGENTS, CONDITIONS)}
    main = np.mean([cells["direct", one] - cells["react", one] for one in CONDITIONS])
    assert by_name["agent direct less react"].metric.value == pytest.approx(main)
    twice = cells["direct", "all"] - cells["react", "all"] - cells["direct", "few"] + cells["react", "few"]
    assert by_name["agent direct less react x condition all less few"].metric.value == pytest.approx(twice)
    assert (
        all(one.difference.p_holm >= one.difference.p for one in found.effects)
        and found.effects[0].difference.clusters == N // 2
    )


@slow
def test_estimates_and_standard_errors_match_a_clustered_regression(runs):
    import statsmodels.api as sm

    found = {one.name: one.difference for one in effects_of(factors_of(runs, "cab"), "score/x").effects}
    rows, values, groups = [], [], []
    for agent, condition, n in product(AGENTS, CONDITIONS, range(N)):
        a = (agent == "direct") - 0.5  # centred: the other field's mean, not its first level
        m, w = (condition == "many") - 1 / 3, (condition == "all") - 1 / 3
        rows.append([1.0, a, m, w, a * m, a * w])
        values.append(value(n, agent, condition))
        groups.append(int(CLUSTERS[n][1:]))
    fit = sm.OLS(values, np.array(rows)).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(groups), "use_correction": False}
    )
    k = N // 2
    for gain, estimate, error in zip(found.values(), fit.params[1:], fit.bse[1:], strict=True):
        assert gain.metric.value == pytest.approx(estimate)
        assert gain.standard_error == pytest.approx(error * np.sqrt(k / (k - 1)))


def test_incomplete_grid_names_its_gaps_and_gives_no_effects(runs):
    found = effects_of(factors_of(runs[:-1], "cab"), "score/x")
    assert found.effects == [] and found.notes == ["no effects: not run: direct, all"]
    found = effects_of(factors_of([*runs, runs[0]], "cab"), "score/x")
    assert found.effects == [] and found.notes == ["no effects: run twice: react, few"]


def test_single_field_or_another_difference_is_not_a_grid(runs, tmp_path):
    assert factors_of(runs[:3], "cab") is None, "conditions only"
    other = [job(tmp_path / "x", [1.0], "react", varied={"condition": "few"}, swept=["condition"])]
    assert factors_of([*runs, *other], "cab") is None, "this sweep did not vary the agent"
    assert factors_of([], "cab") is None


def test_samples_that_some_cell_lacks_are_left_out_and_counted(tmp_path):
    runs = [
        job(tmp_path, [1.0, None if (agent, n) == ("direct", "many") else 0.0, 1.0], agent, varied={"condition": n})
        for agent, n in product(AGENTS, ("few", "many"))
    ]
    found = effects_of(factors_of(runs, "cab"), "score/x")
    assert (found.samples, found.left_out) == (2, 1)


def test_effect_that_lowers_a_score_better_low_is_positive(tmp_path):
    runs = [
        job(tmp_path, [3.0 - (agent == "direct")] * 4, agent, varied={"condition": n}, lower=["score/x"])
        for agent, n in product(AGENTS, ("few", "many"))
    ]
    found = effects_of(factors_of(runs, "cab"), "score/x")
    assert found.direction == "lower" and found.effects[0].difference.metric.value == 1.0
    assert found.as_dict()["effects"][0]["gain"] == 1.0


def test_effects_of_shares_stay_within_their_bounds(tmp_path):
    runs = [
        job(tmp_path, [float(agent == "direct" and n < 9) for n in range(10)], agent, varied={"condition": condition})
        for agent, condition in product(AGENTS, ("few", "many"))
    ]
    main, _, twice = effects_of(factors_of(runs, "cab"), "score/x").effects
    assert main.difference.metric.value == 0.9 and main.difference.metric.ci_high <= 1.0
    assert twice.difference.metric.value == 0.0 and -2.0 < twice.difference.metric.ci_low < 0.0, (
        "nothing varies: no certainty"
    )


def test_levels_without_any_score_are_left_out_by_name(tmp_path):
    def make(conditions):
        return [
            job(tmp_path, [None if n == "none" else float(n == "few")] * 4, agent, varied={"condition": n})
            for agent, n in product(AGENTS, conditions)
        ]

    found = effects_of(factors_of(make(("few", "many", "none")), "cab"), "score/x")
    assert [one.name for one in found.effects][1] == "condition many less few" and len(found.effects) == 3
    assert (found.samples, found.notes) == (4, ["left out, without any score/x: condition none"])
    found = effects_of(factors_of(make(("few", "none")), "cab"), "score/x")
    assert found.effects == [] and found.notes[0] == "no effects: one field is left"


def test_other_differences_between_sweeps_of_a_grid_are_reported(tmp_path):
    runs = [job(tmp_path, [1.0, 0.0], agent, varied={"condition": n}) for agent, n in product(AGENTS, ("few", "many"))]
    assert factors_of(runs, "cab").notes == []
    other = [
        Run(one.folder, {**one.manifest, "sweep": "t"}, {**one.cfg, "seed": 5})
        if one.manifest["varied"]["condition"] == "many" else one
        for one in runs
    ]  # fmt: skip
    found = effects_of(factors_of(other, "cab"), "score/x")
    assert found.effects and found.notes == ["other settings that differ between cells: seed"]
