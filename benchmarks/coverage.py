"""How often the 95 % intervals of metrics and of paired differences hold the truth: simulated, target 93 to 97 %.

Small, middle and large runs: 30, 100 and 400 samples; clustered ones are of patients with one to five samples, so of
10, 33 and 133 patients. A figure is the mean over its cases, which are listed next to it; none is about time. Very
small runs, of 2 to 10 samples or of as many patients with several, have a figure for each size: the lowest case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.figures import Figure, Settings
from components.core.types import ScoreKind
from components.core.usage import EpisodeUsage
from runner.results.intervals import Mean, Metric, resample_intervals, unfinished_mean
from runner.results.kinds import Scale
from runner.results.levels import Nested
from runner.results.table import Table
from runner.storage.schema import Record

SIZES, FEW = (30, 100, 400), range(2, 11)
TARGET, NOMINAL, FLOOR = 2.0, 95.0, 84.0
_PER_CLUSTER = 3  # samples of a patient, on average: 1 to 5
_FREE: EpisodeUsage = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "purposes": {}}
Values = NDArray[np.float64]
Draw = Callable[[Generator, NDArray[np.intp], int], Values]


@dataclass(frozen=True)
class Case:
    """What is drawn: given the cluster of each sample and how many clusters there are, values whose mean is ``truth``.

    ``kind`` of the scores; ``gain``: the values are differences of two methods. ``groups``: their mean is the one of
    the means of so many groups of the same size.
    """

    truth: float
    draw: Draw
    clustered: bool = False
    gain: bool = False
    kind: ScoreKind = "share"
    groups: int = 1

    @property
    def scale(self) -> Scale:
        """What the values can be."""
        return Scale(self.kind, difference=self.gain)

    def unfinished_mean(self, rng: Generator, n: int) -> Mean:
        """A simulated run of n samples."""
        k = max(2, round(n / _PER_CLUSTER)) if self.clustered else n
        clusters = np.repeat(np.arange(k), rng.integers(1, 2 * _PER_CLUSTER, k) if self.clustered else 1)
        values = self.draw(rng, clusters, k)
        return unfinished_mean(values, clusters, self.scale)

    def nested(self, rng: Generator, n: int) -> Metric:
        """The mean of means of a simulated run of n samples."""
        size = n // self.groups
        values = self.draw(rng, np.arange(size * self.groups), size * self.groups).tolist()
        records: list[Record] = [
            {
                "sample_id": str(k), "epoch": 0, "cluster": None, "strata": {"task": str(k // size)},
                "stop": "answered", "answer": None, "refusal": None, "failure": None, "error": None,
                "scores": {"x": one}, "usage": _FREE, "seconds": 0.0,
            }
            for k, one in enumerate(values)
        ]  # fmt: skip
        table = Table.of(records)
        return Nested(table, table["scores/x"], ["task"], self.scale).total().finished


def _share(p: float) -> Draw:
    return lambda rng, clusters, _: (rng.random(len(clusters)) < p).astype(float)


def _patients(p: float, alike: float = 0.3) -> Draw:
    """Proportions that differ between patients, with this correlation within them (beta-binomial)."""
    a, b = p * (1 / alike - 1), (1 - p) * (1 / alike - 1)
    return lambda rng, clusters, k: (rng.random(len(clusters)) < rng.beta(a, b, k)[clusters]).astype(float)


def _changes(won: float, lost: float, alike: float = 0.0) -> Draw:
    """Differences of two scores of 0 and 1; ``alike``: the part of a patient in a normal variable behind them."""
    from scipy.special import ndtr

    def draw(rng: Generator, clusters: NDArray[np.intp], k: int) -> Values:
        behind = np.sqrt(alike) * rng.normal(size=k)[clusters] + np.sqrt(1 - alike) * rng.normal(size=len(clusters))
        u = ndtr(behind)
        found: Values = (u < won).astype(float) - (u > 1 - lost)
        return found

    return draw


def _steps(rng: Generator, clusters: NDArray[np.intp], k: int) -> Values:
    """Counts such as edit distances: negative binomial, mean 1."""
    return rng.poisson(rng.gamma(0.7, 1 / 0.7, len(clusters))).astype(float)


def _graded(rng: Generator, clusters: NDArray[np.intp], k: int) -> Values:
    """Shares of which most are small: beta (0.6, 3)."""
    return rng.beta(0.6, 3.0, len(clusters))


def _half_zeros(rng: Generator, clusters: NDArray[np.intp], k: int) -> Values:
    """Such shares of which half are exactly 0."""
    return (rng.random(len(clusters)) < 0.5) * _graded(rng, clusters, k)


def _mostly_ones(rng: Generator, clusters: NDArray[np.intp], k: int) -> Values:
    """Shares of which 70 % are exactly 1, the others beta (2, 2)."""
    return np.where(rng.random(len(clusters)) < 0.7, 1.0, rng.beta(2.0, 2.0, len(clusters)))


def _graded_patients(rng: Generator, clusters: NDArray[np.intp], k: int) -> Values:
    """The same, half of it the patient's."""
    return (rng.beta(0.6, 3.0, len(clusters)) + rng.beta(0.6, 3.0, k)[clusters]) / 2


