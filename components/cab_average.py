"""Averages of ClinicalAgent Bench: tasks to dimensions, dimensions to a total.

Source: Liao et al. 2024, arXiv 2410.17657, tables 2 and 5: plain means of what is there, so that models without
images are averaged over four dimensions. Compare such rows on the dimensions that they share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from statistics import fmean

from components.cab_tasks import DIMENSIONS, TASKS, Dimension
from components.errors import ConfigError


def dimension_means(task_scores: Mapping[str, float | None]) -> dict[Dimension, float | None]:
    """Mean of the tasks of each dimension that have a score; None for a dimension without any.

    Raises ConfigError for a task that is not of this benchmark.
    """
    if unknown := sorted(set(task_scores) - set(TASKS)):
        raise ConfigError(f"no tasks of ClinicalAgent Bench: {unknown}; they are {', '.join(TASKS)}")
    return {
        dimension: _mean(score for task, score in task_scores.items() if TASKS[task].dimension == dimension)
        for dimension in DIMENSIONS
    }


def total(task_scores: Mapping[str, float | None], dimensions: Collection[Dimension] = DIMENSIONS) -> float | None:
    """Mean of the means of these dimensions that have one; None without any. Raises ConfigError as above."""
    return _mean(mean for dimension, mean in dimension_means(task_scores).items() if dimension in dimensions)


def _mean(scores: Iterable[float | None]) -> float | None:
    """Mean of what is there; None when nothing is."""
    there = [score for score in scores if score is not None]
    return fmean(there) if there else None
