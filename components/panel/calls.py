"""How many calls a panel needs for one question.

Source: Tang et al. 2024 (MedAgents), arXiv 2311.10537, algorithm 1 and the ablation of table 3, counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from components.panel.rules import Level


def calls_needed(level: Level, m: int, n: int, dissents: Sequence[int] = ()) -> int:
    """Calls of a panel that ended without error.

    ``m`` and ``n``: experts of the question and of the options that were really gathered. ``dissents``: the number of
    no votes in each round of a consultation, the last round included; the other levels have no rounds.
    """
    gathering, analyses, decision = 2, m + n, 1
    calls = gathering + analyses + decision
    if level == "analysis":
        return calls
    calls += 1  # the report
    if level == "summary":
        return calls
    return calls + sum(m + n + dissent + (dissent > 0) for dissent in dissents)
