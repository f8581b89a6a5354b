"""A task, its right answer and the actions on it as text: for prompts, for memories, and for similarity search.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657; the order of the parts follows docs/papers/reflectool.md.
"""

import json
import re
from collections.abc import Mapping, Sequence

import orjson

from components.core.messages import Message, ToolCall
from components.core.types import Action, Problem, Sample, Trajectory

_WRITTEN = re.compile(r"(\w+)\[\s*(?=\{)")
_DECODER = json.JSONDecoder(strict=False)

FINISH, REFUSE = "Finish", "Refuse"  # the actions that end a task
INNER = frozenset({"Plan", "Think", FINISH})  # actions that are no tools
MALFORMED = ""
Chain = Sequence[tuple[str, str]]  # what was done and what came of it


def task_text(problem: Problem) -> str:
    """The part of a problem that an agent may see, without actions; the question starts on a new line."""
    parts = []
    if problem.context:
        parts.append(f"Inputs:\n{problem.context}")
    if problem.inputs:
        shown = orjson.dumps(dict(problem.inputs), option=orjson.OPT_INDENT_2).decode()
        parts.append(f"Further inputs, by the names that tools take:\n{shown}")
    options = "".join(f"\n{letter}. {text}" for letter, text in problem.choices.items())
    parts.append(f"Instruction:\n{problem.question}{options}")
    return "\n".join(parts)


def gold_text(sample: Sample) -> str:
    """The right answer of a training task in words; of a choice the letter and the option's text."""
    target, choices = sample.target, sample.problem.choices
    if isinstance(target, str):
        return f"{target}. {choices[target]}" if target in choices else target
    if isinstance(target, Mapping):
        target = target.get("answer", target.get("accepted", "No result"))
    return str(target)


def gold_answer(sample: Sample) -> str:
    """The right answer as a model would write it behind ``Answer:``. Of a choice the letter alone, of accepted wordings
    the first, of several values all of them, of named entities their names in square brackets."""
    target = sample.target
    if isinstance(target, str) and target in sample.problem.choices:
        return target
    if isinstance(target, Mapping):
        if "answer" not in target and target.get("accepted"):
            return str(target["accepted"][0])
        target = target.get("answer", "No result")
    if not isinstance(target, Sequence) or isinstance(target, str):
        return str(target)
    named = [one["entity_name"] for one in target if isinstance(one, Mapping) and "entity_name" in one]
    return f"[{', '.join(named)}]" if named else ", ".join(map(str, target))


def inputs_in(text: str) -> str:
    """The context of a problem as ``task_text`` wrote it; empty where it had none."""
    found = re.match(r"Inputs:\n(.*?)\n(?:Further inputs, |Instruction:\n)", text, re.DOTALL)
    return found[1] if found else ""


def action_text(action: Action) -> str:
    """An action in one line, in any grammar; an unreadable one as the model wrote it."""
    if action.error is not None:
        return action.message.text.strip()
    if action.answer is not None:
        return response_text(FINISH, action.answer)
    if action.refusal is not None:
        return f"{REFUSE}[{_json(dict(action.refusal.grounds))}]"
    return "; ".join(_call_text(call) for call in action.calls)


def written_out(action: Action) -> Action:
    """An action of a grammar in which prose is an answer, where prose is none: the reply must name an action. A reply
    such as ``Refined action: Name[{...}]`` is that call, ``Finish[{"response": ...}]`` that answer, and any other prose
    is unreadable."""
    if action.answer is None or action.message.tool_calls or action.answer.strip() != action.message.text.strip():
        return action
    found = _WRITTEN.search(action.message.text)
    try:
        values, _ = _DECODER.raw_decode(action.message.text, found.end()) if found else (None, 0)
    except (ValueError, RecursionError):
        values = None
    if found is None or not isinstance(values, dict):
        return Action(action.message, error="unreadable", error_text="it names no action")
    if found[1] == FINISH:
        return Action(action.message, answer=str(values.get("response", "")))
    call = ToolCall("call_written", found[1], _json(values))
    return Action(Message("assistant", "", tool_calls=(call,)), (call,))


def _call_text(call: ToolCall) -> str:
    """``Name[{json}]`` with its arguments in the order they were given."""
    try:
        return f"{call.name}[{_json(call.parsed)}]"
    except ValueError:
        return f"{call.name}[{call.arguments}]"


def response_text(name: str, response: str) -> str:
    """An inner action with its response."""
    return f"{name}[{_json({'response': response})}]"


def names_of(action: Action) -> tuple[str, ...]:
    """The tools or closing actions that an action names; none for an unreadable one."""
    if action.answer is not None:
        return (FINISH,)
    return tuple(dict.fromkeys(call.name for call in action.calls))


def chain_text(chain: Chain) -> str:
    """The steps of a chain, two labelled lines each."""
    return "\n".join(f"Action: {did}\nObservation: {saw}" for did, saw in chain)


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # nested too deep, or a lone surrogate
        return repr(value)


def action_names(trajectory: Trajectory) -> list[str]:
    """The names of the committed actions: one per call, ``Finish`` for an end, empty for a malformed one. Of an agent
    that tries several times in branches, those of the final trial: the branch of the episode's last action."""
    acted = [(step.branch, step.action) for step in trajectory.steps if step.action is not None and step.committed]
    return final_names([
        (branch, one.error, one.answer is not None or one.refusal is not None, [call.name for call in one.calls])
        for branch, one in acted
    ])  # fmt: skip


def final_names(acted: Sequence[tuple[str, str | None, bool, Sequence[str]]]) -> list[str]:
    """The same of committed actions: the branch of each, its error, whether it ends the episode, its calls."""
    names: list[str] = []
    for branch, error, ends, calls in acted:
        if branch == acted[-1][0]:
            names += [MALFORMED] if error is not None else [FINISH] if ends else calls
    return names
