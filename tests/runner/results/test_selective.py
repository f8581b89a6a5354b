"""Selective prediction and calibration against their definitions, written out here one answer at a time."""

import numpy as np
import pytest

from benchmarks.coverage_confidence import CASES, answers, simulated, truth
from runner.results.selective import AURC, DEBIASED, ECE, EXCESS, RISKS, Answers, calibration, folded_normal
from tests.table import each_row


def of(certain, score, clusters=None):
    clusters = np.arange(len(certain)) if clusters is None else np.array(clusters)
    return Answers.of(np.array(certain, float), np.array(score, float), clusters)


def whole(found):
    return {name: float(value[0]) for name, value in found.selection(np.ones((1, len(found)))).items()}


def aurc(certain, loss):
    """Geifman et al. 2019: the mean over the answers of the risk of all that are at least as sure."""
    return np.mean([loss[certain >= own].mean() for own in certain])


def drawn(seed, n=60, graded=False):
    rng = np.random.default_rng(seed)
    certain = np.round(rng.random(n), 1)
    score = rng.random(n) if graded else (rng.random(n) < certain).astype(float)
    return certain, score


@each_row("graded", [False, True])
def test_aurc_and_its_excess_are_those_of_the_definition(graded):
    certain, score = drawn(1, graded=graded)
    found, loss = whole(of(certain, score)), 1 - score
    ranked = np.sort(loss)
    best = np.mean(np.cumsum(ranked) / np.arange(1, len(loss) + 1))
    assert found[AURC] == pytest.approx(aurc(certain, loss))
    assert found[EXCESS] == pytest.approx(aurc(certain, loss) - best)


def test_a_ranking_by_the_loss_has_no_excess_and_one_confidence_for_all_has_the_risk_of_all():
    score = np.array([1, 1, 1, 0, 0.0])
    assert whole(of([0.9, 0.8, 0.7, 0.2, 0.1], score))[EXCESS] == pytest.approx(0.0)
    assert whole(of([0.5] * 5, score))[AURC] == pytest.approx(0.4)


def test_coverage_at_a_risk_is_the_largest_share_with_no_larger_risk():
    score = [1] * 10 + [0] + [1] * 9 + [0] * 4
    found = whole(of(np.linspace(0.95, 0.05, 24), score))
    assert [found[name] for name in RISKS] == pytest.approx([10 / 24, 20 / 24, 21 / 24])


def test_equal_confidences_are_accepted_together():
    assert whole(of([0.9, 0.9, 0.1], [1, 0, 1]))["coverage at 10 % risk"] == 0.0


def test_weights_are_copies_of_answers():
    certain, score = drawn(2, graded=True)
    weights = np.random.default_rng(3).integers(0, 4, len(certain))
    known = of(certain, score)
    order = np.argsort(-certain, kind="stable")
    copies = of(np.repeat(certain, weights), np.repeat(score, weights))
    found = known.selection(weights[order][None].astype(float))
    assert {name: value[0] for name, value in found.items()} == pytest.approx(whole(copies))


def test_what_is_not_stated_or_not_scored_is_no_answer():
    known = of([0.9, np.nan, 0.5, 0.7], [1, 1, np.nan, 0], ["a", "b", "c", "c"])
    assert (known.certain.tolist(), known.loss.tolist(), known.clusters.tolist()) == ([0.9, 0.7], [0.0, 1.0], [0, 1])


def test_ece_and_its_correction_are_those_of_kumar_et_al():
    """Their library resamples mean scores from normal distributions; the variance is the unbiased one of each bin."""
    certain, score = drawn(4, n=400)
    known = of(certain, score)
    shares, gap, error = known.gaps(np.ones((1, len(known))))
    bins = [known.bins == number for number in range(known.bins.max() + 1)]
    own = [(1 - known.loss[one], known.certain[one]) for one in bins]
    plain = sum(len(s) * abs(s.mean() - c.mean()) for s, c in own) / 400
    found = calibration(shares, gap, error)
    assert found[ECE][0] == pytest.approx(plain)
    assert error[0] == pytest.approx([np.sqrt(s.mean() * (1 - s.mean()) / (len(s) - 1)) for s, _ in own])
    means, certainties = (np.array([one.mean() for one in part]) for part in zip(*own, strict=True))
    every = np.random.default_rng(5).normal(means, error[0], (100_000, len(own)))
    resampled = (np.abs(every - certainties) @ shares[0]).mean()
    assert found[DEBIASED][0] == pytest.approx(plain - (resampled - plain), abs=5e-4)


