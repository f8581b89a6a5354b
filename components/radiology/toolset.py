"""RadABench's simulated radiology tools over one patient record: their checks and what they write to memory, the
offer, and how conditions replace its tools.

Source: Zheng et al. 2024, arXiv 2412.09529; checks in the order of its code (MAGIC-AI4Med/RadABench, January 2025),
whose separate pipeline for condition baseline reads plans differently and hides the patient's information to the end.
Departure: with switch ``enforce_restriction`` a restricted tool fails on what its list lacks; there it answers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any

import orjson

from components.core.errors import ConfigError, ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect, Offer, State, Tool
from components.core.types import Observation, Sample
from components.faults.marks import KEY as FAULTS
from components.radiology.cards import Card, spec
from components.radiology.memory import RadiologyMemory, open_memory, read_inputs
from components.radiology.plan import KnownInfo, known_mode, read_known, runtime_plan
from components.radiology.sets import baseline
from components.radiology.study import Study, study_of
from components.radiology.switches import Switches, first_equal
from components.radiology.tasks import AD, CATEGORIES, DI, OS, supports, var

_CLASSES = "Anatomy Modality Segmentation Anomaly Diagnosis Inference Biomarker Indicator Generation Treatment"
ERROR_CLASSES = {name: f"{error}Error" for name, error in zip(CATEGORIES, _CLASSES.split(), strict=True)}
_ANATOMY, _MODALITY = var("Anatomy"), var("Modality")
_DIMENSION: Mapping[str, str] = {OS: "$OrganDim$", AD: "$AnomalyDim$"}


def run(card: Card, memory: RadiologyMemory, inputs: Iterable[str], switches: Switches) -> float:
    """Run the tool on these variables (with dollar signs); its outputs' score in [0, 1]. Raises ToolError, and leaves
    memory as it was, when the call is not allowed."""
    given = list(inputs)
    _check(card, memory, given)
    enforced = card.supported if switches.enforce_restriction == "error" else None
    if not supports(enforced, memory.record, card.category, card.variant):
        raise _error(card, "unsupported_entity", "cannot do this: its supported list does not hold what is needed here")
    scores = memory.scores
    score = card.lower * min([scores[name] for name in card.compulsory])
    for name in given:  # each legal optional input in memory raises it
        if name in card.optional and name in memory.values:
            score = min(score + card.step * scores[name], card.upper)
    if any([score > memory.fixed.get(name, 1.0) for name in card.outputs]):
        raise _error(card, "fixed_score", "would raise the score of what was known from the start")
    memory.write(card.outputs, score, switches.rerun_value == "refresh")
    return score


def _check(card: Card, memory: RadiologyMemory, given: Sequence[str]) -> None:
    """Binding, compulsory inputs, further inputs, in this order."""
    values = memory.values
    if card.anatomy is not None and (values.get(_ANATOMY) != card.anatomy or values.get(_MODALITY) != card.modality):
        have = ", ".join(f"{name} = {values[name]!r}" for name in (_ANATOMY, _MODALITY) if name in values)
        found = f"memory holds {have}" if have else "memory holds neither $Anatomy$ nor $Modality$ yet"
        raise _error(card, "binding_mismatch", f"works on {card.modality} images of {card.anatomy} only; {found}")
    for name in card.compulsory:
        if name not in given:
            raise _error(card, "missing_compulsory", f"needs {name} among its inputs, which were {_names(given)}")
        if name not in values:
            raise _error(card, "missing_value", f"needs {name}, which memory does not hold; it holds {_names(values)}")
    for name in given:
        if name not in card.compulsory and name not in card.optional:
            takes = _names([*card.compulsory, *card.optional])
            raise _error(card, "invalid_optional", f"does not take {name} as an input; it takes {takes}")


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _error(card: Card, label: str, text: str) -> ToolError:
    """The error with its text for the model and its data for the scorers."""
    data = {"error_class": ERROR_CLASSES[card.category], "category": card.category, "variant": card.variant}
    return ToolError(f"this {card.label} {text}", label, data)


def memory_of(state: State) -> RadiologyMemory:
    """The memory behind an offer. Raises TypeError when the offer is of another toolset."""
    if not isinstance(state, RadiologyMemory):
        raise TypeError(f"a radiology tool runs on RadiologyMemory, found {type(state).__name__}")
    return state


@dataclass(frozen=True)
class RadiologyTool:
    """A simulated tool. Source: Zheng et al. 2024, arXiv 2412.09529. Input: names of memory variables, as text or as a
    list. Output: the written variables with values and their score. ``registered`` False: described but not callable, a
    defect of the reference."""

    spec: ToolSpec
    card: Card
    switches: Switches
    registered: bool = True
    effect: Effect = "episode"

    async def __call__(
        self, context: Context, /, input: str | Sequence[str] = "", purpose: str = "", **_: Any
    ) -> Observation:
        """Run the tool. Raises ToolError when the call is not allowed."""
        card, memory = self._ready(), memory_of(context.state)
        score = run(card, memory, read_inputs(input), self.switches)
        names = [*card.outputs, _DIMENSION[card.category]] if card.category in _DIMENSION else card.outputs
        outputs = {name: memory.values[name] for name in names}
        data = {"category": card.category, "variant": card.variant, "score": score, "outputs": outputs}
        return Observation(orjson.dumps({**outputs, "score": round(score, 6)}).decode(), data)

    def foresee(self, state: State, input: str | Sequence[str] = "", **_: Any) -> None:
        """Check binding and inputs as a call would, without running it. Raises ToolError."""
        _check(self._ready(), memory_of(state), read_inputs(input))

    def _ready(self) -> Card:
        """The card of a tool that can be called. Raises ToolError."""
        card = self.card
        if not self.registered:
            missing = {"error_class": "NameError", "category": card.category, "variant": card.variant}
            raise ToolError(f"there is no tool {self.spec.name} that can be called", "unknown_tool", missing)
        return card


_START = ToolSpec("start", "Begin with the variables that a plan holds known.")
_LOOK, _FINAL = ToolSpec("look", "See the memory."), ToolSpec("final", "See the memory for the last time.")


@dataclass(frozen=True)
class Start:
    """Begin with the variables that a planning reply claims to be known. Output: the memory as one line of JSON; data
    ``known`` (variables with dollar signs) and ``plan`` (planning names in canonical order; None where the reference
    does not echo one)."""

    known: KnownInfo
    echoes: bool
    spec: ToolSpec = _START
    effect: Effect = "episode"

    async def __call__(self, context: Context, /, plan: str = "", **_: Any) -> Observation:
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

    async def __call__(self, context: Context, /, **_: Any) -> Observation:
        """Read the memory."""
        return Observation(memory_of(context.state).text(self.information))


@lru_cache
def controls(switches: Switches, condition: str) -> Mapping[str, Tool]:
    """The controls of an offer under this condition."""
    plain = switches.known_info == "per_condition" and condition == "baseline"  # the reference's separate pipeline
    start = Start(known_mode(switches, condition), echoes=not plain)
    return {"start": start, "look": Look(False), "final": Look(not plain, _FINAL)}


@lru_cache
def _tools(switches: Switches) -> Mapping[str, Tool]:
    return numbered_tools(baseline(switches), switches)


@dataclass(frozen=True)
class Radiology:
    """One tool per category, none bound (12), with a fresh memory; conditions put other sets in their place.
    ``demonstrations``: the prompt set whose solved tasks show how the tools are used."""

    switches: Switches = field(default_factory=Switches)
    demonstrations: str = "radiology_demonstrations"

    def __post_init__(self) -> None:
        object.__setattr__(self, "switches", first_equal(self.switches))

    def open(self, sample: Sample) -> Offer:
        """Open the tools of a sample. Raises ConfigError when it has no patient record to image."""
        study, facts = study_of(sample), {"condition": "baseline", "kind": "baseline"}
        memory = open_memory(study.record, study.task.id, self.switches, study.vocabulary)
        tools, own = _tools(self.switches), controls(self.switches, "baseline")
        return Offer(tools, memory, own, facts=facts, categories=CATEGORIES)


def numbered_tools(cards: Iterable[Card], switches: Switches, insufficient: bool = False) -> dict[str, Tool]:
    """The tools TOOL1, TOOL2, ... in this order. By the switches a restricted inferencer of an ``insufficient`` set is
    described only, as the reference forgets to make it callable."""
    forgets = insufficient and not switches.register_inferencer
    named = _naming(switches, forgets)
    return {(name := f"TOOL{n}"): named(card, name) for n, card in enumerate(cards, 1)}


@lru_cache(maxsize=8)
def _naming(switches: Switches, forgets: bool) -> Callable[[Card, str], RadiologyTool]:
    @lru_cache(maxsize=4096)  # the redundant conditions have 28,000 pairs of card and name
    def named(card: Card, name: str) -> RadiologyTool:
        registered = not (forgets and card.category == DI and card.supported is not None)
        return RadiologyTool(spec(card, name), card, switches, registered)

    return named


def study_behind(offer: Offer, sample: Sample, condition: str) -> Study:
    """The study of a radiology offer. Raises ConfigError for an offer of another toolset."""
    if not isinstance(offer.state, RadiologyMemory):
        raise ConfigError(
            f"condition {condition!r} needs toolset=radiology with dataset=radabench_mini or radabench; with other"
            " toolsets condition=intact, withhold, and faults such as noisy or denied work"
        )
    return study_of(sample)


def rebuild(offer: Offer, cards: Iterable[Card], rng: Random, switches: Switches, facts: Mapping[str, Any]) -> Offer:
    """The offer with these tools instead of its own, and the controls of ``facts['condition']``. The switches decide
    whether ``rng`` shuffles them before they are named. Raises ConfigError if another condition has already changed the
    tools."""
    earlier = [*(fault["kind"] for fault in offer.facts.get(FAULTS, ())), offer.facts.get("condition", "intact")]
    if earlier[0] not in ("intact", "baseline"):
        raise ConfigError(
            f"condition {facts['condition']!r} builds its own tools and would undo {earlier[0]!r}"
            " before it: choose it as condition.first"
        )
    order = list(cards)
    if switches.tool_order == "shuffled":
        rng.shuffle(order)
    tools = numbered_tools(order, switches, facts["kind"] == "insufficient")
    return Offer(  # ``replace`` takes ten times as long
        tools, offer.state, controls(switches, facts["condition"]), offer.refusal_fields, offer.validates,
        offer.shows_images, facts, offer.categories,
    )  # fmt: skip
