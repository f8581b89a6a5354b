"""RadABench's metrics of execution: whether all calls ran, the task was completed, and the best tools were chosen.

Source: Zheng et al. 2024, arXiv 2412.09529; counts and fixed lists of its code (MAGIC-AI4Med/RadABench, January 2025)
by switches. Task completion has no published code, so its rules are ours: ``target_hit`` (completed, and the last
successful call is of the target's category), ``chain_cover`` (also, every ground-truth category was executed),
``exact_chain`` (also, nothing else was, in order). Where the article is silent, tools are ranked as in
``components.radiology.execution``, only successful calls count, steps with a single suitable tool are left out, and an
unsuitable choice scores 0.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from components.building import may_build
from components.core.traits import ScorerTraits
from components.core.types import Trajectory
from components.radiology.attempt import Attempt, Graded, Published, unfit
from components.radiology.execution import Execution, Suitable, from_log, ground_truth
from components.radiology.switches import Switches
from components.radiology.tasks import BQ, IE, TASKS, Task


def io(switches: Switches, task: Task, execution: Execution) -> Mapping[str, float | None]:
    """Execution completion, and successful calls before the first failure per ground-truth step, None unless the
    episode failed. A refusal is not a failure. The reference also counts the failing call. Departure from the article:
    an answer without any call says nothing of the calls and is not scored."""
    success = execution.success(switches)
    idle = success and not execution.clean and switches.error_detection == "structured"
    failed = not success and (execution.faulty or execution.stop != "refused")
    n_calls = len(execution.categories(switches)) if switches.pfsp_counts_failing_call else execution.clean
    share = n_calls / len(task.chain)
    return {
        "execution/ecr": None if idle else float(success),
        "execution/pfsp": (min(1.0, share) if switches.pfsp_clip else share) if failed else None,
    }


class InputOutput(Graded):
    """Execution completion (0 or 1) and pre-failure success percentage (a share, 0 to 1) of a sample."""

    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={"execution/ecr": "proportion", "execution/pfsp": "share"})
    names = ("execution/ecr", "execution/pfsp")
    published: ClassVar[Published] = {"redundant": names}

    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """Both metrics of an execution."""
        return io(self.switches, one.task, execution)


RULES = ("target_hit", "chain_cover", "exact_chain")
HEADLINE, *_ = COMPLETION_NAMES = ("completion/rate", *(f"completion/{rule}" for rule in RULES))


class Completion(Graded):
    """Task completion of a sample, 0 or 1; the headline is shown by complexity, task, anatomy and modality too. Scored
    wherever the task can be solved, with a tool that is built if need be; unscored in the reference's profile, which
    has no such metric."""

    traits: ClassVar[ScorerTraits] = ScorerTraits(
        decides=HEADLINE,
        names=(HEADLINE,),
        kinds=dict.fromkeys(COMPLETION_NAMES, "proportion"),
        by=("complexity", "task", "anatomy", "modality"),
        unfit=unfit,
    )
    names = COMPLETION_NAMES

    def kind(self, trajectory: Trajectory) -> str:
        """What can be solved with a tool that is built is intact."""
        return "intact" if may_build(trajectory) else super().kind(trajectory)

    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """All rules, and the one of the switches as the headline."""
        truth = ground_truth(one.task.id, self.switches.category_typing)
        done = execution.categories(self.switches, failing=False)
        hit = execution.completed and done[-1:] == truth[-1:]
        exact = execution.completed and done == truth
        cover = exact or (hit and not Counter(truth) - Counter(done))
        values = {f"completion/{rule}": float(met) for rule, met in zip(RULES, (hit, cover, exact), strict=True)}
        return {HEADLINE: values[f"completion/{self.switches.completion_rule}"], **values}


TARGET, MILESTONE, TOOLS = CHOICE_NAMES = ("execution/thr", "execution/mhr", "execution/ots")
BEST = "execution/ots_best"


def target_hit(task: Task, execution: Execution, switches: Switches) -> bool:
    """Whether the episode ended well with the category that the task asks for. In the reference any failure on the way
    counts against it; in the article the last successful call decides."""
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
    """Mean over successful calls of (N - rank + 1) / N among the N suitable tools; None without such a call. Equal
    tools share the better rank. ``single`` takes in the calls that had no choice."""
    scores = []
    for name, call in zip(execution.names, execution.calls, strict=True):
        if not (call.ok and call.category):
            continue
        tools = suitable.tools(call.category, call.variant if call.category in (BQ, IE) else None)
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


class Orchestration(Graded):
    """Target hit (0 or 1), milestone hit (0 or 1) and optimal tool score (0 to 1) of a sample."""

    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={TARGET: "proportion", MILESTONE: "proportion", TOOLS: "share"})
    names = CHOICE_NAMES
    published: ClassVar[Published] = {"redundant": (TARGET,), "differentiated": (MILESTONE, TOOLS)}

    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """The metrics of an execution with the tools of this attempt."""
        return {
            TARGET: float(target_hit(one.task, execution, self.switches)),
            MILESTONE: float(milestone_hit(one.task, execution, self.switches)),
            TOOLS: tool_score(one, execution),
        }


@dataclass(frozen=True)
class BestTools(Graded):
    """Whether the optimal tool score of a sample is 1, so that the sum is the number of questions with only best tools.
    0 or 1; scored wherever there is something to choose, 0 for an agent that failed before it chose."""

    version: str = "2"
    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={BEST: "proportion"}, unfit=unfit)
    names = (BEST,)
    published: ClassVar[Published] = {"differentiated": names}

    def values(self, one: Attempt, execution: Execution) -> Mapping[str, float | None]:
        """None where there was nothing to choose."""
        return {BEST: None if tool_score(one, one.perfect) is None else float(tool_score(one, execution) == 1)}
