"""The last responder: follows what any prompt asks for, so that a new agent runs without its own responder.

It calls offered tools with plausible arguments and then answers, takes part in votes, chooses among options, and fills
in the form that a prompt ends with.
"""

import re
from collections.abc import Mapping
from typing import Any

from components.core.messages import Message
from components.core.types import Sample
from components.simulation.asked import Asked, Responder
from components.simulation.grammar import called, finished, said
from components.simulation.knowledge import Knowledge
from components.simulation.review import review

_VOTE = re.compile(r"\bYES or NO\b[^\n]*\Z")
_FORM = re.compile(r"^(?!Answer\b)([A-Z][\w ]{0,40}): ?\S.*$")
_CLOSING = ("Finish", "Refuse", "refuse")


class Generic(Responder):
    """Any prompt, any sample."""

    def knowledge(self, sample: Sample) -> Knowledge:
        """Options, a decision, or an answer in words."""
        return Knowledge(sample)

    def reply(self, asked: Asked) -> Message:
        """A call, or what the last message asks for."""
        if (garbled := asked.garbled()) is not None:
            return garbled
        if asked.history.candidates or asked.history.current is not None:
            return review(asked.history, bool, lambda: self._step(asked), asked.style or "native", asked.draws)
        return said(self._answer(asked)) if asked.style is None or asked.concludes else self._step(asked)

    def _step(self, asked: Asked) -> Message:
        """A call of the first offered tool that was not called, once; then the answer."""
        offered = {name: given for name, given in asked.history.offered.items() if name not in _CLOSING}
        style = asked.style or "native"
        if asked.history.done or not offered:
            return finished(style, asked.voice.worded(self._answer(asked), asked.draws))
        name = next(iter(offered))
        if len(offered) > 1 and asked.draws.happens("wrong tool", asked.rates.wrong_tool):
            name = asked.draws.pick("which tool", [*offered][1:])
        schema = next((tool.parameters for tool in asked.tools if tool.name == name), {})
        properties: Mapping[str, Any] = schema.get("properties", {})
        arguments = {one: _plausible(one, properties.get(one), asked) for one in offered[name]}
        return called(style, name, arguments, last=True)

    def _answer(self, asked: Asked) -> str:
        """A vote, a filled-in form, or the answer on the last line."""
        if _VOTE.search(asked.last.rstrip()):
            return "YES"
        if asked.style is None and (form := _form(asked.last)):
            return "\n".join(f"{label}: {_opinion(asked)}" for label in form)
        reasons = any("step by step" in one.text for one in asked.messages if one.role != "assistant")
        return _chosen(asked, reasons)


def _form(text: str) -> list[str]:
    """The labels of the lines in which a prompt shows the form of a reply, at its end."""
    head, _, shown = text.rstrip().rpartition(":\n")
    found = [_FORM.match(line) for line in shown.split("\n")] if head else []
    return [one[1] for one in found if one is not None] if all(found) else []


def _opinion(asked: Asked) -> str:
    if asked.knowledge is None:
        return "not known"
    right = asked.draws.happens("competence", asked.knowledge.by_heart(asked.rates))
    return asked.knowledge.opinion(right, asked.draws)


def _chosen(asked: Asked, reasons: bool) -> str:
    """``Answer: X`` on the last line, with a line of reasoning before it where the prompt asks for one."""
    if asked.knowledge is None:
        return "Answer: not known"
    if asked.voice.opines or asked.knowledge.open_ended:
        return asked.voice.worded(_opinion(asked), asked.draws)
    return asked.knowledge.marked(asked.rates, reasons, asked.draws)


def _plausible(name: str, schema: Any, asked: Asked) -> Any:
    """An argument by its schema: the name of an input, else the question."""
    kind = schema.get("type") if isinstance(schema, Mapping) else "string"
    if isinstance(schema, Mapping) and schema.get("enum"):
        return schema["enum"][0]
    if kind in ("number", "integer"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    if kind == "object":
        return {}
    problem = asked.sample.problem if asked.sample is not None else None
    text = asked.last if problem is None else problem.inputs.get(name, problem.question)
    return [text] if kind == "array" else text
