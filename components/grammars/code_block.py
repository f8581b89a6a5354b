"""Actions as code: one cell of Python per reply, in a fence or as the argument of a function; ended by TERMINATE.

Source: Shi et al. 2024 (EHRAgent), arXiv 2401.07128; reading rules of docs/papers/ehragent.md. Departures: of a message
with code and TERMINATE the cell is run once and the dialogue ends after it; a message with neither is answered with a
reminder; ``Refuse[{...}]`` where a task may be refused.
"""

import contextlib
import json
import re
from dataclasses import dataclass
from typing import Literal

import orjson

from components.core.errors import ActionError, ConfigError
from components.core.messages import Message, ToolCall, ToolSpec
from components.core.tools import Offer
from components.core.traits import GrammarTraits, PromptSetName
from components.core.types import Action, Observation
from components.grammars.bracket_json import read_call, refusal_of, with_confidence
from components.prompts import load
from components.text.confidence import split_line

TERMINATE = "TERMINATE"
_FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n`]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_PYTHON = ("", "py", "python")
_REFUSES = re.compile(r"^[^\S\n]*+(?:Action:\s*+)?Refuse\s*+\[", re.MULTILINE)


@dataclass(frozen=True)
class CodeBlock:
    """The last fenced block, or the call of the tool that takes code; ``channel``: which of them is asked for. Both are
    read, whatever is asked for. ``state`` is described to the model: whether variables live for a cell or for the
    episode. ``confidence``: a line above the end states how sure the agent is."""

    channel: Literal["fence", "function"] = "fence"
    state: Literal["cell", "episode"] = "cell"
    prompts: PromptSetName = "code_block"
    needs_tools: bool = True
    confidence: bool = False

    @property
    def traits(self) -> GrammarTraits:
        """Whether it has a way to answer without a tool."""
        return GrammarTraits(needs_tools=self.needs_tools)

    def instructions(self, offer: Offer) -> str:
        """The form of a reply and how to end. Raises ConfigError where nothing that is offered runs code."""
        spec = self._tool(offer) if offer.tools else None
        described = "" if spec is None else spec.description
        shown = {"channel": self.channel, "state": self.state, "refusal_fields": offer.refusal_fields}
        text = load(self.prompts).render("instructions", described=described, **shown)
        return with_confidence(text, "code_block", self.confidence)

    def specs(self, offer: Offer) -> tuple[ToolSpec, ...]:
        """The tool that takes code, where it is called as a function."""
        return (self._tool(offer),) if self.channel == "function" and offer.tools else ()

    def parse(self, message: Message, offer: Offer) -> Action:
        """Read the calls, else the last block, else the end. Raises ActionError when there is none of them."""
        text, spec, stated = message.text.strip(), self._tool(offer), None
        if self.confidence:
            text, stated = split_line(text)
        last = text.endswith(TERMINATE)
        argument = str(spec.facts["code"])
        if (n := len(message.tool_calls)) > 1:
            raise ActionError(f"it holds {n} calls, of which none was run; write one cell per reply")
        if message.tool_calls:
            call = _repaired(message.tool_calls[0], argument)
            return Action(message, (call,), last=last, confidence=stated)
        if blocks := [code for tag, code in _FENCE.findall(text) if tag.lower() in _PYTHON]:
            arguments = orjson.dumps({argument: blocks[-1].rstrip()}).decode()
            return Action(message, (ToolCall("call", spec.name, arguments),), last=last, confidence=stated)
        if offer.may_refuse and (said := _REFUSES.search(text)):
            return refusal_of(message, read_call(text[said.start() :]), offer)
        if last:
            return Action(message, answer=text.removesuffix(TERMINATE).strip(), confidence=stated)
        raise ActionError(
            f"it holds neither a cell of code nor, as its last word, {TERMINATE}; write the next cell, or end so"
        )

    def render(self, call: ToolCall, observation: Observation) -> Message:
        """The observation as the next user message, or as the result of the function that was called."""
        if call.id == "call":
            return Message("user", observation.text)
        return Message("tool", observation.text, tool_call_id=call.id)

    def _tool(self, offer: Offer) -> ToolSpec:
        """The tool that takes code. Raises ConfigError where there is none."""
        for tool in offer.tools.values():
            if "code" in tool.spec.facts:
                return tool.spec
        have = ", ".join(offer.tools) or "none"
        raise ConfigError(
            f"actions are code here, and no tool that is offered runs code (there are {have}):"
            " choose toolset=ehr_code or agent.grammar=bracket_text"
        )


def _repaired(call: ToolCall, argument: str) -> ToolCall:
    """The call, with its code where only the JSON around it is broken. Raises ActionError."""
    with contextlib.suppress(ValueError):
        call.parsed  # noqa: B018 - raises for what is not an object
        return call
    key = re.search(rf'"{argument}"\s*:\s*(?=")', call.arguments)
    try:
        cell, _ = json.JSONDecoder(strict=False).raw_decode(call.arguments, key.end() if key else 0)
        cell.encode()
    except (ValueError, AttributeError, RecursionError):  # no JSON text there either, or one that cannot be written
        text = f"the arguments of {call.name} are not a JSON object with the one key {argument!r}"
        raise ActionError(text, "bad_arguments", call.id) from None
    return ToolCall(call.id, call.name, orjson.dumps({argument: cell}).decode())
