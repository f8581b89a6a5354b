"""RadABench's conditions: what is necessary, more than that, less than that, and tools that differ in performance.

Source: Zheng et al. 2024, arXiv 2412.09529; the sets, the refusals that would be right, and departures are in
``components.radiology.sets``. Departure: where restriction lists are enforced, a set that lets the task's chain be
executed after all is an error.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar

from components.core.errors import ConfigError
from components.core.tools import Offer
from components.core.types import Sample
from components.radiology.builder import builder
from components.radiology.cards import Card
from components.radiology.perfect import solvable
from components.radiology.sets import (
    CONFIG3,
    baseline,
    config1,
    config1_facts,
    config2,
    config2_facts,
    config3,
    config3_facts,
    differentiated,
    high,
    medium,
    regular,
)
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tasks import DI, REFUSAL_FIELDS
from components.radiology.toolset import rebuild, study_behind

# Condition -> the tools that it leaves, and the refusal that would be right.
_LEFT = {"insufficient_config1": config1, "insufficient_config2": config2, "insufficient_config3": config3}
_REFUSAL = {
    "insufficient_config1": config1_facts,
    "insufficient_config2": config2_facts,
    "insufficient_config3": config3_facts,
}


@dataclass(frozen=True)
class ToolSet(ABC):
    """A condition that puts another set of tools in the place of the toolset's own.

    ``name`` is the condition's, ``kind`` that of its group: baseline, redundant, differentiated or insufficient.
    """

    switches: Switches = field(default_factory=Switches)
    name: ClassVar[str] = ""
    kind: ClassVar[str] = ""

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset."""
        study = study_behind(offer, sample, self.name)
        return rebuild(offer, self.cards(study, rng), rng, self.switches, self.all_facts(study))

    @abstractmethod
    def cards(self, study: Study, rng: Random) -> Sequence[Card]:
        """The tools for a patient."""

    def all_facts(self, study: Study) -> Mapping[str, Any]:
        """The facts of the offer, for scorers."""
        return {"condition": self.name, "kind": self.kind, **self.facts(study)}

    def facts(self, study: Study) -> Mapping[str, Any]:
        """The facts besides the names."""
        return {}


@dataclass(frozen=True)
class Baseline(ToolSet):
    """What is necessary and sufficient: one tool per category and type, none bound: 12."""

    name: ClassVar[str] = "baseline"
    kind: ClassVar[str] = "baseline"

    def cards(self, study: Study, rng: Random) -> Sequence[Card]:
        """The same for every patient."""
        return baseline(self.switches)


@dataclass(frozen=True)
class RedundantRegular(ToolSet):
    """The baseline's tools and at most one extra, for another pair, per category: 12 to 15."""

    name: ClassVar[str] = "redundant_regular"
    kind: ClassVar[str] = "redundant"

    def cards(self, study: Study, rng: Random) -> Sequence[Card]:
        """Extras are drawn."""
        return regular(study.pair, rng, self.switches)


@dataclass(frozen=True)
class RedundantMedium(ToolSet):
    """Tools bound to the record's pair and to pairs like it: 23 to 34."""

    name: ClassVar[str] = "redundant_medium"
    kind: ClassVar[str] = "redundant"

    def cards(self, study: Study, rng: Random) -> Sequence[Card]:
        """Pairs like it are drawn."""
        return medium(study.pair, rng, self.switches)


@dataclass(frozen=True)
class RedundantHigh(ToolSet):
    """Every tool there is: 169."""

    name: ClassVar[str] = "redundant_high"
    kind: ClassVar[str] = "redundant"

    def cards(self, study: Study, rng: Random) -> Sequence[Card]:
        """The same for every patient."""
        return high(self.switches)


@dataclass(frozen=True)
class Differentiated(ToolSet):
    """Unbound, bound, and restricted tools whose list holds the record's entity and which are best: 17 or 18."""

    name: ClassVar[str] = "differentiated"
    kind: ClassVar[str] = "differentiated"

    def cards(self, study: Study, rng: Random) -> Sequence[Card]:
        """What else is in the lists is drawn."""
        return differentiated(study, rng, self.switches)

    def facts(self, study: Study) -> Mapping[str, Any]:
        """Which entity the lists are of."""
        return {"argument": CONFIG3[study.task.id]}


@dataclass(frozen=True)
class Insufficient(ToolSet):
    """A set with which the task cannot be done, so that it may be refused; its facts hold the refusal that is right.

    ``validates``: the result is to be validated.
    """

    kind: ClassVar[str] = "insufficient"
    validates: ClassVar[bool] = False

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset, or when the set is sufficient."""
        study = study_behind(offer, sample, self.name)
        cards = self.cards(study, rng)
        if self.switches.enforce_restriction == "error" and solvable(cards, study, self.switches):
            text = "solvable: the vocabulary has no entries but the record's own"
            raise ConfigError(f"{self.name} leaves sample {sample.problem.id!r} {text}")
        facts = self.all_facts(study)
        new = rebuild(offer, cards, rng, self.switches, facts, self._forgotten)
        controls = {**new.controls, "build": builder(study, facts, len(cards), self.switches)}
        return replace(new, refusal_fields=REFUSAL_FIELDS, controls=controls, validates=self.validates)

    def cards(self, study: Study, rng: Random) -> Sequence[Card]:
        """The tools that are left."""
        return _LEFT[self.name](study, rng, self.switches)

    def facts(self, study: Study) -> Mapping[str, Any]:
        """The refusal that would be right."""
        return _REFUSAL[self.name](study)

    def _forgotten(self, card: Card) -> bool:
        """Whether the reference describes the tool but forgets to make it callable."""
        return not self.switches.register_inferencer and card.category == DI and card.supported is not None


@dataclass(frozen=True)
class InsufficientConfig1(Insufficient):
    """No tool of the category that the task needs: 14 to 17."""

    name: ClassVar[str] = "insufficient_config1"


@dataclass(frozen=True)
class InsufficientConfig2(Insufficient):
    """Tools of the category that the task needs, for other anatomies only: 15 to 17."""

    name: ClassVar[str] = "insufficient_config2"


@dataclass(frozen=True)
class InsufficientConfig3(Insufficient):
    """Tools that fit but whose lists do not hold the record's entity: 18. The result is to be validated."""

    name: ClassVar[str] = "insufficient_config3"
    validates: ClassVar[bool] = True
