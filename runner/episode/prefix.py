"""The recorded beginning of an episode that is continued in another way.

The agent, a deterministic program, runs again from the start. Replies come from the record, pure and episode tools run
again, external ones return the observation of the record. Whatever is asked and observed must be what the record says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from components.core.errors import ModelError
from components.core.messages import Completion, Message, Purpose, ToolCall, Usage
from components.core.protocols import Verifier
from components.core.tools import Tool
from components.core.types import Observation, Observed, Step
from runner.storage.replay_miss import n_common

KIND = "fork"  # of the ModelError of an episode that cannot be rebuilt
ANY = "*"  # in place of a tool's name: whichever was called
FREE = Usage(0, 0, 0.0)  # of a call that the record answers
_WITHIN = ("verify", "tool", "judge", "build")  # purposes of calls that belong to a decision of the agent
Place = tuple[str, int]  # of a call: its branch, and its number there


class EndOfRecord(Exception):
    """The record has no reply to this call, and no model may be asked."""


class HandOver(Exception):
    """The agent stops here: another one continues."""


class Unforked:
    """No recorded beginning: every call is asked, every tool runs."""

    place_in_seeds = b""

    def decide(self, branch: str, n: int, purpose: Purpose = "act") -> None:
        """Nothing is noted."""

    def decide_action(self, branch: str, n: int, own: Verifier) -> Verifier:
        """The experiment's own verifier."""
        return own

    def reply_to(
        self, branch: str, n: int, purpose: Purpose, messages: tuple[Message, ...]
    ) -> tuple[Step | None, tuple[Message, ...]]:
        """No recorded step."""
        return None, messages

    def is_live(self, branch: str) -> bool:
        """Always."""
        return True

    def begin_calls(self, line: str, n: int) -> None:
        """Nothing is noted."""

    def recorded_result(self, line: str, call: ToolCall, ahead: int) -> Observed | None:
        """None is recorded."""
        return None

    def refuse_control(self, branch: str, name: str) -> None:
        """Every control may be used."""

    def end_calls(self, line: str, seen: list[Observed], tools: Mapping[str, Tool]) -> list[Observed]:
        """What the tools returned."""
        return seen


UNFORKED = Unforked()


