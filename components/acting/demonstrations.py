"""Solved tasks and questions as they are shown to an agent: step by step, or as plans of actions.

A prompt set holds solved tasks in its ``tasks.yaml``: ``task``, a text, and ``steps``, pairs of an action and what
came back. ``actions`` of a solved question of a database are text: an action a line, in which ``#k`` is the result of
the k-th one, and below it, as ``Observation: ...``, what came back. Step by step, results take the place of references.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated, Any

import orjson
from annotated_types import MinLen
from pydantic import BaseModel, StringConstraints, TypeAdapter, ValidationError

from components.acting.action_lines import action_lines
from components.acting.solved import SEEDS, seeds_of
from components.acting.tool_names import lasting_names, to_local
from components.core.errors import ConfigError
from components.core.protocols import Episode
from components.core.task_text import FINISH, REFUSE, Chain, chain_text, task_text
from components.core.types import Demonstration
from components.prompts import load

REFERENCE = re.compile(r"#(\d+)")
_SAW = "Observation:"
_TASKS = "tasks"  # the file of a prompt set that holds solved tasks


class _Task(BaseModel, extra="forbid"):
    """A solved task in a file."""

    task: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    steps: Annotated[
        list[tuple[Annotated[str, StringConstraints(pattern=r"(?s)^[^\[\]\n]*\w\[.*\]\s*$")], str]], MinLen(1)
    ]


_TASK_LIST: TypeAdapter[list[_Task]] = TypeAdapter(Annotated[list[_Task], MinLen(1)])


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
    try:
        return tuple(solved_task(one.task, one.steps) for one in _TASK_LIST.validate_python(prompt_set.data(_TASKS)))
    except ValidationError as error:
        wrong = [f", task {place + 1}" for place in error.errors()[0]["loc"][:1] if isinstance(place, int)]
        raise ConfigError(
            f"prompt set {prompts!r}: {_TASKS}.yaml{''.join(wrong)}: must be a list of"
            " {task, steps}, task a text and steps a list of pairs of texts: an action, as Name[...], and what came"
            " back"
        ) from None


def solved_task(problem: str, steps: Chain, **data: Any) -> Demonstration:
    """A task with the steps that solved it."""
    return Demonstration(problem, chain_text(steps), {"knowledge": "", "steps": steps, **data})


def shown_tasks(episode: Episode, shots: int) -> Sequence[Demonstration]:
    """At most ``shots`` solved tasks of the memory, in its order, under the names of the tools that are offered; none
    without a memory, as while one is learnt. A fixed one is shown without actions that are not offered."""
    if episode.memory is None or not shots:
        return ()
    names = lasting_names(tool.spec for tool in episode.offer.tools.values())
    known = {*names.values(), FINISH, REFUSE}
    found = [one for one in episode.memory.search(task_text(episode.problem)) if "steps" in one.data][:shots]
    shown = []
    for one in found:
        is_fixed, steps = "id" not in one.data, one.data["steps"]
        steps = [(did, saw) for did, saw in steps if not is_fixed or did.partition("[")[0] in known]
        shown.append(replace(one, solution=to_local(chain_text(steps), names)))
    return shown


def shown_plans(episode: Episode, database: str, shots: int) -> Sequence[Demonstration]:
    """At most ``shots`` solved questions of a database, our own, in their order. ``data`` also holds ``plan`` (lines)
    and ``steps`` (pairs of an action and what came back, empty where that is not known). Raises ConfigError where some
    are asked for and the memory holds none."""
    found = seeds_of(episode, database, "actions")[:shots] if shots else ()
    if shots and not found:
        raise ConfigError(
            f"the memory holds no solved question of {database!r} with its actions; choose memory={SEEDS}"
        )
    shown = []
    for one in found:
        text, steps = one.data["actions"], steps_of(one.data["actions"])
        data = {**one.data, "plan": [line.text for line in action_lines(text)], "steps": steps}
        shown.append(replace(one, solution=chain_text(steps).removesuffix(f"\n{_SAW} "), data=data))
    return shown


def steps_of(text: str) -> list[tuple[str, str]]:
    """The actions of a text with what came back of each, results in the place of references to them."""
    steps: list[tuple[str, str]] = []

    def result(match: re.Match[str]) -> str:
        return dict(enumerate((saw for _, saw in steps), 1)).get(int(match[1]), match[0])

    for line in text.splitlines():
        if action := next(action_lines(line), None):
            steps.append((REFERENCE.sub(result, action.text), ""))
        elif steps and line.strip().startswith(_SAW):
            steps[-1] = (steps[-1][0], line.strip().removeprefix(_SAW).strip())
    return steps
