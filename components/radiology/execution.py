"""The execution of an agent and that of a perfect agent, whose scores are the ceilings.

Source: Zheng et al. 2024, arXiv 2412.09529. Its code (MAGIC-AI4Med/RadABench, January 2025) finds plan, calls and end
in a text log by patterns, here they are structured steps. What the patterns do to the numbers (a refusal is a success,
a call whose purpose holds a closing brace is lost) is reproduced where switch ``error_detection`` is ``substring``.

A perfect agent executes the ground-truth chain with the best suitable tools and compulsory inputs; where it fails, so
must all others. Ours: suitable is a tool of the category (and type) that is unbound or bound to the record's pair and
unrestricted or listing what the record is about; the higher upper bound is better.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from components.core.compact import compact_json
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.types import Sample, Trajectory
from components.faults.marks import brought_down
from components.radiology.cards import Card
from components.radiology.memory import RadiologyMemory, open_memory
from components.radiology.plan import KnownInfo, decision_chain, known_mode, plan_text, read_known
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tasks import BQ, IE, PLANNING_NAMES, RECORD_KEYS, TASKS, Task, supports
from components.radiology.toolset import run


class Called(NamedTuple):
    """A call that an agent made: the tool's category and type (None: no such tool), and whether it ran."""

    category: str | None
    variant: str | None
    ok: bool


class Execution(NamedTuple):
    """One episode. ``names`` are those of the called tools, ``plan`` is the planning reply, None without one.
    ``clean``: the number of successful calls before the first failure; ``faulty``: a call failed, a reply could not be
    read, or the agent gave up or reached a limit."""

    calls: tuple[Called, ...]
    names: tuple[str, ...]
    plan: str | None
    stop: str
    clean: int
    faulty: bool

    @property
    def completed(self) -> bool:
        """Answered without any failure."""
        return self.stop == "answered" and not self.faulty

    def success(self, switches: Switches) -> bool:
        """Completed; for the reference's log reader a refusal is a success too."""
        if from_log(switches):
            return not self.faulty and self.stop in ("answered", "refused")
        return self.completed

    def categories(self, switches: Switches, failing: bool = True) -> tuple[str, ...]:
        """The executed chain: categories of the calls of existing tools, with or without ``failing`` ones."""
        typed = switches.category_typing == "typed"
        return tuple(
            [
                f"{variant} {category}" if typed and category == BQ else category
                for category, variant, ok in self.calls
                if category and (failing or ok)
            ]
        )


def from_log(switches: Switches) -> bool:
    """Whether errors and calls are those that the reference's log reader would find."""
    return switches.error_detection == "substring"


def task_of(sample: Sample) -> Task | None:
    """The task of a sample; None when it is not a sample of this benchmark."""
    return TASKS.get(sample.metadata.get("chain", ""))


def kind_of(trajectory: Trajectory) -> str:
    """The kind of condition: baseline, redundant, insufficient, differentiated, ...; by default ``intact``."""
    return str(trajectory.facts.get("kind", "intact"))


@lru_cache(maxsize=64)
def ground_truth(chain: str, typing: str) -> tuple[str, ...]:
    """The ground-truth chain. ``mixed_code`` types the only quantifier of 0126 and 0136, ``typed`` all of them;
    evaluators stay untyped, since the chains leave their type open."""
    task = TASKS[chain]
    typed = typing == "typed" or (typing == "mixed_code" and task.categories.count(BQ) == 1)
    return tuple(f"{kind} {category}" if typed and kind else category for category, kind in task.chain)


@lru_cache(maxsize=512)
def planned_chain(plan: str, switches: Switches) -> tuple[str, ...]:
    """The planned chain. The reference's reader types the organ quantifier, which ``untyped`` undoes."""
    untyped = switches.category_typing == "untyped"
    chain = decision_chain(plan, switches.plan_reader)
    return tuple(BQ if untyped and name.endswith(BQ) else name for name in chain)


def read(trajectory: Trajectory, switches: Switches) -> Execution:
    """Read an episode. Where several branches acted, the last one's calls count, and its plan if it made one."""
    acting = [step for step in trajectory.steps if step.acts]
    branch = acting[-1].branch if acting else None
    calls: list[Called] = []
    names: list[str] = []
    clean, faulty, logged = 0, False, from_log(switches)
    for step in (one for one in acting if one.branch == branch):
        lost = logged and step.action is not None and "}" in step.action.purpose
        faulty = faulty or (step.action is not None and step.action.error is not None)
        for observed in step.observed:
            if observed.control or brought_down(observed):  # a call that a fault brought down is not the agent's
                continue
            faulty = faulty or observed.error is not None
            clean += not faulty
            if not lost:
                name, data = observed.call.name, observed.observation.data
                if "category" not in data:  # the result does not report it, but the tool's card does
                    data = next((spec.facts for spec in trajectory.offered if spec.name == name), data)
                calls.append(Called(data.get("category"), data.get("variant"), observed.error is None))
                names.append(name)
    faulty = faulty or trajectory.stop not in ("answered", "refused")
    plans = [step for step in trajectory.steps if step.purpose == "plan"]
    plans = [step for step in plans if step.branch == branch] or plans
    plan = plans[-1].reply.text if plans else None
    return Execution(tuple(calls), tuple(names), plan, trajectory.stop, clean, faulty)


