"""Paired comparisons."""

from itertools import product
from random import Random

import numpy as np
import pytest

from runner.results import formulas, significance
from runner.results.significance import compare, holm, sign_flip_p, sign_test_p, t_test_p
from tests.runner.results.significance_data import SLEEP
from tests.slow import slow
from tests.table import each_row


def test_signs_from_bytes_are_those_of_random_integers():
    values, rng = np.array([0.5 + n / 7 for n in range(15)]), np.random.default_rng(0)
    signs = rng.integers(0, 2, size=(9_999, 15), dtype=np.int8) * 2 - 1
    for parts in (values, np.where(np.arange(15) < 5, -values, values)):
        reached = (np.abs(signs @ parts) >= abs(parts.sum()) - 1e-9).sum()
        assert sign_flip_p(parts.tolist()) == (reached + 1) / 10_000


@each_row(
    "t, df, p",
    [
        (0.0, 5, 1.0),
        (1.0, 1, 0.5),
        (12.7062047364, 1, 0.05),
        (2.0930240544, 19, 0.05),
        (-2.8609346065, 19, 0.01),
        (1.9599639845, 10**7, 0.05),
    ],
)
def test_p_values_match_tables(t: float, df: int, p: float) -> None:
    assert t_test_p(t, df) == pytest.approx(p, abs=1e-7)


def test_the_paired_t_test_of_students_sleep_data() -> None:
    found = compare(*SLEEP)  # R: t.test(extra ~ group, data = sleep, paired = TRUE): t = -4.0621, df = 9, p = 0.002833
    assert (found.t, found.p_value) == pytest.approx((-4.0621, 0.002833), abs=5e-5) and found.df == 9
    assert (found.win, found.tie, found.loss) == (9, 1, 0)


def test_wins_follow_the_direction() -> None:
    lower, higher = compare([1, 2, 3], [2, 2, 2]), compare([1, 2, 3], [2, 2, 2], lower_is_better=False)
    assert (lower.win, lower.tie, lower.loss) == (1, 1, 1) == (higher.win, higher.tie, higher.loss)
    assert lower.t == 0.0 and lower.p_value == 1.0 and lower.df == 2
    assert compare([1, 1], [2, 3]).win == 2 == compare([1, 1], [2, 3], lower_is_better=False).loss


def test_no_variance_gives_no_test() -> None:
    for a, b in (([1, 2], [1, 2]), ([1.0], [2.0]), ([], []), ([1, 2], [2, 3])):
        found = compare(a, b)
        assert found.t is None and found.p_value is None


def test_items_must_pair() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        compare([1, 2], [1])


def test_the_sign_test_is_the_exact_binomial_one():
    assert sign_test_p(0, 0) == 1.0 and sign_test_p(3, 3) == 1.0
    assert sign_test_p(5, 0) == sign_test_p(0, 5) == pytest.approx(2 / 32)
    assert sign_test_p(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)  # McNemar's exact test of 8 against 2
    assert 0 < sign_test_p(1600, 1400) < 0.001 and sign_test_p(4000, 0) == 0.0  # below floating-point precision


def test_holm_adjusts_in_steps_and_never_reorders():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])  # Holm 1979
    assert holm([0.5, 0.6]) == [1.0, 1.0] and holm([]) == []


def test_sign_flips_are_exact_for_equal_weights_and_test_the_sum_otherwise():
    assert sign_flip_p([0.25, 0.25, 0.25, 0.0]) == sign_test_p(3, 0) == 0.25
    assert sign_flip_p([]) == sign_flip_p([0.0]) == 1.0
    rng = Random(0)
    assert sign_flip_p([rng.gauss(1.0, 0.5) for _ in range(30)]) == 1 / 10_000
    assert sign_flip_p([rng.gauss(0.0, 1.0) for _ in range(200)]) > 0.05
    # many small losses against one gain that outweighs them: the sum decides, not how many
    assert sign_flip_p([-0.01] * 8 + [1.0]) > 0.5


def test_all_sign_flips_are_enumerated_for_few_parts():
    gains = [right - left for left, right in zip(*SLEEP, strict=True)]
    sums = [
        abs(sum(sign * gain for sign, gain in zip(signs, gains, strict=True))) for signs in product((1, -1), repeat=10)
    ]
    assert sign_flip_p(gains) == sum(one >= abs(sum(gains)) - 1e-9 for one in sums) / 1024 == pytest.approx(2 / 512)


@slow
@each_row("wins, losses", [(0, 1), (8, 2), (86, 150), (5, 5), (17, 1)])
def test_sign_test_matches_mcnemars_exact_test_of_statsmodels(wins, losses):
    from statsmodels.stats.contingency_tables import mcnemar

    assert sign_test_p(wins, losses) == pytest.approx(mcnemar([[3, wins], [losses, 9]], exact=True).pvalue, rel=1e-9)


def test_mcnemar_of_agrestis_approval_ratings():
    # Agresti 1990, Categorical Data Analysis, p. 350, as in R's ?mcnemar.test: 794 approve twice, 150 change to
    # disapproval, 86 to approval; the test without correction gives p = 3.1e-05 (R's, corrected: 4.115e-05).
    assert 2.5e-5 < sign_test_p(86, 150) < 5e-5


@slow
def test_holm_matches_statsmodels_and_r():
    from statsmodels.stats.multitest import multipletests

    given = [0.01, 0.02, 0.03, 0.04, 0.05]  # R: p.adjust(c(...), "holm") is 0.05 0.08 0.09 0.09 0.09
    assert holm(given) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    rng = Random(1)
    many = [rng.random() ** 3 for _ in range(40)]
    assert holm(many) == pytest.approx(list(multipletests(many, method="holm")[1]))


def test_signs_of_many_parts_and_weights_of_many_sizes_do_not_stay_in_memory(monkeypatch):
    parts = [1.0, 2.0, -1.0, 3.0] * 9
    same = sign_flip_p(parts)
    monkeypatch.setattr(significance, "_KEPT", 0)
    significance._random_signs.cache_clear()
    assert sign_flip_p(parts) == same and significance._random_signs.cache_info().currsize == 0
    weights = formulas._few_weights.cache_info().maxsize * formulas._FEW * formulas.RESAMPLES  # bytes
    assert weights <= 50e6
