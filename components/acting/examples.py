"""Solved questions that are shown to an agent: their format, the project's own examples, and whether one fits a
problem."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Annotated, ClassVar

from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from components.core.errors import ConfigError
from components.core.types import Problem
from components.prompts import load

FILE = "examples.json"
_DECIDE = "Answer with yes, no or maybe."
_Text = Annotated[str, StringConstraints(min_length=1)]


@dataclass(frozen=True)
class Example:
    """A question with its answer: the letter where there are ``choices``, else the text. ``rationale``: two to four
    sentences that lead to it; None if there is none. ``task``: the task for which it was collected."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    id: _Text
    question: _Text
    answer: _Text
    choices: Mapping[str, str] = field(default_factory=dict)
    context: str = ""
    rationale: str | None = None
    task: str = ""

    def problem(self) -> Problem:
        """It as a problem, without the answer."""
        return Problem(self.id, self.question, self.choices, self.context)


_EXAMPLE = TypeAdapter(Example)


def as_examples(values: object, place: str) -> tuple[Example, ...]:
    """Examples of JSON or YAML. Raises ConfigError, naming the place, for an invalid example."""
    found: list[Example] = []
    for number, row in enumerate(values if isinstance(values, list) else [values], 1):
        try:
            one = _EXAMPLE.validate_python(row)
            is_whole = not one.choices or one.answer in one.choices
        except ValidationError:
            is_whole = False
        if not is_whole:
            raise ConfigError(
                f"{place}: entry {number}: an example has the texts id, question, answer, and may have context, task,"
                f" rationale and choices (letter: text, the answer among them); found {row!r:.80}"
            )
        found.append(one)
    return tuple(found)


def own_examples(prompts: str) -> tuple[Example, ...]:
    """The examples of a prompt set; those on yes, no or maybe also as decisions without letters. Raises ConfigError."""
    shown = as_examples(load(prompts).data("examples"), f"{prompts}/examples.yaml")
    in_words = [
        replace(one, question=f"{one.question}\n{_DECIDE}", answer=one.choices[one.answer], choices={})
        for one in shown
        if set(one.choices.values()) == {"yes", "no", "maybe"}
    ]
    return (*shown, *in_words)


def rationales(prompts: str) -> Mapping[str, str]:
    """Digest of a question (16 hexadecimal digits of the SHA-256 of its words with one space between them) -> the
    rationale that a prompt set has for it. Raises ConfigError."""
    rows = load(prompts).data("rationales")
    if not isinstance(rows, list) or not all(
        isinstance(row, Mapping) and all(isinstance(row.get(key), str) for key in ("question", "rationale"))
        for row in rows
    ):
        raise ConfigError(
            f"{prompts}/rationales.yaml: must be a list of {{dataset, id, question, rationale}}, all text"
        )
    return {row["question"]: row["rationale"].strip() for row in rows}


def rationale_of(question: str, known: Mapping[str, str]) -> str | None:
    """The rationale of a question, also if a line was added before or after it (context, allowed answers)."""
    lines = question.strip().split("\n")
    for part in (question, "\n".join(lines[:-1]), lines[-1]):
        digest = sha256(" ".join(part.split()).encode()).hexdigest()[:16]
        if digest in known:
            return known[digest]
    return None


def kind(one: Problem | Example) -> str:
    """What form an answer has, in words."""
    decided = {"yes", "no"} <= ({text.lower() for text in one.choices.values()} or _words(one.question))
    if one.choices:
        return "options yes and no" if decided else "lettered options"
    return "yes or no in words" if decided else "open answers"


def fitting_examples(problem: Problem, examples: Iterable[Example]) -> Sequence[Example]:
    """The examples of a problem's kind in their order, each once, those with as many options first. To a question that
    is decided in words belong only decisions that it names."""
    alike: dict[tuple[str, str], Example] = {}
    for one in examples:
        if kind(one) == kind(problem):
            alike.setdefault((one.context, one.question), one)
    found = sorted(alike.values(), key=lambda one: len(one.choices) != len(problem.choices))
    if problem.choices or kind(problem) == "open answers":
        return found
    return [one for one in found if one.answer.strip().lower() in _words(problem.question)]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
