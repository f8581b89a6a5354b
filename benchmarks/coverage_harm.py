"""Expected harm in simulation: how often the interval of its mean and of a gap between groups holds the truth, and how
often a gap is found where there is none.

Patients have one to five cases. A fifth of the cases has an error, of which the chance differs between patients
(correlation 0.3 within them); of errors 2 % kill and 8 % do severe harm. A group of patients has the same chance, or
twice that of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from benchmarks.coverage_claims import table_of
from benchmarks.figures import Figure, Settings
from runner.results.sections.harm import expected_harm, gap

WEIGHTS = (0.0, 0.05, 0.25, 0.7, 1.0)  # of the levels, as conf/scorer/harm.yaml has them
LEVELS = (0.3, 0.4, 0.2, 0.08, 0.02)  # how often an error is of each
SIZES, GROUPS = (100, 400, 1_200), (0.5, 0.1)  # cases; share of patients
ERRORS, WITHIN = 0.2, 0.3
LEAST, MOST = 93.0, 7.0  # per cent
_PER_PATIENT = 3  # cases on average, 1 to 5
_EACH = float(np.dot(WEIGHTS, LEVELS))  # expected harm of an error


def harms(rng: Generator, clusters: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """The harm of each case, of patients with these chances of an error on average."""
    of_patient = rng.beta(chances * (1 / WITHIN - 1), (1 - chances) * (1 / WITHIN - 1))
    return np.where(rng.random(len(clusters)) < of_patient[clusters], rng.choice(WEIGHTS, len(clusters), p=LEVELS), 0.0)


def simulated(n: int, group: float, times: float, draws: int) -> tuple[float, float | None, float]:
    """Per cent of runs of n cases in which the interval of the mean of all, where there is one, holds the truth; the
    same of the gap, None where fewer than a tenth of the runs have one; and per cent in which the gap's leaves out
    zero. The first patients are the group, whose errors are so many times as frequent."""
    rng, k = np.random.default_rng([n, round(100 * group), round(times)]), max(2, round(n / _PER_PATIENT))
    most = round(group * k)
    chances = np.where(np.arange(k) < most, times * ERRORS, ERRORS)
    truth, true_gap = 100 * float(chances.mean()) * _EACH, 100 * (times - 1) * ERRORS * _EACH
    means, gaps, found = list[bool](), list[bool](), 0
    for _ in range(draws):
        clusters = np.repeat(np.arange(k), rng.integers(1, 2 * _PER_PATIENT, k))
        values, table = harms(rng, clusters, chances), table_of(clusters)
        mean, one = expected_harm(table, values), gap(table, values, clusters < most)
        if mean is not None and mean.low is not None and mean.high is not None:
            means.append(mean.low <= truth <= mean.high)
        if one is not None and one.low is not None and one.high is not None:
            gaps.append(one.low <= true_gap <= one.high)
            found += not one.low <= 0 <= one.high
    held = 100 * float(np.mean(gaps)) if len(gaps) >= draws / 10 else None
    return 100 * float(np.mean(means)), held, 100 * found / draws


def row(settings: Settings) -> Sequence[Figure]:
    """Coverage of the intervals of expected harm and of gaps between groups, and type I error of gaps: simulated."""
    figures, draws = list[Figure](), settings.count(1_000, 20)

    def add(what: str, value: float, unit: str, target: float, at_least: bool, detail: str = "") -> None:
        figures.append(Figure("coverage_harm", what, value, unit, target, at_least, f"{draws} runs{detail}"))

    for n in SIZES:
        for group in GROUPS:
            mean, _, false = simulated(n, group, 1.0, draws)
            _, held, power = simulated(n, group, 2.0, draws)
            what = f"{n} cases, group of {100 * group:.0f} % of patients"
            if group == GROUPS[0]:
                add(f"expected harm, {n} cases", mean, "%", LEAST, True)
            add(f"no gap, {what}", false, "% found", MOST, False)
            if held is not None:
                add(f"gap of twice the errors, {what}", held, "%", LEAST, True, f", {power:.1f} % found")
    return figures
