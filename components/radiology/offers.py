"""Offers of radiology tools: what toolset and conditions share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from components.core.errors import ConfigError
from components.core.tools import Offer, Tool
from components.core.types import Sample
from components.faults.marks import KEY as FAULTS
from components.radiology.cards import Card, spec
from components.radiology.controls import controls
from components.radiology.memory import RadiologyMemory
from components.radiology.study import Study, study_of
from components.radiology.switches import Switches
from components.radiology.tool import RadiologyTool


def named(
    cards: Iterable[Card], switches: Switches, uncallable: Callable[[Card], bool] = lambda _: False
) -> dict[str, Tool]:
    """The tools TOOL1, TOOL2, ... in this order; ``uncallable`` ones are described only."""
    return {
        (name := f"TOOL{n}"): RadiologyTool(spec(card, name), card, switches, not uncallable(card))
        for n, card in enumerate(cards, 1)
    }


def study_behind(offer: Offer, sample: Sample, condition: str) -> Study:
    """The study of a radiology offer. Raises ConfigError for an offer of another toolset."""
    if not isinstance(offer.state, RadiologyMemory):
        raise ConfigError(
            f"condition {condition!r} needs toolset=radiology with dataset=radabench_mini or radabench; with other"
            " toolsets condition=intact, withhold, and faults such as noisy or denied work"
        )
    return study_of(sample)


def _changed_by(offer: Offer) -> str:
    """The condition that has changed the toolset's own tools; empty where none has."""
    faults = [str(fault["kind"]) for fault in offer.facts.get(FAULTS, ())]
    condition = str(offer.facts.get("condition", "intact"))
    return next(iter(faults), "" if condition in ("intact", "baseline") else condition)


def rebuilt(
    offer: Offer,
    cards: Iterable[Card],
    rng: Random,
    switches: Switches,
    facts: Mapping[str, Any],
    uncallable: Callable[[Card], bool] = lambda _: False,
) -> Offer:
    """The offer with these tools in place of its own, and the controls of ``facts['condition']``.

    Shuffled with ``rng`` before they are named, where the switches say so. Raises ConfigError where another condition
    has changed the tools already, of which nothing would be left.
    """
    if done := _changed_by(offer):
        raise ConfigError(
            f"condition {facts['condition']!r} builds its own tools, so that nothing is left of {done!r} before it:"
            " let it be condition.first"
        )
    order = list(cards)
    if switches.tool_order == "shuffled":
        rng.shuffle(order)
    tools = named(order, switches, uncallable)
    return replace(offer, tools=tools, controls=controls(switches, facts["condition"]), facts=facts)
