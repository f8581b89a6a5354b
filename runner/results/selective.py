"""Selective prediction and calibration: the value of stated confidence (docs/guides/confidence.md).

``loss`` is 1 - score, 0 or 1; for graded scores, 0 to 1, the risk is the mean of 1 - score.

- Risk at a coverage: the mean loss of the answers that are at least so sure. AURC is its mean over the answers, each
  with the risk at its own confidence; the excess is what AURC is above that of a ranking by the loss itself (Geifman,
  Uziel & El-Yaniv 2019, ICLR, arXiv 1805.08206). Equal confidences share a risk.
- Coverage at a risk: the largest share of answers of which the mean loss is no larger (Geifman & El-Yaniv 2017, arXiv
  1705.08500), chosen on the answers that it is measured on.
- ECE: the mean over bins of |mean confidence - mean score|, weighted by their sizes (Naeini, Cooper & Hauskrecht 2015;
  Guo et al. 2017, arXiv 1706.04599), in at most ten bins of about equal sizes, 20 or more on average; equal
  confidences are in one bin. It is too large, since each mean score has an error. The debiased one takes off what a
  normal error of this size adds (Kumar, Liang & Ma 2019, arXiv 1909.10155); the mean of the folded normal distribution
  replaces their resampling. The variance of a mean score is p (1 - p) / (n - 1), as in Bröcker 2012 (Climate
  Dynamics 39:655), where samples are independent, in general that of a mean of clusters.

Intervals resample whole clusters: percentiles, further out as a t interval of so many clusters is wider than a normal
one of the resampled variance (Hesterberg 2015, The American Statistician 69:371, "expanded"). Of the debiased ECE it is
its distance to the plain one, which is the true value among the resamples (Efron & Tibshirani 1993, ch. 13), from 0 on
where perfect calibration is not rejected: where the plain ECE is below the 95th percentile of that of normal errors
alone, each with the standard error found, or that of outcomes as sure as stated where it is larger. ``python -m
benchmarks coverage_confidence``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from runner.results import formulas
from runner.results.arrays import Floats, Rows, np
from runner.results.intervals import ALIKE, TOO_SMALL
from runner.results.sheets import Value

AURC, EXCESS, ECE, DEBIASED = "AURC", "excess AURC", "ECE", "ECE debiased"
RISKS = {f"coverage at {round(100 * risk)} % risk": risk for risk in (0.01, 0.05, 0.10)}
BINS, PER_BIN = 10, 20
FEWEST = {EXCESS: 200, DEBIASED: 300}  # clusters with which the interval holds in simulation
LEAST_LOSSES = 10  # among the accepted answers at a risk, so that a coverage has an interval
_ROUNDING = 1e-9
_DRAWS = 10_000  # of ECE where calibration is perfect


@dataclass(frozen=True)
class Answers:
    """Answers with a stated confidence and a known loss, the surest first; ``clusters`` are numbers from 0."""

    certain: Floats
    loss: Floats
    clusters: Rows

    @classmethod
    def of(cls, certain: Floats, score: Floats, clusters: Rows) -> Answers:
        """Those that have both."""
        known = np.flatnonzero(~np.isnan(certain) & ~np.isnan(score))
        known = known[np.argsort(-certain[known], kind="stable")]
        return cls(certain[known], 1.0 - score[known], np.unique(clusters[known], return_inverse=True)[1])

    def __len__(self) -> int:
        return len(self.certain)

    @cached_property
    def ends(self) -> Rows:
        """The last answer of each confidence."""
        return np.flatnonzero(np.append(np.diff(self.certain) != 0, True))

    @cached_property
    def bins(self) -> Rows:
        """The bin of each answer, from 0, the least sure first."""
        _, place, sizes = np.unique(self.certain, return_inverse=True, return_counts=True)
        middle = (np.cumsum(sizes) - sizes / 2) / len(self)
        most = min(BINS, max(1, len(self) // PER_BIN))
        found: Rows = np.unique(np.floor(most * middle), return_inverse=True)[1][place]
        return found

    def curve(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Coverage and risk at each confidence, the surest first, with these weights of the answers in each resample:
        (resamples, confidences); NaN where nothing is so sure."""
        weights = np.ones((1, len(self))) if weights is None else weights
        covered = np.cumsum(weights, axis=1)[:, self.ends]
        missing = np.cumsum(weights * self.loss, axis=1)[:, self.ends]
        risk = np.divide(missing, covered, out=np.full_like(covered, np.nan), where=covered > 0)
        return covered / covered[:, -1:], risk

    def selection(self, weights: Floats) -> dict[str, Floats]:
        """AURC, its excess and the coverages, of each resample."""
        coverage, risk = self.curve(weights)
        shares = np.diff(coverage, axis=1, prepend=0.0)
        aurc = np.nansum(shares * risk, axis=1)
        found = {AURC: aurc, EXCESS: aurc - self._least(weights)}
        for name, most in RISKS.items():
            found[name] = np.where(risk <= most + _ROUNDING, coverage, 0.0).max(axis=1)
        return found

    def _least(self, weights: Floats) -> Floats:
        """The AURC of a ranking by the loss itself, in which each copy of an answer has a place of its own."""
        order = np.argsort(self.loss, kind="stable")
        loss, many = self.loss[order], weights[:, order]
        after = np.cumsum(many, axis=1).astype(np.intp)
        before, lost = after - many.astype(np.intp), np.cumsum(many * loss, axis=1) - many * loss
        harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, after[:, -1].max() + 1)))
        risks = many * loss + (lost - loss * before) * (harmonic[after] - harmonic[before])
        least: Floats = risks.sum(axis=1) / after[:, -1]
        return least

    def gaps(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Of each bin, from the weights of the clusters in each resample: its share of the answers, by how much the
        mean score exceeds the mean confidence, and the standard error of the mean score."""
        k, j = int(self.clusters.max()) + 1, int(self.bins.max()) + 1
        places = self.clusters * j + self.bins

        def sums(values: Floats) -> Floats:
            return np.bincount(places, weights=values, minlength=k * j).reshape(k, j).astype(np.float64)

        sizes, certain, score = (sums(one) for one in (np.ones(len(self)), self.certain, 1.0 - self.loss))
        n = weights @ sizes
        shares, n = n / n.sum(axis=1, keepdims=True), np.where(n > 0, n, 1.0)
        mean, several = weights @ score / n, weights @ (sizes > 0)
        spread = weights @ score**2 - 2 * mean * (weights @ (score * sizes)) + mean**2 * (weights @ sizes**2)
        unbiased = np.divide(several, several - 1, out=np.zeros_like(several), where=several > 1)
        return shares, mean - weights @ certain / n, np.sqrt(np.maximum(spread, 0.0) * unbiased) / n

    def measures(self) -> dict[str, Value]:
        """All of them with their intervals; plain ECE, which is biased, has none."""
        k = int(self.clusters.max()) + 1
        gaps = self.gaps(np.ones((1, k)))
        point = self.selection(np.ones((1, len(self)))) | calibration(*gaps)
        if k < formulas.FEWEST_RESAMPLED:
            return {
                name: Value(max(0.0, float(of[0])), n=len(self), no_interval=TOO_SMALL) for name, of in point.items()
            }
        every = []
        for counts in formulas.resampled_weights(k, formulas.RESAMPLES, len(self)):
            weights = counts.astype(np.float64)
            every.append(self.selection(weights[:, self.clusters]) | calibration(*self.gaps(weights)))
        found = {name: np.concatenate([block[name] for block in every]) for name in every[0]}
        ends = _percentiles(k)
        return {name: self._value(name, point, found[name], ends) for name in point}

    def _chance(self) -> float:
        """The plain ECE that one in twenty perfectly calibrated agents exceed."""
        shares, _, error = (one[0] for one in self.gaps(np.ones((1, int(self.clusters.max()) + 1))))
        sizes = np.bincount(self.bins)
        stated = np.sqrt(np.bincount(self.bins, self.certain * (1.0 - self.certain))) / sizes
        normal = np.abs(np.random.default_rng(0).standard_normal((_DRAWS, len(sizes))))
        return float(np.percentile(normal @ (shares * np.maximum(error, stated)), 95))

    def _value(self, name: str, point: Mapping[str, Floats], found: Floats, ends: Floats) -> Value:
        """A measure with its interval from these percentiles of its resamples."""
        value, n = float(point[name][0]), len(self)
        if name == ECE:
            return Value(value, n=n)
        few = int(self.clusters.max()) + 1 < FEWEST.get(name, 0)
        if few or (name in RISKS and value * n * RISKS[name] < LEAST_LOSSES):
            return Value(max(0.0, value), n=n, no_interval=TOO_SMALL)
        low, high = (float(end) for end in np.percentile(found, ends))
        if name in (AURC, EXCESS) and high - low <= _ROUNDING:  # as without any loss
            return Value(max(0.0, value), n=n, no_interval=ALIKE)
        if name == DEBIASED:
            plain = float(point[ECE][0])
            low, high = value + plain - high, value + plain - low
            low = low if plain > self._chance() else 0.0
        return Value(max(0.0, value), max(0.0, low), min(1.0, max(0.0, high)), n)


def _percentiles(k: int) -> Floats:
    """Those of an interval from resamples of k clusters."""
    from scipy.special import ndtr, stdtrit

    end = 100 * ndtr(math.sqrt(k / (k - 1)) * stdtrit(k - 1, 0.025))
    return np.array([end, 100 - end])


def calibration(shares: Floats, gap: Floats, error: Floats) -> dict[str, Floats]:
    """Plain and debiased ECE, below 0 too, of each resample."""
    plain = (shares * np.abs(gap)).sum(axis=1)
    return {ECE: plain, DEBIASED: 2 * plain - (shares * folded_normal(gap, error)).sum(axis=1)}


def folded_normal(mean: Floats, sd: Floats) -> Floats:
    """E|X| of a normal X (Leone, Nelson & Nottingham 1961)."""
    from scipy.special import ndtr

    z = np.divide(mean, sd, out=np.full_like(mean, np.inf), where=sd > 0)
    bell = sd * math.sqrt(2 / math.pi) * np.exp(-np.minimum(z * z, 1e3) / 2)
    return np.where(sd > 0, bell + mean * (1 - 2 * ndtr(-z)), np.abs(mean))
