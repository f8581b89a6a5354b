"""Function calling as in chat-completions: the ``tools`` field, ended by a message without tool calls.

Source: OpenAI's chat-completions reference, as vLLM, Ollama and the other providers serve it. Several
calls in one reply are allowed. A tool message holds text only there, so the images of an observation are
named in its text and not sent: tools that return images belong to the text grammars.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import orjson

from components.core.errors import ActionError
from components.core.messages import Message, ToolCall, ToolSpec
from components.core.tools import Offer
from components.core.traits import GrammarTraits, PromptSetName
from components.core.types import Action, Observation
from components.grammars.bracket_json import Call, refusal_of, with_confidence
from components.prompts import PromptSet, load
from components.text.confidence import split_line

_REFUSE = "refuse"


@lru_cache(maxsize=32)  # most samples of a run offer tools of the same names
def _instructions(prompts: PromptSet, tools: Sequence[str], fields: Sequence[tuple[str, Sequence[str]]]) -> str:
    return prompts.render("instructions", tools=tools, refusal_fields=dict(fields))


@dataclass(frozen=True)
class NativeTools:
    """Actions in the reply's own tool calls; the text of a reply without any is the answer. ``confidence``: its last
    line states how sure the agent is."""

    traits: ClassVar[GrammarTraits] = GrammarTraits(functions=True)
    prompts: PromptSetName = "native_tools"
    confidence: bool = False

    def instructions(self, offer: Offer) -> str:
        """That functions are offered, and when to refuse; the cards travel in the request."""
        fields = tuple([(name, tuple(allowed)) for name, allowed in offer.refusal_fields.items()])
        text = _instructions(load(self.prompts), tuple(offer.tools), fields)
        return with_confidence(text, "native_tools", self.confidence)

    def specs(self, offer: Offer) -> tuple[ToolSpec, ...]:
        """The offered tools, and a function for the refusal, with the allowed values as enums, where it is open."""
        specs = tuple([tool.spec for tool in offer.tools.values()])
        if not offer.may_refuse:
            return specs
        properties = {
            name: {"type": "string", "enum": list(allowed)} if allowed else {"type": "string"}
            for name, allowed in offer.refusal_fields.items()
        }
        parameters = {"type": "object", "properties": properties, "required": list(properties)}
        return (*specs, ToolSpec(_REFUSE, load(self.prompts).render("refuse"), parameters))

    def parse(self, message: Message, offer: Offer) -> Action:
        """Read the reply's tool calls, or its text as the answer. Raises ActionError when it holds neither, or when the
        arguments of a call are not a JSON object: then none of its calls is run."""
        calls = message.tool_calls
        if not calls:
            if not message.text.strip():
                raise ActionError("it holds neither text nor a function call", "empty_reply")
            if not self.confidence:
                return Action(message, answer=message.text)
            answer, stated = split_line(message.text)
            return Action(replace(message, content=answer), answer=answer, confidence=stated)
        read = []
        for call in calls:
            try:
                read.append(call.parsed)
            except ValueError as error:
                rest = f"; none of the {len(calls)} calls was run" if len(calls) > 1 else ""
                text = f"the arguments of {call.name} are not a JSON object ({error}){rest}"
                raise ActionError(text, call_id=call.id) from None
        for call, values in zip(calls, read, strict=True) if offer.may_refuse else ():
            if call.name == _REFUSE:
                grounds = {k: one if isinstance(one, str) else orjson.dumps(one).decode() for k, one in values.items()}
                return refusal_of(message, Call(_REFUSE, grounds), offer, call.id)
        purpose = read[0].get("purpose", "")
        return Action(message, calls=calls, purpose=purpose if isinstance(purpose, str) else "")

    def render(self, call: ToolCall, observation: Observation) -> Message:
        """The observation as a tool message; as a user message where it answers no call of the model."""
        text = observation.text
        if observation.images:
            text += f"\n[{len(observation.images)} image(s) returned; a function's result cannot show them]"
        if not call.name and call.id == "call":  # the door's stand-in for a reply without calls
            return Message("user", text)
        return Message("tool", text, tool_call_id=call.id)
