"""Solved questions and tasks: as a memory, how more are learnt, and how they are shown to an agent.

Source: Shi et al. 2024 (EHRAgent), arXiv 2401.07128, §2.2 of docs/papers/ehragent.md: the similarity is the negative
Levenshtein distance of the questions. Departures: entries belong to a database; a question is stored once.

A prompt set holds solved tasks in its ``tasks.yaml``: ``task``, a text, and ``steps``, pairs of an action and what
came back. ``actions`` of a solved question of a database are text: an action a line, in which ``#k`` is the result of
the k-th one, and below it, as ``Observation: ...``, what came back. Step by step, results take the place of references.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Annotated, Any, Literal, get_args

import orjson
from annotated_types import Ge, MinLen
from pydantic import BaseModel, StringConstraints, TypeAdapter, ValidationError

from components.acting.arguments import action_lines
from components.acting.tool_names import lasting_names, to_local
from components.core.errors import ConfigError
from components.core.protocols import Episode
from components.core.task_text import FINISH, REFUSE, Chain, chain_text, task_text
from components.core.traits import MemoryTraits, Requirements
from components.core.types import Answer, Demonstration, Trajectory
from components.prompts import load

FILE = "solved.json"
MEMORY, SEEDS, TRAINED = "solved", "demonstrations", "solved_training"  # the choices of memory that hold such questions
TASKS = "tasks"  # what else a memory may hold: solved tasks of any toolset
DATABASES = ("mimic_iii", "eicu", "treqs", "mimic_iv")
Update = Literal["none", "executed", "gold"]
Form = Literal["code", "actions", "sql"]


@dataclass(frozen=True)
class Entry:
    """A solved question of a database. Empty fields were not written; ``seed``: a demonstration of the project."""

    id: str
    database: str
    question: str
    knowledge: str = ""
    code: str = ""
    actions: str = ""
    sql: str = ""
    seed: bool = False


@dataclass
class SolvedQuestions:
    """A memory of entries, older ones first (``components.core.protocols.Memory``). ``update``: which further questions
    it adds during the evaluation: none, those that ended without an error, or those that were right by the gold
    answers. It then holds only entries from before the current question (``hold``)."""

    digest: str
    entries: Sequence[Entry]
    update: Update = "none"
    notes: Sequence[str] = ()
    grown: list[Entry] = field(default_factory=list)

    @property
    def traits(self) -> MemoryTraits:
        """Its notes, and whether it grows."""
        return MemoryTraits(notes=self.notes, hold=None if self.update == "none" else self.hold)

    def hold(self, learnt: Iterable[Mapping[str, Any]]) -> None:
        """Add the entries learnt before the next question, and no others; an existing question stays."""
        known, self.grown = {(one.database, one.question) for one in self.entries}, []
        for number, values in enumerate(learnt):
            entry = Entry(id=f"learnt-{number}", **values)
            if (entry.database, entry.question) not in known:
                known.add((entry.database, entry.question))
                self.grown.append(entry)

    def search(self, problem: str) -> Sequence[Demonstration]:
        """All entries, those with the smallest distance to a question first; of equal ones the older first. ``data``
        holds the entry's fields, its distance (edits between code points) and its ``place`` among all."""
        from Levenshtein import distance  # a run without such a memory needs none

        found = [
            {**vars(one), "distance": distance(problem, one.question.strip()), "place": place}
            for place, one in enumerate((*self.entries, *self.grown))
        ]
        found.sort(key=lambda data: data["distance"])
        return [Demonstration(data["question"], data["code"], data) for data in found]

    def experience(self, tool: str) -> Sequence[str]:
        """Nothing: no lesson is learnt."""
        return ()


@dataclass(frozen=True, kw_only=True)
class ShowsSolved:
    """An agent that is given the description of the database, and shown at most ``shots`` solved questions of it."""

    shots: Annotated[int, Ge(0)] = 4

    @property
    def requirements(self) -> Requirements:
        """The description, and the memory that the solved questions are from, where any are shown."""
        memory = SEEDS if self.shots else None
        return Requirements(controls=("metadata",), memory=memory, shots=self.shots, acts="never")


def solved_like(episode: Episode, database: str, form: Form) -> Sequence[Demonstration]:
    """What the episode's memory holds of a database in a form, the nearest to the question first."""
    memory = episode.memory
    found = () if memory is None else memory.search(episode.problem.question.strip())
    return [one for one in found if one.data.get("database") == database and one.data.get(form)]


def seeds_of(episode: Episode, database: str, form: Form) -> Sequence[Demonstration]:
    """The project's own demonstrations for a database, in their order."""
    seeds = [one for one in solved_like(episode, database, form) if one.data["seed"]]
    return sorted(seeds, key=lambda one: one.data["place"])


async def learn(episode: Episode, outcome: Answer, entry: Mapping[str, Any]) -> None:
    """Remark what an answered question teaches, where the memory takes it in; the runner hands it on."""
    update = episode.memory.update if isinstance(episode.memory, SolvedQuestions) else "none"
    if update == "executed" or (update == "gold" and await episode.correct(outcome)):
        episode.remark(learnt=dict(entry))


def lessons_in(trajectory: Trajectory) -> list[Mapping[str, Any]]:
    """The remarks that are lessons."""
    return [step.remarks["learnt"] for step in trajectory.steps if "learnt" in step.remarks]


def own_seeds(prompts: str, shots: int | None = None, databases: Sequence[str] = DATABASES) -> tuple[Entry, ...]:
    """The first ``shots`` demonstrations (None: all) of each database of a prompt set, a YAML per database: question,
    knowledge, code, actions, sql. A database may have none. Raises ConfigError, also where it has fewer than that."""
    found: list[Entry] = []
    for database in databases:
        rows = load(prompts).data(database)
        if rows and shots is not None and len(rows) < shots:
            raise ConfigError(
                f"agent.shots={shots}: more than the demonstrations of {database!r} in the prompt set {prompts!r}; "
                f"ask for at most {len(rows)}"
            )
        for number, values in enumerate(rows[:shots], 1):
            forms = {form: _text(values.get(form, "")) for form in ("knowledge", *get_args(Form))}
            question = values.get("question")
            if not isinstance(question, str) or not question.strip():
                raise ConfigError(f"prompt set {prompts!r}: {database}.yaml: demonstration {number} has no question")
            found.append(Entry(f"{database}-{number}", database, question.strip(), **forms, seed=True))
    return tuple(found)


def _text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value).strip()


REFERENCE = re.compile(r"#(\d+)")
_SAW = "Observation:"


class _Task(BaseModel, extra="forbid"):
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
    """The solved tasks of a prompt set; none for a set without them. Raises ConfigError for an invalid task."""
    prompt_set = load(prompts)
    if not prompt_set.holds(TASKS):
        return ()
    try:
        return tuple(solved_task(one.task, one.steps) for one in _TASK_LIST.validate_python(prompt_set.data(TASKS)))
    except ValidationError as error:
        wrong = [f", task {place + 1}" for place in error.errors()[0]["loc"][:1] if isinstance(place, int)]
        raise ConfigError(
            f"prompt set {prompts!r}: {TASKS}.yaml{''.join(wrong)}: must be a list of"
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
    and ``steps`` (an action and what came back, empty where not known). Raises ConfigError where it has none."""
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
