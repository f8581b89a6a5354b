"""RadABench's simulated radiology tools over one patient record: the offer, and how conditions replace its tools.

Source: Zheng et al. 2024, arXiv 2412.09529; the reference implementation (MAGIC-AI4Med/RadABench, January 2025) reads
plans differently, and hides the patient's information to the end, in its separate pipeline for condition baseline.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random
from typing import Any

from components.core.errors import ConfigError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect, Offer, Tool
from components.core.types import Observation, Sample
from components.faults.marks import KEY as FAULTS
from components.radiology.cards import Card, spec
from components.radiology.memory import RadiologyMemory, open_memory
from components.radiology.plan import KnownInfo, known_mode, read_known, runtime_plan
from components.radiology.sets import baseline
from components.radiology.study import Study, study_of
from components.radiology.switches import Switches
from components.radiology.tasks import CATEGORIES, DI
from components.radiology.tool import RadiologyTool, memory_of

_START = ToolSpec("start", "Begin with the variables that a plan holds known.")
_LOOK, _FINAL = ToolSpec("look", "See the memory."), ToolSpec("final", "See the memory for the last time.")


@dataclass(frozen=True)
class Start:
    """Begin with the variables that a planning reply claims to be known.

    Output: the memory as one line of JSON; data ``known`` (variables with dollar signs) and ``plan`` (planning names in
    canonical order; None where the reference does not echo one).
    """

    known: KnownInfo
    echoes: bool
    spec: ToolSpec = _START
    effect: Effect = "episode"

    async def __call__(self, context: Context, plan: str = "", **_: Any) -> Observation:
        """Fill the start memory. Raises ToolError when the record lacks a claimed variable."""
        memory = memory_of(context.state)
        known = read_known(plan, self.known)
        memory.begin(known)
        return Observation(memory.text(), {"known": known, "plan": runtime_plan(plan) if self.echoes else None})


@dataclass(frozen=True)
class Look:
    """The memory as one line of JSON; with ``information`` the patient's in place of its placeholder."""

    information: bool
    spec: ToolSpec = _LOOK
    effect: Effect = "episode"

    async def __call__(self, context: Context, **_: Any) -> Observation:
        """Read the memory."""
        return Observation(memory_of(context.state).text(self.information))


@lru_cache
def controls(switches: Switches, condition: str) -> Mapping[str, Tool]:
    """The controls of an offer under this condition."""
    plain = switches.known_info == "per_condition" and condition == "baseline"  # the reference's separate pipeline
    start = Start(known_mode(switches, condition), echoes=not plain)
    return {"start": start, "look": Look(False), "final": Look(not plain, _FINAL)}


@dataclass(frozen=True)
class Radiology:
    """One tool per category, none bound (12), with a fresh memory; conditions put other sets in their place.

    ``demonstrations``: the prompt set whose solved tasks show how the tools are used.
    """

    switches: Switches = field(default_factory=Switches)
    demonstrations: str = "radiology_demonstrations"

    def open(self, sample: Sample) -> Offer:
        """Open the tools of a sample. Raises ConfigError when it has no patient record to image."""
        study = study_of(sample)
        memory = open_memory(study.record, study.task.id, self.switches, study.vocabulary)
        facts = {"condition": "baseline", "kind": "baseline"}
        tools = _baseline_tools(self.switches)
        return Offer(tools, memory, controls(self.switches, "baseline"), facts=facts, categories=CATEGORIES)


@lru_cache
def _baseline_tools(switches: Switches) -> Mapping[str, Tool]:
    """The tools of the baseline, which hold no state and are shared by all samples."""
    return numbered_tools(baseline(switches), switches)


def numbered_tools(cards: Iterable[Card], switches: Switches, insufficient: bool = False) -> dict[str, Tool]:
    """The tools TOOL1, TOOL2, ... in this order. By the switches a restricted inferencer of an ``insufficient`` set is
    described only, as the reference forgets to make it callable."""
    forgets = insufficient and not switches.register_inferencer
    return {
        (name := f"TOOL{n}"): RadiologyTool(
            spec(card, name), card, switches, not (forgets and card.category == DI and card.supported is not None)
        )
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


def rebuild(offer: Offer, cards: Iterable[Card], rng: Random, switches: Switches, facts: Mapping[str, Any]) -> Offer:
    """The offer with these tools in place of its own, and the controls of ``facts['condition']``.

    The switches decide whether ``rng`` shuffles them before they are named. Raises ConfigError where another condition
    has changed the tools already.
    """
    earlier = [*(fault["kind"] for fault in offer.facts.get(FAULTS, ())), offer.facts.get("condition", "intact")]
    if earlier[0] not in ("intact", "baseline"):
        raise ConfigError(
            f"condition {facts['condition']!r} builds its own tools, so that nothing is left of {earlier[0]!r}"
            " before it: let it be condition.first"
        )
    order = list(cards)
    if switches.tool_order == "shuffled":
        rng.shuffle(order)
    tools = numbered_tools(order, switches, facts["kind"] == "insufficient")
    return replace(offer, tools=tools, controls=controls(switches, facts["condition"]), facts=facts)
