"""Rubrics: what raters are asked of an episode, and how what they say is read; people and models get the same ones.

A rater sees the parts of an episode that the rubric shows, as texts, without who did it: replies of verifiers and of
other judges, prompts and candidates that were not taken are left out. The YAMLs are in ``conf/rubrics``; each names the
source of its categories.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Literal

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.messages import Image, ToolCall
from components.core.types import Problem, Sample, Trajectory

NONE = "none"  # the word for no category at all, where several may be picked
PARTS = ("question", "context", "steps", "answer", "reference")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_APART = re.compile(r"[;|\n]")
_ABOUT_A_VALUE = " \t.\"'`*<>[]()"  # what may stand around a value without changing it
TITLES = {"context": "Given", "steps": "What was done"}
LONGEST = 30_000  # characters of a text; a spreadsheet's cell takes 32,767
_ASIDE = ("judge", "verify")  # purposes of calls that look at what an agent does


@dataclass(frozen=True)
class Field:
    """One field of a rubric: its ``categories`` (name -> a sentence), of which ``one`` or ``several`` are picked.
    ``ordered``: they are listed from the best to the worst. Raises ConfigError."""

    question: str
    categories: Mapping[str, str]
    pick: Literal["one", "several"] = "one"
    ordered: bool = False

    def __post_init__(self) -> None:
        if len(self.categories) < 2:
            raise ConfigError(f"categories: found {list(self.categories)}; there must be two or more")
        if wrong := [name for name in self.categories if not _NAME.fullmatch(name)]:
            raise ConfigError(f"categories: found the name {wrong[0]!r}; small letters, digits and _ make one")
        if self.pick == "several" and NONE in self.categories:
            raise ConfigError(f"categories: {NONE!r} already says that none of several applies; leave it out")

    @property
    def allowed(self) -> tuple[str, ...]:
        """All allowed values, in the order of the categories."""
        return (*self.categories, NONE) if self.pick == "several" else tuple(self.categories)

    @property
    def how(self) -> str:
        """How many may be picked, in words."""
        return "one of" if self.pick == "one" else f"one or more, with ; between them, or {NONE}, of"

    def read(self, text: str) -> tuple[str, ...]:
        """The categories that a text names, in their order. Raises ValueError, which names the error."""
        named = [one.strip().strip(_ABOUT_A_VALUE).casefold() for one in _APART.split(text)]
        named = list(dict.fromkeys(filter(None, named)))
        valid = ", ".join(self.allowed)
        if not named:
            raise ValueError(f"has no value; valid: {valid}")
        if wrong := [one for one in named if one not in self.allowed]:
            raise ValueError(f"has {wrong[0]!r}, which is not allowed; valid: {valid}")
        if self.pick == "one" and len(named) > 1:
            raise ValueError(f"has {len(named)} values, where one is asked for; valid: {valid}")
        if NONE in named and self.pick == "several":
            if len(named) > 1:
                raise ValueError(f"has {NONE!r} with others; it must be the only one")
            return ()
        return tuple(one for one in self.categories if one in named)


@dataclass(frozen=True)
class Draw:
    """Which are rated: ``n`` of the ``episodes``, or of the ``samples`` whatever was done on them. ``failures``: those
    whose ``score`` (0 to 1) is there and below 1. ``by``: strata whose values get equal shares."""

    of: Literal["episodes", "samples"] = "episodes"
    which: Literal["all", "failures"] = "all"
    score: str | None = None
    n: Annotated[int, Ge(1)] = 50
    by: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.which == "failures" and (self.score is None or self.of == "samples"):
            raise ConfigError("failures are episodes, and need a score that decides them; name one, as in score/strict")

    def takes(self, stop: str, scores: Mapping[str, float | None]) -> bool:
        """Whether an episode with this ending is to be rated; errored ones are not. Raises ConfigError."""
        if stop == "error" and self.of == "episodes":
            return False
        if self.which == "all" or self.score is None:
            return True
        if self.score not in scores:
            have = ", ".join(scores) or "none"
            raise ConfigError(f"failures are decided by {self.score}, which is not a score here; there are {have}")
        value = scores[self.score]
        if value is not None and not 0 <= value <= 1:
            raise ConfigError(f"failures are decided by a score from 0 to 1, and {self.score} is {value}; name another")
        return value is not None and value < 1


@dataclass(frozen=True)
class Rubric:
    """A question, what is ``shown`` (question, context, steps, answer, reference, or metadata.NAME of the sample), the
    ``fields`` to fill, a ``note`` for raters, and which episodes are drawn. Raises ConfigError."""

    name: str
    source: str
    question: str
    shows: Sequence[str]
    fields: Mapping[str, Field]
    note: str = ""
    draw: Draw = Draw()

    def __post_init__(self) -> None:
        for name in (self.name, *self.fields):
            if not _NAME.fullmatch(name):
                raise ConfigError(f"found the name {name!r}; small letters, digits and _ make one")
        if not self.fields or not self.shows:
            raise ConfigError("a rubric shows something and has fields")
        if wrong := [one for one in self.shows if one not in PARTS and not one.startswith("metadata.")]:
            raise ConfigError(f"shows: found {wrong[0]!r}; valid: {', '.join(PARTS)}, metadata.NAME")
        if self.draw.of == "samples" and (seen := {"steps", "answer"} & set(self.shows)):
            raise ConfigError(f"shows: {', '.join(sorted(seen))} belong to an episode, and samples are drawn")

    @cached_property
    def digest(self) -> str:
        """16 digits that change when ratings could change."""
        asked = {key: value for key, value in asdict(self).items() if key not in ("name", "source", "draw")}
        return sha256(json.dumps(asked).encode()).hexdigest()[:16]

    def marks(self) -> Iterator[tuple[str, str]]:
        """Field and category of everything that can be picked."""
        yield from ((name, category) for name, field in self.fields.items() for category in field.categories)

    def said(self, text: str) -> dict[str, tuple[str, ...] | None]:
        """Field -> what a reply picks on its last line with the name of the field; None where it is unreadable."""
        picked: dict[str, tuple[str, ...] | None] = {}
        for name, field in self.fields.items():
            lines = re.findall(rf"^(?:[^\S\n]|[*`#-])*+{name}[*`]*\s*:[ \t]*(.*)$", text, re.MULTILINE | re.IGNORECASE)
            try:
                picked[name] = field.read(lines[-1]) if lines else None
            except ValueError:
                picked[name] = None
        return picked


def texts_of(shows: Sequence[str], sample: Sample, trajectory: Trajectory | None = None) -> dict[str, str]:
    """Title -> text of everything that is shown, in its order; empty texts are marked, long ones are cut in the
    middle."""
    texts = {}
    for part in shows:
        title = TITLES.get(part) or part.rpartition(".")[2].replace("_", " ").capitalize()
        texts[title] = shorten_middle(_part(part, sample, trajectory) or "(nothing)")
    return texts


def shorten_middle(text: str, room: int = LONGEST) -> str:
    """A text that is too long without its middle, which is where least is decided."""
    if len(text) <= room:
        return text
    head, tail = text[: room * 2 // 3], text[-room // 4 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail):,} characters are left out here ...]\n{tail}"


def _part(part: str, sample: Sample, trajectory: Trajectory | None) -> str:
    problem, target = sample.problem, sample.target
    match part:
        case "question":
            lines = [problem.question, *(f"{letter}. {text}" for letter, text in problem.choices.items())]
            return "\n".join([*lines, *(f"[{kind}: {name}]" for kind, name in problem.inputs.items())])
        case "context":
            return problem.context
        case "reference":
            if isinstance(target, Mapping) and list(target) == ["answer"]:  # without its name where it is all there is
                target = target["answer"]
            return _with_option(problem, target) if isinstance(target, str) else as_text(target)
        case "answer":
            return "" if trajectory is None else _answer(problem, trajectory)
        case "steps":
            return "" if trajectory is None else "\n\n".join(_steps(trajectory))
    return as_text(sample.metadata.get(part.partition(".")[2]))


def _with_option(problem: Problem, text: str) -> str:
    """A text, and where it is the letter of an option, what that says."""
    letter = text.strip()
    return f"{letter}. {problem.choices[letter]}" if letter in problem.choices else text


def as_text(value: object, depth: int = 0) -> str:
    """A value of the data as lines to read: names before values, lists as items."""
    indent, lines = "  " * depth, []
    if isinstance(value, Mapping):
        for name, one in value.items():
            nested = isinstance(one, Mapping | list | tuple) and one
            text = f"\n{as_text(one, depth + 1)}" if nested else f" {as_text(one)}".rstrip()
            lines.append(f"{indent}{name}:{text}")
        return "\n".join(lines)
    if isinstance(value, list | tuple):
        return "\n".join(f"{indent}- {as_text(one).strip()}" for one in value)
    return "" if value is None else f"{indent}{value}"


def _answer(problem: Problem, trajectory: Trajectory) -> str:
    """The final answer, a letter with its option as the reference has it; the refusal; or how it ended without one."""
    if trajectory.answer is not None:
        return _with_option(problem, trajectory.answer)
    if trajectory.refusal is not None:
        return "\n".join(["The task was refused.", as_text(dict(trajectory.refusal.grounds))]).strip()
    return f"No answer was given ({trajectory.failure or trajectory.stop})."


def _steps(trajectory: Trajectory) -> Iterator[str]:
    returned = {one.observation.text for step in trajectory.steps for one in step.observed}
    taken = [
        step
        for step in trajectory.steps
        if step.committed and step.purpose not in _ASIDE
        and not (step.purpose == "tool" and step.reply.text.strip() in returned)  # shown where the tool was called
    ]  # fmt: skip
    for number, step in enumerate(taken, 1):
        content, lines = step.reply.content, [f"[{number}]"]
        parts = (content,) if isinstance(content, str) else content
        if said := "\n".join("[an image]" if isinstance(part, Image) else part for part in parts).strip():
            lines.append(said)
        observed = [one for one in step.observed if not one.control]
        for one in observed:
            result = f"Failed ({one.error})" if one.error else "Returned"
            lines += [f"Called: {_call(one.call)}", f"{result}: {one.observation.text}"]
            lines += ["[an image]"] * len(one.observation.images)
        run = [one.call for one in observed]
        lines += [f"Not run: {_call(call)}" for call in step.reply.tool_calls if call not in run]
        yield "\n".join(lines)


def _call(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}".strip()
