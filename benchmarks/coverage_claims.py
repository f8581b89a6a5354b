"""Superiority, non-inferiority and equivalence in simulation: how often a claim is shown that is untrue by a hair (type
I error, at the bound of the claim), and how often one that is true as expected, with the samples that the power
calculation asks for.

Scores of 0 and 1, and graded ones with a normal part; of samples, and of patients with one to five samples whose
differences are alike (``within``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator

from benchmarks.figures import Figure, Settings
from runner.results.claims import Clusters, Planned, claim_p
from runner.results.kinds import Scale
from runner.results.pairs import Pairs, difference_of
from runner.results.table import Table

ALPHA, POWER = 0.05, 0.8
MARGIN, EXPECTED, DIFFER, DEVIATION, WITHIN = 0.1, 0.1, 0.3, 0.5, 0.2
BOUNDS = {"superiority": (0.0, math.inf), "non-inferiority": (-MARGIN, math.inf), "equivalence": (-MARGIN, MARGIN)}
LIMIT, LEAST = 3.5, 75.0  # per cent
_PER_PATIENT = 3  # samples on average, 1 to 5


@dataclass(frozen=True)
class Case:
    """A claim about scores of 0 and 1 or graded ones, of samples or ``by_patient``."""

    kind: str
    binary: bool
    by_patient: bool

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which gains the claim is true."""
        return BOUNDS[self.kind]

    @property
    def expected(self) -> float:
        """The gain that is expected: of superiority a gain, of the others none."""
        return EXPECTED if self.kind == "superiority" else 0.0

    @property
    def planned(self) -> Planned:
        """The assumptions, which are true here."""
        low, high = self.bounds
        gain, within = self.expected, WITHIN if self.by_patient else 0.0
        exact = self.binary and low == 0
        spread = math.sqrt(DIFFER - gain * gain) if self.binary else DEVIATION
        changes = ((DIFFER + gain) / 2, (DIFFER - gain) / 2) if exact else None
        return Planned((gain - low, high - gain), spread, within, changes)

    def needed(self) -> int:
        """The samples that the power calculation asks for."""
        sizes = np.arange(400) % (2 * _PER_PATIENT - 1) + 1 if self.by_patient else np.ones(400, dtype=int)
        names = np.repeat(np.arange(400), sizes)
        return self.planned.needed(Clusters.of(list(map(str, names))), ALPHA, POWER) or 0

    def pairs(self, rng: Generator, n: int, gain: float) -> Pairs:
        """Simulated pairs of two methods with this true gain."""
        k = max(2, round(n / _PER_PATIENT)) if self.by_patient else n
        number = np.repeat(np.arange(k), rng.integers(1, 2 * _PER_PATIENT, k) if self.by_patient else 1)
        if self.binary:
            gains = _changes(rng, number, k, gain)
        else:
            shared = rng.normal(size=k)[number] * math.sqrt(WITHIN) if self.by_patient else 0.0
            own = rng.normal(size=len(number)) * (math.sqrt(1 - WITHIN) if self.by_patient else 1.0)
            gains = gain + DEVIATION * (shared + own)
        return Pairs(table_of(number), gains, {}, Scale("proportion" if self.binary else "number", difference=True))

    def shown(self, n: int, gain: float, draws: int) -> float:
        """Per cent of simulated studies in which the claim is shown."""
        rng = np.random.default_rng([n, self.binary, self.by_patient])
        found = 0
        for _ in range(draws):
            p = claim_p(difference_of(self.pairs(rng, n, gain)), self.bounds)
            found += p is not None and p <= ALPHA / 2
        return 100 * found / draws


def _changes(rng: Generator, number: np.ndarray, k: int, gain: float) -> np.ndarray:
    """Differences of scores of 0 and 1; two of a patient have a draw in common with the chance WITHIN, so that this is
    their correlation."""
    won, u = (DIFFER + gain) / 2, rng.random(len(number))
    if k < len(number):
        u = np.where(rng.random(len(number)) < math.sqrt(WITHIN), rng.random(k)[number], u)
    return (u < won).astype(float) - (u > 1 - (DIFFER - won))


def table_of(number: np.ndarray) -> Table:
    n = len(number)
    names = number.astype(str).astype(object)
    zeros = np.zeros(n, dtype=np.intp)
    return Table({"number": number, "cluster": names, "sample_id": names, "epoch": zeros, "strata": zeros,
                  "stop": names, "rank": np.arange(n)}, [{}])  # fmt: skip


CASES = {
    f"{kind}, {'0 or 1' if binary else 'graded'} by {'patient' if by_patient else 'sample'}": Case(
        kind, binary, by_patient
    )
    for kind in BOUNDS
    for binary in (True, False)
    for by_patient in (False, True)
}


@cache
def simulated(name: str, draws: int) -> tuple[float, float, int]:
    """Type I error and power in per cent, and the number of samples."""
    case = CASES[name]
    n, (low, high) = case.needed(), case.bounds
    false = case.shown(n, low, draws)
    if not math.isinf(high):
        false = max(false, case.shown(n, high, draws))
    return false, case.shown(n, case.expected, draws), n


def row(settings: Settings) -> Sequence[Figure]:
    """Type I error and power of planned claims, in simulation."""
    figures = []
    for name in CASES:
        false, power, n = simulated(name, settings.count(4_000, 50))
        figures.append(Figure("coverage_claims", f"{name}, untrue", false, "% shown", LIMIT, False, f"{n} samples"))
        figures.append(Figure("coverage_claims", f"{name}, true", power, "% shown", LEAST, True, f"{n} samples"))
    return figures
