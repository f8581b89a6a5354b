"""How an episode used its tools: how often, in a form that can be read, and whether they fit the task.

Source: Liao et al. 2024, arXiv 2410.17657, figure 5 and its discussion; ``components.acting.tool_names`` pools
many episodes. Departure: misuse and the fit to the task, which the article only describes, are numbers here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.acting.tool_names import INNER, MIXED, action_names, distribution, is_misuse
from components.cab.tasks import TASKS
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory

ACTIONS, SHARE, MALFORMED, MATCHING, MISUSE = NAMES = (
    "tools/actions", "tools/share", "tools/malformed", "tools/matching", "tools/misuse",
)  # fmt: skip


@dataclass(frozen=True)
class ToolUse:
    """``tools/actions`` (a count) and four shares, 0 to 1, of the committed actions of an episode.

    ``tools/share``: tools among all actions, the rest being inner ones and the end. ``tools/malformed``:
    unreadable or unknown actions among all attempted ones. Among the tool actions: ``tools/matching``, tools of the
    task's own dimension (unscored in trust tasks, whose dimension the others overlap), and ``tools/misuse``, tools
    whose input the task does not have. Without tool actions both are unscored; so is all after an error.
    ``lower``: those that are better low; ``neither``: those that say how, and not how well, tools were used.
    """

    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        lower=(MALFORMED, MISUSE),
        neither=(ACTIONS, SHARE),
        units={ACTIONS: "actions"},
        kinds={**dict.fromkeys(NAMES, "share"), ACTIONS: "count"},
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Count the committed actions."""
        if trajectory.stop == "error":
            return [Score(name, None, "ended in an error") for name in NAMES]
        names = action_names(trajectory)
        tools = {spec.name: spec for spec in trajectory.offered if spec.facts.get("dimension") != "inner"}
        pooled = distribution([names], tools)
        used = [tools[name] for name in names if name in tools and name not in INNER]
        task, kinds = TASKS.get(str(sample.metadata.get("task"))), sample.problem.input_kinds
        fits = [spec.facts.get("dimension") == task.dimension for spec in used] if task else []
        values: Mapping[str, float | None] = {
            ACTIONS: float(pooled.total_actions),
            SHARE: pooled.height if pooled.total_actions else None,
            MALFORMED: pooled.malformed_rate if names else None,
            MATCHING: _share(fits) if task and task.dimension != MIXED else None,
            MISUSE: _share([is_misuse(spec.facts, kinds) for spec in used]),
        }
        said = ", ".join(names) or "no action"
        return [Score(name, value, said if name == ACTIONS else "") for name, value in values.items()]


def _share(flags: Sequence[bool]) -> float | None:
    """How many are true; None without any."""
    return sum(flags) / len(flags) if flags else None
