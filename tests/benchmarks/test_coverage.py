"""The simulated cases are correct; the coverage of intervals is measured at full scale only."""

import numpy as np
import pytest

from benchmarks.coverage import CASES, SHORT_CASES, Case, coverage
from tests.table import each_row

ALL = {f"{what}, {label}": case for what, cases in CASES.items() for label, case in cases.items()} | SHORT_CASES


@each_row("name", ALL)
def test_true_value_of_a_case_is_its_mean(name):
    case, rng = ALL[name], np.random.default_rng(1)
    k = 30_000
    clusters = np.repeat(np.arange(k), rng.integers(1, 6, k) if case.clustered else 1)
    assert case.draw(rng, clusters, k).mean() == pytest.approx(case.truth, abs=0.015 if case.truth < 1 else 0.03)


def test_coverage_is_the_share_of_intervals_with_the_true_value():
    certain = Case(1.0, lambda rng, clusters, k: np.ones(len(clusters)))
    assert coverage(certain, 30, 20) == 100.0
    assert coverage(Case(0.0, certain.draw), 30, 20) == 0.0, "an interval of something else"
    half = coverage(ALL["0 or 1 by sample, p 0.5"], 100, 400)
    assert 90 < half < 99
