"""Conversations with a server, without a runner: what the bare loops and the peers are asked to do.

It imports the standard library alone, since peers run in an environment where this project is not installed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.processes import Usage, measured

Messages = list[dict[str, str]]
Chat = Callable[[Messages], Awaitable[str]]


@dataclass(frozen=True)
class Prompts:
    """The texts of all conversations. ``replies``: what the server answers, call after call, in each of them."""

    system: str
    questions: list[str]
    replies: list[str]

    @property
    def calls(self) -> int:
        """Model calls of a conversation."""
        return len(self.replies)

    def opening(self, question: str) -> Messages:
        """The messages of the first call."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": question}]

    def dialogues(self) -> Iterator[tuple[Messages, str]]:
        """The messages of every call of every conversation and the reply to it, for what cannot take turns."""
        for question in self.questions:
            messages = self.opening(question)
            for n, reply in enumerate(self.replies):
                yield [*messages], reply
                messages += turn(n, reply)

    def save(self, path: Path) -> None:
        """Write them for another process."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: str) -> Prompts:
        """Read what ``save`` wrote."""
        return cls(**json.loads(Path(path).read_text(encoding="utf-8")))


def observation(n: int) -> str:
    """What a tool returns after the n-th call."""
    return f"Observation: p{n}: within limits on day 3 (SI); no note."


def turn(n: int, reply: str) -> Messages:
    """The n-th reply and what a tool returned, as they are appended to a dialogue."""
    return [{"role": "assistant", "content": reply}, {"role": "user", "content": observation(n)}]


async def _converse(chat: Chat, prompts: Prompts, questions: Iterator[str]) -> None:
    """Take questions until none is left; each is a conversation of as many calls as ours."""
    for question in questions:
        messages = prompts.opening(question)
        for n in range(prompts.calls):
            messages += turn(n, await chat(messages))


async def converse(chat: Chat, prompts: Prompts, connections: int) -> Usage:
    """Warm up with one conversation, then measure all."""
    await _converse(chat, prompts, iter(prompts.questions[:1]))
    questions = iter(prompts.questions)
    width = min(len(prompts.questions), connections)
    with measured() as usage:
        await asyncio.gather(*(_converse(chat, prompts, questions) for _ in range(width)))
    return usage
