"""The effect of an intervention on forks in simulation: how often the 95 % intervals hold the truth, and p below 5 %.

Episodes of three steps differ in their chances; half of the replies are shared by control and intervention, which turns
30 % of failures into successes at the first step, 15 % at the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

import numpy as np
from numpy.random import Generator

from benchmarks.figures import Figure, Settings
from components.core.usage import EpisodeUsage
from runner.results.kinds import Scale
from runner.results.pairs import Difference, adjust, difference_of, pairs_of
from runner.storage.schema import FORK_STEP, Record

STEPS, FLOOR, NOMINAL, MOST = 3, 92.0, 5.0, 7.5
SIZES = ((10, 4), (30, 2), (30, 8))  # episodes, and forks of each step
Scores = dict[tuple[str, int, int], float]  # sample, step, draw -> score
_FREE: EpisodeUsage = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "purposes": {}}


def simulated(rng: Generator, samples: int, steps: int, draws: int, effect: float = 1.0) -> tuple[Scores, Scores]:
    """The forks of the intervention, of this share of its effect, and of the control."""
    mine: Scores = {}
    theirs: Scores = {}
    for sample in range(samples):
        base = rng.beta(1.2, 1.2)
        for step in range(1, steps + 1):
            chance = base * (1 - 0.2 * (step - 1))
            better = chance + effect * (0.3 if step == 1 else 0.15) * (1 - chance)
            for draw in range(draws):
                luck, other = rng.random(2)
                shared = rng.random() < 0.5  # a reply that both have in common
                theirs[f"s{sample}", step, draw] = float(luck < chance)
                mine[f"s{sample}", step, draw] = float((luck if shared else other) < better)
    return mine, theirs


def truth(step: int | None) -> float:
    """The effect at a step, or at all of them."""
    if step is None:
        return fsum(map(truth, range(1, STEPS + 1))) / STEPS
    return (0.3 if step == 1 else 0.15) * (1 - 0.5 * (1 - 0.2 * (step - 1)))


def effect_of(mine: Scores, theirs: Scores, step: int | None = None) -> Difference:
    """As the report has it."""
    sides = [[_record(key, value) for key, value in of.items() if step in (None, key[1])] for of in (mine, theirs)]
    return difference_of(pairs_of(sides[0], sides[1], "right", Scale("proportion"), "higher"))


def _record(key: tuple[str, int, int], value: float) -> Record:
    sample, step, draw = key
    return {
        "sample_id": sample, "epoch": (step - 1) * 100 + draw, "cluster": None, "strata": {FORK_STEP: f"{step:02d}"},
        "stop": "answered", "answer": None, "refusal": None, "failure": None, "error": None,
        "scores": {"right": value}, "usage": _FREE, "seconds": 0.0,
    }  # fmt: skip


def held(samples: int, draws: int, n: int) -> Mapping[int | None, float]:
    """Per cent of n intervals that hold the true effect, of all steps (None) and of each."""
    rng, found = np.random.default_rng(samples * draws), dict[int | None, list[bool]]()
    for _ in range(n):
        mine, theirs = simulated(rng, samples, STEPS, draws)
        for step in (None, *range(1, STEPS + 1)):
            metric = effect_of(mine, theirs, step).metric
            assert metric.ci_low is not None and metric.ci_high is not None, "clusters enough"
            found.setdefault(step, []).append(metric.ci_low <= truth(step) <= metric.ci_high)
    return {step: 100 * float(np.mean(of)) for step, of in found.items()}


def false_alarms(n: int, samples: int = 20, draws: int = 3) -> tuple[float, float]:
    """Per cent of n forks without any effect with p below 5 %: of all steps, and the smallest Holm p of a step."""
    rng, whole, any_step = np.random.default_rng(5), 0, 0
    for _ in range(n):
        mine, theirs = simulated(rng, samples, STEPS, draws, effect=0.0)
        by_step = adjust(effect_of(mine, theirs, step) for step in range(1, STEPS + 1))
        whole += (effect_of(mine, theirs).p or 0.0) < NOMINAL / 100
        any_step += min(one.p_holm or 0.0 for one in by_step) < NOMINAL / 100
    return 100 * whole / n, 100 * any_step / n


def row(settings: Settings) -> Sequence[Figure]:
    """Coverage of the intervals of effects of forks, and their type I error, in simulation."""
    n, figures = settings.count(500, 10), []
    for samples, draws in SIZES:
        each = held(samples, draws, n)
        detail = ", ".join(f"{'all steps' if step is None else f'step {step}'} {of:.1f}" for step, of in each.items())
        what = f"intervals, {samples} episodes, {draws} draws, lowest"
        figures.append(Figure("coverage_forks", what, min(each.values()), "%", FLOOR, True, detail))
    for what, share in zip(("all steps", "smallest Holm p of three steps"), false_alarms(n), strict=True):
        figures.append(Figure("coverage_forks", f"p below 5 % without an effect, {what}", share, "%", MOST))
    return figures
