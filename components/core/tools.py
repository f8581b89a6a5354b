"""What one sample offers: its tools, what they get in addition to their arguments, and the state behind them."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self, runtime_checkable

from components.core.errors import ToolError
from components.core.messages import JSON, Message, Purpose, Sampling, ToolCall, ToolSpec
from components.core.types import Observation, Problem

Effect = Literal["pure", "episode", "external"]
LACKING = ("insufficient", "withhold")  # kinds of conditions, in the facts of an offer, that take away what is needed


class State(Protocol):
    """What belongs to one sample behind an offer: value memory, interpreter, temporary tables."""

    def fork(self) -> Self: ...

    def close(self) -> None:
        """Let go of what the state holds: connections, processes. Called once, also for a fork."""


@dataclass(frozen=True)
class NoState:
    """The state of a toolset that has none."""

    def fork(self) -> "NoState":
        """Itself: there is nothing to copy."""
        return self

    def close(self) -> None:
        """Nothing to let go of."""


@runtime_checkable
class Tool(Protocol):
    """Something an agent can call. Raises ToolError, whose text becomes the observation."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def effect(self) -> Effect: ...

    async def __call__(self, context: "Context", /, **arguments: Any) -> Observation: ...


class Context(Protocol):
    """The episode as a tool sees it: its state and problem, access to models, and the offer."""

    @property
    def state(self) -> State: ...

    @property
    def problem(self) -> Problem: ...

    @property
    def episode(self) -> Hashable:
        """The same for all lines of work of an episode, another one for each other episode."""

    @property
    def offered(self) -> Collection[str]:
        """The names of the tools that the episode offers by now."""

    def add(self, tool: Tool) -> None:
        """Offer one more tool for the rest of the episode. Raises ToolError (name_taken)."""

    async def ask(
        self, messages: Sequence[Message], purpose: Purpose = "tool", sampling: Sampling | None = None,
        role: str = "tool",
    ) -> Message:  # fmt: skip
        """Ask a model through the episode's door; what is not a tool's own question on a branch of its purpose."""


@dataclass(frozen=True)
class Offer:
    """The offer of one sample. ``controls`` are for the agent's own code, not for the model, and are not counted as
    calls. ``refusal_fields`` (field -> allowed values, empty = free text) is empty where the task may not be refused;
    ``validates`` asks for a check of the result before it is concluded; ``shows_images``: whether agents put the images
    before the model itself (else tools look at them); ``facts`` are for scorers and never shown to an agent;
    ``categories``: of all tools that the toolset can offer, where they name tools because names change from sample to
    sample; ``note``: shown with the instructions of agents that act."""

    tools: Mapping[str, Tool]
    state: State = field(default_factory=NoState)
    controls: Mapping[str, Tool] = field(default_factory=dict)
    refusal_fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    validates: bool = False
    shows_images: bool = True
    facts: JSON = field(default_factory=dict)
    categories: Sequence[str] = ()
    note: str = ""

    @property
    def may_refuse(self) -> bool:
        """Whether the task may be refused."""
        return bool(self.refusal_fields)

    def fork(self) -> "Offer":
        """The same tools over a copy of the state."""
        return replace(self, state=self.state.fork())


def tool_of(offer: Offer, call: ToolCall) -> tuple[Tool, Mapping[str, Any]]:
    """The tool that a call names and its arguments, of which the names are checked: values are the tool's own matter.
    Raises ToolError ``unknown_tool``, ``bad_arguments``."""
    tool = offer.tools.get(call.name)
    if tool is None:
        raise ToolError(f"There is no tool {call.name!r}; the tools are {', '.join(offer.tools)}.", "unknown_tool")
    try:
        arguments = call.parsed
    except ValueError as error:
        raise ToolError(f"The arguments of {call.name} cannot be read: {error}.", "bad_arguments") from None
    schema = tool.spec.parameters
    known = schema.get("properties", {})
    if not (arguments.keys() <= known.keys() or schema.get("additionalProperties", False)):
        extra = next(name for name in arguments if name not in known)
        raise ToolError(f"{tool.spec.name} takes {', '.join(known) or 'nothing'}; found {extra!r}.", "bad_arguments")
    for name in schema.get("required", ()):
        if name not in arguments:
            raise ToolError(f"{tool.spec.name} needs {name!r}.", "bad_arguments")
    return tool, arguments


def is_misuse(facts: Mapping[str, Any], kinds: Collection[str]) -> bool:
    """Whether a tool (by the facts of its spec) needs a kind of input that is not among these."""
    return facts.get("needs") is not None and facts["needs"] not in kinds
