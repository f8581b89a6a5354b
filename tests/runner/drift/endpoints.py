"""Endpoints in simulation: of each sample a chance of the right answer, and noise in all that is watched."""

import numpy as np

from runner.drift.evidence import evidence_of, newest_against_all


def answer(rng, chance, lengthening=0.0):
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


def watched(seed, *, checks, samples=40, repeats=5, drop=0.0, since=1, lengthening=0.0, concentration=1.0, draws=999):
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


def share_of_alarms(paths, alpha, **settings):
    """How often the evidence reaches 1 / alpha at any check, and after how many checks in the median of these."""
    first = []
    for seed in range(paths):
        over = np.flatnonzero(np.array(watched(seed, **settings)) >= 1 / alpha)
        first.append(over[0] + 1 if len(over) else np.inf)
    found = [one for one in first if one < np.inf]
    return len(found) / paths, float(np.median(found)) if found else None