def _graded_gains(rng: Generator, clusters: NDArray[np.intp], k: int) -> Values:
    """Skewed shares less others that have a part in common with them."""
    common = rng.beta(0.6, 3.0, k)[clusters]
    return (rng.beta(0.6, 3.0, len(clusters)) + common) / 2 - rng.beta(2.0, 6.0, len(clusters)) * common


CASES: Mapping[str, Mapping[str, Case]] = {
    "0 or 1 by sample": {f"p {p}": Case(p, _share(p), kind="proportion") for p in (0.5, 0.8, 0.95)},
    "0 or 1 by patient": {f"p {p}": Case(p, _patients(p), clustered=True, kind="proportion") for p in (0.5, 0.8, 0.95)},
    "graded, skewed": {"shares": Case(1 / 6, _graded), "steps": Case(1.0, _steps, kind="count")},
    "graded, skewed, by patient": {"shares": Case(1 / 6, _graded_patients, clustered=True)},
    "gain of 0 or 1": {
        f"{won} won {lost} lost": Case(won - lost, _changes(won, lost), gain=True, kind="proportion")
        for won, lost in ((0.2, 0.1), (0.1, 0.1), (0.3, 0.05), (0.1, 0.02))
    },
    "gain of 0 or 1 by patient": {
        f"{won} won {lost} lost": Case(
            won - lost, _changes(won, lost, 0.4), clustered=True, gain=True, kind="proportion"
        )
        for won, lost in ((0.2, 0.1), (0.1, 0.1), (0.3, 0.05), (0.1, 0.02), (0.6, 0.02))
    },
    "gain of graded": {"shares": Case(1 / 6 - 0.25 / 6, _graded_gains, gain=True)},
    "mean of 4 means": {
        "p 0.8": Case(0.8, _share(0.8), kind="proportion", groups=4), "shares": Case(1 / 6, _graded, groups=4),
        "0.2 won 0.1 lost": Case(0.1, _changes(0.2, 0.1), gain=True, kind="proportion", groups=4),
    },
    "gain of graded by patient": {"shares": Case(1 / 6 - 0.25 / 6, _graded_gains, clustered=True, gain=True)},
}  # fmt: skip

SHORT_CASES: Mapping[str, Case] = {
    **{f"{what}, {label}": case for what, cases in CASES.items() for label, case in cases.items() if case.groups == 1},
    "graded, half 0": Case(1 / 12, _half_zeros), "graded, 70 % 1": Case(0.85, _mostly_ones),
}  # fmt: skip


def coverage(case: Case, n: int, draws: int, seed: int = 0) -> float:
    """Percentage of simulated runs whose interval holds the truth."""
    rng = np.random.default_rng([seed, n])
    if case.groups > 1:
        return 100 * float(np.mean([_holds(case.nested(rng, n), case.truth) for _ in range(draws)]))
    means = [case.unfinished_mean(rng, n) for _ in range(draws)]
    resample_intervals(means)
    return 100 * float(np.mean([_holds(one.metric, case.truth) for one in means]))


def _holds(one: Metric, truth: float) -> bool:
    low, high = one.ci_low, one.ci_high
    return low is not None and high is not None and low - 1e-12 <= truth <= high + 1e-12


def row(settings: Settings) -> Sequence[Figure]:
    """Coverage of the 95 % intervals of metrics and of paired differences, in simulation."""
    figures = []
    for what, cases in CASES.items():
        for n in SIZES:
            found = {
                label: coverage(case, n, settings.count(4_000 if case.groups == 1 else 1_000, 50))
                for label, case in cases.items()
            }
            mean = sum(found.values()) / len(found)
            single = ", ".join(f"{label} {value:.1f}" for label, value in found.items()) if len(found) > 1 else ""
            detail = f"{mean:.1f} %" + (f": {single}" if single else "")
            figures.append(
                Figure(
                    "coverage", f"{what}, {n} samples", abs(mean - NOMINAL), "points off 95 %", TARGET, False, detail
                )
            )
    return figures


def few(settings: Settings) -> Sequence[Figure]:
    """Coverage of the 95 % intervals of very few samples or patients, in simulation."""
    figures = []
    for n in FEW:
        found = {
            name: coverage(case, n * (_PER_CLUSTER if case.clustered else 1), settings.count(4_000, 50))
            for name, case in SHORT_CASES.items()
        }
        mean, lowest = sum(found.values()) / len(found), sorted(found, key=lambda name: found[name])[:3]
        single = "; ".join(f"{name} {found[name]:.1f}" for name in lowest)
        figures.append(
            Figure("coverage_few", f"{n} samples or patients, lowest", found[lowest[0]], "%", FLOOR, True,
                   f"mean {mean:.1f} %; {single}")
        )  # fmt: skip
    return figures
