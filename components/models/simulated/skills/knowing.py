"""Skill: how often something on health records is right, and is mended, by what the prompt tells.

What is written is right with ``competence`` to the power of the facts it takes: few where the prompt knows the tables
that the question needs and shows a solved question about the same tables and columns, many where it does not. What has
failed is mended with a probability that depends on how the failure is told. Take a text out of the prompt, and what it
does is gone. The constants are made up.
"""

from __future__ import annotations

import re

from components.models.simulated.rates import Rates
from components.models.simulated.skills.slips import lacking
from components.models.simulated.skills.told import Gold, Told, words_of

FACTS, FACTS_TABLE = 2.0, 0.6  # that a cell takes, and more for each table after the first
UNKNOWN, UNLIKE = 4.0, 6.0  # more where no knowledge names the tables, where no solved question is about the same
UNSEEN = 6.0  # more where its tables and columns stand nowhere in the prompt
NO_CODE, OPEN = 5.0, 3.0  # more without code, and without seeing what comes of it
SILENT = 0.2  # of what is wrong runs all the same
CAUSE, NAMED, BARE, RAW = 0.9, 0.25, 0.2, 0.12  # mends: the cause is told; the right name; the error; a traceback
SEES, SEES_KNOWN, SEES_LIKE = 0.4, 0.3, 0.3  # a share of these, more with knowledge and with a solved question
GIVES_WAY = 0.5  # of failures that are not mended, one becomes something that runs and is wrong
LOOKS_AGAIN = 0.5  # at a cell that gave nothing
FINDS = 0.15  # sees what is wrong with a cell when explaining it
_REASONS = "Potential reasons:\n"
_QUOTED = re.compile(r"`([^`]+)`")


def is_known(gold: Gold, told: Told) -> bool:
    """Whether the knowledge that is told names all tables."""
    return bool(gold.tables) and gold.tables <= words_of(told.known)


def is_alike(gold: Gold, told: Told) -> bool:
    """Whether a solved question is about all of its tables and columns."""
    return bool(gold.names) and any(gold.names <= words_of(one) for one in told.solved)


def right_rate(gold: Gold, told: Told, rates: Rates, more: float = 0.0) -> float:
    """How often what is written is right; ``more`` facts are needed for the way it is written."""
    facts = FACTS + FACTS_TABLE * max(0, len(gold.tables) - 1) + more
    facts += UNKNOWN * (not is_known(gold, told)) + UNLIKE * (not is_alike(gold, told))
    return float(rates.competence ** (facts + UNSEEN * (not gold.names <= told.words)))


def mend_rate(gold: Gold, told: Told, rates: Rates, right: str, wrong: str, failed: str) -> float:
    """How often something that failed is mended, by how the failure is told."""
    if rates.competence >= 1:
        return 1.0
    error, _, reasons = failed.partition(_REASONS)
    lacks = lacking(right, wrong)
    if not set(_QUOTED.findall(reasons)).isdisjoint((*lacks, *lacking(wrong, right))):
        rate = CAUSE
    elif error.startswith("Traceback"):
        rate = RAW
    else:
        rate = NAMED if not words_of(error).isdisjoint(one.lower() for one in lacks) else BARE
    return rate * (SEES + SEES_KNOWN * is_known(gold, told) + SEES_LIKE * is_alike(gold, told))
