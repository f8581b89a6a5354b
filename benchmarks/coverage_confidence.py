"""Selective prediction and calibration in simulation: how often the 95 % intervals hold the truth, and the bias of the
plain and the debiased ECE.

The probability that an answer is right is beta (3, 1), as for the simulated model. It is stated as it is, or as its
square root in steps of 5 %: overconfident. Clustered runs are of patients with one to five answers, of which the
probability and what happens are correlated (0.4 and 0.3 in a normal variable behind each). The truth is that of 400,000
answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.random import Generator

from benchmarks.figures import Figure, Settings
from runner.results.selective import AURC, DEBIASED, ECE, EXCESS, RISKS, Answers

SIZES, FLOOR = (100, 400, 1_200), 90.0
CASES = ("calibrated", "overconfident")
_MEASURES = (AURC, EXCESS, *RISKS, DEBIASED)
_TRUTH = 400_000  # answers
_PER_PATIENT = 3  # answers on average, 1 to 5


def answers(case: str, rng: Generator, n: int, by_patient: bool) -> Answers:
    """A simulated run of n answers."""
    from scipy.special import ndtr

    k = max(2, round(n / _PER_PATIENT)) if by_patient else n
    clusters = np.repeat(np.arange(k), rng.integers(1, 2 * _PER_PATIENT, k) if by_patient else 1)

    def uniform(alike: float) -> np.ndarray:
        own, shared = rng.normal(size=len(clusters)), rng.normal(size=k)[clusters]
        return np.asarray(ndtr(np.sqrt(alike) * shared + np.sqrt(1 - alike) * own))

    right = uniform(0.4) ** (1 / 3) if by_patient else rng.random(n) ** (1 / 3)
    happened = uniform(0.3) if by_patient else rng.random(n)
    stated = right if case == "calibrated" else np.round(20 * np.sqrt(right)) / 20
    return Answers.of(stated, (happened < right).astype(float), clusters)


@cache
def truth(case: str) -> Mapping[str, float]:
    """The values of all measures in very many answers."""
    many = answers(case, np.random.default_rng(1), _TRUTH, by_patient=False)
    found = {name: float(value[0]) for name, value in many.selection(np.ones((1, len(many)))).items()}
    gaps = np.bincount(many.bins, 1 - many.loss - many.certain)
    return found | dict.fromkeys(
        (ECE, DEBIASED), 0.0 if case == "calibrated" else float(np.abs(gaps).sum() / len(many))
    )


def simulated(case: str, n: int, by_patient: bool, draws: int) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Per cent of intervals that hold the truth, of each measure that has intervals in half of the runs; and the biases
    of the two ECE."""
    rng, right = np.random.default_rng([n, by_patient]), truth(case)
    runs = [answers(case, rng, n, by_patient).measures() for _ in range(draws)]
    held = {}
    for name in _MEASURES:
        known = [one[name] for one in runs if one[name].low is not None]
        if len(known) >= draws / 2:
            held[name] = 100 * float(
                np.mean([one.low <= right[name] + 1e-12 and right[name] <= one.high for one in known])
            )
    means = {name: float(np.mean([one[name].value for one in runs])) for name in (ECE, DEBIASED)}
    return held, {name: value - right[name] for name, value in means.items()}


def row(settings: Settings) -> Sequence[Figure]:
    """Coverage of the intervals of selective prediction and calibration, and the bias of ECE, in simulation."""
    figures = []
    for case in CASES:
        for n in SIZES:
            for by_patient in (False, True):
                draws = settings.count(200_000 // n, 10)
                held, bias = simulated(case, n, by_patient, draws)
                lowest = min(held, key=held.__getitem__)
                single = ", ".join(f"{name} {value:.1f}" for name, value in held.items())
                detail = f"{single}; bias of ECE {bias[ECE]:+.3f}, debiased {bias[DEBIASED]:+.3f}; of {draws:,} runs"
                what = f"{case}, {n} answers{', by patient' if by_patient else ''}, lowest: {lowest}"
                figures.append(Figure("coverage_confidence", what, held[lowest], "%", FLOOR, True, detail))
    return figures