@dataclass
class Prefix(Unforked):
    """The first ``length`` of a record's ``steps`` are repeated, checked by the ``verifier`` of the record; calls after
    them have this ``place`` in their seeds and keys (empty: none may follow; ``unanswered``: the digests of the first
    one's messages). ``same_questions``: whether requests must equal the record's; they do not if the agent or its
    prompts are changed. ``hands_over``: another agent continues. ``lesson``: a text that every later request of the
    agent has. ``results``: name of a tool -> what it returned last before the fork, instead. ``decisions``: the steps
    with which decisions of the agent begin, in the order met; ``sound``: how many of the first steps were not found to
    differ."""

    steps: Sequence[Step]
    length: int
    verifier: Verifier
    place: str = ""
    same_questions: bool = True
    hands_over: bool = False
    lesson: str = ""
    results: Mapping[str, str] = field(default_factory=dict)
    decisions: list[int] = field(default_factory=list)
    sound: int = field(init=False)
    unanswered: list[bytes] = field(default_factory=list)
    _number: dict[Place, int] = field(init=False)  # of the steps that are repeated
    _asked: dict[str, list[bytes]] = field(default_factory=dict)  # branch -> digests of its last recorded request
    _calling: dict[str, int | None] = field(default_factory=dict)  # line -> the step whose calls it runs
    _live: set[str] = field(default_factory=set)  # branches on which a model was asked

    def __post_init__(self) -> None:
        self.sound = len(self.steps)
        self._number = {(step.branch, step.index): n for n, step in enumerate(self.steps[: self.length])}
        self.place_in_seeds = f"\0{self.place}".encode()

    def decide(self, branch: str, n: int, purpose: Purpose = "act") -> None:
        """Note that the agent decides something by its next call. Raises HandOver."""
        if purpose in _WITHIN:
            return
        if (number := self._number.get((branch, n))) is not None:
            self.decisions.append(number)
        elif self.hands_over:
            raise HandOver

    def decide_action(self, branch: str, n: int, own: Verifier) -> Verifier:
        """Note that the next call proposes an action. Returns who checks it. Raises HandOver."""
        self.decide(branch, n)
        return self.verifier if (branch, n) in self._number else own

    def reply_to(
        self, branch: str, n: int, purpose: Purpose, messages: tuple[Message, ...]
    ) -> tuple[Step | None, tuple[Message, ...]]:
        """The recorded step of a call (None for a later call), and its messages. Raises ModelError for a request that
        differs, EndOfRecord."""
        number = self._number.get((branch, n))
        if number is None:
            if not self.place:
                self.unanswered = [message.digest for message in messages]
                raise EndOfRecord
            self._live.add(branch)
            return None, messages if not self.lesson or purpose in ("tool", "judge") else _taught(messages, self.lesson)
        step = self.steps[number]
        recorded = [*self._asked.get(branch, ())[: step.kept], *(message.digest for message in step.asked)]
        self._asked[branch], asked = recorded, [message.digest for message in messages]
        if step.purpose != purpose:
            self._refuse(number, f"its purpose was {step.purpose}, is {purpose}")
        if self.same_questions and asked != recorded:
            first = n_common(asked, recorded)
            what = f"has {len(asked)} messages, had {len(recorded)}"
            what = f"differs in message {first + 1}" if first < min(len(asked), len(recorded)) else what
            self._refuse(number, f"the request {what}")
        return step, messages

    def is_live(self, branch: str) -> bool:
        """Whether a model was asked on a branch, after the fork."""
        return branch in self._live

    def begin_calls(self, line: str, n: int) -> None:
        """The calls of a step are run now."""
        self._calling[line] = self._number.get((line, n))

    def recorded_result(self, line: str, call: ToolCall, ahead: int) -> Observed | None:
        """What an external tool returned, of calls of the same name in a step the ``ahead``-th from 0; None after the
        fork. Raises ModelError where the record has no such call."""
        if (number := self._calling.get(line)) is None:
            return None
        same = [one for one in _seen(self.steps[number]) if one.call.name == call.name]
        if ahead >= len(same) or same[ahead].call.arguments != call.arguments:
            self._refuse(number + 1, f"the record has no result of this call of {call.name}", number)
        return replace(same[ahead], call=call)

    def refuse_control(self, branch: str, name: str) -> None:
        """Raises ModelError before the fork: what a control returned is not in the record."""
        if not self.is_live(branch):
            self._refuse(0, f"the agent uses {name}, a service, as a control, whose results are not in the record")

    def end_calls(self, line: str, seen: list[Observed], tools: Mapping[str, Tool]) -> list[Observed]:
        """The agent's observations of these tools. Raises ModelError if they differ from the record."""
        if (number := self._calling.pop(line, None)) is None:
            return seen
        pairs = zip(seen, _seen(self.steps[number]), strict=False)
        if differing := next((one for one, other in pairs if _shown(one) != _shown(other)), None):
            self._refuse(number + 1, f"{differing.call.name} returned another result than the recorded one", number)
        if len(seen) != (n := len(_seen(self.steps[number]))):
            self._refuse(number + 1, f"{len(seen)} calls were run, {n} were recorded", number)
        if self.results and number == last_calls(self.steps[: self.length]):
            return [self._changed(one, tools.get(one.call.name)) for one in seen]
        return seen

    def _changed(self, one: Observed, tool: Tool | None) -> Observed:
        """A call with another result. Raises ModelError where the tool changed the state of the episode."""
        if (text := self.results.get(one.call.name, self.results.get(ANY))) is None:
            return one
        if tool is not None and tool.effect == "episode":
            name = one.call.name
            raise ModelError(f"{name} changed the state of the episode, which still holds the original result", KIND)
        return replace(one, observation=Observation(text), error=None)

    def _refuse(self, sound: int, why: str, number: int | None = None) -> NoReturn:
        """Raises ModelError: only the first ``sound`` steps can be rebuilt, since something differs at a step."""
        self.sound = min(self.sound, sound)
        raise ModelError(f"step {(sound if number is None else number) + 1} cannot be rebuilt: {why}", KIND)


async def repeat(step: Step) -> tuple[Completion, bool]:
    """A recorded reply, as the door returns one."""
    return Completion(step.reply, step.usage, step.finish), True


def last_calls(steps: Sequence[Step]) -> int | None:
    """The number of the last step that ran calls of tools."""
    return next((n for n in range(len(steps) - 1, -1, -1) if _seen(steps[n])), None)


def _seen(step: Step) -> list[Observed]:
    return [one for one in step.observed if not one.control]


def _shown(one: Observed) -> tuple[object, ...]:
    """What the agent sees of a call; facts for scorers may hold times."""
    return one.call.name, one.call.arguments, one.error, one.observation.text, one.observation.images


def _taught(messages: tuple[Message, ...], lesson: str) -> tuple[Message, ...]:
    """The messages with a lesson at the end of the first one: it stays at its place in every later request."""
    first, *others = messages
    text = f"{first.content}\n\n{lesson}" if isinstance(first.content, str) else (*first.content, lesson)
    return replace(first, content=text), *others
