"""A server as the configuration names it, what it offers, and how many samples have sessions with servers at once."""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import orjson
from annotated_types import Gt
from pydantic import TypeAdapter, ValidationError

from components import programs
from components.core.errors import ConfigError
from components.core.messages import ToolSpec
from components.web import address


@dataclass(frozen=True)
class Server:
    """``command`` is started and spoken to over its standard streams, or ``url`` asked over streamable HTTP. ``env``:
    names of the variables of this process that the command gets; ``key_variable``: of the one with the token for the
    url; ``tools``: which of its tools are offered, by the server's names; None: all. ``stateful``: whether results
    depend on earlier calls of the session, which are then repeated in a new session of a resumed episode.
    ``grace_seconds``: that its process has to end when the session has."""

    command: Sequence[str] = ()
    url: str | None = None
    env: Sequence[str] = ("PATH", "HOME")
    key_variable: str = ""
    tools: Sequence[str] | None = None
    stateful: bool = True
    grace_seconds: Annotated[float, Gt(0)] = 1.0

    @property
    def address(self) -> str:
        """The url, or the whole command."""
        return self.url or " ".join(self.command)

    @property
    def shown(self) -> str:
        """What messages call it: the program, or the url without its query, which may hold a key."""
        return self.command[0] if self.url is None else self.url.partition("?")[0]

    def check(self, key: str) -> None:
        """Raises ConfigError unless it names one way to a server."""
        if bool(self.command) == bool(self.url):
            raise ConfigError(f"{key}: name either a command or a url, found {[*self.command]} and {self.url!r}")
        if self.command:
            programs.check(self.command, f"{key}.command")
        else:
            address(str(self.url), f"{key}.url")


@dataclass(frozen=True)
class Cards:
    """What a server offers. ``title``: its name and version; ``specs``: as they are offered here, ``names``: offered
    name -> the server's own."""

    title: str
    specs: Sequence[ToolSpec]
    names: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> "dict[str, Cards]":
        """Server -> its cards, as ``write`` stores them; empty if the file does not exist. Raises ConfigError."""
        if not path.exists():
            return {}
        try:
            return _FILE.validate_json(path.read_bytes())
        except ValidationError as error:
            what = error.errors()[0]["msg"]
            raise ConfigError(f"cards: {path} is damaged ({what}); remove it to list the tools again") from None

    @staticmethod
    def write(path: Path, cards: "Mapping[str, Cards]") -> None:
        """Keep cards in a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_FILE.dump_json(dict(cards), indent=2, exclude_defaults=True))

    @property
    def identity(self) -> str:
        """16 digits that identify title and cards."""
        return sha256(orjson.dumps([self.title, *(one.digest.hex() for one in self.specs)])).hexdigest()[:16]

    def changes(self, now: "Cards") -> str:
        """What is different now, in words; empty for the same."""
        before, after = ({one.name: one.digest for one in cards.specs} for cards in (self, now))
        groups = {
            "new": [name for name in after if name not in before],
            "gone": [name for name in before if name not in after],
            "changed": [name for name, digest in before.items() if after.get(name, digest) != digest],
        }
        found = [f"{what}: {', '.join(names)[:200]}" for what, names in groups.items() if names]
        if self.title != now.title:
            found.append(f"it was {self.title}, now is {now.title}")
        return "; ".join(found)


_FILE = TypeAdapter(dict[str, Cards])


@dataclass
class Slots:
    """Which episodes have sessions, ``n`` at most. Lines of one episode share a slot, so that none waits for another of
    its own, and some episode can always continue."""

    n: int
    _users: dict[Hashable, int] = field(default_factory=dict)  # episode -> its lines
    _freed: asyncio.Event = field(default_factory=asyncio.Event)

    async def enter(self, episode: Hashable) -> None:
        """Wait for the slot of a line's episode; ``release`` frees it."""
        while episode not in self._users and len(self._users) >= self.n:
            await self._freed.wait()
        self._users[episode] = self._users.get(episode, 0) + 1

    def release(self, episode: Hashable) -> None:
        """One line of the episode needs it no longer."""
        self._users[episode] -= 1
        if not self._users[episode]:
            del self._users[episode]
            self._freed.set()
            self._freed = asyncio.Event()
