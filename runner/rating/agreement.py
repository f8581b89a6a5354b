"""How far raters agree beyond chance: Cohen's kappa for two, Fleiss' for more, with 95 % intervals.

Source: Cohen 1960; Fleiss 1971; the interval of Cohen's kappa for independent items by Fleiss, Cohen & Everitt 1969
(statsmodels), all others by a percentile bootstrap over clusters (patients), with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.results.bounds import RESAMPLES, resampled_sums
from runner.results.intervals import ALIKE, FEWEST, TOO_SMALL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEAST = 1e-12  # a spread below this is none


@dataclass(frozen=True)
class Agreement:
    """``share``: of the n items, all raters pick the same. ``kappa`` is None where all picks are of one category;
    ``no_interval``: why it has none, with one cluster or where all agree."""

    kind: str
    n: int
    share: float | None
    kappa: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    no_interval: str | None = None


def agreement(ratings: Sequence[Sequence[Hashable]], clusters: Sequence[str]) -> Agreement:
    """Of two or more raters, each with a pick per item; ``clusters`` of the items, in the same order."""
    import numpy as np

    kind = "Cohen's kappa" if len(ratings) == 2 else "Fleiss' kappa"
    n, categories = len(clusters), list(dict.fromkeys(pick for rater in ratings for pick in rater))
    if not n:
        return Agreement(kind, 0, None)
    numbers = np.array([[categories.index(pick) for pick in rater] for rater in ratings])
    same = float((numbers == numbers[0]).all(axis=0).mean())
    if len(categories) < 2:
        return Agreement(kind, n, same)
    apart = len(set(clusters)) == n
    k = len(categories)
    pairs = np.eye(k * k)[numbers[0] * k + numbers[1]]  # a row per item: a 1 where its two picks meet in a k x k table
    columns = pairs if len(ratings) == 2 else np.eye(k)[numbers].sum(axis=0)  # or the raters of each category
    kappa, low, high = _point(columns, len(ratings), k)
    if same < 1.0 and (len(ratings) > 2 or not apart):
        low, high = _resampled(columns, clusters, len(ratings), k)
    if low is None or high is None or not low < high:
        return Agreement(kind, n, same, kappa, no_interval=TOO_SMALL if len(set(clusters)) < FEWEST else ALIKE)
    return Agreement(kind, n, same, kappa, low, high)


def _point(columns: NDArray[np.float64], raters: int, k: int) -> tuple[float, float | None, float | None]:
    """Kappa by statsmodels, for two raters with the interval of independent items."""
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

    if raters > 2:
        return float(fleiss_kappa(columns)), None, None
    table = columns.sum(axis=0).reshape(k, k)
    if table.trace() == table.sum():  # its standard error is nothing then
        return 1.0, None, None
    with np.errstate(divide="ignore", invalid="ignore"):  # its tests, where a rater always says the same
        found = cohens_kappa(table)
    if not found.std_kappa > _LEAST:
        return float(found.kappa), None, None
    return float(found.kappa), max(-1.0, float(found.kappa_low)), min(1.0, float(found.kappa_upp))


def _resampled(
    columns: NDArray[np.float64], clusters: Sequence[str], raters: int, k: int
) -> tuple[float | None, float | None]:
    """The interval over resampled clusters; None for one cluster."""
    import numpy as np

    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    if len(names) < 2:
        return None, None
    agreed = (columns * (columns - 1)).sum(axis=1, keepdims=True)  # pairs of raters that agree, item by item
    columns = np.hstack([columns, agreed])
    sums = np.zeros((len(names), columns.shape[1]))
    np.add.at(sums, [names[name] for name in clusters], columns)
    sums = resampled_sums(sums, RESAMPLES, np.random.default_rng(0))
    counts, agreed = sums[:, :-1], sums[:, -1]
    n = counts.sum(axis=1)
    if raters > 2:  # n picks, by each of n / raters items a pair of every two raters
        observed, chance = agreed / (n * (raters - 1)), ((counts / n[:, None]) ** 2).sum(axis=1)
    else:
        tables = counts.reshape(-1, k, k)
        margins = tables.sum(axis=1) * tables.sum(axis=2)
        observed, chance = tables.trace(axis1=1, axis2=2) / n, margins.sum(axis=1) / n**2
    defined = 1 - chance > _LEAST
    if not defined.any():
        return None, None
    low, high = np.percentile((observed[defined] - chance[defined]) / (1 - chance[defined]), [2.5, 97.5])
    return float(low), float(high)
