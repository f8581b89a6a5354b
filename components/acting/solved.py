"""Solved questions as a memory: which are nearest to a new one, and how more are learnt.

Source: Shi et al. 2024 (EHRAgent), arXiv 2401.07128, §2.2 of docs/papers/ehragent.md: the similarity is the negative
Levenshtein distance of the questions. Departures: entries belong to a database; a question is stored once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

from annotated_types import Ge
from Levenshtein import distance

from components.core.errors import ConfigError
from components.core.protocols import Episode
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
    """A solved question of a database. What is empty was not written; ``seed``: one of the project's own."""

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
    """A memory of entries, older ones first (``components.core.protocols.Memory``). ``update``: what else it takes in
    while it is tested: nothing, what ran to its end, or what was right by the gold answers. Then it only ever holds
    what was learnt before the question at hand (``hold``)."""

    digest: str
    entries: Sequence[Entry]
    update: Update = "none"
    notes: Sequence[str] = ()
    grown: list[Entry] = field(default_factory=list)

    @property
    def traits(self) -> MemoryTraits:
        """Its notes, and whether it grows."""
        return MemoryTraits(notes=self.notes, hold=self.hold if self.grows else None)

    @property
    def grows(self) -> bool:
        """Whether questions have to be asked one after the other."""
        return self.update != "none"

    def hold(self, learnt: Iterable[Mapping[str, Any]]) -> None:
        """Take in what was learnt before the next question, and nothing else; a question that is there stays."""
        known, self.grown = {(one.database, one.question) for one in self.entries}, []
        for number, values in enumerate(learnt):
            entry = Entry(id=f"learnt-{number}", **values)
            if (entry.database, entry.question) not in known:
                known.add((entry.database, entry.question))
                self.grown.append(entry)

    def search(self, problem: str) -> Sequence[Demonstration]:
        """All entries, those with the smallest distance to a question first; of equal ones the older first. ``data``
        holds the entry's fields, its distance (edits between code points) and its ``place`` among all."""
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
    """What was remarked as learnt."""
    return [step.remarks["learnt"] for step in trajectory.steps if "learnt" in step.remarks]


def own_seeds(prompts: str, shots: int | None = None, databases: Sequence[str] = DATABASES) -> tuple[Entry, ...]:
    """The first ``shots`` demonstrations (None: all) of each database of a prompt set, a YAML per database: question,
    knowledge, code, actions, sql. A database may have none. Raises ConfigError, also where a database has fewer than
    ``shots``."""
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
    """A block of text, or a list of lines, as text."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value).strip()
