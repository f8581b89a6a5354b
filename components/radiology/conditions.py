"""RadABench's conditions: necessary tools, more, fewer, and tools that differ in performance or are wrong at times.

Source: Zheng et al. 2024, arXiv 2412.09529; for sets and expected refusals see ``components.radiology.sets``.
Departure: where restriction lists are enforced, a set that lets the task's chain be executed after all is an error.
The article names tools that are never wrong as a limit of its benchmark: a score says how good a tool is, and has no
effect. In ``Imperfect`` it is the probability that the values are right.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar, NamedTuple

from components.core.errors import ConfigError
from components.core.tools import Offer
from components.core.types import Sample
from components.radiology import sets
from components.radiology.builder import builder
from components.radiology.cards import Card
from components.radiology.execution import solvable
from components.radiology.study import Study
from components.radiology.switches import Switches, first_equal
from components.radiology.tasks import REFUSAL_FIELDS
from components.radiology.toolset import rebuild, study_behind


class SetRow(NamedTuple):
    """A condition: its name and that of its group, the tools for a patient, and further facts for scorers."""

    name: str
    kind: str
    cards: Callable[[Study, Random, Switches], Sequence[Card]]
    facts: Callable[[Study], Mapping[str, Any]] = lambda _: {}
    validates: bool = False


@dataclass(frozen=True)
class ToolSet:
    """A condition that replaces the toolset's own tools by those of its ``row``."""

    switches: Switches = field(default_factory=Switches)
    row: ClassVar[SetRow]

    def __post_init__(self) -> None:
        object.__setattr__(self, "switches", first_equal(self.switches))

    def offer(self, offer: Offer, sample: Sample, rng: Random) -> Offer:
        """Build the set. Raises ConfigError for another toolset, or for an insufficient set that is sufficient."""
        row, switches, study = self.row, self.switches, study_behind(offer, sample, self.row.name)
        cards = row.cards(study, rng, switches)
        facts = {"condition": row.name, "kind": row.kind, **row.facts(study)}
        if row.kind != "insufficient":
            return rebuild(offer, cards, rng, switches, facts)
        if switches.enforce_restriction == "error" and solvable(cards, study, switches):
            text = "solvable: the vocabulary has no entries but the record's own"
            raise ConfigError(f"{row.name} leaves sample {sample.problem.id!r} {text}")
        new = rebuild(offer, cards, rng, switches, facts)
        controls = {**new.controls, "build": builder(study, facts, len(cards), switches)}
        return replace(new, refusal_fields=REFUSAL_FIELDS, controls=controls, validates=row.validates)


class Baseline(ToolSet):
    """The necessary and sufficient tools: one per category and type, none bound: 12."""

    row = SetRow("baseline", "baseline", lambda study, rng, switches: sets.baseline(switches))


class RedundantRegular(ToolSet):
    """The baseline's tools and at most one extra, for another pair, per category: 12 to 15."""

    row = SetRow("redundant_regular", "redundant", sets.regular)


class RedundantMedium(ToolSet):
    """Tools bound to the record's pair and to similar pairs: 23 to 34."""

    row = SetRow("redundant_medium", "redundant", sets.medium)


class RedundantHigh(ToolSet):
    """Every tool there is: 169."""

    row = SetRow("redundant_high", "redundant", lambda study, rng, switches: sets.high(switches))


class Differentiated(ToolSet):
    """Unbound, bound, and restricted tools whose list holds the record's entity and which are best: 17 or 18."""

    row = SetRow(
        "differentiated", "differentiated", sets.differentiated, lambda study: {"argument": study.task.restricted}
    )


class InsufficientConfig1(ToolSet):
    """No tool of the category that the task needs: 14 to 17. This and the next two may be refused."""

    row = SetRow("insufficient_config1", "insufficient", sets.config1, sets.config1_facts)


class InsufficientConfig2(ToolSet):
    """Tools of the category that the task needs, for other anatomies only: 15 to 17."""

    row = SetRow("insufficient_config2", "insufficient", sets.config2, sets.config2_facts)


class InsufficientConfig3(ToolSet):
    """Tools that fit but whose lists do not hold the record's entity: 18. The result is to be validated."""

    row = SetRow("insufficient_config3", "insufficient", sets.config3, sets.config3_facts, validates=True)
