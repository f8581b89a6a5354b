"""The readers of a panel's replies by their profile: repaired, or as the published code reads them, defects and all.

Source: gersteinlab/MedAgents at cd415fa, the code of Tang et al. 2024, arXiv 2311.10537. The repaired readers are
those of ``components.panel.replies``, which give the same types; letters are in ``components.text.answers``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from components.panel.replies import DEFAULT_FIELD, Experts, Report, Vote, read_experts, read_report, read_vote

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


@dataclass(frozen=True)
class Readers:
    """``experts`` takes the reply and how many were asked for; ``report`` may raise UnreadableReport."""

    experts: Callable[[str, int], Experts]
    vote: Callable[[str], Vote]
    report: Callable[[str], Report]


READERS: Mapping[str, Readers] = {
    "repaired": Readers(read_experts, read_vote, read_report),
    "published": Readers(published_experts, published_vote, published_report),
}
