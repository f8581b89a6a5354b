"""Drift in simulation: how often it is found, and how often where there is none.

An endpoint has of each sample a chance of the right answer, and noise in all that is watched."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from benchmarks.figures import Figure, Settings
from runner.drift.evidence import evidence_of, newest_against_all

ALPHA, POWER = 5.0, 95.0  # per cent


def answer(rng: Generator, chance: float, lengthening: float = 0.0) -> dict[str, Any]:
    """The values of one answer; all that is watched depends on whether it is right."""
    right = rng.random() < chance
    looks = rng.random() < 0.7 + 0.2 * right
    return {
        "score": float(right),
        "answer": "right" if right else f"wrong {rng.integers(3)}",
        "length": 5.0 + lengthening + 0.3 * rng.normal() + 0.2 * right,
        "calls": 2 if looks else 1,
        "tools": "look measure" if looks else "look",
        "ending": "answered" if right or rng.random() < 0.95 else "failed",
    }


def watched(
    seed: int, *, checks: int, samples: int = 40, repeats: int = 5, drop: float = 0.0, since: int = 1,
    lengthening: float = 0.0, concentration: float = 1.0, draws: int = 999,
) -> list[float]:  # fmt: skip
    """The evidence after each check of an endpoint whose chances ``drop`` from the check ``since`` on."""
    rng = np.random.default_rng(seed)
    chances = rng.beta(2 * concentration, concentration, samples)
    answers = [[answer(rng, one) for _ in range(repeats)] for one in chances]
    p_values = []
    for number in range(1, checks + 1):
        changed = number >= since
        for of, chance in zip(answers, chances, strict=True):
            of.append(answer(rng, max(0.0, chance - drop * changed), lengthening * changed))
        p_values.append(newest_against_all(answers, seed=int(rng.integers(2**31)), draws=draws).p)
    return evidence_of(p_values, draws)


def share_of_alarms(paths: int, alpha: float, **settings: Any) -> tuple[float, float | None]:
    """How often the evidence reaches 1 / alpha at any check, and after how many checks in the median of these."""
    first = []
    for seed in range(paths):
        over = np.flatnonzero(np.array(watched(seed, **settings)) >= 1 / alpha)
        first.append(over[0] + 1 if len(over) else np.inf)
    found = [one for one in first if one < np.inf]
    return len(found) / paths, float(np.median(found)) if found else None


def row(settings: Settings) -> Sequence[Figure]:
    """False alarms of the test of drift at any of twenty checks, and how often drift is found, in simulation."""
    n = settings.count(200, 4)
    alarms, _ = share_of_alarms(n, ALPHA / 100, checks=20, draws=499)
    what = "false alarms at any of 20 checks, 40 samples, alpha 5 %"
    figures = [Figure("coverage_drift", what, 100 * alarms, "%", ALPHA, detail=f"{n} endpoints")]
    for drop, target in ((0.1, None), (0.2, None), (0.3, POWER)):
        found, checks = share_of_alarms(n, 0.01, checks=8, samples=60, drop=drop, draws=9_999)
        what = f"right {100 * drop:.0f} points less often: found in 8 checks, 60 samples, alpha 1 %"
        detail = f"{n} endpoints" + ("" if checks is None else f", in the median after {checks:g} checks")
        figures.append(Figure("coverage_drift", what, 100 * found, "%", target, True, detail))
    return figures
