"""The nouns that go to a model and come back: messages, tool specs, sampling, request, completion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Self

import orjson

from components.core.cached import cached_property
from components.core.compact import compact_json

Role = Literal["system", "user", "assistant", "tool"]
Purpose = Literal[
    "act", "plan", "verify", "reflect", "knowledge", "debug", "vote", "report", "summarise",
    "conclude", "validate", "answer", "tool", "build", "judge",
]  # fmt: skip
JSON = Mapping[str, Any]
SIMULATED = "simulated:"  # how the simulated model reports its name, under any requested name


@dataclass(frozen=True)
class Image:
    """An image inside a message. ``url`` is an http(s) or a ``data:`` URL (base64)."""

    url: str


class ToolCall(NamedTuple):
    """The structured request inside an action. ``arguments`` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str

    @property
    def parsed(self) -> dict[str, Any]:
        """Decode the arguments. Raises ValueError when they are not a JSON object."""
        value = orjson.loads(self.arguments or "{}")
        if not isinstance(value, dict):
            raise ValueError(f"the arguments of {self.name} must be a JSON object, found {type(value).__name__}")
        return value

    @property
    def readable(self) -> Self:
        """The call with arguments that are a JSON object, as servers require that write them into a prompt."""
        try:
            return self if self.parsed or self.arguments else self._replace(arguments="{}")
        except ValueError:
            return self._replace(arguments=orjson.dumps({"unreadable": self.arguments}).decode())


