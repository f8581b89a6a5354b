"""Tools built on demand: whether they were requested correctly, built and used, and replaced the missing tool.

Source: Zheng et al. 2024, arXiv 2412.09529, whose measure is task completion under the insufficient conditions; the
share of correct requests and the recovery rate are our own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from components.building import builds, built_tool_calls, may_build
from components.core.errors import ConfigError
from components.core.protocols import Scorer
from components.core.traits import ScorerTraits, declared
from components.core.types import Sample, Score, Trajectory
from components.text.values import share

RECOVERED, ASKED, CORRECT, BUILT, USED = NAMES = (
    "building/recovered", "building/asked", "building/correct_requests", "building/built", "building/used",
)  # fmt: skip


@dataclass(frozen=True)
class Building:
    """Five scores, 0 to 1, of an episode in which tools may be built; all unscored in others, and after an error.

    ``asked``: a tool was asked for. Among its requests: ``correct_requests``, those that said all that was needed
    (simulated: named what is missing; code: a specification that can be tested), and ``built``, those after which a
    tool joined. ``used``: a built tool was called and gave a result; unscored where none was built. ``recovered``:
    that, and the task was solved by the scorer ``solved``; its mean where tools are missing is the recovery rate.
    It comes first, so that tables which have room for one score of a group show it.
    ``neither``: to ask is not good in itself.
    """

    solved: Scorer | None = None
    version: str = "1"

    def __post_init__(self) -> None:
        if self.solved is not None and declared(self.solved, ScorerTraits).asks is not None:
            raise ConfigError("scorer.building.solved asks a model; choose a scorer that does not, as in ${scorer.cab}")

    @property
    def traits(self) -> ScorerTraits:
        """Scoring leaves the event loop where that of ``solved`` has to."""
        return ScorerTraits(
            names=NAMES,
            neither=(ASKED,),
            kinds={**dict.fromkeys(NAMES, "proportion"), CORRECT: "share", BUILT: "share"},
            blocking=self.solved is not None and declared(self.solved, ScorerTraits).blocking,
        )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Read the requests and their results."""
        if not may_build(trajectory) or trajectory.stop == "error":
            return [Score(name, None) for name in NAMES]
        requests, works = builds(trajectory), any(one.error is None for one in built_tool_calls(trajectory))
        recovered = Score(RECOVERED, None, "scorer.building.solved names no scorer")
        if self.solved is not None:
            decides = declared(self.solved, ScorerTraits).decides
            scores = self.solved.score(sample, trajectory)
            right = next((one.value for one in scores if decides in (None, one.name)), None)
            recovered = Score(RECOVERED, None if right is None else float(works and right == 1.0))
        passed = [bool(one["passed"]) for one in requests]
        return [
            recovered,
            Score(ASKED, float(bool(requests))),
            Score(CORRECT, share([bool(one["specified"]) for one in requests])),
            Score(BUILT, share(passed), "; ".join(one["reason"] or "passed" for one in requests)),
            Score(USED, float(works) if any(passed) else None),
        ]