def test_errors_of_bins_are_those_of_clusters():
    """The answers of a patient twice say no more than once."""
    certain, score = drawn(6, n=19)
    once, twice = of(certain, score), of(np.tile(certain, 2), np.tile(score, 2), [*range(19), *range(19)])
    errors = [one.gaps(np.ones((1, 19)))[2][0] for one in (once, twice)]
    assert errors[0] == pytest.approx(errors[1]) and len(errors[0]) == 1


def test_bins_keep_equal_confidences_together_and_hold_at_least_twenty_on_average():
    certain, score = drawn(7, n=205)
    known = of(certain, score)
    for value in np.unique(certain):
        assert len(set(known.bins[known.certain == value])) == 1
    assert known.bins.max() + 1 <= 10 and of(certain[:50], score[:50]).bins.max() + 1 <= 2
    assert of([0.5] * 30, [1.0] * 30).bins.tolist() == [0] * 30


@each_row("mean", [-0.3, 0.0, 0.2])
def test_the_mean_of_a_folded_normal_is_that_of_scipy(mean):
    from scipy.stats import foldnorm

    found = folded_normal(np.array([[mean, mean]]), np.array([[0.1, 0.0]]))[0]
    assert found[0] == pytest.approx(foldnorm.mean(abs(mean) / 0.1, scale=0.1))
    assert found[1] == abs(mean)


def test_bins_and_ece_are_those_of_sklearn():
    from sklearn.calibration import calibration_curve

    certain = np.random.default_rng(9).random(400)
    known = of(certain, np.random.default_rng(10).random(400) < certain)
    shares, gap, error = known.gaps(np.ones((1, 400)))
    score, stated = calibration_curve(1 - known.loss, known.certain, n_bins=10, strategy="quantile")
    assert shares[0] == pytest.approx([0.1] * 10) and gap[0] == pytest.approx(score - stated)
    assert calibration(shares, gap, error)[ECE][0] == pytest.approx(np.abs(score - stated).mean())


def test_intervals_need_ten_clusters_and_coverages_ten_losses():
    few = of([0.9, 0.8] * 6, [1, 0] * 6, [0, 1, 2] * 4).measures()
    assert few[AURC].no_interval == "n too small" and few[AURC].low is None
    many = of(np.linspace(0, 1, 100), np.linspace(0, 1, 100) > 0.3).measures()
    assert many["coverage at 5 % risk"].no_interval == "n too small" and many["coverage at 10 % risk"].low is None
    more = of(np.linspace(0, 1, 300), np.linspace(0, 1, 300) > 0.3).measures()
    assert more["coverage at 1 % risk"].no_interval == "n too small" and more["coverage at 5 % risk"].low is not None
    assert more[ECE].low is None and more[DEBIASED].low <= more[DEBIASED].value <= more[DEBIASED].high
    assert [many[name].no_interval for name in (EXCESS, DEBIASED)] == ["n too small"] * 2 and many[AURC].low is not None


def test_where_the_loss_does_not_vary_aurc_has_no_interval():
    certain = np.linspace(0.1, 0.9, 40)
    for score in (np.ones(40), np.zeros(40)):
        found = of(certain, score).measures()[AURC]
        assert found.no_interval == "does not vary" and found.low is None
    assert of(certain, np.arange(40) > 3).measures()[AURC].low is not None


def test_an_interval_begins_at_0_where_calibration_is_not_rejected():
    rng = np.random.default_rng(8)
    certain = rng.random(300)
    luck = rng.random(300)
    assert of(certain, luck < certain).measures()[DEBIASED].low == 0.0
    assert of(certain, luck < certain / 2).measures()[DEBIASED].low > 0.1


def test_the_truth_of_the_simulation_is_that_of_its_distribution():
    """Where p is beta (3, 1), the answers above its upper share q have the mean risk 1 - 3 (1 - (1 - q)^(4/3)) / 4 q."""
    q = np.linspace(1e-4, 1, 20_001)
    assert truth("calibrated")[AURC] == pytest.approx(np.mean(1 - 0.75 * (1 - (1 - q) ** (4 / 3)) / q), abs=0.003)
    rate = 1 - answers("overconfident", np.random.default_rng(0), 20_000, True).loss.mean()
    assert rate == pytest.approx(0.75, abs=0.02)


@pytest.mark.slow
@each_row("case", CASES)
def test_intervals_hold_the_truth_and_the_debiased_ece_is_nearer(case):
    held, bias = simulated(case, 400, False, 100)
    assert min(held.values()) > 84
    assert abs(bias[DEBIASED]) < abs(bias[ECE]) or abs(bias[DEBIASED]) < 0.01
