"""The embedded default model: deterministic, without key or network (docs/explanation/simulated.md)."""

import asyncio
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, takewhile
from string import punctuation
from typing import Annotated, Any, Literal

import orjson
from annotated_types import Ge, Interval, Lt

from components.core.messages import Completion, Message, Request, Sampling, ToolSpec, Usage
from components.core.traits import ModelTraits
from components.core.types import Problem, Sample
from components.models.simulated import confidence
from components.models.simulated.responders import Generic, PromptAlone
from components.simulation.asked import Asked, Responder
from components.simulation.draws import Draws, Rates

VERSION = "13"  # changes when a reply can
_TOOL = r"(\w{1,99})"
# Words of a message, the pattern around them -> the sentence. Stale answers and altered numbers cannot be seen.
_SIGNS = tuple(
    (words, re.compile(pattern.replace("TOOL", _TOOL)), sentence)
    for words, pattern, sentence in (
        (" is unavailable: ", "TOOL is unavailable: the service does not respond", "The tool {0} is unavailable."),
        ("Access denied: ", "Access denied: no permission to use TOOL", "The call of {0} was denied."),
        (" timed out: ", "TOOL timed out: no answer within", "The call of {0} timed out."),
        (", asked the same, ", "TOOL, asked the same, (?:answers:|does not confirm)",
         "The tools disagree: {0} says otherwise."),
        ('); ', r'\(TOOL\); [^"]{1,999} \(TOOL\)"', "The values of {0} and {1} contradict each other."),
    )
)  # fmt: skip
_PLACES = (re.compile(r"^Thought: ", re.MULTILINE), re.compile("<Purpose>"))
_REMEMBERED = 4_000
_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
_EXAMPLE = "\n[Example of an answer]\n"  # what follows is another patient's
_LABEL = 24  # longest label before a question, such as "Question: "
Rate = Annotated[float, Interval(ge=0, le=1)]


class AnswerKey:
    """Finds the sample that a conversation is about, by its question and, of several, by what else is shown of it."""

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self._by_line: dict[str, list[Sample]] = {}
        self._seen: dict[bytes, tuple[Sample, ...]] = {}
        digests = []
        for sample in samples:
            problem = sample.problem  # without its images
            texts = [problem.question, dict(problem.choices), problem.context, dict(problem.inputs)]
            whole = [*texts, sample.target, dict(sample.metadata)]
            try:
                data = orjson.dumps(whole, _plain, _SORTED)
            except TypeError:  # half surrogates
                data = json.dumps(whole, sort_keys=True, default=_plain).encode()
            digests.append(blake2b(data, digest_size=8).digest())
            line = sample.problem.question.strip().split("\n", 1)[0].strip()
            closed = (f"{line}?",) if line and line[-1] not in punctuation else ()  # as agents may close it
            for key in (line, *closed):
                self._by_line.setdefault(key, []).append(sample)
        # Of all that the samples hold, in whatever order they come; empty without any.
        self.digest = blake2b(b"".join(sorted(digests)), digest_size=8).hexdigest() if digests else ""

    def find(self, messages: Sequence[Message]) -> Sample | None:
        """The sample whose question is in the newest message that holds one; None when there is none."""
        systems = (one.text.partition("\n[Query]\n")[2] for one in messages if one.role == "system")
        queries = (Message("user", text.partition("\n[Plan]\n")[0]) for text in systems)  # that they pass on
        for message in chain(reversed(messages), queries):
            if message.role != "user":
                continue
            if (found := self._seen.get(message.digest)) is None:
                if len(self._seen) > _REMEMBERED:
                    self._seen.clear()
                found = self._seen[message.digest] = self._search(message)
            if found:
                if len(found) == 1 or not found[0].problem.context:
                    return found[0]
                texts, question = [one.text for one in messages], found[0].problem.question
                same = (one for one in found if one.problem.question == question and one.problem.context)
                shown = (one for one in same if any(one.problem.context.partition("\n\n")[0] in text for text in texts))
                return next(shown, found[0])  # the one whose context begins as a message does: of its database
        return None

    def _search(self, message: Message) -> tuple[Sample, ...]:
        """Samples whose question is in the message: those of which it shows more first, and among equals the last of
        the text, since solved examples come before the question."""
        text, found = message.text.partition(_EXAMPLE)[0], list[tuple[int, Sample]]()
        for number, line in enumerate(text.split("\n")):
            known = self._by_line.get(line := line.strip())
            if known is None and (start := line.find(": ", 0, _LABEL)) > 0:
                known = self._by_line.get(line[start + 2 :])
            found += [(number, s) for s in known or () if s.problem.question.strip() in text]
        if len(found) > 1:
            found.sort(key=lambda one: (-_overlap(one[1].problem, message), -one[0]))
        return tuple(sample for _, sample in found)


