"""What a rater sees of an episode: the parts that a rubric shows, as texts, without who did it.

Replies of verifiers and of other judges, prompts and candidates that were not taken are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.core.messages import Image, Message, ToolCall
from components.core.types import Observed, Problem, Sample, Step, Trajectory

TITLES = {
    "question": "Question", "context": "Given", "steps": "What was done", "answer": "Answer", "reference": "Reference",
}  # fmt: skip
LONGEST = 30_000  # characters of a text; a spreadsheet's cell takes 32,767
_ASIDE = ("judge", "verify")  # purposes of calls that look at what an agent does


def texts_of(shows: Sequence[str], sample: Sample, trajectory: Trajectory | None = None) -> dict[str, str]:
    """Title -> text of everything that is shown, in its order; empty texts say so, long ones are cut in the middle."""
    return {title_of(part): shortened(_part(part, sample, trajectory) or "(nothing)") for part in shows}


def title_of(part: str) -> str:
    """What a part is called where it is shown."""
    return TITLES.get(part) or part.rpartition(".")[2].replace("_", " ").capitalize()


def shortened(text: str, room: int = LONGEST) -> str:
    """A text that is too long without its middle, which is where least is decided."""
    if len(text) <= room:
        return text
    head, tail = text[: room * 2 // 3], text[-room // 4 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail):,} characters are left out here ...]\n{tail}"


def _part(part: str, sample: Sample, trajectory: Trajectory | None) -> str:
    problem = sample.problem
    if part == "question":
        return _question(problem)
    if part == "context":
        return problem.context
    if part == "reference":
        return _reference(problem, sample.target)
    if part.startswith("metadata."):
        return written(sample.metadata.get(part.partition(".")[2]))
    if trajectory is None:
        return ""
    return _answer(problem, trajectory) if part == "answer" else "\n\n".join(_steps(trajectory))


def _question(problem: Problem) -> str:
    """The question with its options and the names of what comes with it."""
    lines = [problem.question, *(f"{letter}. {text}" for letter, text in problem.choices.items())]
    lines += [f"[{kind}: {name}]" for kind, name in problem.inputs.items()]
    return "\n".join(lines)


def _reference(problem: Problem, target: object) -> str:
    """What is right; a letter with the text of its option, and an answer without its name where it is all there is."""
    if isinstance(target, Mapping) and list(target) == ["answer"]:
        target = target["answer"]
    return _with_option(problem, target) if isinstance(target, str) else written(target)


def _with_option(problem: Problem, text: str) -> str:
    """A text, and where it is the letter of an option, what that says."""
    letter = text.strip()
    return f"{letter}. {problem.choices[letter]}" if letter in problem.choices else text


def written(value: object, depth: int = 0) -> str:
    """A value of the data as lines to read: names before values, lists as items."""
    indent = "  " * depth
    if isinstance(value, Mapping):
        return "\n".join(_named(str(name), one, depth) for name, one in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(f"{indent}- {written(one).strip()}" for one in value)
    return "" if value is None else f"{indent}{value}"


def _named(name: str, value: Any, depth: int) -> str:
    nested = isinstance(value, Mapping | list | tuple) and value
    return f"{'  ' * depth}{name}:" + (f"\n{written(value, depth + 1)}" if nested else f" {written(value)}".rstrip())


def _answer(problem: Problem, trajectory: Trajectory) -> str:
    """The final answer, a letter with its option as the reference has it; the refusal; or how it ended without one."""
    if trajectory.answer is not None:
        return _with_option(problem, trajectory.answer)
    if trajectory.refusal is not None:
        return "\n".join(["The task was refused.", written(dict(trajectory.refusal.grounds))]).strip()
    return f"No answer was given ({trajectory.failure or trajectory.stop})."


def _steps(trajectory: Trajectory) -> Iterator[str]:
    """What was said, called and returned, step by step."""
    taken = [step for step in trajectory.steps if step.committed and step.purpose not in _ASIDE]
    for number, step in enumerate(taken, 1):
        yield "\n".join([f"[{number}]", *_step(step)])


def _step(step: Step) -> Iterator[str]:
    if said := _said(step.reply):
        yield said
    observed = [one for one in step.observed if not one.control]
    for one in observed:
        yield from _observed(one)
    run = [one.call for one in observed]
    for call in step.reply.tool_calls:
        if call not in run:
            yield f"Not run: {_call(call)}"


def _observed(one: Observed) -> Iterator[str]:
    yield f"Called: {_call(one.call)}"
    yield f"{f'Failed ({one.error})' if one.error else 'Returned'}: {one.observation.text}"
    yield from ("[an image]" for _ in one.observation.images)


def _said(message: Message) -> str:
    parts = (message.content,) if isinstance(message.content, str) else message.content
    return "\n".join("[an image]" if isinstance(part, Image) else part for part in parts).strip()


def _call(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}".strip()
