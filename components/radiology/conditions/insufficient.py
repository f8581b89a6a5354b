"""RadABench's insufficient conditions: the task cannot be done with what is offered, and may be refused.

Source: Zheng et al. 2024, arXiv 2412.09529; sets and departures in ``components.radiology.sets``, the
refusal that would be right in ``components.radiology.removal``. Departure: where restriction lists are
enforced, a set that lets the task's chain be executed after all is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from components.core.errors import ConfigError
from components.core.tools import Offer
from components.core.types import Sample
from components.radiology.builder import builder
from components.radiology.cards import Card
from components.radiology.offers import rebuilt, study_behind
from components.radiology.removal import config1_facts, config2_facts, config3_facts
from components.radiology.sets import config1, config2, config3
from components.radiology.solvable import solvable
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tasks import DI, REFUSAL_FIELDS

_Build = Callable[[Study, Random, Switches], Sequence[Card]]
_Expect = Callable[[Study], dict[str, Any]]


@dataclass(frozen=True)
class InsufficientConfig1:
    """No tool of the category that the task needs: 14 to 17."""

    switches: Switches = field(default_factory=Switches)

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset, or when the set is sufficient."""
        return _refusable("insufficient_config1", config1, config1_facts, self.switches, offer, sample, rng)


@dataclass(frozen=True)
class InsufficientConfig2:
    """Tools of the category that the task needs, for other anatomies only: 15 to 17."""

    switches: Switches = field(default_factory=Switches)

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset, or when the set is sufficient."""
        return _refusable("insufficient_config2", config2, config2_facts, self.switches, offer, sample, rng)


@dataclass(frozen=True)
class InsufficientConfig3:
    """Tools that fit but whose lists do not hold the record's entity: 18. The result is to be validated."""

    switches: Switches = field(default_factory=Switches)

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset, or when the set is sufficient."""
        made = _refusable("insufficient_config3", config3, config3_facts, self.switches, offer, sample, rng)
        return replace(made, validates=True)


def _refusable(
    condition: str, build: _Build, expect: _Expect, switches: Switches, offer: Offer, sample: Sample, rng: Random
) -> Offer:
    """The offer with an insufficient set, which may be refused."""
    study = study_behind(offer, sample, condition)
    cards = build(study, rng, switches)
    if switches.enforce_restriction == "error" and solvable(cards, study, switches):
        text = "solvable: the vocabulary has no entries but the record's own"
        raise ConfigError(f"{condition} leaves sample {sample.problem.id!r} {text}")
    facts = {"condition": condition, "kind": "insufficient", **expect(study)}
    made = rebuilt(offer, cards, rng, switches, facts, lambda card: _forgotten(card, switches))
    controls = {**made.controls, "build": builder(study, facts, len(cards), switches)}
    return replace(made, refusal_fields=REFUSAL_FIELDS, controls=controls)


def _forgotten(card: Card, switches: Switches) -> bool:
    """Whether the reference describes the tool but forgets to make it callable."""
    return not switches.register_inferencer and card.category == DI and card.supported is not None
