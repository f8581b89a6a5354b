"""A trajectory read into RadABench's chains: the plan, the executed calls, and the end.

Source: Zheng et al. 2024, arXiv 2412.09529. The reference implementation (MAGIC-AI4Med/RadABench, January 2025) finds
all this in a text log by patterns; here it comes from structured steps, so that every agent and grammar is measured in
the same way. The effects of the log's patterns on the numbers (a refusal counts as a success, a call whose purpose
holds a closing brace is lost) are reproduced where switch ``error_detection`` is ``substring``.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from components.core.types import Observed, Sample, Trajectory
from components.faults.marks import brought_down
from components.radiology.plan import decision_chain
from components.radiology.switches import Switches
from components.radiology.tasks import BQ, TASKS, Task


class Called(NamedTuple):
    """A call that an agent made: the tool's category and type (None: no such tool), and whether it ran."""

    category: str | None
    variant: str | None
    ok: bool


@dataclass(frozen=True)
class Execution:
    """One episode. ``names`` are those of the called tools, ``plan`` is the planning reply, None without one.

    ``clean``: the number of successful calls before the first failure; ``faulty``: a call failed, a reply could not be
    read, or the agent gave up or reached a limit.
    """

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
            f"{call.variant} {call.category}" if typed and call.category == BQ else call.category
            for call in self.calls
            if call.category and (failing or call.ok)
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
    """The ground-truth chain. ``mixed_code`` types the only quantifier of 0126 and 0136, ``typed`` all of
    them; evaluators stay untyped, since the chains leave their type open.
    """
    task = TASKS[chain]
    typed = typing == "typed" or (typing == "mixed_code" and task.categories.count(BQ) == 1)
    return tuple(f"{kind} {category}" if typed and kind else category for category, kind in task.chain)


@lru_cache(maxsize=512)
def decided(plan: str, switches: Switches) -> tuple[str, ...]:
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
    clean, faulty = 0, False
    for step in (one for one in acting if one.branch == branch):
        lost = from_log(switches) and step.action is not None and "}" in step.action.purpose
        faulty = faulty or (step.action is not None and step.action.error is not None)
        for observed in step.observed:
            if observed.control or brought_down(observed):  # a call that a fault brought down is not the agent's
                continue
            faulty = faulty or observed.error is not None
            clean += not faulty
            if not lost:
                calls.append(_called(observed, trajectory))
                names.append(observed.call.name)
    faulty = faulty or trajectory.stop not in ("answered", "refused")
    plans = [step for step in trajectory.steps if step.purpose == "plan"]
    plans = [step for step in plans if step.branch == branch] or plans
    plan = plans[-1].reply.text if plans else None
    return Execution(tuple(calls), tuple(names), plan, trajectory.stop, clean, faulty)


def _called(observed: Observed, trajectory: Trajectory) -> Called:
    """The call by the category that its result reports, else by that of the tool's card."""
    data = observed.observation.data
    if "category" not in data:
        name = observed.call.name
        data = next((spec.facts for spec in trajectory.offered if spec.name == name), data)
    return Called(data.get("category"), data.get("variant"), observed.error is None)
