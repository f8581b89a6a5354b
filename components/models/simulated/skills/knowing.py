"""Skill: how often something on health records is right, and is mended, by what the prompt tells.

Everything is done with ``competence`` to the power of the facts it takes: few where the prompt knows the tables that
the question needs and shows a solved question about the same tables and columns, many where it does not; few where a
cause tells what is wrong, many where a failure is hardly told. Take a text out of the prompt, and what it does is gone.
The constants are made up.
"""

from __future__ import annotations

from components.models.simulated.rates import Rates
from components.models.simulated.skills.record_key import Gold
from components.models.simulated.skills.repairs import is_caused, is_named
from components.models.simulated.skills.told import Told

FACTS, FACTS_TABLE = 2.0, 0.6  # that a cell takes, and more for each table after the first
UNKNOWN, UNLIKE = 4.0, 6.0  # more where no knowledge names the tables, where no solved question is about the same
UNSEEN = 6.0  # more where its tables and columns stand nowhere in the prompt
NO_CODE, OPEN = 5.0, 3.0  # more without code, and without seeing what comes of it
CAUSE, NAMED, BARE, RAW = 0.6, 8.5, 10.0, 13.0  # mends: a cause tells what is meant; the error does; or not; a trace
BY_HAND = 3.0  # more without code
MENDS_UNKNOWN, MENDS_UNLIKE = 2.2, 2.2  # more without knowledge and a solved question
SILENT = 0.2  # of what is wrong runs all the same
GIVES_WAY = 0.5  # of failures that are not mended, one becomes something that runs and is wrong
RECALLS = 0.5  # that knowledge, notes and causes take
LOOKS_OVER = 6.0  # that it takes to see a turned comparison, or a name that is not listed, in what is looked over
TRACE = "Traceback"


def is_known(gold: Gold, told: Told) -> bool:
    """Whether the knowledge that is told names all tables."""
    return bool(gold.tables) and gold.tables <= told.known_words


def is_alike(gold: Gold, told: Told) -> bool:
    """Whether a solved question is about all of its tables and columns."""
    return bool(gold.names) and any(gold.names <= words for words in told.solved_words)


def right_rate(gold: Gold, told: Told, rates: Rates, more: float = 0.0) -> float:
    """How often what is written is right; ``more`` facts are needed for the way it is written."""
    facts = FACTS + FACTS_TABLE * max(0, len(gold.tables) - 1) + more
    facts += UNKNOWN * (not is_known(gold, told)) + UNLIKE * (not is_alike(gold, told))
    return float(rates.competence ** (facts + UNSEEN * (not gold.names <= told.words)))


def mend_rate(gold: Gold, told: Told, rates: Rates, wrong: str, failed: str, more: float = 0.0) -> float:
    """How often what ``wrong`` is mended, by how its failure is told; one that is not told at all is a bare one."""
    if is_caused(wrong, failed):
        facts = CAUSE
    elif failed.startswith(TRACE):
        facts = RAW
    else:
        facts = NAMED if is_named(wrong, failed) else BARE
    facts += MENDS_UNKNOWN * (not is_known(gold, told)) + MENDS_UNLIKE * (not is_alike(gold, told))
    return float(rates.competence ** (facts + more))