class Suitable:
    """The suitable tools among those offered for a patient."""

    def __init__(self, offered: Iterable[ToolSpec], record: Mapping[str, Any]) -> None:
        self._tools: dict[str, list[ToolSpec]] = {}
        pairs = (None, None), (record["Anatomy"], record["Modality"])
        for spec in offered:
            facts = spec.facts
            if "category" not in facts or (facts["anatomy"], facts["modality"]) not in pairs:
                continue
            listed = facts["supported"]
            if not listed or supports(listed, record, facts["category"], facts["variant"]):
                self._tools.setdefault(facts["category"], []).append(spec)

    def tools(self, category: str, variant: str | None = None) -> Sequence[ToolSpec]:
        """The suitable tools for a step in the order of the offer; ``variant`` None leaves the type open."""
        found = self._tools.get(category, [])
        return found if variant is None else [spec for spec in found if spec.facts["variant"] == variant]

    def best(self, category: str, variant: str | None = None) -> ToolSpec | None:
        """The one with the highest upper bound, of equals the last; None when there is none."""
        return max(reversed(self.tools(category, variant)), key=lambda one: float(one.facts["upper"]), default=None)


def solvable(cards: Iterable[Card], study: Study, switches: Switches) -> bool:
    """Whether every step of the task's chain, quantifiers typed, can be executed in order with the compulsory inputs.
    ``cards`` are those of the callable tools."""
    tools, memory = list(cards), open_memory(study.record, study.task.id, switches)
    return all(
        any(_runs(c, memory, switches) for c in tools if c.category == category and kind in (None, c.variant))
        for category, kind in study.task.chain
    )


def _runs(one: Card, memory: RadiologyMemory, switches: Switches) -> bool:
    try:
        run(one, memory, one.compulsory, switches)
    except ToolError:
        return False
    return True


def execute(chain: str, condition: str, suitable: Suitable, switches: Switches) -> Execution:
    """What a perfect agent executes for a task with the suitable tools, until one fails or a step has none."""
    steps, tools = TASKS[chain].chain, list[ToolSpec]()
    for step in steps:
        if (tool := suitable.best(*step)) is None:
            break
        tools.append(tool)
    cards = tuple([compact_json(tool.facts) for tool in tools])
    calls = _calls(chain, known_mode(switches, condition), cards, switches)
    clean = sum([call.ok for call in calls])
    faulty = clean < len(steps)
    names = tuple([tool.name for tool in tools[: len(calls)]])
    return Execution(calls, names, plan_of(chain), "failed" if faulty else "answered", clean, faulty)


@lru_cache(maxsize=512)
def _calls(chain: str, mode: KnownInfo, tools: Sequence[bytes], switches: Switches) -> tuple[Called, ...]:
    """The calls of suitable tools in turn, up to the first that fails. Whose record it is has no say in it: suitable
    tools are bound to its pair, their lists hold what it is about, and it has all values."""
    cards = [replace(_card(facts), supported=None) for facts in tools]
    bound = next((card for card in cards if card.anatomy is not None), None)
    record: dict[str, Any] = {key: dict.fromkeys(inner, "") if inner else "" for key, inner in RECORD_KEYS.items()}
    if bound is not None:
        record |= {"Anatomy": bound.anatomy, "Modality": bound.modality}
    memory = open_memory(record, chain, switches)
    memory.begin(read_known(plan_of(chain), mode))
    calls: list[Called] = []
    for card in cards:
        calls.append(Called(card.category, card.variant, _runs(card, memory, switches)))
        if not calls[-1].ok:
            break
    return tuple(calls)


def _card(facts: bytes) -> Card:
    values: dict[str, Any] = orjson.loads(facts)
    read = (values[one.name] for one in fields(Card))
    lists: list[Any] = [tuple(value) if isinstance(value, list) else value for value in read]
    return Card(*lists)


@lru_cache(maxsize=16)
def plan_of(chain: str) -> str:
    """A plan that names every step of the chain and claims the indicator's name where it is needed."""
    task = TASKS[chain]
    names = [name for step in task.chain for name, planned in PLANNING_NAMES.items() if planned == step]
    return plan_text(["'$IndicatorName$'"] if IE in task.categories else [], names)
