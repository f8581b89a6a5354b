"""What a fork runs: for each intervention the same points of the same episodes, each as often, with the same seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from components.core.types import Sample, Trajectory
from runner.episode.door import Door
from runner.episode.episode import record_errors, solve
from runner.episode.prefix import Prefix
from runner.episode.shared import Parts, Shared
from runner.experiment.experiment import Experiment
from runner.fork.handing import Relay
from runner.fork.points import Point, Recorded, chosen, fitting, points_of, walk
from runner.fork.request import Arm, Choices
from runner.results.sections.forks import FACTS, STEP

_PREFIX = ("agent", "memory", "grammars", "toolset", "condition")  # nodes of a config that can change what is asked


@dataclass(frozen=True)
class Intervention:
    """An arm with its experiment. ``base``: the parts of the run; ``hands_over``: another agent continues."""

    name: str
    arm: Arm
    experiment: Experiment
    base: Experiment
    hands_over: bool = False

    @property
    def asks_alike(self) -> bool:
        """Whether what is asked before the fork is what the run asked."""
        mine, theirs = self.experiment.cfg, self.base.cfg
        return self.hands_over or all(mine.get(key) == theirs.get(key) for key in _PREFIX)

    def prefix(self, one: Recorded, length: int, place: str = "") -> Prefix:
        """The beginning of an episode under this arm."""
        return Prefix(
            one.steps, length, self.base.parts.verifier, place, self.asks_alike,
            self.hands_over and bool(place), self.arm.lesson, self.arm.result,
        )  # fmt: skip


@dataclass
class Plan:
    """The forks of one arm. ``draws`` of each point; ``most``: steps of the longest episode, by which a fork has one
    number in all arms."""

    arm: Intervention
    draws: int
    most: int
    points: Sequence[tuple[Recorded, Point, int]]  # episode, point, and how many points it has

    def __post_init__(self) -> None:
        self._forks = {(one.sample.problem.id, number): (one, point, draw, n)
                       for one, point, n in self.points for draw in range(self.draws)
                       for number in [self.number(one, point, draw)]}  # fmt: skip

    def number(self, one: Recorded, point: Point, draw: int) -> int:
        """The number of a fork among those of its sample."""
        return (one.epoch * self.most + point.step - 1) * self.draws + draw

    @property
    def order(self) -> Sequence[tuple[Sample, int]]:
        """The samples, with the step as a stratum, and the numbers of their forks."""
        return [
            (replace(one.sample, strata={**one.sample.strata, STEP: f"{point.step:02d}"}), number)
            for (_, number), (one, point, _, _) in self._forks.items()
        ]

    async def solve(self, parts: Parts, door: Door, sample: Sample, epoch: int) -> Trajectory:
        """Rebuild an episode up to the fork, and continue it."""
        one, point, draw, n = self._forks[sample.problem.id, epoch]
        prefix, trajectory = self.arm.prefix(one, point.call, f"fork/{point.step}/{draw}"), Trajectory()
        if self.arm.hands_over:
            base = self.arm.base.parts
            parts = replace(base, agent=Relay(base.agent, parts), budget=parts.budget)
        with record_errors(trajectory):
            await solve(Shared(parts, door, one.sample, one.epoch, trajectory, fork=prefix))
        facts = {"step": point.step, "of": n, "call": point.call + 1, "draw": draw, "epoch": one.epoch,
                 "did": point.did, "was": one.score}  # fmt: skip
        trajectory.facts = {**trajectory.facts, FACTS: facts}
        return trajectory


async def plans_of(
    arms: Sequence[Intervention], episodes: Sequence[Recorded], choices: Choices
) -> tuple[list[Plan], list[str]]:
    """The plan of each arm, and lines on what is refused or left out, and why. No model is asked."""
    refused, found = list[str](), dict[str, list[tuple[Recorded, Point, int]]]()
    points = {one.name: await _points(arms[0], one, refused) for one in episodes}
    picked = {one.name: chosen(points[one.name], one.steps, choices.at) for one in episodes}
    for one in episodes:
        if points[one.name] and not picked[one.name]:
            n = len(points[one.name])
            refused.append(f"left out: sample {one.name}: none of its {n} steps is one for fork.at={choices.at}")
    for arm in arms:
        of = found.setdefault(arm.name, [])
        for one in episodes:
            there = picked[one.name]
            if not arm.asks_alike and there:
                same = {point.call for point in await _points(arm, one, refused)}
                there = [point for point in there if point.call in same]
            there = list(fitting(there, points[one.name], one.steps, arm.arm, arm.hands_over))
            of += [(one, point, len(points[one.name])) for point in there]
    most = max((point.step for of in points.values() for point in of), default=1)
    return [Plan(arm, choices.draws, most, found[arm.name]) for arm in arms], refused


async def _points(arm: Intervention, one: Recorded, refused: list[str]) -> list[Point]:
    """The points at which an episode can be continued under an arm."""
    prefix = arm.prefix(one, len(one.steps))
    parts = arm.base.parts if arm.hands_over else arm.experiment.parts
    if why := await walk(parts, arm.base, one, prefix):
        refused.append(f"refused: sample {one.name}, {arm.name}: {why}")
    return points_of(prefix)
