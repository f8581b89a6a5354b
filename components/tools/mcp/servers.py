"""A server as the configuration names it, what it offers, and how many samples have sessions with servers at once."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import orjson

from components import programs
from components.core.errors import ConfigError
from components.core.messages import ToolSpec


@dataclass(frozen=True)
class Server:
    """``command`` is started and spoken to over its standard streams, or ``url`` asked over streamable HTTP. ``env``:
    names of the variables of this process that the command gets; ``key_variable``: of the one with the token for the
    url; ``tools``: which of its tools are offered, by the server's names; None: all."""

    command: Sequence[str] = ()
    url: str | None = None
    env: Sequence[str] = ("PATH", "HOME")
    key_variable: str = ""
    tools: Sequence[str] | None = None

    def check(self, key: str) -> None:
        """Raises ConfigError unless it names one way to a server."""
        if bool(self.command) == bool(self.url):
            raise ConfigError(f"{key}: name either a command or a url, found {[*self.command]} and {self.url!r}")
        if self.command:
            programs.check(self.command, f"{key}.command")
        elif not str(self.url).startswith(("http://", "https://")):
            raise ConfigError(f"{key}.url: found {self.url!r}, should begin with http:// or https://")


@dataclass(frozen=True)
class Cards:
    """What a server offers. ``title``: its name and version; ``specs``: as they are offered here, ``names``: offered
    name -> the server's own. Two servers are the same where their ``identity`` is."""

    title: str
    specs: Sequence[ToolSpec]
    names: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> "dict[str, Cards]":
        """Server -> its cards, as ``write`` keeps them; empty where there is no file. Raises ConfigError."""
        if not path.exists():
            return {}
        try:
            kept = orjson.loads(path.read_bytes())
            return {
                server: cls(one["title"], [ToolSpec(*spec) for spec in one["specs"]], one["names"])
                for server, one in kept.items()
            }
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"cards: {path} is damaged ({error}); remove it to list the tools again") from None

    @staticmethod
    def write(path: Path, cards: "Mapping[str, Cards]") -> None:
        """Keep cards in a file."""
        kept = {
            server: {
                "title": one.title,
                "specs": [[spec.name, spec.description, spec.parameters] for spec in one.specs],
                "names": one.names,
            }
            for server, one in cards.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(kept, option=orjson.OPT_INDENT_2))

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

    def chosen(self, tools: Sequence[str] | None, key: str) -> "Cards":
        """Those of tools by the server's names; None: all. Raises ConfigError."""
        if tools is None:
            return self
        if unknown := [name for name in tools if name not in self.names.values()]:
            raise ConfigError(f"{key}.tools: there is no {unknown[0]!r}; it has {', '.join(self.names.values())}")
        return Cards(self.title, [one for one in self.specs if self.names[one.name] in tools], self.names)


@dataclass
class _Slot:
    users: int = 0
    taken: asyncio.Task[bool] | None = None


@dataclass
class Slots:
    """How many samples have sessions at once. The lines of one sample share a slot: none waits for another of its own,
    and every sample needs one slot, so that some sample can always go on."""

    n: int
    _held: dict[str, _Slot] = field(default_factory=dict)
    _free: asyncio.Semaphore | None = None

    def enter(self, sample: str) -> None:
        """Ask for the sample's slot; ``release`` undoes it."""
        self._held.setdefault(sample, _Slot()).users += 1

    async def wait(self, sample: str) -> None:
        """Wait until the sample has it."""
        if self._free is None:
            self._free = asyncio.Semaphore(self.n)
        slot = self._held[sample]
        if slot.taken is None:
            slot.taken = asyncio.create_task(self._free.acquire())
        await asyncio.shield(slot.taken)

    def release(self, sample: str) -> None:
        """One line of the sample needs it no longer."""
        slot = self._held[sample]
        slot.users -= 1
        if slot.users:
            return
        del self._held[sample]
        if slot.taken is None or not slot.taken.done():
            if slot.taken is not None:
                slot.taken.cancel()
        elif self._free is not None:
            self._free.release()
