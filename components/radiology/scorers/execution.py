"""RadABench's metrics of execution: whether all calls ran, the task was completed, and the best tools were chosen.

Source: Zheng et al. 2024, arXiv 2412.09529; counts and fixed lists of the reference implementation
(MAGIC-AI4Med/RadABench, January 2025) by switches. Task completion has no published code, so its rules are ours:
``target_hit`` (completed, and the last successful call is of the target's category), ``chain_cover`` (also, every
ground-truth category was executed), ``exact_chain`` (also, nothing else was, in order). Departures where the article
is silent: see ``components.radiology.perfect`` for the ranking of tools; only successful calls count, steps with a
single suitable tool are left out, and an unsuitable choice scores 0.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from components.building import may_build
from components.core.traits import ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.radiology.execution import Execution, from_log, ground_truth, is_scored, kind_of
from components.radiology.perfect import Attempt, Suitable, grade
from components.radiology.switches import Switches
from components.radiology.tasks import BQ, IE, TASKS, Task

RUN_NAMES = ("execution/ecr", "execution/pfsp")


def prefailure(execution: Execution, n_steps: int, switches: Switches) -> float:
    """Successful calls before the first failure per ground-truth step; the reference also counts the failing call."""
    n_calls = execution.clean
    if switches.pfsp_counts_failing_call:
        n_calls = len(execution.categories(switches))
    return min(1.0, n_calls / n_steps) if switches.pfsp_clip else n_calls / n_steps


def io(switches: Switches, task: Task, execution: Execution) -> Mapping[str, float | None]:
    """Both metrics; the second is None unless the episode failed. A refusal is not a failure.

    Departure from the article: an answer without any call says nothing of the calls and is not scored.
    """
    success = execution.success(switches)
    idle = success and not execution.clean and switches.error_detection == "structured"
    failed = not success and (execution.faulty or execution.stop != "refused")
    return {
        "execution/ecr": None if idle else float(success),
        "execution/pfsp": prefailure(execution, len(task.chain), switches) if failed else None,
    }


@dataclass(frozen=True)
class InputOutput:
    """Execution completion (0 or 1) and pre-failure success percentage (a share, 0 to 1) of a sample."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={"execution/ecr": "proportion", "execution/pfsp": "share"})

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """The reference's profile scores redundant conditions only; what cannot be solved is never scored."""
        scored = RUN_NAMES if is_scored(self.switches, kind_of(trajectory), ("redundant",)) else ()
        return grade(
            sample, trajectory, self.switches, RUN_NAMES, scored, lambda one, run: io(one.switches, one.task, run)
        )


RULES = ("target_hit", "chain_cover", "exact_chain")
HEADLINE, *_ = COMPLETION_NAMES = ("completion/rate", *(f"completion/{rule}" for rule in RULES))


def completion(one: Attempt, execution: Execution) -> Mapping[str, float | None]:
    """All rules, 0 or 1, and the one of the switches as the headline."""
    truth = ground_truth(one.task.id, one.switches.category_typing)
    done = execution.categories(one.switches, failing=False)
    hit = execution.completed and done[-1:] == truth[-1:]
    cover = hit and not Counter(truth) - Counter(done)
    values: dict[str, float | None] = {
        "completion/target_hit": float(hit),
        "completion/chain_cover": float(cover),
        "completion/exact_chain": float(execution.completed and done == truth),
    }
    return {HEADLINE: values[f"completion/{one.switches.completion_rule}"], **values}


@dataclass(frozen=True)
class Completion:
    """Task completion of a sample, 0 or 1; the headline is shown by complexity, task, anatomy and modality too."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(
        decides=HEADLINE,
        names=(HEADLINE,),
        kinds=dict.fromkeys(COMPLETION_NAMES, "proportion"),
        by=("complexity", "task", "anatomy", "modality"),
    )

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Scored wherever the task can be solved, with a tool that is built if need be; unscored in the reference's
        profile, which has no such metric."""
        kind = "intact" if may_build(trajectory) else kind_of(trajectory)
        scored = COMPLETION_NAMES if is_scored(self.switches, kind, ()) else ()
        return grade(sample, trajectory, self.switches, COMPLETION_NAMES, scored, completion)


