"""The readers of the published implementation, defects and all, in our words.

Source: gersteinlab/MedAgents at cd415fa, the code of Tang et al. 2024, arXiv 2311.10537. The repaired readers are
those of
``components.panel.replies``, which give the same types; letters are in ``components.text.answers``.
"""

from __future__ import annotations

import re

from components.panel.replies import DEFAULT_FIELD, Experts, Report, Vote

_SENTINEL = "ERROR."
_YES_NO = re.compile("yes|no")
_HEADING = "Total Analysis:"


class UnreadableReport(Exception):
    """A reply without the heading of the analysis, on which the published program ends with an IndexError."""


def published_experts(raw: str, expected: int) -> Experts:
    """What space-pipe-space separates after the last colon, as it stands and as many as there are.

    The sentinel of a failed call gives the general expert ``expected`` times.
    """
    if raw == _SENTINEL:
        return Experts((DEFAULT_FIELD,) * expected, False)
    return Experts(tuple(raw.rpartition(":")[2].strip().split(" | ")), True)


def published_vote(raw: str) -> Vote:
    """The first occurrence of the letters yes or no, also inside words; without either a yes."""
    first = _YES_NO.search(raw.lower())
    return Vote(True, False) if first is None else Vote(first[0] == "yes", True)


def published_report(raw: str) -> Report:
    """What stands between the first and the second heading of the analysis; the key knowledge is always lost.

    Raises UnreadableReport without a heading.
    """
    parts = raw.split(_HEADING)
    if len(parts) == 1:
        raise UnreadableReport(f"the reply has no heading {_HEADING!r}")
    return Report("", parts[1].strip(), True)