@dataclass(frozen=True, init=False)
class Message:
    """One chat message; immutable, so that its wire form and digest are made once. ``source`` names the prompt file it
    was rendered from and ``reasoning`` the model's hidden thoughts where the provider returns them; neither is sent to
    a model or enters the digest."""

    role: Role
    content: str | tuple[str | Image, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    source: str | None = field(default=None, compare=False)
    reasoning: str | None = field(default=None, compare=False)

    def __init__(
        self, role: Role, content: str | tuple[str | Image, ...] = "", tool_calls: tuple[ToolCall, ...] = (),
        tool_call_id: str | None = None, source: str | None = None, reasoning: str | None = None,
    ) -> None:  # fmt: skip  # a third of the time of what dataclass writes for frozen ones
        own = vars(self)
        own["role"], own["content"], own["tool_calls"] = role, content, tool_calls
        own["tool_call_id"], own["source"], own["reasoning"] = tool_call_id, source, reasoning

    @cached_property
    def text(self) -> str:
        """The text of the message without its images."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part for part in self.content if isinstance(part, str))

    @cached_property
    def wire(self) -> bytes:
        """The message as chat-completions JSON."""
        wire = _encode_system(self) if self.role == "system" else _encode(self)
        if not self.tool_calls:  # each attribute that need not be computed saves a call
            vars(self)["sent"] = wire
        return wire

    @cached_property
    def sent(self) -> bytes:
        """``wire`` with arguments that every server reads."""
        calls = tuple([call.readable for call in self.tool_calls])
        return self.wire if calls == self.tool_calls else replace(self, tool_calls=calls).wire

    @cached_property
    def digest(self) -> bytes:
        """16 bytes that identify ``wire``, of which journal keys are made."""
        return _digest_system(self.wire) if self.role == "system" else _digest(self.wire)


def _encode(message: Message) -> bytes:
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if not isinstance(message.content, str):
        body["content"] = [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {"type": "image_url", "image_url": {"url": part.url}}
            for part in message.content
        ]
    if message.tool_calls:
        body["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for c in message.tool_calls
        ]
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return compact_json(body)


def _digest(wire: bytes) -> bytes:
    return sha256(wire).digest()[:16]


# Most samples of a run begin with the same long message.
_encode_system, _digest_system = lru_cache(maxsize=32)(_encode), lru_cache(maxsize=32)(_digest)


@dataclass(frozen=True)
class ToolSpec:
    """What a model sees of a tool. ``parameters`` is a JSON schema (native calling); ``card`` what text grammars show
    after its ``Name`` as one line of JSON (default: name, description, parameters); ``facts`` is for scorers and never
    shown."""

    name: str
    description: str
    parameters: JSON = field(default_factory=lambda: {"type": "object", "properties": {}})
    card: JSON | None = None
    facts: JSON = field(default_factory=dict)

    @cached_property
    def card_text(self) -> str:
        """The card as one line of JSON."""
        if self.card:
            return orjson.dumps({"Name": self.name, **self.card}).decode()
        card = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return orjson.dumps(card).decode()

    @cached_property
    def wire(self) -> bytes:
        """The tool as an entry of the chat-completions ``tools`` field."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return compact_json({"type": "function", "function": function})

    @cached_property
    def digest(self) -> bytes:
        """16 bytes that identify the native request."""
        return sha256(self.wire).digest()[:16]


@dataclass(frozen=True)
class Sampling:
    """Sampling parameters; None leaves the provider's default. ``extra`` is sent as it is."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    extra: JSON = field(default_factory=dict)

    def merged(self, other: "Sampling | None") -> "Sampling":
        """These parameters with those that ``other`` sets in their place."""
        if other is None:
            return self
        return Sampling(
            temperature=self.temperature if other.temperature is None else other.temperature,
            top_p=self.top_p if other.top_p is None else other.top_p,
            max_tokens=self.max_tokens if other.max_tokens is None else other.max_tokens,
            stop=other.stop or self.stop,
            logprobs=other.logprobs or self.logprobs,
            extra={**self.extra, **other.extra},
        )

    @cached_property
    def wire(self) -> bytes:
        """Canonical JSON, without unset fields."""
        numbers = {"temperature": self.temperature, "top_p": self.top_p, "max_tokens": self.max_tokens}
        body: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None}
        if self.stop:
            body["stop"] = list(self.stop)
        if self.logprobs:
            body["logprobs"] = True
        return compact_json(body | dict(self.extra), orjson.OPT_SORT_KEYS)


class ToolSpecs(tuple[ToolSpec, ...]):
    """The tools that an episode offers natively, encoded once for all its requests."""

    @cached_property
    def wire(self) -> bytes:
        """The entries of the chat-completions ``tools`` field."""
        return b",".join([spec.wire for spec in self])

    @cached_property
    def digests(self) -> bytes:
        """The digests of all."""
        return b"".join([spec.digest for spec in self])

    @cached_property
    def name(self) -> str:
        """16 digits by which the journal knows them."""
        return sha256(self.digests).hexdigest()[:16]


NO_TOOLS = ToolSpecs()


class Request(NamedTuple):
    """One model call. ``seed`` is derived from (run seed, sample, epoch, branch, occurrence): 0 to 2**31-1."""

    messages: tuple[Message, ...]
    tools: ToolSpecs
    sampling: Sampling
    purpose: Purpose
    role: str
    sample_id: str
    epoch: int
    branch: str
    occurrence: int
    seed: int


class Usage(NamedTuple):
    """Tokens and US dollars of one call; None = not reported or price unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class Completion(NamedTuple):
    """A model's reply. ``finish`` is the provider's reason (stop, length, tool_calls, ...); ``model``: which model
    answered, with the fingerprint of what serves it, as its server reports; empty where it reports none."""

    message: Message
    usage: Usage
    finish: str = "stop"
    logprobs: Any = None
    model: str = ""


def encodable(text: str) -> bool:
    """Whether a text has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def continued(messages: Sequence[Message], ask: Message) -> list[Message]:
    """The messages with one more of the user, joined to the last: some chat templates want roles to alternate."""
    last = messages[-1]
    if last.role != "user":
        return [*messages, ask]
    if isinstance(last.content, str) and isinstance(ask.content, str):
        return [*messages[:-1], replace(ask, content=f"{last.content}\n\n{ask.content}")]
    parts = [(part.content,) if isinstance(part.content, str) else part.content for part in (last, ask)]
    return [*messages[:-1], replace(ask, content=(*parts[0], *parts[1]))]