TARGET, MILESTONE, TOOLS = CHOICE_NAMES = ("execution/thr", "execution/mhr", "execution/ots")
BEST = "execution/ots_best"


def target_hit(task: Task, execution: Execution, switches: Switches) -> bool:
    """Whether the episode ended well with the category that the task asks for.

    In the reference any failure on the way counts against it; in the article the last successful call decides.
    """
    logged = from_log(switches)
    ended = execution.success(switches) if logged else execution.stop == "answered"
    chain = execution.categories(switches, failing=logged)
    return ended and chain[-1:] == ground_truth(task.id, switches.category_typing)[-1:]


def milestone_hit(task: Task, execution: Execution, switches: Switches) -> bool:
    """Whether the task's milestone was executed, whatever came of the episode."""
    milestone = task.milestone_code if switches.mhr_table == "code" else task.milestone
    return any(call.category == milestone and (call.ok or switches.mhr_counts_failing_call) for call in execution.calls)


def list_score(chain: str, names: Collection[str]) -> float:
    """Position of the best listed tool that was called, by the reference's fixed lists; 0 when there is none."""
    listed = TASKS[chain].best_code
    return max((place for place, number in enumerate(listed, 1) if f"TOOL{number}" in names), default=0) / len(listed)


def optimal_tools(execution: Execution, suitable: Suitable, single: bool) -> float | None:
    """Mean over successful calls of (N - rank + 1) / N among the N suitable tools; None without such a call.

    Equal tools share the better rank. ``single`` takes in the calls that had no choice.
    """
    scores = []
    for name, call in zip(execution.names, execution.calls, strict=True):
        if not (call.ok and call.category):
            continue
        variant = call.variant if call.category in (BQ, IE) else None
        tools = suitable.tools(call.category, variant)
        if len(tools) > 1 or single:
            upper = {tool.name: tool.facts["upper"] for tool in tools}
            n_not_better = sum(one <= upper.get(name, -1) for one in upper.values())
            scores.append(n_not_better / len(tools) if tools else 0.0)
    return sum(scores) / len(scores) if scores else None


def tool_score(one: Attempt, execution: Execution) -> float | None:
    """The optimal tool score of an execution, by the rules of the switches; None where there was nothing to choose."""
    if one.switches.ots_mode == "code_list":
        return list_score(one.task.id, execution.names)
    return optimal_tools(execution, one.suitable, one.switches.ots_include_single)


def choice(one: Attempt, execution: Execution) -> Mapping[str, float | None]:
    """The metrics of an execution with the tools of this attempt."""
    return {
        TARGET: float(target_hit(one.task, execution, one.switches)),
        MILESTONE: float(milestone_hit(one.task, execution, one.switches)),
        TOOLS: tool_score(one, execution),
    }


def only_best(one: Attempt, execution: Execution) -> Mapping[str, float | None]:
    """Whether the optimal tool score is 1; None where there was nothing to choose."""
    return {BEST: None if tool_score(one, one.perfect) is None else float(tool_score(one, execution) == 1)}


@dataclass(frozen=True)
class Orchestration:
    """Target hit (0 or 1), milestone hit (0 or 1) and optimal tool score (0 to 1) of a sample."""

    switches: Switches
    version: str = "1"
    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={TARGET: "proportion", MILESTONE: "proportion", TOOLS: "share"})

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """The reference's profile scores the target in redundant and the rest in differentiated conditions."""
        kind = kind_of(trajectory)
        scored = [TARGET] * is_scored(self.switches, kind, ("redundant",))
        scored += [MILESTONE, TOOLS] * is_scored(self.switches, kind, ("differentiated",))
        return grade(sample, trajectory, self.switches, CHOICE_NAMES, scored, choice)


@dataclass(frozen=True)
class BestTools:
    """Whether the optimal tool score of a sample is 1, so that the sum is the number of questions with only best tools.

    0 or 1; scored wherever there is something to choose, 0 for an agent that failed before it chose."""

    switches: Switches
    version: str = "2"
    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={BEST: "proportion"})

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Scored in differentiated conditions, and by the article wherever tools differ."""
        scored = (BEST,) if is_scored(self.switches, kind_of(trajectory), ("differentiated",)) else ()
        return grade(sample, trajectory, self.switches, (BEST,), scored, only_best)
