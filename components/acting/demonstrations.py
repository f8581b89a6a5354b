"""Demonstrations as agents that act show them: solved tasks step by step, and solved questions as plans of actions.

A prompt set holds solved tasks in its ``tasks.yaml``, each with its text (``task``) and its ``steps``: pairs of an
action and what came back. Of solved questions of a database (``components.acting.solved``), what the memory holds as
``actions`` is text: an action a line, in which ``#k`` stands for the result of the k-th one, and below it, as
``Observation: ...``, what came back. Plans are shown without results; of what was done step by step, results stand in
the place of references.

``PlanRun`` runs a plan that was made before anything was seen: its actions in order, up to the first that fails
(docs/papers/ehragent.md, baselines of Shi et al. 2024, EMNLP, arXiv 2401.07128, without a code interface).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import orjson

from components.acting.action_lines import FINISH, REFUSE, ActionLine, action_lines, call_of
from components.acting.solved import SEEDS, SolvedQuestions, own_seeds, seeds_of
from components.acting.tool_names import lasting_names, to_local
from components.core.errors import ActionError, ConfigError
from components.core.messages import Message
from components.core.protocols import Episode
from components.core.task_text import Chain, chain_text, task_text
from components.core.tools import Offer
from components.core.types import Action, Answer, Demonstration, Failure, Refusal
from components.prompts import load

REFERENCE = re.compile(r"#(\d+)")
_SAW = "Observation:"
_TASKS = "tasks"  # the file of a prompt set that holds solved tasks
_ACTION = re.compile(r"[^\[\]\n]*\w\[.*\]\s*", re.DOTALL)


@dataclass(frozen=True)
class FixedTasks:
    """A memory of solved tasks that never changes (``protocols.Memory``): the same ones for every task."""

    fixed: Sequence[Demonstration]

    @property
    def digest(self) -> str:
        """That of the tasks and their steps."""
        return sha256(orjson.dumps([[one.problem, one.data["steps"]] for one in self.fixed])).hexdigest()[:16]

    def search(self, problem: str) -> Sequence[Demonstration]:
        """All of them in their order, whatever the problem is."""
        return self.fixed

    def experience(self, tool: str) -> Sequence[str]:
        """Nothing: no lesson is learnt."""
        return ()


def own_tasks(prompts: str) -> tuple[Demonstration, ...]:
    """The solved tasks of a prompt set; none for a set without them. Raises ConfigError for what is not one."""
    prompt_set = load(prompts)
    if not prompt_set.holds(_TASKS):
        return ()
    rows = prompt_set.data(_TASKS)
    if not isinstance(rows, list) or not rows or not all(map(_is_task, rows)):
        wrong = next((n for n, row in enumerate(rows, 1) if not _is_task(row)), 0) if isinstance(rows, list) else 0
        raise ConfigError(
            f"prompt set {prompts!r}: {_TASKS}.yaml{f', task {wrong}' if wrong else ''}: must be a list of"
            " {task, steps}, task a text and steps a list of pairs of texts: an action, as Name[...], and what came"
            " back"
        )
    return tuple(solved_task(row["task"].strip(), [(did, saw) for did, saw in row["steps"]]) for row in rows)


def fixed_demonstrations(prompts: str) -> Sequence[Demonstration]:
    """The demonstrations of a prompt set: solved tasks, else solved questions of databases. Raises ConfigError."""
    return own_tasks(prompts) or SolvedQuestions("", own_seeds(prompts)).search("")


def solved_task(problem: str, steps: Chain, **data: Any) -> Demonstration:
    """A task with the steps that solved it."""
    return Demonstration(problem, chain_text(steps), {"knowledge": "", "steps": steps, **data})


def shown_tasks(episode: Episode, shots: int) -> Sequence[Demonstration]:
    """At most ``shots`` solved tasks of the memory, in its order, under the names of the tools that are offered; none
    without a memory, as while one is learnt."""
    if episode.memory is None or not shots:
        return ()
    found = [one for one in episode.memory.search(task_text(episode.problem)) if "steps" in one.data]
    return [_as_offered(one, episode.offer) for one in found[:shots]]


def _usable(steps: Chain, offer: Offer) -> Chain:
    """The steps without actions that are not offered: what the same demonstration shows to whom has fewer tools."""
    names = {*lasting_names(tool.spec for tool in offer.tools.values()).values(), FINISH, REFUSE}
    return [(did, saw) for did, saw in steps if did.partition("[")[0] in names]


def _as_offered(one: Demonstration, offer: Offer) -> Demonstration:
    """A demonstration under the names of this task's tools; a fixed one only with actions that are offered."""
    steps = one.data["steps"] if "id" in one.data else _usable(one.data["steps"], offer)
    names = lasting_names(tool.spec for tool in offer.tools.values())
    return replace(one, solution=to_local(chain_text(steps), names))


