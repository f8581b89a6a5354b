"""What the offered tools let a perfect agent do, for conditions and ceilings.

It executes the ground-truth chain on what is offered, or refuses correctly: it picks the best suitable tool for every
step, hands over the compulsory inputs, answers with the reference and goes through the same executor and the same
scorers as any agent. Where it fails (the reference's chains with indicators cannot be executed), so must all others.

Source: Zheng et al. 2024, arXiv 2412.09529, who leave open which tool suits. Ours: suitable is a tool of the category
(and type) that is unbound or bound to the record's pair and unrestricted or listing what the record is about; the
higher upper bound is better.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from components.core.errors import ToolError
from components.core.messages import Message, Purpose, ToolCall, ToolSpec, Usage
from components.core.types import Observation, Observed, Step, Trajectory
from components.radiology.cards import Card
from components.radiology.execution import Execution, read
from components.radiology.memory import RadiologyMemory, open_memory
from components.radiology.plan import known_mode, read_known
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tasks import AD, BQ, DD, DI, IE, OS, PLANNING_NAMES, TASKS, lookup
from components.radiology.tool import run

_ENTITY: Mapping[str, str] = {
    OS: "OrganObject",
    AD: "AnomalyObject",
    DD: "Disease",
    DI: "Disease",
    IE: "IndicatorName",
}


class Suitable:
    """The suitable tools among those offered for a patient, looked for once per step."""

    def __init__(self, offered: Iterable[ToolSpec], record: Mapping[str, Any]) -> None:
        self._record = record
        self._found: dict[tuple[str, str | None], list[ToolSpec]] = {}
        self._by_category: dict[str, list[ToolSpec]] = {}
        for spec in offered:
            self._by_category.setdefault(spec.facts.get("category", ""), []).append(spec)

    def tools(self, category: str, variant: str | None = None) -> Sequence[ToolSpec]:
        """The suitable tools for a step in the order of the offer; ``variant`` None leaves the type open."""
        key = (category, variant)
        if (found := self._found.get(key)) is None:
            found = self._found[key] = [
                spec
                for spec in self._by_category.get(category, ())
                if (variant is None or spec.facts["variant"] == variant) and is_suitable(spec.facts, self._record)
            ]
        return found

    def best(self, category: str, variant: str | None = None) -> ToolSpec | None:
        """The one with the highest upper bound, of equals the last; None when there is none."""
        tools = self.tools(category, variant)
        return tools[0] if len(tools) == 1 else max(reversed(tools), key=_upper, default=None)


def _upper(spec: ToolSpec) -> float:
    """What tools are ranked by."""
    return float(spec.facts["upper"])


def is_suitable(facts: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether the tool of these facts works on this patient's record."""
    if facts["anatomy"] not in (None, record["Anatomy"]) or facts["modality"] not in (None, record["Modality"]):
        return False
    if not facts["supported"]:
        return True
    category = facts["category"]
    name = f"{facts['variant']}Dim" if category == BQ else _ENTITY[category]
    entity = str(lookup(record, name)).strip().casefold()
    return entity in (entry.strip().casefold() for entry in facts["supported"])


def solvable(cards: Iterable[Card], study: Study, switches: Switches) -> bool:
    """Whether every step of the task's chain, quantifiers typed, can be executed in order.

    ``cards`` are those of the callable tools; inputs are the compulsory ones.
    """
    tools = list(cards)
    memory = open_memory(study.record, study.task.id, switches)
    for category, kind in study.task.chain:
        fitting = (c for c in tools if c.category == category and kind in (None, c.variant))
        if not any(_runs(one, memory, switches) for one in fitting):
            return False
    return True


def _runs(one: Card, memory: RadiologyMemory, switches: Switches) -> bool:
    """Run the tool if it can run."""
    try:
        run(one, memory, one.compulsory, switches)
    except ToolError:
        return False
    return True


@dataclass(frozen=True)
class _Part:
    """A execute, equal to those that must go alike, whichever the patient is and whatever the tools are called.

    ``roles``: category, type and whether it is bound, of the best suitable tool of every step.
    """

    task: str
    switches: Switches
    condition: str
    roles: tuple[tuple[str, str | None, bool], ...]
    tools: Sequence[ToolSpec] = field(compare=False)
    record: Mapping[str, Any] = field(compare=False)


def execute(chain: str, condition: str, suitable: Suitable, record: Mapping[str, Any], switches: Switches) -> Execution:
    """What a perfect agent executes for a task with the suitable ones of the tools it was offered.

    It ends where a step has no suitable tool.
    """
    tools: list[ToolSpec] = []
    for category, variant in TASKS[chain].chain:
        tool = suitable.best(category, variant)
        if tool is None:
            break
        tools.append(tool)
    facts = [tool.facts for tool in tools]
    roles = tuple([(fact["category"], fact["variant"], fact["anatomy"] is not None) for fact in facts])
    done = _executed(_Part(chain, switches, condition, roles, tools, record))
    names = tuple([tool.name for tool in tools[: len(done.calls)]])
    return Execution(done.calls, names, done.plan, done.stop, done.clean, done.faulty)


@lru_cache(maxsize=1024)
def _executed(part: _Part) -> Execution:
    """Execute once what must go alike."""
    return read(_play(part), part.switches)


def _play(part: _Part) -> Trajectory:
    """Plan, then call one tool per step until one fails; answered when the whole chain was executed."""
    plan = plan_of(part.task)
    memory = open_memory(part.record, part.task, part.switches)
    memory.begin(read_known(plan, known_mode(part.switches, part.condition)))
    trajectory = Trajectory(steps=[_step("plan", plan)], stop="failed")
    for tool in part.tools:
        observed = _call(tool, memory, part.switches)
        step = _step("act", "")
        step.observed.append(observed)
        trajectory.steps.append(step)
        if observed.error:
            return trajectory
    if len(part.tools) == len(TASKS[part.task].chain):
        trajectory.stop = "answered"
    return trajectory


def plan_of(chain: str) -> str:
    """A plan that names every step of the chain and claims the indicator's name where it is needed."""
    task = TASKS[chain]
    names = [name for step in task.chain for name, stands in PLANNING_NAMES.items() if stands == step]
    known = "'$IndicatorName$'" if IE in task.categories else ""
    return f"Known Info: [{known}]\nTool Chain: [{' -> '.join(f'*{name}*' for name in names)}]"


def _call(tool: ToolSpec, memory: RadiologyMemory, switches: Switches) -> Observed:
    """Run a tool with its compulsory inputs."""
    card = card_of(tool)
    call = ToolCall("call", tool.name, "{}")
    data = {"category": card.category, "variant": card.variant}
    try:
        run(card, memory, card.compulsory, switches)
    except ToolError as error:
        return Observed(call, Observation(str(error), data), error=error.label)
    return Observed(call, Observation("", data))


def card_of(tool: ToolSpec) -> Card:
    """The card behind an offered tool."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in tool.facts.items()
        if name != "built"
    }
    return Card(**values)


def _step(purpose: Purpose, text: str) -> Step:
    """A step with this reply."""
    return Step(purpose, "main", "main", 0, 0, (), Message("assistant", text), Usage())
