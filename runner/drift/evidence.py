"""Evidence of drift that may be looked at after any check: a conformal test martingale over the checks.

Without drift a sample's answers, those of the baseline and of every check, are exchangeable: each of them is equally
likely to be the newest. A check draws at random for each sample which of its answers so far could have been the newest,
and counts how many draws are at least as unusual as the observed answers. That share is a p-value whose law does not
depend on the answers themselves, so those of all checks are independent, though all are against one baseline (Vovk,
Gammerman & Shafer 2005, chapter 7; Vovk 2021, Testing randomness online). Differences to a baseline, bet on as bounded
means (Waudby-Smith & Ramdas 2024), are not: the error of the baseline is in each of them, and some day it would be
taken for drift.

Signals are combined inside of a check: the oddness of a draw is the mean over the signals of the e-values of its ranks,
ranked once more, so that their dependence is allowed for (as by Westfall & Young 1993). On each p two bets are made, of
which one wins most by a sudden change, ``(1 + 1 / (p h)) / 2``, where h is the mean of 1 / p over all ranks, and one by
a small change that stays, ``1 / (2 sqrt(p))`` (calibrators: Vovk & Wang 2021). The evidence is the mean of both bets'
products over the checks from the s-th on, averaged with weights 1 / (s (s + 1)), since nobody knows when a drift
begins. By Ville's inequality (1939) the chance that it ever reaches 1 / alpha without drift is at most alpha. Ties
count against drift, which can only lower the evidence.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.results.arrays import Floats, np

NUMBERS = ("score", "length", "calls")  # the other signals are words
SIGNALS = (*NUMBERS, "answer", "tools", "ending")
DRAWS = 99_999
_DIGITS = 9  # equal sums of other numbers differ in the last bits
Values = Mapping[str, Any]  # signal -> value of one answer


@dataclass(frozen=True)
class Found:
    """What a check found: its p-value, and that of each signal alone."""

    p: float
    signals: Mapping[str, float]


def bets_on(p: float, size: int) -> tuple[float, float]:
    """The e-values of a p that is one of ``size`` ranks: their mean over all ranks is at most 1."""
    harmonic = float((1 / np.arange(1, size + 1)).sum())
    return (1 + 1 / (p * harmonic)) / 2, 0.5 / p**0.5


def evidence_of(p_values: Iterable[float], draws: int = DRAWS) -> list[float]:
    """The evidence after each check, from the p-values of the checks in their order."""
    found, running = list[float](), (0.0, 0.0)
    for number, p in enumerate(p_values, 1):
        first, second = bets_on(p, draws + 1)
        weight = 1 / (number * (number + 1))
        running = first * (running[0] + weight), second * (running[1] + weight)
        found.append(sum(running) / 2 + 1 / (number + 1))
    return found


def oddness(signal: str, values: Sequence[Any]) -> list[float]:
    """How unusual each answer of a sample is among all of them: a number's distance from their mean with its sign (0
    where there is none), a word's share of others that are another."""
    if signal in NUMBERS:
        known = [value for value in values if value is not None]
        mean = sum(known) / len(known) if known else 0.0
        return [0.0 if value is None else value - mean for value in values]
    counts, others = Counter(values), max(1, len(values) - 1)
    return [(len(values) - counts[value]) / others for value in values]


def newest_against_all(samples: Sequence[Sequence[Values]], seed: int, draws: int = DRAWS) -> Found:
    """Test the newest answers. ``samples``: of each sample all answers so far, the newest last."""
    rng, size = np.random.default_rng(seed), draws + 1
    sums = np.zeros((len(SIGNALS), size))
    for answers in samples:
        picked = rng.integers(len(answers), size=size)
        picked[0] = len(answers) - 1  # what is real comes first
        sums += np.array([oddness(signal, [one[signal] for one in answers]) for signal in SIGNALS])[:, picked]
    sums[: len(NUMBERS)] = np.abs(sums[: len(NUMBERS)])  # up or down
    p_values = [_p_values(one) for one in sums]
    p = float(_p_values((1 / np.array(p_values)).sum(axis=0))[0])
    each = {signal: float(one[0]) for signal, one in zip(SIGNALS, p_values, strict=True)}
    return Found(p, each)


def _p_values(sums: Floats) -> Floats:
    """Of each draw the share of draws that are as odd or odder; draws that are alike share the largest."""
    rounded = np.round(sums, _DIGITS)
    shares: Floats = (len(sums) - np.searchsorted(np.sort(rounded), rounded, side="left")) / len(sums)
    return shares
