"""RadABench's tags: ``<Call>``, ``<EndCall>`` for the last call, ``<NoCall>`` for a refusal.

Source: Zheng et al. 2024, arXiv 2412.09529. Tags are case-sensitive; the first complete element counts, what is
around it is ignored. Departure: ``<Input>`` may also hold a JSON object, for tools with named parameters.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

import orjson

from components.core.errors import ActionError
from components.core.messages import Message, ToolCall
from components.core.tools import Offer
from components.core.traits import GrammarTraits, PromptSetName
from components.core.types import Action, Refusal
from components.grammars.bracket_json import TextGrammar

_OPENING = re.compile(r"<(Call|EndCall|NoCall)>")


def _element(text: str, may_refuse: bool) -> tuple[str, str] | None:
    """Tag and content of the first element that is closed; linear in the text, whatever it holds."""
    never_closed = set() if may_refuse else {"NoCall"}
    for found in _OPENING.finditer(text):
        if (tag := found[1]) not in never_closed:
            if (end := text.find(f"</{tag}>", found.end())) >= 0:
                return tag, text[found.end() : end]
            never_closed.add(tag)
    return None


def _field(tag: str, content: str) -> str:
    """The trimmed text of the first such element. Raises ActionError when there is none."""
    start = content.find(f"<{tag}>")
    end = content.find(f"</{tag}>", start)
    if start < 0 or end < 0:
        raise ActionError(f"the element <{tag}> is missing")
    return content[start + len(tag) + 2 : end].strip()


@dataclass(frozen=True)
class XmlCall(TextGrammar):
    """Tags in the text of the reply; one call per reply."""

    observed: ClassVar[str] = "<Observation>\n{}\n</Observation>"
    prompts: PromptSetName = "xml_call"
    confidence: bool = False
    form: ClassVar[str] = "xml_call"
    traits: ClassVar[GrammarTraits] = GrammarTraits(needs_tools=True)  # there is no tag for an answer without a call

    def parse(self, message: Message, offer: Offer) -> Action:
        """Read the first complete element. Raises ActionError when there is none or a field is missing."""
        found = _element(message.text, offer.may_refuse)
        if not found:
            tags = "<Call>, <EndCall> or <NoCall>" if offer.may_refuse else "<Call> or <EndCall>"
            raise ActionError(f"the reply holds no complete {tags} element")
        tag, content = found
        if tag == "NoCall":
            grounds = {name: _field(name.capitalize(), content) for name in offer.refusal_fields}
            return Action(message, refusal=Refusal(grounds), purpose=grounds.get("purpose", ""))
        purpose, tool, text = (_field(name, content) for name in ("Purpose", "Tool", "Input"))
        try:
            is_object = text.startswith("{") and isinstance(orjson.loads(text), dict)
        except ValueError:
            is_object = False
        arguments = text if is_object else orjson.dumps({"purpose": purpose, "input": text}).decode()
        last, stated = tag == "EndCall", None
        if self.confidence and last and "<Confidence>" in content:
            stated = _field("Confidence", content)
        return Action(message, (ToolCall("call", tool, arguments),), last=last, purpose=purpose, confidence=stated)
