"""The tools that suit a patient, what a perfect agent does with them, and scores next to its scores as ceilings.

A perfect agent executes the ground-truth chain on the offered tools, or refuses correctly: it picks the best suitable
tool for every step, hands over the compulsory inputs, answers with the reference and is scored by the same scorers as
any agent. Where it fails (the reference's chains with indicators cannot be executed), so must all others.

Source: Zheng et al. 2024, arXiv 2412.09529, who leave open which tool suits. Ours: suitable is a tool of the category
(and type) that is unbound or bound to the record's pair and unrestricted or listing what the record is about; the
higher upper bound is better.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.types import Sample, Score, Trajectory
from components.radiology.cards import Card
from components.radiology.execution import Called, Execution, kind_of, read, task_of
from components.radiology.memory import RadiologyMemory, open_memory
from components.radiology.plan import known_mode, plan_text, read_known
from components.radiology.study import Study
from components.radiology.switches import Switches
from components.radiology.tasks import IE, PLANNING_NAMES, TASKS, Task, supports
from components.radiology.tool import run


class Suitable:
    """The suitable tools among those offered for a patient."""

    def __init__(self, offered: Iterable[ToolSpec], record: Mapping[str, Any]) -> None:
        self._tools = [spec for spec in offered if "category" in spec.facts]
        self._record = record

    def tools(self, category: str, variant: str | None = None) -> Sequence[ToolSpec]:
        """The suitable tools for a step in the order of the offer; ``variant`` None leaves the type open."""
        return [
            spec
            for spec in self._tools
            if spec.facts["category"] == category
            and variant in (None, spec.facts["variant"])
            and spec.facts["anatomy"] in (None, self._record["Anatomy"])
            and spec.facts["modality"] in (None, self._record["Modality"])
            and supports(spec.facts["supported"] or None, self._record, category, spec.facts["variant"])
        ]

    def best(self, category: str, variant: str | None = None) -> ToolSpec | None:
        """The one with the highest upper bound, of equals the last; None when there is none."""
        return max(reversed(self.tools(category, variant)), key=lambda one: float(one.facts["upper"]), default=None)


def solvable(cards: Iterable[Card], study: Study, switches: Switches) -> bool:
    """Whether every step of the task's chain, quantifiers typed, can be executed in order with the compulsory inputs.

    ``cards`` are those of the callable tools.
    """
    tools, memory = list(cards), open_memory(study.record, study.task.id, switches)
    return all(
        any(_runs(c, memory, switches) for c in tools if c.category == category and kind in (None, c.variant))
        for category, kind in study.task.chain
    )


def _runs(one: Card, memory: RadiologyMemory, switches: Switches) -> bool:
    """Run the tool if it can run."""
    try:
        run(one, memory, one.compulsory, switches)
    except ToolError:
        return False
    return True


def execute(chain: str, condition: str, suitable: Suitable, record: Mapping[str, Any], switches: Switches) -> Execution:
    """What a perfect agent executes for a task with the suitable tools, until one fails or a step has none."""
    plan, memory = plan_of(chain), open_memory(record, chain, switches)
    memory.begin(read_known(plan, known_mode(switches, condition)))
    calls: list[Called] = []
    names: list[str] = []
    for category, variant in TASKS[chain].chain:
        tool = suitable.best(category, variant)
        if tool is None or (calls and not calls[-1].ok):
            break
        card = card_of(tool)
        calls.append(Called(card.category, card.variant, _runs(card, memory, switches)))
        names.append(tool.name)
    clean = sum(call.ok for call in calls)
    complete = clean == len(TASKS[chain].chain)
    stop = "answered" if complete else "failed"
    return Execution(tuple(calls), tuple(names), plan, stop, clean, faulty=not complete)


def plan_of(chain: str) -> str:
    """A plan that names every step of the chain and claims the indicator's name where it is needed."""
    task = TASKS[chain]
    names = [name for step in task.chain for name, planned in PLANNING_NAMES.items() if planned == step]
    return plan_text(["'$IndicatorName$'"] if IE in task.categories else [], names)


def card_of(tool: ToolSpec) -> Card:
    """The card of an offered tool."""
    values: dict[str, Any] = {one.name: tool.facts[one.name] for one in fields(Card)}
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return Card(**{**values, **lists})


@dataclass(frozen=True)
class Attempt:
    """A sample of this benchmark and an episode on it, read once for all scorers."""

    sample: Sample
    trajectory: Trajectory
    task: Task
    switches: Switches

    @cached_property
    def execution(self) -> Execution:
        """What was executed."""
        return read(self.trajectory, self.switches)

    @cached_property
    def suitable(self) -> Suitable:
        """The offered tools that suit the patient."""
        return Suitable(self.trajectory.offered, self.sample.metadata["record"])

    @cached_property
    def perfect(self) -> Execution:
        """What a perfect agent executes with the offered tools."""
        facts, record = self.trajectory.facts, self.sample.metadata["record"]
        condition = "baseline" if facts.get("kind") == "baseline" else str(facts.get("condition", ""))
        return execute(self.task.id, condition, self.suitable, record, self.switches)


Published = Mapping[str, Sequence[str]]
_newest: list[Attempt] = []  # at most one: scorers come one after the other


def attempt(sample: Sample, trajectory: Trajectory, switches: Switches) -> Attempt | None:
    """The attempt of a finished episode; None when the sample is not of this benchmark."""
    if (task := task_of(sample)) is None:
        return None
    for one in tuple(_newest):
        if one.sample is sample and one.trajectory is trajectory and one.switches == switches:
            return one
    _newest[:] = [Attempt(sample, trajectory, task, switches)]
    return _newest[0]


@dataclass(frozen=True)
class Graded(ABC):
    """A scorer of what was executed, with the scores of a perfect execution as ceilings.

    Scored wherever the task can be solved; in the reference's profile where its scripts score it: ``published``, the
    names by the kind of condition. A sample of another benchmark is unscored.
    """

    switches: Switches
    version: str = "1"
    names: ClassVar[Sequence[str]]
    published: ClassVar[Published] = {}

    @abstractmethod
    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """All metrics of the episode's or of the perfect execution, by name."""

    def kind(self, trajectory: Trajectory) -> str:
        """The kind of condition by which it is scored."""
        return kind_of(trajectory)

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """One score per name."""
        kind, scored = self.kind(trajectory), self.names
        if self.switches.planning_scope == "success_only":
            scored = self.published.get(kind, ())
        elif kind == "insufficient":
            scored = ()
        one = attempt(sample, trajectory, self.switches) if scored else None
        if one is None:
            return [Score(name, None) for name in self.names]
        mine, best = self.values(one, one.execution), self.values(one, one.perfect)
        return [
            Score(name, mine[name], ceiling=best[name]) if name in scored else Score(name, None) for name in self.names
        ]