@dataclass
class Simulated:
    """The simulated core as a Model. ``latency_seconds`` is the mean of an exponential distribution."""

    competence: Rate = 0.85
    planning_slip_rate: Rate = 0.1
    wrong_tool_rate: Rate = 0.05
    malformed_rate: Rate = 0.02
    ignored_refusal_rate: Rate = 0.3
    second_choice_rate: Rate = 0.0
    latency_seconds: Annotated[float, Ge(0)] = 0.0
    seed: Annotated[int, Ge(0), Lt(2**63)] = 0
    name: str = "simulated"
    max_connections: Annotated[int, Ge(1)] = 100
    temperature: Annotated[float, Interval(ge=0, le=2)] | None = 0.0
    max_tokens: Annotated[int, Ge(1)] | None = None
    kind: Literal["simulated", "live"] = "simulated"
    in_process: bool = True
    deterministic: bool = False
    permits: Sequence[str] = ()
    takes_images: bool = True
    responders: Sequence[Responder] = ()
    core: "Core" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        slips = (self.planning_slip_rate, self.wrong_tool_rate, self.malformed_rate)
        rates = Rates(self.competence, *slips, self.ignored_refusal_rate, self.second_choice_rate)
        self.core = Core(rates, self.responders)
        families = ",".join(type(one).__name__ for one in self.responders)
        self._made = f"{self.name} {VERSION} {rates} seed={self.seed} responders={families}"
        self.sampling = Sampling(temperature=self.temperature, max_tokens=self.max_tokens)

    @property
    def traits(self) -> ModelTraits:
        """Whether it takes images, and how it studies."""
        return ModelTraits(vision=self.takes_images, study=self.study)

    @property
    def identity(self) -> str:
        """Name, version, rates, responders and a digest of what it has studied: whatever can change a reply."""
        return f"{self._made} key={self.core.key.digest}"

    def study(self, samples: Iterable[Sample]) -> None:
        """Take samples as the private answer key."""
        self.core.study(samples)

    async def generate(self, request: Request) -> Completion:
        """Reply at once, or after the latency."""
        seed = request.seed ^ self.seed
        if self.latency_seconds:
            share = Draws(seed, request.messages).share("latency")
            await asyncio.sleep(-self.latency_seconds * math.log(1 - share))
        return self.core.reply(request.messages, request.tools, seed, request.sampling.logprobs)

    async def close(self) -> None:
        """Nothing to close."""


@dataclass
class Core:
    """A chain of responders: a function of the messages, the tools and the seed. It is not a mock of an answer: what
    the prompt leaves out, it does not do. The answer key is its medical knowledge."""

    rates: Rates
    responders: Sequence[Responder] = ()
    key: AnswerKey = field(default_factory=AnswerKey)

    def __post_init__(self) -> None:
        self._chain: Sequence[Responder] = (PromptAlone(), *self.responders, Generic())
        self._knowing = [one for one in self._chain if type(one).knowledge is not Responder.knowledge]
        self._voiced = [one for one in self._chain if type(one).voice is not Responder.voice]

    def study(self, samples: Iterable[Sample]) -> None:
        """Take samples as the private answer key."""
        self.key = AnswerKey(samples)

    def reply(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], seed: int, logprobs: bool = False
    ) -> Completion:
        """The first reply of the chain; tokens are estimated as a quarter of the bytes."""
        sent = sum([len(m.wire) for m in messages]) + sum([len(t.wire) for t in tools])
        messages, forms = confidence.without_request(messages)
        sample = self.key.find(messages)
        draws = Draws(seed, messages, None if sample is None else sample.problem.question)
        known = (one.knowledge(sample) for one in self._knowing) if sample is not None else iter(())
        request = Asked(messages, tools, self.rates, draws, next((one for one in known if one is not None), None))
        voices = (one.voice(request) for one in self._voiced)
        if (voice := next((one for one in voices if one is not None), None)) is not None:
            request = replace(request, voice=voice)
        message = next(reply for one in self._chain if (reply := one.reply(request)) is not None)
        message, tokens = add_doubt(message, messages, self.rates, request.draws), None
        if forms or logprobs:
            certain = confidence.certainty(request, message)
            unread = request.draws.happens("unread", self.rates.malformed)
            tokens = confidence.logprobs(message, certain) if logprobs else None
            message = confidence.with_confidence(message, forms, certain, unread) if forms else message
        usage = Usage(sent // 4, max(1, len(message.wire) // 4), 0.0)
        return Completion(message, usage, "tool_calls" if message.tool_calls else "stop", tokens)


def add_doubt(reply: Message, messages: Sequence[Message], rates: Rates, draws: Draws) -> Message:
    """The reply, with a sentence on what the newest messages show of a tool; ``competence`` is how often it is seen."""
    newest = takewhile(lambda message: message.role in ("user", "tool"), reversed(messages))
    signs = [
        sentence.format(*found.groups())
        for text in (message.text for message in newest)
        for words, sign, sentence in _SIGNS
        if words in text and (found := sign.search(text))
    ]
    if not signs or not draws.happens("doubts", rates.competence):
        return reply
    for place in _PLACES:
        if found := place.search(reply.text):
            return replace(reply, content=f"{reply.text[: found.end()]}{signs[0]} {reply.text[found.end() :]}")
    if reply.text.startswith("Action:"):
        return replace(reply, content=f"Thought: {signs[0]}\n{reply.text}")
    if reply.tool_calls:
        return replace(reply, content=f"{signs[0]} {reply.text}".strip())
    return reply


def _plain(value: Any) -> Any:
    """What JSON does not know, always in one order."""
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)


def _overlap(problem: Problem, message: Message) -> int:
    """How much of a problem a message shows, other than its question."""
    text, parts = message.text, message.content if isinstance(message.content, tuple) else ()
    return (
        2 * bool(problem.context and problem.context in text)
        + bool(problem.choices and all(option in text for option in problem.choices.values()))
        + bool(problem.images and all(image in parts for image in problem.images))
        + bool(problem.inputs and all(f'"{name}"' in text for name in problem.inputs.values()))
    )
