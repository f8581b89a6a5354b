"""The readers of a panel's replies by their profile: repaired, or as the published code reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from components.panel import published, replies
from components.panel.replies import Experts, Report, Vote


@dataclass(frozen=True)
class Readers:
    """``experts`` takes the reply and how many were asked for; ``report`` may raise UnreadableReport."""

    experts: Callable[[str, int], Experts]
    vote: Callable[[str], Vote]
    report: Callable[[str], Report]


READERS: Mapping[str, Readers] = {
    "repaired": Readers(replies.read_experts, replies.read_vote, replies.read_report),
    "published": Readers(published.published_experts, published.published_vote, published.published_report),
}