def _is_task(row: object) -> bool:
    steps = row.get("steps") if isinstance(row, Mapping) else None
    return (
        isinstance(row, Mapping)
        and row.keys() == {"task", "steps"}
        and isinstance(row["task"], str)
        and bool(row["task"].strip())
        and isinstance(steps, list)
        and bool(steps)
        and all(isinstance(step, list) and len(step) == 2 and all(isinstance(t, str) for t in step) for step in steps)
        and all(_ACTION.fullmatch(did) for did, _ in steps)
    )


def shown_plans(episode: Episode, database: str, shots: int) -> Sequence[Demonstration]:
    """At most ``shots`` solved questions of a database, our own, in their order.

    ``data`` also holds ``plan`` (lines) and ``steps`` (pairs of an action and what came back, empty where that is not
    known). Raises ConfigError where some are asked for and the memory holds none.
    """
    found = seeds_of(episode, database, "actions")[:shots] if shots else ()
    if shots and not found:
        raise ConfigError(
            f"the memory holds no solved question of {database!r} with its actions; choose memory={SEEDS}"
        )
    return [_in_parts(one) for one in found]


def _in_parts(one: Demonstration) -> Demonstration:
    text = one.data["actions"]
    plan = [line.text for line in action_lines(text)]
    steps = steps_of(text)
    return replace(
        one, solution=chain_text(steps).removesuffix(f"\n{_SAW} "), data={**one.data, "plan": plan, "steps": steps}
    )


def steps_of(text: str) -> list[tuple[str, str]]:
    """The actions of a text with what came back of each, results in the place of references to them."""
    steps: list[tuple[str, str]] = []
    for line in text.splitlines():
        if action := next(action_lines(line), None):
            seen = [saw for _, saw in steps]
            steps.append((_filled(action.text, seen), ""))
        elif steps and line.strip().startswith(_SAW):
            steps[-1] = (steps[-1][0], line.strip().removeprefix(_SAW).strip())
    return steps


def _filled(action: str, seen: Sequence[str]) -> str:
    """An action with what was seen in the place of references to it."""
    return REFERENCE.sub(lambda match: dict(enumerate(seen, 1)).get(int(match[1]), match[0]), action)


FAILED = "plan_failed"


@dataclass
class PlanRun:
    """What was done of a plan so far: each action as it was run, and its result (None: too long to be passed on)."""

    episode: Episode
    done: list[tuple[str, str]] = field(default_factory=list)
    results: list[str | None] = field(default_factory=list)

    async def act(self, line: ActionLine, reply: Message) -> Answer | Refusal | Failure | None:
        """Run the next action, which stands in ``reply``; what it returns ends the plan."""
        try:
            argument = None if line.argument is None else self._filled(line.argument)
            call = call_of(line.name, argument, self.episode.offer.tools)
        except ActionError as error:
            return self._failed(line, str(error))
        if line.name == FINISH:
            return Answer(argument or "")
        if line.name == REFUSE and self.episode.offer.may_refuse:
            action = self.episode.parse(Message("assistant", " ".join(line.text.split())))
            return action.refusal or self._failed(line, action.error_text)
        await self.episode.observe(Action(reply, calls=(call,)))
        seen = self.episode.last.observed[-1]
        if seen.error is not None:
            return self._failed(line, f"{seen.error}: {seen.observation.text}")
        self.done.append((f"{line.name}[{argument}]", seen.observation.text))
        result = seen.observation.data.get("value", seen.observation.text)
        self.results.append(result if result is None else str(result))
        return None

    def last_result(self) -> Answer | Failure:
        """The result of the last action, as the answer of a plan that does not say its own."""
        if not self.results or self.results[-1] is None:
            return Failure(FAILED, "the plan ends without a result that could be an answer")
        return Answer(self.results[-1])

    def _filled(self, argument: str) -> str:
        """The argument with results in the place of references to them. Raises ActionError."""
        return REFERENCE.sub(lambda match: self._result(int(match[1])), argument)

    def _result(self, k: int) -> str:
        """The result of the k-th action. Raises ActionError."""
        if not 1 <= k <= len(self.results):
            raise ActionError(f"it uses the result #{k}, and {len(self.results)} actions stand before it")
        if (result := self.results[k - 1]) is None:
            raise ActionError(f"the result #{k} is too long to be handed on")
        return result

    def _failed(self, line: ActionLine, why: str) -> Failure:
        return Failure(FAILED, f"action {len(self.results) + 1}, {line.name}: {why}")
