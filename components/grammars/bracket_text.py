"""Actions in plain lines: ``Thought: ...``, then ``Name[argument]``, ended by ``Finish[answer]``.

Source: Yao et al. 2023 (ReAct), arXiv 2210.03629; reading rules of docs/papers/ehragent.md (``acting.action_lines``).
Departures: ``Action:``, bullets and numbers may stand before the name; ``Refuse[reason]`` where a task may be refused.
"""

from dataclasses import dataclass, replace

from components.acting.action_lines import FORM, action_lines, call_of, describe_tools
from components.core.errors import ActionError
from components.core.messages import Message
from components.core.task_text import FINISH, REFUSE
from components.core.tools import Offer
from components.core.traits import PromptSetName
from components.core.types import Action
from components.grammars.bracket_json import Call, TextGrammar, read_call, refusal_of
from components.prompts import load


@dataclass(frozen=True)
class BracketText(TextGrammar):
    """One action per reply, for tools with one text parameter. The first action counts.

    What follows it is cut off, since models write observations of their own there.
    """

    prompts: PromptSetName = "bracket_text"

    def instructions(self, offer: Offer) -> str:
        """The form of an action, the tools, and how to end. Raises ConfigError for a tool with other parameters."""
        actions = describe_tools(offer.tools)
        return load(self.prompts).render("instructions", actions=actions, refusal_fields=offer.refusal_fields)

    def parse(self, message: Message, offer: Offer) -> Action:
        """Read the reply's first action. Raises ActionError when there is none that can be read."""
        line = next(action_lines(message.text), None)
        if line is None:
            raise ActionError(f"it holds no line of the form {FORM}; write one action, as in the list of actions")
        kept = replace(message, content=message.text[: line.end])
        call = call_of(line.name, line.argument, offer.tools)
        if line.name == FINISH:
            return Action(kept, answer=line.argument)
        if line.name == REFUSE and offer.may_refuse:
            # an object with the fields, or the bare text where there is one field
            bare = len(offer.refusal_fields) == 1 and not (line.argument or "").startswith("{")
            grounds = Call(REFUSE, dict.fromkeys(offer.refusal_fields, line.argument)) if bare else read_call(line.text)
            refusal = refusal_of(grounds, offer)
            return Action(kept, refusal=refusal, purpose=refusal.grounds.get("purpose", ""))
        return Action(kept, calls=(call,))
